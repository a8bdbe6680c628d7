"""From sketches to batches of tensors.

Everything random in training (damage, noise of the code, jitter) is a pure function of (seed, step, place in the
global batch), so a resumed run, and several processes, see exactly what one uninterrupted process would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gra2seq.data.training_damage import DamageSpec
from gra2seq.data.views import Seen, View, decoder_units, stroke_rows
from gra2seq.sketch.augment import Augmentation
from gra2seq.sketch.canvas import Canvas, distance_view, draw, grey_view
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.region import Flags, with_border_points
from gra2seq.sketch.simplify import thinned
from gra2seq.sketch.strokes import Doubles, Floats, Sketch

DENSER = 4  # times closer than moves are far, as the scale says: such points are too many
DRIFT = 0.7  # share of the prefix noise of a point that the next one keeps


@dataclass(frozen=True)
class Preparation:
    """How sketches become batches for one model; every number that a model must remember is here."""

    views: Mapping[str, View]  # what the encoder sees, by name
    scale: float = 1.0  # standard deviation of the training offsets: rows are divided by it
    canvas: Canvas = field(default_factory=Canvas)
    code: int = 128
    categories: tuple[str, ...] = ()  # what labels count through
    damage: DamageSpec = field(default_factory=DamageSpec)  # in training
    augmentation: Augmentation = field(default_factory=Augmentation)  # changes of the sketches of training
    jitter: float = 0.0  # each point is moved by up to this many units of 255 in training (dequantising)
    prefix_noise: float = 0.0  # largest deviation, in units of 255, of the rows before from the true ones
    own_prefixes: float = 0.0  # share of the rows before that the decoder draws itself in training
    given: float = 0.0  # share of the damaged sketches whose visible rows are marked as given in training
    painted: int = 0  # side of the picture of the intact drawing, for models that learn to paint it
    ink_distance: bool = False  # and of its distances to the lines
    growth: bool = False  # training batches also hold how much larger the intact drawings are
    whole: bool = False  # training batches also hold the intact drawings in the same frames
    gradient: bool = True  # whether a gradient passes through the views in training
    simplify: bool = True  # drawings with many more points than those of training are simplified in use
    gumbel: int = 0  # Gumbel numbers a row, for models with a differentiable drawing

    def look(self, seen: Seen) -> dict[str, Any]:
        """What each view shows of the drawings, by name."""
        return {name: view(seen) for name, view in self.views.items()}

    def simplified(self, damage: Damage) -> Damage:
        """Simplified, if it has many more points than the drawings that the model has learnt from."""
        if not self.simplify:
            return damage
        simple = thinned(damage.visible, self.scale / DENSER, damage.side)
        return damage if simple is damage.visible else replace(damage, visible=simple)


@dataclass(frozen=True)
class Targets:
    """What the decoder learns to draw."""

    rows: Tensor  # (B, T, 5) stroke-5 rows, scaled
    inputs: Tensor  # (B, T, 5) the row before each of them; with prefix noise, off the true one
    given: Tensor  # (B, T) whether the row before was given to the decoder (1) or is its own (0)

    def to(self, device: torch.device) -> Targets:
        return Targets(self.rows.to(device), self.inputs.to(device), self.given.to(device))


@dataclass(frozen=True)
class Batch:
    """B prepared drawings. `targets` and what follows is there in training and validation only."""

    views: Mapping[str, Any]  # by the names of `Preparation.views`
    names: tuple[str, ...]  # keys of the sketches, for messages
    targets: Targets | None = None
    noise: Tensor | None = None  # (B, code) of the code, or of a classifier's dropout
    prefix_draws: Tensor | None = None  # (B, T, 5) whether the decoder's own row is taken, and noise to sample it
    painted: Tensor | None = None  # (B, side, side) the intact drawings, of 0 to 255
    ink_distance: Tensor | None = None  # (B, side, side) as `canvas.distance_view` gives them
    growth: Tensor | None = None  # (B, 4) how far the intact drawings stick out of the visible box, in its longer sides
    gumbel: Tensor | None = None  # (B, T, n + 2) n Gumbel numbers a row, then two normal ones
    labels: Tensor | None = None  # (B,) number of the category; -1 where it is none of the preparation's
    whole: Batch | None = None  # the intact drawings in the same frames

    def __len__(self) -> int:
        return len(self.names)

    def to(self, device: torch.device) -> Batch:
        moved: dict[str, Any] = {
            name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor | Targets | Batch)
        }
        return replace(self, views={name: view.to(device) for name, view in self.views.items()}, **moved)


def generator(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def prepare(damages: Sequence[Damage], preparation: Preparation) -> Batch:
    """A batch for use: what the encoder sees, without randomness and without targets."""
    views = preparation.look(Seen([preparation.simplified(damage) for damage in damages]))
    return Batch(views, tuple(damage.visible.key for damage in damages))


def prepare_training(
    sketches: Sequence[Sketch], preparation: Preparation, seeds: Sequence[Sequence[int]], *, validation: bool = False
) -> Batch:
    """A batch to learn from, or with `validation` to measure the loss on: everything random comes from the seeds.

    In validation the damage is random too, but the code has no noise, and sketches are neither changed nor jittered.
    """
    random = [generator(*seed) for seed in seeds]
    if preparation.augmentation and not validation:
        sketches = [preparation.augmentation(sketch, one) for sketch, one in zip(sketches, random, strict=True)]
    damages = [preparation.damage.draw(sketch, one) for sketch, one in zip(sketches, random, strict=True)]
    batch = Batch(
        preparation.look(Seen(damages, None if validation else random, preparation.gradient and not validation)),
        tuple(sketch.key for sketch in sketches),
        targets=_targets(sketches, damages, preparation, random, validation),
        noise=None if validation else _normal(random, preparation.code),
        painted=_painted(sketches, damages, preparation),
        ink_distance=_ink_distance(sketches, damages, preparation),
        growth=_growth(sketches, damages) if preparation.growth else None,
        labels=_labels(sketches, preparation.categories),
    )
    if batch.targets is not None and not validation:
        length = batch.targets.rows.shape[1]
        if preparation.gumbel:
            batch = replace(batch, gumbel=_gumbel(random, length, preparation.gumbel))
        if preparation.own_prefixes:
            batch = replace(batch, prefix_draws=_prefix_draws(random, length, preparation.own_prefixes))
    if preparation.whole:
        intact = [damage.of_whole(sketch) for sketch, damage in zip(sketches, damages, strict=True)]
        batch = replace(batch, whole=Batch(preparation.look(Seen(intact)), batch.names))
    return batch


def _targets(
    sketches: Sequence[Sketch],
    damages: Sequence[Damage],
    preparation: Preparation,
    random: Sequence[np.random.Generator],
    validation: bool,
) -> Targets:
    lines = [_lines(*three, preparation) for three in zip(sketches, damages, random, strict=True)]
    length = max(len(sketch) for sketch, _ in lines) + 1
    rows, inputs = np.zeros((2, len(lines), length, 5), np.float32)
    given = np.zeros((len(lines), length), np.float32)
    for number, ((sketch, marked), damage) in enumerate(zip(lines, damages, strict=True)):
        points = decoder_units(damage, sketch.points)
        if preparation.jitter > 0 and not validation:
            points = points + random[number].uniform(-preparation.jitter, preparation.jitter, points.shape)
        table = stroke_rows(points, sketch.lengths, preparation.scale, length)
        rows[number], inputs[number] = table[1:], table[:-1]
        given[number, 1 : 1 + len(marked)] = marked
        if preparation.prefix_noise > 0 and not validation:
            noise = _drift(random[number], len(points), preparation.prefix_noise) * ~marked[:, None]
            _disturb(rows[number], inputs[number], noise / preparation.scale)
    return Targets(torch.from_numpy(rows), torch.from_numpy(inputs), torch.from_numpy(given))


def _lines(
    sketch: Sketch, damage: Damage, random: np.random.Generator, preparation: Preparation
) -> tuple[Sketch, Flags]:
    """The sketch as rows to learn, and (P,) which of them are given to the decoder: the visible ones, or none."""
    unmarked = np.zeros(len(sketch), bool)
    if random.random() >= preparation.given:
        return sketch, unmarked
    if damage.lost:
        return with_border_points(sketch, damage.lost)
    if len(damage.visible) < len(sketch):  # the end is missing
        return sketch, np.arange(len(sketch)) < len(damage.visible)
    return sketch, unmarked


def _drift(random: np.random.Generator, count: int, largest: float) -> Doubles:
    """(count, 2) a random walk that forgets: how far a decoder may be off the true line, in its units."""
    steps = random.normal(0, 1, (count, 2)) * (random.uniform(0, largest) * np.sqrt(1 - DRIFT**2))
    for number in range(1, count):
        steps[number] += DRIFT * steps[number - 1]
    return np.asarray(steps)


def _disturb(rows: Floats, inputs: Floats, noise: Doubles) -> None:
    """Move the points that rows lead from by `noise` (P, 2), in place: each row leads back to the true next point."""
    count = len(noise)
    inputs[1 : 1 + count, :2] += np.diff(noise, axis=0, prepend=np.zeros((1, 2)))
    rows[1:count, :2] -= noise[:-1]


def _normal(random: Sequence[np.random.Generator], count: int) -> Tensor:
    return torch.from_numpy(np.stack([one.standard_normal(count, dtype=np.float32) for one in random]))


def _gumbel(random: Sequence[np.random.Generator], length: int, count: int) -> Tensor:
    rows = []
    for one in random:
        gumbel, normal = one.spawn(2)  # apart, so that a row's numbers do not depend on the longest sketch of the batch
        rows.append(np.concatenate([gumbel.gumbel(size=(length, count)), normal.standard_normal((length, 2))], axis=1))
    return torch.from_numpy(np.stack(rows).astype(np.float32))


def _prefix_draws(random: Sequence[np.random.Generator], length: int, share: float) -> Tensor:
    rows = np.empty((len(random), length, 5), np.float32)
    for row, one in zip(rows, random, strict=True):
        taken, uniform, normal = one.spawn(3)
        row[:, 0] = taken.random(length) < share
        row[:, 1:3], row[:, 3:] = uniform.random((length, 2)), normal.standard_normal((length, 2))
    return torch.from_numpy(rows)


def _painted(sketches: Sequence[Sketch], damages: Sequence[Damage], preparation: Preparation) -> Tensor | None:
    if not preparation.painted:
        return None
    canvas, side = preparation.canvas, preparation.painted
    intact = [damage.of_whole(sketch) for sketch, damage in zip(sketches, damages, strict=True)]
    return torch.from_numpy(np.stack([grey_view(draw(one, canvas), canvas, side) for one in intact]))


def _ink_distance(sketches: Sequence[Sketch], damages: Sequence[Damage], preparation: Preparation) -> Tensor | None:
    if not preparation.ink_distance:
        return None
    canvas, side = preparation.canvas, preparation.painted
    intact = [damage.of_whole(sketch) for sketch, damage in zip(sketches, damages, strict=True)]
    return torch.from_numpy(np.stack([distance_view(one, canvas, side) for one in intact]))


def _growth(sketches: Sequence[Sketch], damages: Sequence[Damage]) -> Tensor:
    """(B, 4) left, top, right, bottom: at least 0."""
    sides = np.zeros((len(sketches), 4), np.float32)
    for own, sketch, damage in zip(sides, sketches, damages, strict=True):
        (x, y, width, height), (all_x, all_y, all_width, all_height) = damage.visible.box, sketch.box
        own[:] = x - all_x, y - all_y, all_x + all_width - x - width, all_y + all_height - y - height
        own /= max(width, height) or 1.0
    return torch.from_numpy(sides.clip(min=0))


def _labels(sketches: Sequence[Sketch], categories: tuple[str, ...]) -> Tensor:
    numbers = {category: number for number, category in enumerate(categories)}
    return torch.tensor([numbers.get(sketch.category, -1) for sketch in sketches])
