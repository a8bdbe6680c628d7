"""What an encoder sees of damaged drawings. An encoder names its views; each view prepares them for a batch.

Every view is a function of `Damage` only (visible strokes, lost region, frame): nothing hidden reaches a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gra2seq.data.blocks import Blocks
from gra2seq.sketch.augment import picture
from gra2seq.sketch.canvas import Canvas, Pixels, draw, grey_view, lost_view, whole_view
from gra2seq.sketch.centres import DENSE, NODES, centre_points, densified, evenly
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.lattice import MAX_POINTS, lattice_centres, visible_points
from gra2seq.sketch.patches import Centres, crop, on_canvas
from gra2seq.sketch.quadtree import Leaves, leaves, number_blocks, together
from gra2seq.sketch.strokes import BOX, DOWN, END, UP, Doubles, Floats, Ints, Sketch


@dataclass(frozen=True, eq=False)
class Seen:
    """Damaged drawings on their way into a batch; views share what is drawn of them."""

    damages: Sequence[Damage]
    generators: Sequence[np.random.Generator] | None = None  # one a sketch in training
    gradient: bool = False  # whether a gradient will pass through the views
    drawn: dict[tuple[int, Canvas], Pixels] = field(default_factory=dict)

    def random(self, number: int) -> np.random.Generator:
        """The generator of a sketch; in use everything random belongs to the drawing itself."""
        if self.generators is not None:
            return self.generators[number]
        return np.random.Generator(np.random.PCG64(content_seed(self.damages[number])))

    def pixels(self, number: int, canvas: Canvas) -> Pixels:
        """The visible strokes on a canvas, drawn once."""
        if (number, canvas) not in self.drawn:
            self.drawn[number, canvas] = draw(self.damages[number], canvas)
        return self.drawn[number, canvas]


def content_seed(damage: Damage) -> int:
    """A number that belongs to the visible strokes, so that its randomness does not depend on the rest of the batch."""
    return crc32(damage.visible.points.tobytes())


class View(Protocol):
    """Damaged drawings -> a value that an encoder takes, with a method `to(device)`."""

    def __call__(self, seen: Seen) -> Any: ...


@dataclass(frozen=True)
class PatchInput:
    """The patches of B drawings. The mask travels with its data; True means real."""

    blocks: Blocks  # all whole views and patches of all drawings
    places: Tensor  # (n,) row b * (1 + N) + i of each view in the (B, 1 + N) table of nodes
    valid: Tensor  # (B, N) nodes that are there
    centres: Tensor  # (B, N, 2) 0 to 1 over the padded canvas
    uniform: Tensor | None = None  # (B, N, N) for random links
    order: Tensor | None = None  # (B, N) random numbers in training, by which centroids choose their first patches

    def to(self, device: torch.device) -> PatchInput:
        return PatchInput(
            self.blocks.to(device),
            self.places.to(device),
            self.valid.to(device),
            self.centres.to(device),
            *(None if part is None else part.to(device) for part in (self.uniform, self.order)),
        )


@dataclass(frozen=True)
class PatchView:
    """The whole view and the patches along the visible strokes, or on a lattice of `cells`.

    A patch without ink is absent. Nodes are counted among those that are there.
    """

    canvas: Canvas = field(default_factory=Canvas)
    nodes: int = NODES
    spread: bool = False  # of more than `nodes` patches some evenly along the strokes, not the first ones
    dense: bool = False  # patches are counted along densified strokes, and never given by the paper's protocol
    cells: int = 0  # along each side of a lattice whose cells with ink have the patches (SketchLattice+)
    skip_blank: bool = True  # blank pixels are 0 (sketch/quadtree.py)
    random_links: bool = False

    @property
    def slots(self) -> int:
        """N: nodes of a graph at most."""
        return self.cells**2 or self.nodes

    def cut(self, damage: Damage, pixels: Pixels, into: Pixels | None = None) -> tuple[Pixels, Centres]:
        """(1 + n, patch, patch) the whole view, then the patches, and their centres (n, 2), from the drawn canvas."""
        centres = self._centres(damage, pixels)
        size = self.canvas.patch
        views = np.empty((1 + len(centres), size, size), np.uint8) if into is None else into[: 1 + len(centres)]
        views[0] = whole_view(pixels, self.canvas)
        crop(pixels, centres, self.canvas, views[1:])
        return views, centres

    def _centres(self, damage: Damage, pixels: Pixels) -> Centres:
        if self.cells:
            return lattice_centres(pixels, self.canvas, self.cells)
        if self.dense:
            points: NDArray[np.floating] = centre_points(densified(damage.visible, DENSE * damage.side))
        else:
            points = centre_points(damage.visible) if damage.centres is None else damage.centres
        if not self.spread:
            points = points[: self.nodes]
        centres = on_canvas(damage.normalised(points), self.canvas)
        centres = centres[_has_ink(pixels, centres, self.canvas)]
        return np.asarray(centres[evenly(len(centres), self.nodes)])

    def __call__(self, seen: Seen) -> PatchInput:
        count, slots = len(seen.damages), self.slots
        valid, centres = np.zeros((count, slots), bool), np.zeros((count, slots, 2), np.float32)
        memory = np.empty((1 + slots, self.canvas.patch, self.canvas.patch), np.uint8)
        cut: list[Leaves] = []
        places: list[Ints] = []
        for number, damage in enumerate(seen.damages):
            views, at = self.cut(damage, seen.pixels(number, self.canvas), memory)
            cut.append(leaves(views))
            places.append(number * (1 + slots) + np.arange(len(views)))
            valid[number, : len(at)] = True
            centres[number, : len(at)] = at / self.canvas.padded
        random = [seen.random(number) for number in range(count)]
        return PatchInput(
            Blocks.of(number_blocks(together(cut), self.skip_blank, seen.gradient)),
            torch.from_numpy(np.concatenate(places)),
            torch.from_numpy(valid),
            torch.from_numpy(centres),
            _uniform(random, (slots, slots)) if self.random_links else None,
            _uniform(random, (slots,)) if seen.generators is not None else None,
        )


def _uniform(random: Sequence[np.random.Generator], shape: tuple[int, ...]) -> Tensor:
    return torch.from_numpy(np.stack([one.random(shape, dtype=np.float32) for one in random]))


def _has_ink(pixels: Pixels, centres: Centres, canvas: Canvas) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """(n,) whose patch holds any ink."""
    half = canvas.pad
    return np.array([pixels[y - half : y + half, x - half : x + half].any() for x, y in centres.tolist()], bool)


@dataclass(frozen=True)
class PointInput:
    """Lattice points of B drawings."""

    points: Tensor  # (B, N, 2) pixels of the 256 x 256 view
    valid: Tensor  # (B, N)

    def to(self, device: torch.device) -> PointInput:
        return PointInput(self.points.to(device), self.valid.to(device))


@dataclass(frozen=True)
class LatticeView:
    """SketchLattice's points on the visible ink."""

    canvas: Canvas = field(default_factory=Canvas)

    def __call__(self, seen: Seen) -> PointInput:
        count = len(seen.damages)
        points, valid = np.zeros((count, MAX_POINTS, 2), np.float32), np.zeros((count, MAX_POINTS), bool)
        for row, there, damage in zip(points, valid, seen.damages, strict=True):
            found = visible_points(damage, self.canvas)
            row[: len(found)], there[: len(found)] = found, True
        return PointInput(torch.from_numpy(points), torch.from_numpy(valid))


@dataclass(frozen=True)
class PictureView:
    """(B, side, side) of 0 to 255: the visible strokes as one small picture."""

    side: int = 48
    canvas: Canvas = field(default_factory=Canvas)

    def __call__(self, seen: Seen) -> Tensor:
        canvases = (seen.pixels(number, self.canvas) for number in range(len(seen.damages)))
        return torch.from_numpy(np.stack([grey_view(pixels, self.canvas, self.side) for pixels in canvases]))


@dataclass(frozen=True)
class LostView:
    """(B, side, side) of 0 to 255: the lost region, laid as `PictureView` lays the drawing."""

    side: int = 48
    canvas: Canvas = field(default_factory=Canvas)

    def __call__(self, seen: Seen) -> Tensor:
        return torch.from_numpy(np.stack([lost_view(one, self.canvas, self.side) for one in seen.damages]))


@dataclass(frozen=True)
class ExtentView:
    """(B, 7): width and height of the visible strokes in longer sides, logarithms of the numbers of points and strokes
    and of the length of ink, and where in their box the pen stopped."""

    def __call__(self, seen: Seen) -> Tensor:
        return torch.from_numpy(np.array([_extent(damage.visible) for damage in seen.damages], np.float32))


def _extent(visible: Sketch) -> list[float]:
    x, y, width, height = visible.box
    side = max(width, height) or 1.0
    ink = sum(float(np.hypot(*np.diff(stroke, axis=0).T).sum()) for stroke in visible.strokes) / side
    last_x, last_y = visible.points[-1].tolist()
    counts = [np.log(len(visible)), np.log(len(visible.lengths)), np.log1p(ink)]
    return [width / side, height / side, *counts, (last_x - x) / side, (last_y - y) / side]


@dataclass(frozen=True)
class ClassifierView:
    """(B, side, side) of 0 to 255: pictures for a classifier, changed a little in training."""

    side: int

    def __call__(self, seen: Seen) -> Tensor:
        changes: Sequence[np.random.Generator | None] = seen.generators or [None] * len(seen.damages)
        drawn = [picture(one.visible, self.side, change) for one, change in zip(seen.damages, changes, strict=True)]
        return torch.from_numpy(np.stack(drawn))


@dataclass(frozen=True)
class StrokeInput:
    """Stroke-5 rows of B drawings, the first one the start of a sketch."""

    rows: Tensor  # (B, 1 + S, 5)
    count: Tensor  # (B,) how many of them are real

    def to(self, device: torch.device) -> StrokeInput:
        return StrokeInput(self.rows.to(device), self.count.to(device))


@dataclass(frozen=True)
class StrokeView:
    """The visible strokes, in the order they were drawn."""

    scale: float  # standard deviation of the training offsets: rows are divided by it

    def __call__(self, seen: Seen) -> StrokeInput:
        counts = [1 + len(damage.visible) for damage in seen.damages]
        rows = [
            stroke_rows(decoder_units(one, one.visible.points), one.visible.lengths, self.scale, max(counts) - 1)
            for one in seen.damages
        ]
        return StrokeInput(torch.from_numpy(np.stack(rows)), torch.tensor(counts))


def decoder_units(damage: Damage, points: Floats) -> Doubles:
    """Points of a drawing as the decoder draws them: the frame's longer side is `BOX`, its centre the origin."""
    return damage.normalised(points) * BOX


def stroke_rows(points: Doubles, lengths: Ints, scale: float, length: int) -> Floats:
    """(1 + length, 5): the start of a sketch, then scaled stroke-5 with END rows up to `length`."""
    count = len(points)
    rows = np.zeros((1 + length, 5), np.float32)
    rows[1, :2] = points[0]
    rows[2 : 1 + count, :2] = points[1:] - points[:-1]
    rows[:, :2] /= scale
    rows[: 1 + count, DOWN] = 1
    last = np.cumsum(lengths)  # of each stroke; row 0 is the start, so no - 1
    rows[last, DOWN], rows[last, UP] = 0, 1
    rows[1 + count :, END] = 1
    return rows
