"""The distance a person sees: how far the lines of two drawings lie apart, wherever and however large they are drawn.

Each drawing is scaled to a longer side of 1 around the origin and becomes points along its lines. A point's distance
is that to the nearest point of the other drawing; the mean over the points, averaged over both directions, is the
Chamfer distance: 0 for the same drawing, 0.01 for lines that run a hundredth of the drawing beside each other.

Of a damaged drawing only what is left can be compared: `left_of` and `off_what_is_left`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from gra2seq.errors import UserError
from gra2seq.sketch.masking import Damage, Flags, inside
from gra2seq.sketch.strokes import Doubles, Floats, Sketch

SPACING = 1 / 64  # between two points, in longer sides: less than the thickness of the pen, 0.025
MOST = 1024  # steps along all lines together: a scribble longer than 16 sides has a wider spacing
PAIRS = 1 << 17  # of points that are compared at a time: two squares of single precision, in a core's own cache

Cloud = tuple[Doubles, Flags]  # (n, 2) points, and (n,) whose distances count


@dataclass(frozen=True)
class Left:
    """What is left of a drawing whose longer side was 1 around the origin: points along its lines, and what is lost."""

    points: Doubles  # (n, 2)
    lost: Doubles  # (k, 4) left, top, right, bottom

    def tells_of(self, points: Doubles) -> Flags:
        """(m, 2) -> (m,) points where nothing was lost: no ink means no line there."""
        return ~inside(points, self.lost)


def left_of(sketch: Sketch, damage: Damage) -> Left:
    canvas = damage.walk.canvas
    everything = Left(line_points(sketch), (damage.boxes.astype(np.float64) - canvas.padded / 2) / canvas.side)
    return Left(everything.points[everything.tells_of(everything.points)], everything.lost)


def off_what_is_left(drawn: Sequence[Sketch], left: Sequence[Left], box: float) -> Doubles:
    """(N,) how far each drawing, in a box of this size around the origin, lies off what is left of its original.

    As the Chamfer distance, but drawings stay where they are, and lines drawn where something was lost say nothing.
    Where nothing is left it is 0.
    """
    compared = [number for number, one in enumerate(left) if len(one.points)]
    distances = np.zeros(len(drawn))

    def clouds(number: int) -> tuple[Cloud, Cloud]:
        points, goal = _along(drawn[number].points / np.float64(box), drawn[number]), left[number]
        return (points, goal.tells_of(points)), (goal.points, np.ones(len(goal.points), bool))

    distances[compared] = _apart(len(compared), (clouds(number) for number in compared))
    return distances


def chamfer(drawn: Sequence[Sketch], original: Sequence[Sketch]) -> Doubles:
    """(N,) the distance of each drawing to its original, in longer sides."""
    if len(drawn) != len(original):
        raise UserError(f"{len(drawn)} drawings for {len(original)} originals: give one for each")

    def cloud(sketch: Sketch) -> Cloud:
        points = line_points(sketch)
        return points, np.ones(len(points), bool)

    return _apart(len(drawn), ((cloud(one), cloud(other)) for one, other in zip(drawn, original, strict=True)))


def _apart(count: int, pairs: Iterable[tuple[Cloud, Cloud]]) -> Doubles:
    """(count,) of each pair, as many at a time as fit."""
    distances = np.empty(count)
    waiting: list[tuple[Cloud, Cloud]] = []
    long, wide, start = 0, 0, 0
    for number, pair in enumerate(pairs):
        longer, wider = max(long, len(pair[0][0])), max(wide, len(pair[1][0]))
        if waiting and (len(waiting) + 1) * longer * wider > PAIRS:
            distances[start:number] = _distances(waiting)
            waiting, start, longer, wider = [], number, len(pair[0][0]), len(pair[1][0])
        waiting.append(pair)
        long, wide = longer, wider
    if waiting:
        distances[start:] = _distances(waiting)
    return distances


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
    spacing = max(SPACING, float(length.sum()) / MOST)
    steps = np.ceil(length / spacing - 1e-6).astype(np.int64)  # rounding must not add a step
    stroke = np.repeat(np.arange(len(length)), steps + 1)
    nth = np.arange(len(stroke)) - np.repeat(np.cumsum(steps + 1) - (steps + 1), steps + 1)
    share = nth / np.maximum(steps, 1)[stroke]
    # Strokes lie one after the other on the way, a gap of 1 between them, so that ends and beginnings stay apart.
    walked += np.repeat(np.arange(len(length)), sketch.lengths)
    at = walked[first][stroke] + share * length[stroke]
    return np.column_stack([np.interp(at, walked, points[:, axis]) for axis in (0, 1)])


def _distances(pairs: Sequence[tuple[Cloud, Cloud]]) -> Doubles:
    """Of all pairs at once. (B,)"""
    one, one_counts = _padded([pair[0] for pair in pairs])
    other, other_counts = _padded([pair[1] for pair in pairs])
    here, there = torch.from_numpy(one).unsqueeze(-1), torch.from_numpy(other).unsqueeze(-2)
    to_other = torch.empty(one_counts.shape)
    to_one = torch.full(other_counts.shape, torch.inf)
    rows = max(PAIRS // other_counts.size, 1)  # one drawing of very many dots is taken in parts
    for start in range(0, one.shape[-1], rows):
        part = slice(start, start + rows)
        x, y = here[0, :, part] - there[0], here[1, :, part] - there[1]  # (B, rows, Q)
        squares = x.square_().addcmul_(y, y)
        to_other[:, part] = squares.amin(dim=2)
        to_one = torch.minimum(to_one, squares.amin(dim=1))
    both = [
        np.where(counts, np.sqrt(near.double().numpy()), 0).sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
        for near, counts in ((to_other, one_counts), (to_one, other_counts))
    ]
    mean: Doubles = (both[0] + both[1]) / 2
    return mean


def _padded(clouds: Sequence[Cloud]) -> tuple[Floats, Flags]:
    """(2, B, P) filled up with each cloud's first point, which changes no nearest distance; and which of them count.

    In single precision: points lie within a few sides, and a side's ten-millionth is nothing to see.
    """
    longest = max(len(points) for points, _ in clouds)
    filled = np.empty((2, len(clouds), longest), np.float32)
    counts = np.zeros((len(clouds), longest), bool)
    for number, (points, counted) in enumerate(clouds):
        filled[:, number, : len(points)], filled[:, number, len(points) :] = points.T, points[:1].T
        counts[number, : len(points)] = counted
    return filled, counts
