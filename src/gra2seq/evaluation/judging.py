"""Draw, encode and classify a split part by part: memory stays flat, and parts can be computed on other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gra2seq.data.datasets import Dataset
from gra2seq.data.store import Indices
from gra2seq.errors import UserError
from gra2seq.evaluation.cached import Judged, Originals
from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.evaluation.healing import REGION, next_of_category, region_figures
from gra2seq.evaluation.judge import Judge
from gra2seq.evaluation.redrawing import drawings, is_empty, used_drawing
from gra2seq.healing.ray_map import Map, local_map
from gra2seq.model import Model
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import chamfer
from gra2seq.sketch.strokes import Doubles, Floats, Ints, Sketch

PART = 1024  # sketches that are drawn together
BATCH = 256  # that are encoded and compared together
UNKNOWN = -1  # the judge's category of an empty drawing

Progress = Callable[[str, int, int], None]  # (what, done, total)


@dataclass(frozen=True)
class Part:
    """Some sketches of a split, one after the other, and what is needed to evaluate their drawings."""

    first: int  # number of the first in the split
    sketches: list[Sketch]
    noise: Floats  # random numbers of the damage
    others: list[Sketch]  # for each another one of its category

    @property
    def numbers(self) -> Ints:
        return self.first + np.arange(len(self.sketches))


@dataclass(frozen=True)
class Split:
    """The sketches of a split, read part by part."""

    dataset: Dataset
    indices: Indices
    noise: Floats

    def parts(self, size: int) -> Iterator[Part]:
        store, others = self.dataset.store, next_of_category(self.dataset.store.category_index[self.indices])
        for start in range(0, len(self.indices), size):
            own = slice(start, start + size)
            sketches = [store[int(index)] for index in self.indices[own]]
            yield Part(start, sketches, self.noise[own], [store[int(self.indices[other])] for other in others[own]])


@dataclass(frozen=True)
class Judging:
    """A model and a judge; can be sent to another machine."""

    model: Model
    judge: Judge | None
    categories: tuple[str, ...]  # of the data
    samples: int

    def originals(self, part: Part) -> Originals:
        """Codes and judged categories of the intact sketches: the judge's own accuracy is the ceiling of Rec."""
        return Originals(_finite(self.model.encode(part.sketches), part.first), self._classify(part.sketches))

    def drawn(
        self, part: Part, kind: DamageKind, seed: int, progress: Callable[[int, int], None] = lambda *_: None
    ) -> Judged:
        """Draw, encode again, recognise and compare."""
        damages = [kind.damage(sketch, noise) for sketch, noise in zip(part.sketches, part.noise, strict=True)]
        made = drawings(self.model, damages, kind, seed, part.numbers, self.samples, progress)
        drawn = [own[0] for own in made]
        region = self._region(part, kind, damages, made)
        judged = []
        for first in range(0, len(drawn), BATCH):
            own = slice(first, min(first + BATCH, len(drawn)))
            empty = np.array([is_empty(sketch) for sketch in drawn[own]])
            categories = np.where(empty, UNKNOWN, self._classify(drawn[own]))
            distance = chamfer(drawn[own], part.sketches[own])
            judged.append(Judged(self.model.encode(drawn[own]), empty, categories, distance, region[own]))
        return _joined(judged)

    def _region(
        self, part: Part, kind: DamageKind, damages: Sequence[Damage | None], made: Sequence[Sequence[Sketch]]
    ) -> Doubles:
        """(n, len(REGION)) how well lost regions were healed; NaN where the visible lines do not stay."""
        found = np.full((len(part.sketches), len(REGION)), np.nan)
        if not kind or kind.complete or not used_drawing(self.model.drawing, kind).keep_lines:
            return found
        every = zip(part.sketches, damages, made, part.others, strict=True)
        for place, (sketch, damage, own, other) in enumerate(every):
            if damage is not None and damage.lost:
                found[place] = region_figures(sketch, damage, own, other)
        return found

    def _classify(self, sketches: Sequence[Sketch]) -> Ints:
        """The judge's categories, as numbers of the data's."""
        if self.judge is None:
            return np.full(len(sketches), UNKNOWN)
        to_data = np.array([self.categories.index(category) for category in self.judge.categories])
        categories: Ints = to_data[self.judge.classify(sketches)]
        return categories


@dataclass(frozen=True)
class _DrawnPart:
    """`Judging.drawn` of one kind of damage and one seed, as a function of a part."""

    judging: Judging
    kind: DamageKind
    seed: int
    progress: Progress | None = None  # only in this process
    total: int = 0

    def __call__(self, part: Part) -> Judged:
        return self.judging.drawn(part, self.kind, self.seed, lambda done, _: self._report(part.first + done))

    def _report(self, done: int) -> None:
        if self.progress:
            self.progress(f"{self.kind}, seed {self.seed}: drawn", done, self.total)


def judge_originals(judging: Judging, split: Split, engine: Map, progress: Progress) -> Originals:
    """Codes and judged categories of the sketches themselves."""
    found = list[Originals]()
    for part in engine(judging.originals, split.parts(BATCH)):
        found.append(part)
        progress("originals", sum(len(one.codes) for one in found), len(split.indices))
    return Originals(*(np.concatenate([vars(one)[name] for one in found]) for name in vars(found[0])))


def judge_drawings(
    judging: Judging, split: Split, kind: DamageKind, seed: int, engine: Map, progress: Progress
) -> Judged:
    """The evaluated drawings of every sketch of the split, with one kind of damage and one seed."""
    total, found = len(split.indices), list[Judged]()
    function = _DrawnPart(judging, kind, seed)
    if engine is local_map:
        function = replace(function, progress=progress, total=total)
    for part in engine(function, split.parts(PART)):
        found.append(part)
        progress(f"{kind}, seed {seed}: judged", sum(len(one.codes) for one in found), total)
    return _joined(found)


def _joined(parts: Sequence[Judged]) -> Judged:
    return Judged(*(np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])))


def _finite(codes: Floats, first: int) -> Floats:
    wrong = np.flatnonzero(~np.isfinite(codes).all(axis=1))
    if len(wrong):
        raise UserError(
            f"the code of sketch {first + wrong[0]} of the split holds NaN or infinite numbers: the model has "
            "diverged; take an earlier checkpoint or train again with a lower learning rate"
        )
    return codes
