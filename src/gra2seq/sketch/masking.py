"""Damage: the four ways of masking a sketch that the paper compares, by name, holes, and draws kept for evaluation.

All centres are placed first. A centre is masked where its random number lies below the masking probability, so one
stored draw serves every probability, and what is masked at 10 % is also masked at 30 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from gra2seq.errors import UserError
from gra2seq.sketch.canvas import Canvas, Pixels, Walk, draw, pen_walk, whole_view
from gra2seq.sketch.lattice import MOST_POINTS, VIEW, lattice_centres, lattice_points
from gra2seq.sketch.patches import NODES, Centres, centres, crop, snapped, window
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write

Flags = NDArray[np.bool_]
Boxes = NDArray[np.int64]  # (k, 4)
Hole = tuple[float, float, float, float]  # left, top, width, height in the sketch's own units
Holes = Sequence[Hole] | Sequence[Sequence[Hole]]  # the same of all sketches, or a list for each
HOLE_SIDES = 0.15, 0.6  # longer sides of the sketch: least and largest width, and height, of a hole by lot


@dataclass(frozen=True)
class Damage:
    """What will be lost of a sketch, before a pixel is touched. Boxes are left, top, right, bottom on the canvas."""

    walk: Walk
    centres: Centres  # (n, 2) along the pen's way
    drawn: Flags  # (n,) centres whose lot it is to be masked
    patches: Boxes  # (k, 4) what is wiped around those, in drawing order
    holes: Boxes  # (h, 4) what is rubbed out besides

    @property
    def boxes(self) -> Boxes:
        """(k + h, 4) all that is lost."""
        return np.concatenate([self.patches, self.holes])

    def hits(self, points: NDArray[np.integer]) -> Flags:
        """(m, 2) -> (m,) which of the points lie where something is lost."""
        return inside(points, self.boxes)

    @property
    def masked(self) -> Flags:
        """(n,) centres that were drawn, or that lie in a hole."""
        return self.drawn | inside(self.centres, self.holes)


@dataclass(frozen=True)
class Damaged:
    """What is left of a sketch: the canvas, its nodes, and which of them are masked."""

    canvas: Pixels  # padded
    views: Pixels  # (1 + n, patch, patch): the whole view, then the patches
    centres: Centres  # (n, 2)
    masked: Flags  # (n,)


def damage(
    sketch: Sketch,
    canvas: Canvas,
    draws: NDArray[np.floating] | None = None,
    probability: float = 0.0,
    *,
    nodes: int = NODES,
    holes: Sequence[Hole] = (),
) -> Damage:
    """Place all centres; those whose random number in `draws` lies below the probability are masked.

    `holes` are rectangles rubbed out, no more than they are; a patch whose centre lies in one is masked.
    """
    walk = pen_walk(sketch, canvas)
    at = centres(walk, nodes)
    drawn = np.zeros(len(at), bool)
    if draws is not None and probability > 0:
        drawn |= draws[: len(at)] < probability
    size = round(canvas.wiped * canvas.side)
    corner = at[drawn].astype(np.int64) - size // 2
    patches = np.concatenate([corner, corner + size], axis=1).clip(0, canvas.padded)
    rubbed = np.array([_on_canvas(hole, sketch, canvas) for hole in holes], np.int64).reshape(-1, 4)
    return Damage(walk, at, drawn, patches, rubbed)


def hole_at(sketch: Sketch, place: Sequence[float], size: Sequence[float]) -> Hole:
    """A hole whose middle lies at `place`, shares of the sketch's box; its size is told in longer sides of it."""
    left, top, width, height = sketch.box
    extent = max(width, height) or 1.0
    (x, y), (wide, high) = place, size
    return left + x * width - wide * extent / 2, top + y * height - high * extent / 2, wide * extent, high * extent


def hole_by_lot(sketch: Sketch, random: np.random.Generator) -> Hole:
    """Anywhere in the sketch, whatever lies there: unlike masked patches it tells nothing of the pen's way."""
    place, size = random.random(2), random.uniform(*HOLE_SIDES, 2)
    return hole_at(sketch, place.tolist(), size.tolist())


def holes_of_each(holes: Holes, count: int) -> list[Sequence[Hole]]:
    """The holes of each of `count` sketches, where one list may be told for all."""
    if _are_holes(holes):
        return [cast(Sequence[Hole], holes)] * count
    if len(holes) != count or not all(_are_holes(own) for own in holes):
        raise UserError(
            f"holes must be a list of (left, top, width, height), or a list of such lists for each of {count} sketches"
        )
    return list(cast(Sequence[Sequence[Hole]], holes))


def _are_holes(told: Any) -> bool:
    try:
        shape = np.shape(told)
    except ValueError:  # lists of other lengths
        return False
    return shape == (0,) or (len(shape) == 2 and shape[1] == 4)


def wipe(pixels: Pixels, boxes: Boxes) -> None:
    """Remove rectangles from the canvas, in place."""
    for left, top, right, bottom in boxes:
        pixels[top:bottom, left:right] = 0


def wiped(lost: Damage) -> Pixels:
    """The padded canvas with the drawing that is left."""
    pixels = draw(lost.walk)
    wipe(pixels, lost.boxes)
    return pixels


def lost_view(lost: Damage, side: int) -> Pixels:
    """What is lost as a small picture of 0 to 255, laid as `grey_view` lays the drawing: the share of each pixel.

    The edges of all boxes cut the canvas into a few cells, each of them lost or not; no pixel is touched.
    """
    boxes = lost.boxes
    if not len(boxes):
        return np.zeros((side, side), np.uint8)
    canvas = lost.walk.canvas
    boxes = (boxes - canvas.pad).clip(0, canvas.inner)
    across, down = (np.unique(boxes[:, axis::2]) for axis in (0, 1))  # nothing beyond them is lost
    corners = np.stack(np.meshgrid(across[:-1], down[:-1]), axis=-1).reshape(-1, 2)
    gone = inside(corners, boxes).reshape(len(down) - 1, len(across) - 1)
    edges = np.linspace(0, canvas.inner, side + 1)[:, None]
    share_y, share_x = (np.diff(cuts.clip(edges[:-1], edges[1:]), axis=1) for cuts in (down, across))  # (side, cells)
    share = share_y @ gone @ share_x.T * (side / canvas.inner) ** 2
    return np.rint(share * 255).astype(np.uint8)


def wipe_then_crop(lost: Damage, into: Pixels) -> Pixels:
    """(a) The paper's: all that is masked is wiped, then all patches are cropped: nothing leaks through overlaps."""
    pixels = wiped(lost)
    crop(pixels, snapped(lost.centres, lost.walk.canvas), lost.walk.canvas, into)
    return pixels


def crop_by_turns(lost: Damage, into: Pixels) -> Pixels:
    """(b) SketchHealer's: cropping and wiping by turns in drawing order, so what is cropped early sees too much."""
    pixels = draw(lost.walk)
    wipe(pixels, lost.holes)
    turn = np.cumsum(lost.drawn)  # patches wiped when a centre's turn is over
    for number, centre in enumerate(snapped(lost.centres, lost.walk.canvas)):
        wipe(pixels, lost.patches[turn[number] - lost.drawn[number] : turn[number]])
        into[number] = pixels[window(centre, lost.walk.canvas)]
    return pixels


MASKING: dict[str, Callable[[Damage, Pixels], Pixels]] = {
    "wipe-then-crop": wipe_then_crop,
    "crop-by-turns": crop_by_turns,
}


def look(
    sketch: Sketch,
    canvas: Canvas,
    draws: NDArray[np.floating] | None = None,
    probability: float = 0.0,
    *,
    approach: str = "wipe-then-crop",
    nodes: int = NODES,
    holes: Sequence[Hole] = (),
    into: Pixels | None = None,
) -> Damaged:
    """Draw a sketch, damage it, and cut it into its whole view and patches. `into` is memory to reuse."""
    return cut_up(damage(sketch, canvas, draws, probability, nodes=nodes, holes=holes), approach, into)


def cut_up(lost: Damage, approach: str = "wipe-then-crop", into: Pixels | None = None) -> Damaged:
    """The whole view and the patches along the pen's way of a sketch with this damage."""
    if approach not in MASKING:
        raise UserError(f"unknown masking {approach!r}: one of {', '.join(MASKING)}")
    canvas = lost.walk.canvas
    views = _room(len(lost.centres), canvas, into)
    pixels = MASKING[approach](lost, views[1:])
    views[0] = whole_view(pixels, canvas)
    return Damaged(pixels, views, snapped(lost.centres, canvas), lost.masked)


def look_by_lattice(lost: Damage, lattice: int, into: Pixels | None = None) -> Damaged:
    """SketchLattice+'s patches: around the middles of those lattice cells that hold ink, by approach (a).

    Cells whose middle lies where something is lost are masked, and being nobody's neighbours they are left out; so are
    cells that lost all their ink: even that they had some is lost.
    """
    canvas = lost.walk.canvas
    pixels = wiped(lost)
    at = lattice_centres(pixels, canvas, lattice)
    at = at[~lost.hits(at)]
    views = _room(len(at), canvas, into)
    crop(pixels, at, canvas, views[1:])
    views[0] = whole_view(pixels, canvas)
    return Damaged(pixels, views, at, np.zeros(len(at), bool))


def survivors(sketch: Sketch, lost: Damage) -> list[NDArray[np.int64]]:
    """Numbers of the points that are left, a list a stroke; a stroke is cut where its line passes through a loss."""
    points = lost.walk.points.astype(np.float64)
    left = ~lost.hits(lost.walk.points)
    stroke = np.repeat(np.arange(len(sketch.lengths)), sketch.lengths)
    torn = _crosses(points[:-1], points[1:], lost.boxes)  # the way to the next point
    numbers = np.flatnonzero(left)
    apart = (np.diff(numbers) > 1) | (np.diff(stroke[numbers]) > 0) | torn[numbers[:-1]]
    return [piece for piece in np.split(numbers, np.flatnonzero(apart) + 1) if len(piece)]


def _crosses(start: NDArray[np.float64], end: NDArray[np.float64], boxes: Boxes) -> Flags:
    """(m,) which of the lines pass through a box: for each axis the share of the line within, then their overlap."""
    way = (end - start)[:, None]  # (m, 1, 2)
    flat = np.abs(way) < 1e-12
    first = (boxes[:, :2] - start[:, None]) / np.where(flat, 1.0, way)  # (m, k, 2)
    second = (boxes[:, 2:] - start[:, None]) / np.where(flat, 1.0, way)
    within = (start[:, None] >= boxes[:, :2]) & (start[:, None] < boxes[:, 2:])
    enter = np.where(flat, np.where(within, -np.inf, np.inf), np.minimum(first, second)).max(axis=2)
    leave = np.where(flat, np.where(within, np.inf, -np.inf), np.maximum(first, second)).min(axis=2)
    crossed: Flags = (np.maximum(enter, 0) < np.minimum(leave, 1)).any(axis=1)
    return crossed


def _room(count: int, canvas: Canvas, into: Pixels | None) -> Pixels:
    return np.empty((1 + count, canvas.patch, canvas.patch), np.uint8) if into is None else into[: 1 + count]


def inside(points: NDArray[Any], boxes: NDArray[Any]) -> Flags:
    """(m, 2) -> (m,) which of the points lie in one of the boxes (k, 4): left, top, right, bottom."""
    x, y = points[:, None, 0], points[:, None, 1]
    left, top, right, bottom = boxes.T
    within: Flags = ((x >= left) & (x < right) & (y >= top) & (y < bottom)).any(axis=1)
    return within


def _on_canvas(hole: Hole, sketch: Sketch, canvas: Canvas) -> tuple[int, int, int, int]:
    """A rectangle in the sketch's units as columns and rows of the padded canvas."""
    left, top, width, height = hole
    corners = np.array([[left, top], [left + width, top + height]], np.float32)
    if not np.isfinite(corners).all() or width <= 0 or height <= 0:
        raise UserError(f"hole {hole} needs a finite place and a positive width and height: x,y,width,height")
    x, y, w, h = sketch.box
    extent = max(w, h)
    scale = canvas.side / extent if extent > 0 else 1.0
    placed = (corners - (x + w / 2, y + h / 2)) * scale + canvas.padded / 2
    (left_, top_), (right_, bottom_) = np.clip(np.rint(placed), 0, canvas.padded).astype(int).tolist()
    return left_, top_, right_, bottom_


def drop_points(sketch: Sketch, draws: NDArray[np.floating], probability: float) -> NDArray[np.int64]:
    """(c) SketchLattice's: lattice points are dropped one by one, the pixels stay. (n, 2) points left."""
    points = lattice_points(sketch)
    if len(draws) < len(points):
        raise UserError(
            f"{len(points)} lattice points need as many random numbers, not {len(draws)}: make {MOST_POINTS}"
        )
    return points[draws[: len(points)] >= probability]


def wipe_then_lattice(
    sketch: Sketch, canvas: Canvas, draws: NDArray[np.floating], probability: float
) -> NDArray[np.int64]:
    """(d) The paper's for SketchLattice: patches are wiped as in (a), then the lattice is laid on what is left."""
    return lattice_on(damage(sketch, canvas, draws, probability))


def lattice_on(lost: Damage) -> NDArray[np.int64]:
    """The lattice points of what is left."""
    return lattice_points(whole_view(wiped(lost), lost.walk.canvas, VIEW))


# The paper's letters for the four: (a) and (b) damage patches, (c) and (d) SketchLattice's points.
APPROACHES = {"a": "wipe-then-crop", "b": "crop-by-turns", "c": "drop-points", "d": "wipe-then-lattice"}


@dataclass(frozen=True)
class Draws:
    """Random numbers for the centres of every sketch of a benchmark, stored so that two runs see the same damage."""

    numbers: NDArray[np.float32]  # (sketches, nodes)
    seed: int

    @staticmethod
    def make(sketches: int, seed: int, nodes: int = NODES) -> Draws:
        """The first patches of a sketch have the same numbers, however many `nodes` a model has."""
        usual, more = (
            np.random.Generator(np.random.PCG64(start)).random((sketches, width), dtype=np.float32)
            for start, width in ((seed, NODES), ((seed, NODES), max(nodes - NODES, 0)))
        )
        return Draws(np.concatenate([usual, more], axis=1)[:, :nodes].copy(), seed)  # a file holds whole arrays

    def save(self, path: str | Path) -> None:
        with atomic_write(path) as temporary:
            save_file({"numbers": self.numbers}, temporary, {"seed": str(self.seed)})

    @staticmethod
    def load(path: str | Path) -> Draws:
        try:
            with safe_open(path, framework="numpy") as file:
                return Draws(file.get_tensor("numbers"), int(file.metadata()["seed"]))
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} does not hold mask draws ({error}): make them anew") from error
