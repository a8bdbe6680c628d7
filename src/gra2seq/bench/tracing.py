"""How well drawings are read back from pictures of them: `gra2seq.formats.tracing` beside public alternatives.

    gra2seq bench --only tracing --data QUICKDRAW
    python -m gra2seq.bench.tracing --data QUICKDRAW [--set OPEN8] [--split test] [--limit 2000] [--json figures.json]

Drawings are rasterised at several sizes and pen widths, clean and degraded (blur, uneven light, noise), read back, and
compared with the strokes they were made from. All methods see the same pictures in the same run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

import gra2seq
from gra2seq.bench.alternatives import METHODS
from gra2seq.data.datasets import open_dataset
from gra2seq.errors import UserError
from gra2seq.evaluation.retrieval import ranks
from gra2seq.sketch.distance import chamfer, line_points
from gra2seq.sketch.render import LINE_WIDTH, render
from gra2seq.sketch.strokes import Doubles, Ints, Sketch

PENS = {"thin": LINE_WIDTH / 1.5, "medium": LINE_WIDTH, "thick": LINE_WIDTH * 2}  # of the picture's side
BLUR = 0.8 / 256  # of the picture's side, standard deviation
NOISE = 12.0  # grey values, standard deviation
LIGHT = (0.55, 0.75)  # brightness at the darkest corner of the page
EXPLAINED = 0.015  # longer sides: a line this near explains a point of another

NOTHING = Sketch(np.zeros((1, 2), np.float32), np.array([1]))  # counted where a method refuses a picture

Grey = NDArray[np.uint8]


def run(
    data: str | Path,
    split: str = "test",
    sizes: Sequence[int] = (128, 256, 512),
    limit: int = 2000,
    *,
    name: str = "OPEN8",
    methods: Sequence[str] = tuple(METHODS),
    report: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Figures by picture size, then "clean" or "degraded", then method, then pen (and "all": their mean).

    `limit` drawings of the split are traced; all drawings of the split are the gallery they are searched in.
    """
    dataset = open_dataset(data, name=name)
    chosen = np.random.default_rng(0).permutation(getattr(dataset, split))
    originals = [dataset.store[int(index)] for index in chosen]
    model = gra2seq.load()
    gallery = np.asarray(model.encode(originals))
    truth = originals[:limit]
    figures: dict[str, Any] = {"data": dataset.name, "split": split, "drawings": len(truth), "gallery": len(gallery)}
    for size in sizes:
        for degraded in (False, True):
            results: dict[str, dict[str, dict[str, float]]] = {method: {} for method in methods}
            for number, (pen, width) in enumerate(PENS.items()):
                rng = np.random.default_rng([size, number])
                files = [png(picture_of(sketch, size, width, rng if degraded else None)) for sketch in truth]
                for method in methods:
                    traced, rate = _traced(METHODS[method], files)
                    codes = np.asarray(model.encode(traced))
                    own = {**compare(traced, truth), **code_figures(codes, gallery, truth), "pictures_per_s": rate}
                    results[method][pen] = own
            condition = "degraded" if degraded else "clean"
            for method, by_pen in results.items():
                by_pen["all"] = {key: _mean([by_pen[pen][key] for pen in PENS]) for key in by_pen["medium"]}
                report(f"{size} px {condition:8} {method:16} {_line(by_pen['all'])}")
            figures[f"{size}"] = {**figures.get(f"{size}", {}), condition: results}
    return figures


def picture_of(sketch: Sketch, size: int, pen: float, rng: np.random.Generator | None = None) -> Grey:
    """Black lines on white; with `rng` blurred, in uneven light and noisy."""
    clean = render(sketch, size, pen * size)
    if rng is None:
        return clean
    blurred = cv2.GaussianBlur(clean.astype(np.float32), (0, 0), BLUR * size)
    angle = rng.uniform(0, 2 * np.pi)
    across = np.add.outer(np.sin(angle) * np.linspace(-0.5, 0.5, size), np.cos(angle) * np.linspace(-0.5, 0.5, size))
    share = (across - across.min()) / np.ptp(across)
    light = 1 - share * (1 - rng.uniform(*LIGHT))
    noisy = blurred * light + rng.normal(0, NOISE, blurred.shape)
    picture: Grey = np.rint(noisy).clip(0, 255).astype(np.uint8)
    return picture


def png(picture: Grey) -> bytes:
    return bytes(cv2.imencode(".png", picture)[1])


def compare(traced: Sequence[Sketch], truth: Sequence[Sketch]) -> dict[str, float]:
    """How near the lines, the number of strokes and their order are to the truth; means unless the name says other."""
    explained = np.array([ink_explained(*pair) for pair in zip(traced, truth, strict=True)])
    ratio = [len(one.lengths) / len(other.lengths) for one, other in zip(traced, truth, strict=True)]
    orders = [order_tau(*pair) for pair in zip(traced, truth, strict=True)]
    return {
        "chamfer": float(chamfer(traced, truth).mean()),
        "truth_explained": float(explained[:, 0].mean()),
        "traced_explained": float(explained[:, 1].mean()),
        "strokes_ratio_median": float(np.median(ratio)),
        "refused": _mean([sketch is NOTHING for sketch in traced]),
        "points_ratio_median": float(np.median([len(a) / len(b) for a, b in zip(traced, truth, strict=True)])),
        "order_tau": _mean([tau for tau in orders if tau is not None]),
    }


def code_figures(codes: NDArray[Any], gallery: NDArray[Any], truth: Sequence[Sketch]) -> dict[str, float]:
    """Ret@1, and the distance to the true code over that to another drawing of the category (median)."""
    number = np.arange(len(codes))
    categories = np.array([sketch.category for sketch in truth])
    other = number.copy()
    for category in np.unique(categories):
        own = np.flatnonzero(categories == category)
        other[own] = np.roll(own, 1)
    away = np.linalg.norm(codes - gallery[: len(codes)], axis=1)
    reference = np.linalg.norm(gallery[other] - gallery[: len(codes)], axis=1)
    usable = reference > 0
    return {
        "ret_at_1": float((ranks(codes, gallery, number) < 1).mean()),
        "code_distance_ratio_median": float(np.median(away[usable] / reference[usable])) if usable.any() else 0.0,
    }


def ink_explained(traced: Sketch, truth: Sketch) -> tuple[float, float]:
    """Share of the true lines near a traced one, and share of the traced lines near a true one."""
    one, other = line_points(truth), line_points(traced)
    (near, _), (back, _) = _nearest(one, other), _nearest(other, one)
    return float((near <= EXPLAINED).mean()), float((back <= EXPLAINED).mean())


def order_tau(traced: Sketch, truth: Sketch) -> float | None:
    """Kendall's tau of the traced strokes' order against when their ink was drawn; None for a single stroke."""
    if len(traced.lengths) < 2:
        return None
    points, when = line_points(truth), np.arange(len(line_points(truth)))
    low, high = traced.points.min(axis=0), traced.points.max(axis=0)
    scaled = (traced.points.astype(np.float64) - (low + high) / 2) / max(float((high - low).max()), 1e-9)
    _, nearest = _nearest(scaled, points)
    drawn = np.array([np.median(when[own]) for own in np.split(nearest, traced.starts[1:])])
    drawn = drawn[:: max(1, len(drawn) // 2000)]  # of very many strokes, some
    later = np.sign(np.subtract.outer(drawn, drawn))[np.tril_indices(len(drawn), -1)]  # row after column
    return float(later.sum() / max(np.abs(later).sum(), 1))


def _nearest(points: Doubles, others: Doubles) -> tuple[Doubles, Ints]:
    """(n,) distance to the nearest of the others, and its number; in parts, because outlines of noise are many."""
    distances, numbers = [], []
    for start in range(0, len(points), 4096):
        squares = np.square(points[start : start + 4096, None] - others).sum(axis=-1)
        numbers.append(squares.argmin(axis=1))
        distances.append(np.sqrt(squares.min(axis=1)))
    return np.concatenate(distances), np.concatenate(numbers)


def _traced(method: Callable[[bytes], Sketch], files: Sequence[bytes]) -> tuple[list[Sketch], float]:
    start = time.process_time()
    traced = [_or_nothing(method, file) for file in files]
    return traced, len(files) / (time.process_time() - start)


def _or_nothing(method: Callable[[bytes], Sketch], file: bytes) -> Sketch:
    try:
        return method(file)
    except UserError:
        return NOTHING


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _line(figures: dict[str, float]) -> str:
    return "  ".join(f"{key} {value:.4g}" for key, value in figures.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="drawings, as for gra2seq train")
    parser.add_argument("--set", default="OPEN8", help="a named set of them")
    parser.add_argument("--split", default="test", choices=("train", "valid", "test"))
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 256, 512], help="px")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--limit", type=int, default=2000, help="drawings")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    figures = run(
        chosen.data,
        chosen.split,
        chosen.sizes,
        chosen.limit,
        name=chosen.set,
        methods=chosen.methods,
        report=lambda words: print(words, flush=True),
    )
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
