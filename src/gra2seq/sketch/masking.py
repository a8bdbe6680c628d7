"""Damage: the four ways of masking a sketch that the paper compares, by name, and draws kept for evaluation.

All centres are placed first. A centre is masked where its random number lies below the masking probability, so one
stored draw serves every probability, and what is masked at 10 % is also masked at 30 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from gra2seq.errors import UserError
from gra2seq.sketch.canvas import Canvas, Pixels, draw, pen_walk, whole_view
from gra2seq.sketch.lattice import MOST_POINTS, lattice_points
from gra2seq.sketch.patches import NODES, Centres, centres, crop, window
from gra2seq.sketch.strokes import Sketch
from gra2seq.whole import whole_file

Flags = NDArray[np.bool_]
Hole = tuple[float, float, float, float]  # left, top, width, height in the sketch's own units


@dataclass(frozen=True)
class Damaged:
    """What is left of a sketch: the canvas, its nodes, and which of them are masked."""

    canvas: Pixels  # padded
    views: Pixels  # (1 + n, patch, patch): the whole view, then the patches
    centres: Centres  # (n, 2)
    masked: Flags  # (n,)


def wipe(pixels: Pixels, at: Centres, canvas: Canvas) -> None:
    """Remove the patches around the centres from the canvas, in place."""
    for centre in at:
        pixels[window(centre, canvas)] = 0


def wipe_then_crop(pixels: Pixels, at: Centres, masked: Flags, canvas: Canvas, into: Pixels) -> None:
    """(a) The paper's: all chosen patches are wiped, then all are cropped, so nothing leaks through overlaps."""
    wipe(pixels, at[masked], canvas)
    crop(pixels, at, canvas, into)


def crop_by_turns(pixels: Pixels, at: Centres, masked: Flags, canvas: Canvas, into: Pixels) -> None:
    """(b) SketchHealer's: cropping and wiping by turns in drawing order, so what is cropped early sees too much."""
    for number, centre in enumerate(at):
        if masked[number]:
            pixels[window(centre, canvas)] = 0
        into[number] = pixels[window(centre, canvas)]


MASKING: dict[str, Callable[[Pixels, Centres, Flags, Canvas, Pixels], None]] = {
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
    """Draw a sketch, damage it, and cut it into its whole view and patches.

    `draws` are the random numbers of the centres; `holes` are rectangles rubbed out, no more than they are;
    a patch whose centre lies in one is masked. `into` is memory for (1 + nodes) views to reuse.
    """
    walk = pen_walk(sketch, canvas)
    pixels = draw(walk)
    at = centres(walk, nodes)
    masked = np.zeros(len(at), bool)
    if draws is not None and probability > 0:
        masked |= draws[: len(at)] < probability
    in_hole = np.zeros(len(at), bool)
    for box in holes:
        left, top, right, bottom = _on_canvas(box, sketch, canvas)
        pixels[top:bottom, left:right] = 0
        in_hole |= (at[:, 0] >= left) & (at[:, 0] < right) & (at[:, 1] >= top) & (at[:, 1] < bottom)
    views = np.empty((1 + len(at), canvas.patch, canvas.patch), np.uint8) if into is None else into[: 1 + len(at)]
    if approach not in MASKING:
        raise UserError(f"unknown masking {approach!r}: one of {', '.join(MASKING)}")
    MASKING[approach](pixels, at, masked, canvas, views[1:])
    views[0] = whole_view(pixels, canvas)
    return Damaged(pixels, views, at, masked | in_hole)


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
    damaged = look(sketch, canvas, draws, probability)
    return lattice_points(damaged.views[0])


# The paper's letters for the four: (a) and (b) damage patches, (c) and (d) SketchLattice's points.
APPROACHES = {"a": "wipe-then-crop", "b": "crop-by-turns", "c": "drop-points", "d": "wipe-then-lattice"}


@dataclass(frozen=True)
class Draws:
    """Random numbers for the centres of every sketch of a benchmark, stored so that two runs see the same damage."""

    numbers: NDArray[np.float32]  # (sketches, nodes)
    seed: int

    @staticmethod
    def make(sketches: int, seed: int, nodes: int = NODES) -> Draws:
        numbers = np.random.Generator(np.random.PCG64(seed)).random((sketches, nodes), dtype=np.float32)
        return Draws(numbers, seed)

    def save(self, path: str | Path) -> None:
        with whole_file(path) as temporary:
            save_file({"numbers": self.numbers}, temporary, {"seed": str(self.seed)})

    @staticmethod
    def load(path: str | Path) -> Draws:
        try:
            with safe_open(path, framework="numpy") as file:
                return Draws(file.get_tensor("numbers"), int(file.metadata()["seed"]))
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} does not hold mask draws ({error}): make them anew") from error
