"""Photos of drawings on paper, made by rule (perspective, rulings, shadow, noise, JPEG), and how they are read.

    python benchmarks/paper_photos.py --data QUICKDRAW [--count 24] [--sheet docs/images/traced-photos.png]

Each photo comes with the drawing as it lies in the photo, so that what was read can be compared with it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.bench.alternatives import METHODS
from gra2seq.bench.tracing import NOTHING, compare
from gra2seq.data.datasets import open_dataset
from gra2seq.errors import UserError
from gra2seq.formats.raster import read_grey
from gra2seq.sketch.render import contact_sheet, write_png
from gra2seq.sketch.strokes import Floats, Sketch

PAGE = (900, 1200)  # px: width and height of the sheet of paper before the photo is taken
PHOTO = (1200, 1600)  # px of the photo
RULINGS = ("plain", "ruled", "squared")
PENS = {"ballpoint": (110, 45, 30), "fineliner": (35, 30, 30), "pencil": (105, 100, 100)}  # blue, green, red
RULING_COLOUR = (215, 190, 175)
PEN_WIDTH = (4.0, 9.0)  # px on the page
SPACING = {"ruled": 38, "squared": 24}  # px between rulings

Colours = NDArray[np.float32]  # (height, width, 3), 0 to 255


@dataclass(frozen=True)
class Photo:
    """A JPEG file, the drawing in it in pixels of the photo, and what was done to it."""

    data: bytes
    truth: Sketch
    kind: str


def make_photo(sketch: Sketch, number: int) -> Photo:
    """Photo number so-and-so of a drawing: the number decides paper, pen, light and camera, always the same."""
    rng = np.random.default_rng(number)
    ruling = RULINGS[number % len(RULINGS)]
    pen = list(PENS)[(number // len(RULINGS)) % len(PENS)]
    table, shadow = number % 2 == 0, number % 4 in (1, 2)
    placed = _placed(sketch, rng)
    page = _page(ruling, rng)
    _ink(page, placed, pen, float(rng.uniform(*PEN_WIDTH)))
    homography = _camera(rng, table)
    photo = _taken(page, homography, rng)
    photo *= _light(rng, shadow)[..., None]
    photo = cv2.GaussianBlur(photo, (0, 0), float(rng.uniform(0.6, 1.4)))
    photo += rng.normal(0, rng.uniform(2, 7), photo.shape).astype(np.float32)
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(55, 90))]
    data = cv2.imencode(".jpg", photo.clip(0, 255).astype(np.uint8), quality)[1]
    points = cv2.perspectiveTransform(placed.points[None].astype(np.float64), homography)[0]
    parts = [ruling, pen, *(["table"] if table else []), *(["shadow"] if shadow else [])]
    return Photo(bytes(data), placed.with_points(points), ", ".join(parts))


def _placed(sketch: Sketch, rng: np.random.Generator) -> Sketch:
    """The drawing somewhere on the page, 50 to 75 % of its width large."""
    left, top, width, height = sketch.box
    side = PAGE[0] * rng.uniform(0.5, 0.75)
    scale = side / max(width, height, 1e-9)
    room = np.array(PAGE) - 120 - np.array([width, height]) * scale
    return sketch.with_points((sketch.points - (left, top)) * scale + 60 + rng.uniform(0, 1, 2) * room)


def _page(ruling: str, rng: np.random.Generator) -> Colours:
    width, height = PAGE
    page = np.full((height, width, 3), rng.uniform((225, 235, 238), (250, 252, 252)), np.float32)
    step, first = SPACING.get(ruling, 0), int(rng.integers(10, 30))
    if step:
        for y in range(first, height, step):
            cv2.line(page, (0, y), (width, y), RULING_COLOUR, 2, cv2.LINE_AA)
    if ruling == "squared":
        for x in range(first, width, step):
            cv2.line(page, (x, 0), (x, height), RULING_COLOUR, 2, cv2.LINE_AA)
    return page


def _ink(page: Colours, sketch: Sketch, pen: str, width: float) -> None:
    """Draw over the page; ink is a little transparent, so rulings show through."""
    cover = np.zeros(page.shape[:2], np.uint8)
    strokes = [np.repeat(stroke, 2, axis=0) if len(stroke) == 1 else stroke for stroke in sketch.strokes]
    lines = [np.rint(stroke * 16).astype(np.int32) for stroke in strokes]
    cv2.polylines(cover, lines, False, 255, max(1, round(width)), cv2.LINE_AA, 4)
    share = (cover.astype(np.float32) / 255 * 0.93)[..., None]
    page *= 1 - share
    page += share * np.array(PENS[pen], np.float32)


def _camera(rng: np.random.Generator, table: bool) -> NDArray[np.float64]:
    """From the page to the photo: slightly turned and in perspective; with `table` all of the page is seen."""
    width, height = PAGE
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    inset = 0.07 if table else -0.03
    target = np.array([(inset, inset), (1 - inset, inset), (1 - inset, 1 - inset), (inset, 1 - inset)])
    target = (target + rng.uniform(-0.03, 0.03, (4, 2))) * PHOTO
    return np.asarray(cv2.getPerspectiveTransform(corners, target.astype(np.float32)), np.float64)


def _taken(page: Colours, homography: NDArray[np.float64], rng: np.random.Generator) -> Colours:
    """The page on a table of wood."""
    grain = cv2.GaussianBlur(rng.normal(0, 30, (PHOTO[1], 1)).astype(np.float32), (1, 31), 6)
    table = np.array((70, 95, 125), np.float32) + grain.reshape(-1, 1, 1)
    photo = np.broadcast_to(table, (PHOTO[1], PHOTO[0], 3)).copy()
    seen = cv2.warpPerspective(np.ones(page.shape[:2], np.float32), homography, PHOTO)[..., None]
    warped = cv2.warpPerspective(page, homography, PHOTO, borderMode=cv2.BORDER_REPLICATE)
    mixed: Colours = photo * (1 - seen) + warped * seen
    return mixed


def _light(rng: np.random.Generator, shadow: bool) -> Floats:
    """Brightness of every pixel: a lamp at one side, and perhaps the soft shadow of a hand."""
    width, height = PHOTO
    angle = rng.uniform(0, 2 * np.pi)
    across = np.add.outer(np.sin(angle) * np.linspace(-1, 1, height), np.cos(angle) * np.linspace(-1, 1, width))
    light = (0.86 - rng.uniform(0.08, 0.14) * across).astype(np.float32)
    if shadow:
        dark = np.zeros((height, width), np.float32)
        centre = rng.uniform((0, 0), PHOTO)
        corners = centre + rng.uniform(0.2, 0.55) * width * _star(rng)
        cv2.fillPoly(dark, [np.rint(corners).astype(np.int32)], 1.0)
        light *= 1 - rng.uniform(0.25, 0.45) * cv2.GaussianBlur(dark, (0, 0), float(rng.uniform(15, 40)))
    return light


def _star(rng: np.random.Generator) -> NDArray[np.float64]:
    angles = np.sort(rng.uniform(0, 2 * np.pi, 7))
    return np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.6, 1, (7, 1))


def run(data: str | Path, count: int = 24, split: str = "test", name: str = "OPEN8") -> dict[str, Any]:
    """Figures of every method on the same photos, and those of ours by kind of paper."""
    photos = photos_of(data, count, split, name)
    truth = [photo.truth for photo in photos]
    figures: dict[str, Any] = {"photos": len(photos)}
    for method, trace in METHODS.items():
        if method == "vtracer":  # it reads PNG only
            continue
        traced = [_or_nothing(trace, photo) for photo in photos]
        figures[method] = compare(traced, truth)
        if method == "gra2seq":
            for ruling in RULINGS:
                chosen = [number for number, photo in enumerate(photos) if photo.kind.startswith(ruling)]
                figures[f"{method}, {ruling}"] = compare([traced[n] for n in chosen], [truth[n] for n in chosen])
    return figures


def photos_of(data: str | Path, count: int, split: str, name: str) -> list[Photo]:
    dataset = open_dataset(data, name=name)
    chosen = np.random.default_rng(1).permutation(getattr(dataset, split))[:count]
    return [make_photo(dataset.store[int(index)], number) for number, index in enumerate(chosen)]


def _or_nothing(trace: Any, photo: Photo) -> Sketch:
    try:
        sketch: Sketch = trace(photo.data)
    except UserError:
        return NOTHING
    return sketch


def sheet(photos: Sequence[Photo], columns: int = 4, size: int = 200) -> NDArray[np.uint8]:
    """Each photo with what was read from it on its right."""
    cells: list[Sketch | NDArray[np.uint8]] = []
    for photo in photos:
        grey = read_grey(photo.data).grey
        side = max(grey.shape)
        square = np.full((side, side), 255, np.uint8)
        top, left = (side - grey.shape[0]) // 2, (side - grey.shape[1]) // 2
        square[top : top + grey.shape[0], left : left + grey.shape[1]] = grey
        small = cv2.resize(square, (size, size), interpolation=cv2.INTER_AREA)
        cells += [np.asarray(small, np.uint8), _or_nothing(METHODS["gra2seq"], photo)]
    rows = [cells[start : start + 2 * columns] for start in range(0, len(cells), 2 * columns)]
    return contact_sheet(rows, size, titles=["photo", "as read"] * columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="drawings, as for gra2seq train")
    parser.add_argument("--set", default="OPEN8", help="a named set of them")
    parser.add_argument("--split", default="test", choices=("train", "valid", "test"))
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--sheet", type=Path, help="write a contact sheet to this PNG")
    chosen = parser.parse_args()
    cv2.setNumThreads(1)
    print(json.dumps(run(chosen.data, chosen.count, chosen.split, chosen.set), indent=1))
    if chosen.sheet:
        write_png(chosen.sheet, sheet(photos_of(chosen.data, chosen.count, chosen.split, chosen.set)))


if __name__ == "__main__":
    main()
