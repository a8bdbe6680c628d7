"""The paper's protocol: redraw or heal every test sketch, then ask if it can be recognised (Rec) and identified (Ret).

Every sketch of the split is judged once; one that comes out empty, or of which nothing is visible, counts as a miss.
Masks come from random numbers stored with the data, so that two models see the same damage. Models receive `Damage`
values: nothing that is hidden reaches them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gra2seq.data.datasets import Dataset
from gra2seq.data.store import Indices
from gra2seq.errors import UserError
from gra2seq.evaluation.cached import Judged, Originals, fingerprint
from gra2seq.evaluation.damage_kinds import DamageKind, damage_kinds
from gra2seq.evaluation.healing import region_row
from gra2seq.evaluation.judge import Judge
from gra2seq.evaluation.judging import Judging, Progress, Split, judge_drawings, judge_originals
from gra2seq.evaluation.recognition import Recognition, recognition
from gra2seq.evaluation.redrawing import predicts_ink, used_drawing
from gra2seq.evaluation.retrieval import ranks
from gra2seq.evaluation.tables import FORMATS
from gra2seq.healing.ray_map import Map, local_map
from gra2seq.model import Model
from gra2seq.sketch.masking import MaskNoise
from gra2seq.sketch.region import Flags
from gra2seq.sketch.strokes import Doubles, Ints
from gra2seq.system.atomic_files import atomic_write

KS = (1, 10, 50)
FEW = 10  # names of categories in a message
DIRECTIONS = ("redrawn", "original")  # which sketch queries: the drawing for its original, or the other way round
MASK_SEED, MASK_VERSION = 2023, 3  # of the random numbers of a benchmark, and of how they are made


@dataclass(frozen=True)
class Terms:
    """Split, damage, seeds and judge: the same for every model that is compared."""

    split: str = "test"
    masks: Sequence[float] = (0.0, 0.1, 0.3)
    squares: Sequence[float] = ()
    seeds: Sequence[int] = (0,)  # of the drawings
    judge: Judge | None = None
    direction: str = "redrawn"
    completions: Sequence[float] = ()  # shares of the points that are handed in
    samples: int = 1  # of each lost region: how much they differ is measured
    dataset: str | None = None  # named set that trained models are evaluated on; None: the one they are trained on

    @property
    def kinds(self) -> list[DamageKind]:
        """Every kind of damage, once."""
        return damage_kinds(self.masks, self.squares, self.completions)


@dataclass(frozen=True)
class Outcome:
    """Figures of each sketch of a split with one kind of damage and one seed."""

    kind: DamageKind
    seed: int
    ranks: Ints  # (N,) gallery codes nearer than the sketch's own, at most max(KS)
    empty: Flags  # (N,) nothing was drawn
    distance: Doubles  # (N,) Chamfer distance to the original
    recognition: Recognition | None  # without a judge
    recognised: Flags | None  # (N,)
    ceiling: float | None  # share of the originals that the judge recognises
    region: Doubles  # (N, len(REGION))

    def found(self, k: int) -> Flags:
        """(N,) whether the sketch is among the k nearest; an empty drawing never is."""
        hits: Flags = (self.ranks < k) & ~self.empty
        return hits


def evaluate(
    model: Model,
    dataset: Dataset,
    *,
    name: str,
    folder: Path | None = None,
    progress: Progress | None = None,
    **terms: Any,
) -> list[dict[str, Any]]:
    """Rows of the paper's Tables 1 and 2, a row a mask (or square) and seed; shares from 0 to 1. `terms` as in `Terms`.

    `folder` is for results: a stopped evaluation continues there. They are identified by the weights and the data, so
    that nothing of another model or of changed data is taken.
    """
    chosen = Terms(**terms)
    return [row_of(name, model, dataset, chosen, one) for one in outcomes(model, dataset, chosen, folder, progress)]


def outcomes(
    model: Model,
    dataset: Dataset,
    terms: Terms,
    folder: Path | None = None,
    progress: Progress | None = None,
    engine: Map = local_map,
) -> Iterator[Outcome]:
    """As `evaluate`, but figures of every sketch instead of means, for each kind of damage and seed.

    `engine` says where parts of the split are judged; the outcome is the same.
    """
    indices = split_of(dataset, terms.split)
    check(model, dataset, terms)
    noise = stored_noise(dataset, terms.split, len(indices)).numbers
    split = Split(dataset, indices, noise)
    judging = Judging(model, terms.judge, dataset.categories, terms.samples)
    report = progress or (lambda *_: None)
    key = fingerprint(model, terms.judge, dataset, terms.split) if folder else ""
    kept = folder / f"originals-{key}.safetensors" if folder else None
    originals = (Originals.load(kept) if kept else None) or judge_originals(judging, split, engine, report)
    if kept:
        originals.save(kept)
    actual = np.array([dataset.categories.index(dataset.store[int(i)].category) for i in indices])
    for kind in terms.kinds:
        for seed in dict.fromkeys(terms.seeds):
            of = f"-samples-{terms.samples}" if terms.samples > 1 else ""
            kept = folder / f"{kind.file}-seed-{seed}{of}-{key}.safetensors" if folder else None
            judged = Judged.load(kept) if kept else None
            if judged is None:
                judged = judge_drawings(judging, split, kind, seed, engine, report)
                if kept:
                    judged.save(kept)
            pair = (judged.codes, originals.codes)
            yield Outcome(
                kind,
                seed,
                ranks(*(pair if terms.direction == "redrawn" else pair[::-1]), most=max(KS)),
                judged.empty,
                judged.distance,
                recognition(judged.categories, actual, dataset.categories) if terms.judge else None,
                judged.categories == actual if terms.judge else None,
                float(np.mean(originals.categories == actual)) if terms.judge else None,
                judged.region,
            )


def row_of(name: str, model: Model, dataset: Dataset, terms: Terms, outcome: Outcome) -> dict[str, Any]:
    """The outcome of a split as a row of a table."""
    kind, rec = outcome.kind, outcome.recognition
    drawing = used_drawing(model.drawing, kind)
    return {
        "model": name,
        "data": dataset.name,
        "categories": list(dataset.categories),
        "mask": kind.mask,
        "square": kind.square,
        "complete": kind.complete,
        "samples": terms.samples,
        "seed": outcome.seed,
        "sketches": len(outcome.ranks),
        "gallery": len(outcome.ranks),
        "direction": terms.direction,
        "sees": drawing.sees,
        "repaired": drawing.repair and model.network.repair is not None,
        "ink_predicted": model.network.ink is not None and predicts_ink(drawing, kind),
        "kept": drawing.keep_lines,
        "best_of": drawing.best_of,
        "good_enough": drawing.good_enough,
        "candidates": drawing.candidates,
        "rec": rec.rate if rec else None,
        "rec_by_category": rec.per_category if rec else None,
        "ceiling": outcome.ceiling,
        "rec_share": rec.rate / outcome.ceiling if rec and outcome.ceiling else None,
        "ret": {str(k): float(outcome.found(k).mean()) for k in KS},
        "chamfer": float(outcome.distance.mean()),
        "empty": int(outcome.empty.sum()),
        **region_row(outcome.region),
    }


def write_tables(rows: Sequence[dict[str, Any]], folder: Path, name: str) -> None:
    """The rows as CSV, JSON, Markdown and LaTeX."""
    for suffix, text in FORMATS.items():
        with atomic_write(folder / f"{name}{suffix}") as temporary:
            temporary.write_text(text(rows))


def file_stem(data: str, terms: Terms, changes: dict[str, Any]) -> str:
    """Name of the files of an evaluation: other data, damage or ways of drawing have files of their own."""
    words = [data, terms.split, *([] if terms.direction == "redrawn" else ["original-queries"])]
    words += ["squares"] if terms.squares else []
    words += ["completions"] if terms.completions else []
    words += [f"samples-{terms.samples}"] if terms.samples > 1 else []
    return "-".join([*words, *(f"{name}-{value}" for name, value in changes.items())])


def stored_noise(dataset: Dataset, split: str, count: int) -> MaskNoise:
    """The random numbers of a benchmark, kept beside its store; made on first use from a fixed seed."""
    what = [dataset.store.hash, dataset.name, split, count, MASK_SEED, MASK_VERSION]
    digest = hashlib.sha256(json.dumps(what).encode()).hexdigest()
    store = dataset.store.path
    path = store.parent / f"{store.name}.masks" / f"{dataset.name}-{split}-{digest[:12]}.safetensors"
    with suppress(UserError):  # a damaged file is written anew: the seed says the same
        if path.exists():
            return MaskNoise.load(path)
    noise = MaskNoise.make(count, MASK_SEED)
    with suppress(UserError):  # beside another user's store nothing can be written: the seed says the same
        noise.save(path)
    return noise


def split_of(dataset: Dataset, split: str) -> Indices:
    known = {"train": dataset.train, "valid": dataset.valid, "test": dataset.test}
    if split not in known:
        raise UserError(f"there is no split {split!r}: one of {', '.join(known)}")
    if len(known[split]) < 2:
        raise UserError(f"the {split} split of {dataset.name} has {len(known[split])} sketches: Ret needs two or more")
    return known[split]


def check(model: Model, dataset: Dataset, terms: Terms) -> None:
    """A model or judge of other categories would give figures that mean nothing: say so and stop."""
    strange = [c for c in dataset.categories if model.categories and c not in model.categories]
    if strange:
        raise UserError(
            f"the model has learnt {_few(model.categories)}, but {dataset.name} holds {_few(strange)}, which it has "
            "never seen: judge it on data of its own categories"
        )
    if terms.samples > 1 and not model.drawing.infill:
        raise UserError("several samples of a lost region are for infill decoding: give --draw infill")
    check_terms(dataset, terms)


def check_terms(dataset: Dataset, terms: Terms) -> None:
    """What can be known before a model is trained: that the judge knows the data, and that masks are probabilities."""
    split_of(dataset, terms.split)
    if terms.direction not in DIRECTIONS:
        raise UserError(f"unknown direction {terms.direction!r}: one of {', '.join(DIRECTIONS)}")
    if terms.judge is not None and set(terms.judge.categories) != set(dataset.categories):
        raise UserError(
            f"the judge knows {_few(terms.judge.categories)}, the data hold {_few(dataset.categories)}: "
            "train a judge on the same categories"
        )
    damage_kinds(terms.masks, terms.squares, terms.completions)


def _few(names: Sequence[str]) -> str:
    more = len(names) - FEW
    shown = ", ".join(name or "drawings without a category" for name in names[:FEW])
    return f"{shown} and {more} more" if more > 0 else shown
