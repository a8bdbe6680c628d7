"""The paper's protocol: redraw or heal every test sketch, then ask if it can be recognised (Rec) and identified (Ret).

Every sketch of the split is judged once; one that comes out empty counts as a miss. Masks come from draws stored with
the data, so that two models see the same damage. What is said of the originals and each (damage, seed) are kept on
disk when they are done: a run that was stopped goes on there, and one that was finished has its tables at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gra2seq.data.datasets import Dataset
from gra2seq.data.store import Indices
from gra2seq.errors import UserError
from gra2seq.judging.harm import Harm, harms
from gra2seq.judging.judge import Judge
from gra2seq.judging.recognition import recognition
from gra2seq.judging.redraw import is_empty, keeps_lines, redrawn
from gra2seq.judging.retrieval import ranks
from gra2seq.judging.tables import FORMATS
from gra2seq.model import STREAM, TEMPERATURE, Model
from gra2seq.options import IN_USE, Options, as_dict
from gra2seq.sketch.chamfer import chamfer
from gra2seq.sketch.masking import Draws
from gra2seq.sketch.strokes import Floats, Ints, Sketch
from gra2seq.system.atomic_files import atomic_write
from gra2seq.training.manifest import FREE

KS = (1, 10, 50)
DIRECTIONS = ("redrawn", "original")  # who asks: the redrawn sketch for its original (METHOD), or the other way round
CHOICE = "lies best"  # among several tries
STEERING = 3  # version of how the pen is steered
KEEPING = 1  # and of how lines that are left are kept
MASK_SEED, MASK_VERSION = 2023, 3  # of the draws of a benchmark, and of how they are made
BATCH = 256
UNKNOWN = -1  # the judge's word on an empty drawing

Progress = Callable[[str, int, int], None]  # (what, done, total)


class Kept:
    """Arrays that are kept on disk, so that nobody has to make them twice."""

    def save(self, path: Path) -> None:
        with atomic_write(path) as temporary:
            save_file(dict(vars(self)), temporary)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """None if there is no such file or it is damaged: it is made again."""
        try:
            return cls(**load_file(path))
        except (OSError, SafetensorError, TypeError):
            return None


@dataclass(frozen=True)
class Originals(Kept):
    """What model and judge say of the sketches themselves."""

    codes: Floats  # (N, code): the gallery
    said: Ints  # (N,) the judge's category; UNKNOWN without judge


@dataclass(frozen=True)
class Judged(Kept):
    """What became of every sketch with one kind of damage and one seed."""

    codes: Floats  # (N, code) of the redrawn sketches
    empty: NDArray[np.bool_]  # (N,) nothing was drawn
    found: Ints  # (N,) the judge's category of the redrawn sketches; UNKNOWN without judge or drawing
    distance: NDArray[np.float64]  # (N,) Chamfer distance to the original


def evaluate(
    model: Model,
    dataset: Dataset,
    *,
    name: str,
    split: str = "test",
    masks: Sequence[float] = (0.0, 0.1, 0.3),
    holes: Sequence[float] = (),
    seeds: Sequence[int] = (0,),
    judge: Judge | None = None,
    direction: str = "redrawn",
    folder: Path | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Rows of the paper's Tables 1 and 2, a row a mask (or hole) and seed; shares from 0 to 1.

    `folder` is for what was judged: a stopped evaluation goes on there. It is known by the weights and the
    data, so that nothing of another model or of changed data is taken.
    """
    indices = split_of(dataset, split)
    check(model, dataset, judge, masks, direction, holes)
    draws = stored_draws(dataset, split, len(indices), model.recipe.nodes)
    tell = progress or (lambda *_: None)
    actual = np.array([dataset.categories.index(dataset.store[int(i)].category) for i in indices])
    who = _fingerprint(model, judge, dataset, split) if folder else ""
    kept = folder / f"originals-{who}.safetensors" if folder else None
    originals = Originals.load(kept) if kept else None
    if originals is None:
        codes = _codes(model, dataset, indices, draws.numbers, Harm(), tell)
        originals = Originals(codes, _ceiling(dataset, indices, judge, tell))
        if kept:
            originals.save(kept)
    gallery = originals.codes
    rows = []
    for harm in harms(masks, holes):
        damaged = None if harm else gallery
        for seed in dict.fromkeys(seeds):
            kept = folder / f"{harm.file}-seed-{seed}-{who}.safetensors" if folder else None
            judged = Judged.load(kept) if kept else None
            if judged is None:
                if damaged is None:  # the damage is the same for every seed
                    damaged = _codes(model, dataset, indices, draws.numbers, harm, tell)
                judged = _judge(model, dataset, indices, damaged, draws.numbers, harm, seed, judge, tell)
                if kept:
                    judged.save(kept)
            pair = (judged.codes, gallery) if direction == "redrawn" else (gallery, judged.codes)
            found = ranks(*pair, most=max(KS))
            hit = {str(k): float(np.mean((found < k) & ~judged.empty)) for k in KS}
            rec = recognition(judged.found, actual, dataset.categories) if judge else None
            rows.append(
                {
                    "model": name,
                    "data": dataset.name,
                    "categories": list(dataset.categories),
                    "mask": harm.mask,
                    "hole": harm.hole,
                    "seed": seed,
                    "sketches": len(indices),
                    "gallery": len(gallery),
                    "direction": direction,
                    "tries": model.options.tries,
                    "well": model.options.well,
                    "steer": model.options.steer,
                    "keep": keeps_lines(model, harm),
                    "rec": rec.rate if rec else None,
                    "rec_by_category": rec.per_category if rec else None,
                    "ceiling": float(np.mean(originals.said == actual)) if judge else None,
                    "ret": hit,
                    "chamfer": float(judged.distance.mean()),
                    "empty": int(judged.empty.sum()),
                }
            )
    return rows


def write_tables(rows: Sequence[dict[str, Any]], folder: Path, name: str) -> None:
    """The rows as CSV, JSON, Markdown and LaTeX."""
    for suffix, text in FORMATS.items():
        with atomic_write(folder / f"{name}{suffix}") as temporary:
            temporary.write_text(text(rows))


def stored_draws(dataset: Dataset, split: str, count: int, nodes: int) -> Draws:
    """The masks of a benchmark, kept beside its store; made on first use from a fixed seed. Two numbers at least."""
    nodes = max(nodes, 2)
    what = [dataset.store.hash, dataset.name, split, count, nodes, MASK_SEED, MASK_VERSION]
    about = hashlib.sha256(json.dumps(what).encode()).hexdigest()
    store = dataset.store.path
    path = store.parent / f"{store.name}.masks" / f"{dataset.name}-{split}-{about[:12]}.safetensors"
    with suppress(UserError):  # a damaged file is written anew: the seed says the same
        if path.exists():
            return Draws.load(path)
    draws = Draws.make(count, MASK_SEED, nodes)
    with suppress(UserError):  # beside a store of others nothing can be written: the seed says the same
        draws.save(path)
    return draws


def _fingerprint(model: Model, judge: Judge | None, dataset: Dataset, split: str) -> str:
    """Of all that a judged split depends on. An option at its default says nothing: new ones change no fingerprint."""
    default = as_dict(Options())
    chosen = {
        name: value
        for name, value in as_dict(model.options).items()
        if value != default[name] and (name not in FREE or name in IN_USE)
    }
    what = [dataset.store.hash, dataset.name, split, model.recipe.scale, chosen, MASK_SEED, MASK_VERSION, TEMPERATURE]
    what += [CHOICE] if model.options.tries > 1 else []
    what += [STEERING] if model.options.steer > 1 else []
    what += [KEEPING] if model.options.keep else []
    about = hashlib.sha256(json.dumps(what).encode())
    for network in (model.network, judge.network if judge else None):
        for tensor in network.state_dict().values() if network else ():
            about.update(tensor.cpu().numpy().tobytes())
    return about.hexdigest()[:16]


def split_of(dataset: Dataset, split: str) -> Indices:
    known = {"train": dataset.train, "valid": dataset.valid, "test": dataset.test}
    if split not in known:
        raise UserError(f"there is no split {split!r}: one of {', '.join(known)}")
    if len(known[split]) < 2:
        raise UserError(f"the {split} split of {dataset.name} has {len(known[split])} sketches: Ret needs two or more")
    return known[split]


def check(
    model: Model,
    dataset: Dataset,
    judge: Judge | None,
    masks: Sequence[float],
    direction: str,
    holes: Sequence[float] = (),
) -> None:
    """A model or judge of other categories would give figures that mean nothing: say so and stop."""
    strange = [c for c in dataset.categories if model.categories and c not in model.categories]
    if strange:
        raise UserError(
            f"the model has learnt {_few(model.categories)}, but {dataset.name} holds {_few(strange)}, which it has "
            "never seen: judge it on data of its own categories"
        )
    if direction not in DIRECTIONS:
        raise UserError(f"unknown direction {direction!r}: one of {', '.join(DIRECTIONS)}")
    check_terms(dataset, masks, judge)
    harms(masks, holes)


def check_terms(dataset: Dataset, masks: Sequence[float], judge: Judge | None) -> None:
    """What can be known before a model is trained: that the judge knows the data, and that masks are probabilities."""
    if judge is not None and set(judge.categories) != set(dataset.categories):
        raise UserError(
            f"the judge tells {_few(judge.categories)} apart, the data hold {_few(dataset.categories)}: "
            "train a judge on the same categories"
        )
    for mask in masks:
        if not 0 <= mask <= 1:
            raise UserError(f"mask {mask} must be a probability from 0 to 1")


def _few(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(name or "drawings without a category" for name in names[:most]) + (
        f" and {len(names) - most} more" if len(names) > most else ""
    )


def _batches(dataset: Dataset, indices: Indices) -> Iterator[tuple[slice, list[Sketch]]]:
    for start in range(0, len(indices), BATCH):
        part = slice(start, min(start + BATCH, len(indices)))
        yield part, [dataset.store[int(index)] for index in indices[part]]


def _codes(model: Model, dataset: Dataset, indices: Indices, draws: Floats, harm: Harm, tell: Progress) -> Floats:
    """Codes of all sketches, damaged as the draws say; without harm of the originals."""
    codes = []
    for part, sketches in _batches(dataset, indices):
        codes.append(_finite(model.encode(sketches, **harm.of(sketches, draws[part])), part.start))
        tell(f"codes at {harm}" if harm else "codes", part.stop, len(indices))
    return np.concatenate(codes)


def _ceiling(dataset: Dataset, indices: Indices, judge: Judge | None, tell: Progress) -> Ints:
    """What the judge says of the originals (numbers of the data's categories)."""
    if judge is None:
        return np.full(len(indices), UNKNOWN)
    said = []
    for part, sketches in _batches(dataset, indices):
        said.append(_said(judge, dataset, sketches))
        tell("judge's own accuracy", part.stop, len(indices))
    return np.concatenate(said)


def _judge(
    model: Model,
    dataset: Dataset,
    indices: Indices,
    codes: Floats,
    draws: Floats,
    harm: Harm,
    seed: int,
    judge: Judge | None,
    tell: Progress,
) -> Judged:
    """Draw, encode again, recognise and compare, part by part: memory stays flat."""
    what, parts = f"{harm}, seed {seed}", list[Judged]()
    for start in range(0, len(indices), STREAM):
        progress = partial(_told, tell, f"{what}: drawn", start, len(indices))
        there = slice(start, start + STREAM)
        originals = [dataset.store[int(index)] for index in indices[there]]
        drawn = redrawn(model, originals, codes[there], draws[there], harm, seed, start, progress)
        for first in range(0, len(drawn), BATCH):
            part = slice(first, min(first + BATCH, len(drawn)))
            found = _said(judge, dataset, drawn[part])
            empty = np.array([is_empty(sketch) for sketch in drawn[part]])
            apart = chamfer(drawn[part], originals[part])
            parts.append(Judged(model.encode(drawn[part]), empty, np.where(empty, UNKNOWN, found), apart))
            tell(f"{what}: judged", start + part.stop, len(indices))
    return Judged(
        np.concatenate([p.codes for p in parts]),
        np.concatenate([p.empty for p in parts]),
        np.concatenate([p.found for p in parts]),
        np.concatenate([p.distance for p in parts]),
    )


def _told(tell: Progress, what: str, start: int, total: int, done: int, _part: int) -> None:
    tell(what, start + done, total)


def _finite(codes: Floats, first: int) -> Floats:
    wrong = np.flatnonzero(~np.isfinite(codes).all(axis=1))
    if len(wrong):
        raise UserError(
            f"the code of sketch {first + wrong[0]} of the split holds NaN or infinite numbers: the model has "
            "diverged; take an earlier checkpoint or train again with a lower learning rate"
        )
    return codes


def _said(judge: Judge | None, dataset: Dataset, sketches: Sequence[Sketch]) -> Ints:
    if judge is None:
        return np.full(len(sketches), UNKNOWN)
    to_data = np.array([dataset.categories.index(category) for category in judge.categories])
    said: Ints = to_data[judge.classify(sketches)]
    return said
