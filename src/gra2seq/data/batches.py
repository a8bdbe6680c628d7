"""From sketches to what a network eats.

Everything random (masks, noise of the code, jitter) is a pure function of (seed, step, place in the global batch),
so a resumed run, and several processes, see exactly what one uninterrupted process would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gra2seq.data.datasets import BOX
from gra2seq.errors import UserError
from gra2seq.nn.patch_cnn import Blocks
from gra2seq.sketch.augment import Variety, picture
from gra2seq.sketch.canvas import Canvas, Pixels, draw, grey_view
from gra2seq.sketch.masking import (
    Damage,
    Hole,
    Holes,
    cut_up,
    damage,
    hole_by_lot,
    holes_of_each,
    lattice_on,
    look_by_lattice,
    lost_view,
    survivors,
    wiped,
)
from gra2seq.sketch.patches import NODES
from gra2seq.sketch.quadtree import Leaves, leaves, number_blocks, together
from gra2seq.sketch.simplify import thinned
from gra2seq.sketch.strokes import DOWN, END, UP, Floats, Ints, Sketch

DENSER = 4  # times closer than moves are far, as the scale says: such points are too many
NO_BLOCKS = Blocks((), torch.empty(0, 4, dtype=torch.int32))


@dataclass(frozen=True)
class Recipe:
    """How a sketch is prepared. Every number that a model must remember is here."""

    scale: float = 1.0  # standard deviation of the training offsets: rows are divided by it
    canvas: Canvas = field(default_factory=Canvas)
    nodes: int = NODES
    code: int = 128
    mask: tuple[float, float] = (0.1, 0.1)  # least and largest probability that a patch is wiped in training
    masking: str = "wipe-then-crop"
    holes: float = 0.0  # share of the sketches of training that lose a rectangle anywhere instead
    jitter: float = 0.0  # each point is moved by up to this many pixels in training (dequantising)
    variety: Variety = field(default_factory=Variety)  # of what is learnt from
    random_links: bool = False
    skip_blank: bool = True  # paper is 0 (sketch/quadtree.py)
    patches: bool = True  # False for models that see none
    cells: int = 0  # along each side of a lattice whose cells with ink have the patches; 0: along the pen's way
    points: int = 0  # of a lattice on ink, at most, for models that see those
    strokes: bool = False  # what is left of the strokes, for models that see them
    picture: int = 0  # side of a picture of the whole sketch, for models that see one
    painted: int = 0  # and of the undamaged one, for models that learn to paint it
    mend: bool = False  # what was lost is shown too; to learn from, each sketch comes twice: damaged, then whole
    polish: bool = False  # no gradient passes through what is seen, and each sketch comes once
    wobble: int = 0  # Gumbel numbers a row, for models whose drawings a gradient passes through
    augment: bool = False  # it is the judge's: of the undamaged sketch, changed a little in training
    categories: tuple[str, ...] = ()  # what labels count through

    @property
    def mean_mask(self) -> float:
        """What validation masks, where it makes no hole: the same at each step, so that losses can be compared."""
        return sum(self.mask) / 2

    @property
    def slots(self) -> int:
        """N: nodes that a graph of a sketch has at most."""
        return self.points or self.cells**2 or self.nodes


@dataclass(frozen=True)
class Batch:
    """B prepared sketches. The mask travels with its data; True means real."""

    blocks: Blocks  # all whole views and patches of all sketches
    places: Tensor  # (n,) row b * (1 + N) + i of each view in the (B, 1 + N) table of nodes
    valid: Tensor  # (B, N) nodes that are there and not masked
    centres: Tensor  # (B, N, 2) pixels
    uniform: Tensor  # (B, nodes) random numbers of the patches: masks were drawn with them, centroids start by them
    links: Tensor | None  # (B, N, N) random numbers for random links
    noise: Tensor | None  # (B, code) of the code, or of a judge's dropout; None in use: the code is its mean
    rows: Tensor  # (B, 1 + T, 5) stroke-5, the first one is the start of a sketch; scaled
    strokes: Tensor  # (B, 1 + S, 5) rows of what is left of the strokes; S is 0 for models that see none
    stroke_rows: Tensor  # (B,) how many of them are real
    pictures: Tensor  # (B, side, side) of 0 to 255; side is 0 for models that see no picture
    painted: Tensor  # (B, side, side) the same of the undamaged sketch; side is 0 for models that paint none
    lost: Tensor  # (B, side, side) what was lost of each; side is 0 for models that are not told
    wobble: Tensor | None  # (B, T, n + 2) in training: n Gumbel numbers a row, two normal ones; for soft samples
    labels: Tensor  # (B,) number of the category; -1 where it is none of the recipe's
    names: tuple[str, ...]  # who is in it, for messages

    def __len__(self) -> int:
        return len(self.valid)

    def to(self, device: torch.device) -> Batch:
        tensors: dict[str, Any] = {
            name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor | Blocks)
        }
        return replace(self, **tensors)


def normalised(sketch: Sketch) -> Floats:
    """The points as they are drawn, (P, 2): longer side `BOX`, the middle of the box at the origin."""
    left, top, width, height = sketch.box
    extent = max(width, height)
    middle = np.array([left + width / 2, top + height / 2])
    points: Floats = ((sketch.points - middle) * (BOX / extent if extent > 0 else 1.0)).astype(np.float32)
    return points


def stroke_rows(sketch: Sketch, scale: float, length: int, jitter: Floats | None = None) -> Floats:
    """(1 + length, 5): start of sketch, then scaled stroke-5 with END rows up to `length`.

    What `to_stroke5` of the normalised sketch gives, in one go: this runs for every sketch of every step.
    """
    count = len(sketch)
    if count >= length:
        raise UserError(f"sketch has {count} points, the model takes {length - 1}: simplify it or raise max_points")
    points = normalised(sketch) if jitter is None else normalised(sketch) + jitter
    return _rows_of(points, sketch.lengths, scale, length)


def _rows_of(points: Floats, lengths: Ints, scale: float, length: int) -> Floats:
    count = len(points)
    rows = np.zeros((1 + length, 5), np.float32)
    rows[1, :2] = points[0]
    np.subtract(points[1:], points[:-1], out=rows[2 : 1 + count, :2])
    rows[:, :2] /= scale
    rows[: 1 + count, DOWN] = 1
    last = np.cumsum(lengths)  # of each stroke; row 0 is the start, so no - 1
    rows[last, DOWN], rows[last, UP] = 0, 1
    rows[1 + count :, END] = 1
    return rows


def as_learnt(sketch: Sketch, recipe: Recipe) -> Sketch:
    """Simplified, if it has many more points than the drawings that a model has learnt from."""
    return thinned(sketch, recipe.scale / DENSER)


def generator(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def content_seed(sketch: Sketch) -> int:
    """A number that belongs to the drawing, so that what it gets does not depend on its company."""
    return crc32(sketch.points.tobytes())


def prepare(
    sketches: Sequence[Sketch],
    recipe: Recipe,
    *,
    seeds: Sequence[Sequence[int]] | None = None,
    draws: NDArray[np.floating] | None = None,
    probability: float = 0.0,
    holes: Holes = (),
    learning: bool = True,
) -> Batch:
    """Draw, damage, cut and number sketches.

    In training every sketch has a seed, which gives mask, hole, variety, noise and jitter. In use `draws` (B, N) below
    `probability` and `holes` say what is masked, and the code has no noise. What is not for `learning` comes without
    the rows, and without what gradients need.
    """
    count, nodes = len(sketches), recipe.nodes
    generators = [generator(*seed) for seed in seeds] if seeds is not None else None
    if generators is not None:
        uniform = np.stack([g.random(nodes, dtype=np.float32) for g in generators])
        least, most = recipe.mask
        draws, rates = uniform, [least if least == most else g.uniform(least, most) for g in generators]
        if recipe.variety:
            sketches = [recipe.variety(sketch, g) for sketch, g in zip(sketches, generators, strict=True)]
    else:
        rates = [probability] * count
        uniform = np.ones((count, nodes), np.float32) if draws is None else draws.astype(np.float32)
    rubbed = holes_of_each(holes, count)
    if generators is not None and recipe.holes:
        rubbed = holes_by_lot(sketches, recipe, generators)
        rates = [0.0 if there else rate for there, rate in zip(rubbed, rates, strict=True)]
    names = tuple(sketch.key for sketch in sketches)
    if learning and recipe.mend and not recipe.polish:  # each damaged, then each whole; nothing of them is drawn
        sketches, rates, uniform = [*sketches, *sketches], [*rates, *[0.0] * count], np.tile(uniform, (2, 1))
        rubbed = [*rubbed, *[()] * count]
        draws = None if draws is None else uniform
        count, generators, learning = 2 * count, None, False
    lost = [
        damage(
            sketch,
            recipe.canvas,
            None if draws is None else draws[number],
            rates[number],
            nodes=nodes,
            holes=rubbed[number],
        )
        for number, sketch in enumerate(sketches if not recipe.augment else ())  # a judge sees no damage
    ]
    slots = recipe.slots
    valid = np.zeros((count, slots), bool)
    centres = np.zeros((count, slots, 2), np.float32)
    cut: list[Leaves] = []
    places: list[Ints] = []
    greys: list[Pixels] = []
    views = np.empty((1 + slots, recipe.canvas.patch, recipe.canvas.patch), np.uint8) if recipe.patches else None
    for number, gone in enumerate(lost):
        left = None  # what is left, drawn
        if recipe.patches:
            seen = look_by_lattice(gone, recipe.cells, views) if recipe.cells else cut_up(gone, recipe.masking, views)
            cut.append(leaves(seen.views))
            left, there = seen.canvas, len(seen.centres)
            places.append(number * (1 + slots) + np.arange(1 + there))
            valid[number, :there] = ~seen.masked
            centres[number, :there] = seen.centres
        elif recipe.points:
            points = lattice_on(gone)
            valid[number, : len(points)] = True
            centres[number, : len(points)] = points
        if recipe.picture:
            greys.append(grey_view(wiped(gone) if left is None else left, recipe.canvas, recipe.picture))
    strokes, stroke_rows_ = _survivors(sketches, lost, recipe)
    gradient = learning and not recipe.polish
    return Batch(
        blocks=Blocks.of(number_blocks(together(cut), recipe.skip_blank, gradient)) if cut else NO_BLOCKS,
        places=torch.from_numpy(np.concatenate(places)) if places else torch.empty(0, dtype=torch.int64),
        valid=torch.from_numpy(valid),
        centres=torch.from_numpy(centres),
        uniform=torch.from_numpy(uniform),
        links=_links(sketches, generators, slots) if recipe.random_links else None,
        noise=_stack([g.standard_normal(recipe.code, dtype=np.float32) for g in generators]) if generators else None,
        rows=_rows(sketches, recipe, generators) if learning else torch.zeros(count, 1, 5),
        strokes=strokes,
        stroke_rows=stroke_rows_,
        pictures=_pictures(sketches, greys, recipe, generators),
        painted=_painted(lost, recipe, learning),
        lost=_lost(lost, recipe),
        wobble=_wobble(sketches, recipe, generators),
        labels=_labels(sketches, recipe.categories),
        names=names,
    )


def holes_by_lot(
    sketches: Sequence[Sketch], recipe: Recipe, generators: Sequence[np.random.Generator]
) -> list[Sequence[Hole]]:
    """A hole in each sketch whose lot it is to have one, as often as the recipe says."""
    return [
        [hole_by_lot(sketch, random)] if random.random() < recipe.holes else []
        for sketch, random in zip(sketches, generators, strict=True)
    ]


def _pictures(
    sketches: Sequence[Sketch],
    greys: list[Pixels],
    recipe: Recipe,
    generators: list[np.random.Generator] | None,
) -> Tensor:
    """What is left of each; for a judge each as it is, or changed a little."""
    if recipe.picture == 0:
        return torch.empty(len(sketches), 0, 0, dtype=torch.uint8)
    if not recipe.augment:
        return torch.from_numpy(np.stack(greys))
    changes = generators if generators is not None else [None] * len(sketches)
    drawn = [picture(s, recipe.picture, change) for s, change in zip(sketches, changes, strict=True)]
    return torch.from_numpy(np.stack(drawn))


def _painted(lost: Sequence[Damage], recipe: Recipe, learning: bool) -> Tensor:
    if not recipe.painted or not learning:
        return torch.empty(len(lost), 0, 0, dtype=torch.uint8)
    return torch.from_numpy(np.stack([grey_view(draw(gone.walk), recipe.canvas, recipe.painted) for gone in lost]))


def _lost(lost: Sequence[Damage], recipe: Recipe) -> Tensor:
    if not recipe.mend:
        return torch.empty(len(lost), 0, 0, dtype=torch.uint8)
    return torch.from_numpy(np.stack([lost_view(gone, recipe.picture) for gone in lost]))


def _wobble(sketches: Sequence[Sketch], recipe: Recipe, generators: list[np.random.Generator] | None) -> Tensor | None:
    if not recipe.wobble or generators is None:
        return None
    rows = np.zeros((len(sketches), max(len(sketch) for sketch in sketches) + 1, recipe.wobble + 2), np.float32)
    for row, sketch, random in zip(rows, sketches, generators, strict=True):
        count = len(sketch) + 1  # with END; what is behind it is not looked at
        row[:count, :-2] = random.gumbel(size=(count, recipe.wobble))
        row[:count, -2:] = random.standard_normal((count, 2), np.float32)
    return torch.from_numpy(rows)


def _survivors(sketches: Sequence[Sketch], lost: Sequence[Damage], recipe: Recipe) -> tuple[Tensor, Tensor]:
    """Rows (B, 1 + S, 5) of the strokes that are left, where the whole sketch has them, and how many each has."""
    if not recipe.strokes:
        return torch.empty(len(sketches), 0, 5), torch.zeros(len(sketches), dtype=torch.int64)
    pieces = [survivors(sketch, gone) for sketch, gone in zip(sketches, lost, strict=True)]
    counts = [1 + sum(map(len, piece)) for piece in pieces]  # the first row is the start
    rows = np.zeros((len(sketches), max(counts), 5), np.float32)
    for number, (sketch, piece) in enumerate(zip(sketches, pieces, strict=True)):
        if piece:
            points, lengths = normalised(sketch)[np.concatenate(piece)], np.array([len(part) for part in piece])
            rows[number, : counts[number]] = _rows_of(points, lengths, recipe.scale, counts[number] - 1)
        rows[number, 0, DOWN] = 1
        rows[number, counts[number] :, END] = 1
    return torch.from_numpy(rows), torch.tensor(counts)


def _labels(sketches: Sequence[Sketch], categories: tuple[str, ...]) -> Tensor:
    numbers = {category: number for number, category in enumerate(categories)}
    return torch.tensor([numbers.get(sketch.category, -1) for sketch in sketches])


def _stack(arrays: list[Floats]) -> Tensor:
    return torch.from_numpy(np.stack(arrays))


def _links(sketches: Sequence[Sketch], generators: list[np.random.Generator] | None, nodes: int) -> Tensor:
    generators = generators or [generator(content_seed(sketch)) for sketch in sketches]
    return _stack([g.random((nodes, nodes), dtype=np.float32) for g in generators])


def _rows(sketches: Sequence[Sketch], recipe: Recipe, generators: list[np.random.Generator] | None) -> Tensor:
    length = max(len(sketch) for sketch in sketches) + 1
    jitters: list[Floats | None] = [None] * len(sketches)
    if generators is not None and recipe.jitter > 0:
        jitters = [
            ((g.random((len(s), 2), dtype=np.float32) * 2 - 1) * np.float32(recipe.jitter)).astype(np.float32)
            for g, s in zip(generators, sketches, strict=True)
        ]
    return _stack([stroke_rows(s, recipe.scale, length, j) for s, j in zip(sketches, jitters, strict=True)])
