"""Chamfer distance: how far the lines of two drawings lie apart, wherever and however large they are drawn.

Each drawing is scaled to a longer side of 1 around the origin and becomes points along its lines. A point's distance
is that to the nearest point of the other drawing; the mean over the points, averaged over both directions, is the
Chamfer distance: 0 for the same drawing, 0.01 for lines that run a hundredth of the drawing beside each other.

Of a damaged drawing only the visible strokes can be compared: `distance_to_visible`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.region import Flags
from gra2seq.sketch.strokes import Doubles, Floats, Sketch

SPACING = 1 / 64  # between two points, in longer sides: less than the thickness of the pen, 0.025
MAX_STEPS = 1024  # steps along all lines together: a scribble longer than 16 sides has a wider spacing
PAIRS = 1 << 17  # of points that are compared at a time: two squares of single precision, in a core's own cache

Cloud = tuple[Doubles, Flags]  # (n, 2) points, and (n,) whose distances count


def visible_points(damage: Damage) -> Doubles:
    """(n, 2) points along the visible strokes, in frame units."""
    return _along(damage.normalised(damage.visible.points), damage.visible)


def distance_to_visible(drawn: Sketch, damage: Damage, box: float) -> float:
    """How far a drawing, in a box of this size around the origin, is from the visible strokes it was drawn from.

    As the Chamfer distance, but the drawing stays where it is, and lines inside of the lost region do not count.
    """
    points = _along(drawn.points / np.float64(box), drawn)
    return _distance((points, ~damage.lost_normalised.contains(points)), _all(visible_points(damage)))


def chamfer(drawn: Sequence[Sketch], original: Sequence[Sketch]) -> Doubles:
    """(N,) the distance of each drawing to its original, in longer sides."""
    if len(drawn) != len(original):
        raise UserError(f"{len(drawn)} drawings for {len(original)} originals: give one for each")
    pairs = ((_all(line_points(sketch)) for sketch in pair) for pair in zip(drawn, original, strict=True))
    return np.array([_distance(*pair) for pair in pairs])


def _all(points: Doubles) -> Cloud:
    return points, np.ones(len(points), bool)


def _distance(one: Cloud, other: Cloud) -> float:
    """Mean distance of the points that count to the nearest of the other's, over both directions.

    In single precision: points lie within a few sides, and a side's ten-millionth is nothing to see.
    """
    (x, y), (other_x, other_y) = (points.T.astype(np.float32) for points, _ in (one, other))
    rows = max(PAIRS // len(other_x), 1)  # a drawing of very many dots is taken in parts
    near = np.empty(len(x), np.float32)
    near_other = np.full(len(other_x), np.inf, np.float32)
    for start in range(0, len(x), rows):
        part = slice(start, start + rows)
        squares = np.subtract.outer(x[part], other_x)
        squares *= squares
        aside = np.subtract.outer(y[part], other_y)
        aside *= aside
        squares += aside
        squares.min(axis=1, out=near[part])
        np.minimum(near_other, squares.min(axis=0), out=near_other)
    return (_mean_root(near, one[1]) + _mean_root(near_other, other[1])) / 2


def _mean_root(squares: Floats, counted: Flags) -> float:
    """0 where none counts."""
    roots = np.sqrt(squares[counted], dtype=np.float64)
    return float(roots.sum()) / max(len(roots), 1)


def dense_points(lines: Sequence[Doubles]) -> Doubles:
    """(n, 2) points along polylines, in longer sides, no farther apart than `SPACING`."""
    parts = [np.empty((0, 2))]
    for line in lines:
        move = np.diff(line, axis=0)
        counts = np.maximum(np.ceil(np.hypot(move[:, 0], move[:, 1]) / SPACING), 1).astype(np.int64)
        number = np.repeat(np.arange(len(move)), counts)
        nth = np.arange(len(number)) - (np.cumsum(counts) - counts)[number]
        parts += [line[number] + (nth * (1 / counts)[number])[:, None] * move[number], line[-1:]]
    return np.concatenate(parts)


def line_points(sketch: Sketch) -> Doubles:
    """(n, 2) points along the strokes, the scaled drawing around the origin. A drawing without extent lies on it."""
    points = sketch.points.astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max())
    return _along((points - (low + high) / 2) / (extent if extent > 0 else 1.0), sketch)


def _along(points: Doubles, sketch: Sketch) -> Doubles:
    """(n, 2) on the lines between the points of its strokes.

    Every stroke is cut into equal steps, with points at both ends, so neither its direction nor the order of the
    strokes matters; a stroke without length is one point.
    """
    move = np.diff(points, axis=0)
    size = np.hypot(move[:, 0], move[:, 1])
    size[sketch.starts[1:] - 1] = 0  # the pen is in the air
    walked = np.concatenate([[0.0], np.cumsum(size)])
    first, last = sketch.starts, sketch.starts + sketch.lengths - 1
    length = walked[last] - walked[first]
    spacing = max(SPACING, float(length.sum()) / MAX_STEPS)
    steps = np.ceil(length / spacing - 1e-6).astype(np.int64)  # rounding must not add a step
    stroke = np.repeat(np.arange(len(length)), steps + 1)
    nth = np.arange(len(stroke)) - np.repeat(np.cumsum(steps + 1) - (steps + 1), steps + 1)
    share = nth / np.maximum(steps, 1)[stroke]
    # Strokes lie one after the other on the way, a gap of 1 between them, so that ends and beginnings stay apart.
    walked += np.repeat(np.arange(len(length)), sketch.lengths)
    at = walked[first][stroke] + share * length[stroke]
    return np.column_stack([np.interp(at, walked, points[:, axis]) for axis in (0, 1)])
