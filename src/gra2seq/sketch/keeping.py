"""A healed drawing that keeps its own lines: outside of what was lost the original's, inside of it the drawn ones.

Lines are cut where they cross an edge. Where a drawn line comes out of a loss near the end of a kept one, the two are
joined.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gra2seq.sketch.masking import Flags, inside
from gra2seq.sketch.strokes import Doubles, Sketch

JOIN = 0.05  # longer sides of the original, two pens wide: ends nearer than this are taken for one

Piece = tuple[Doubles, bool, bool]  # (n, 2) points; whether its first and its last one are where it was cut


def keep_lines(original: Sketch, drawn: Sketch, boxes: Doubles) -> Sketch:
    """The original outside of the boxes (k, 4: left, top, right, bottom), in its own units, `drawn` inside of them."""
    boxes = boxes[(boxes[:, 2:] > boxes[:, :2]).all(axis=1)]
    kept = list(_pieces(original, boxes, within=False))
    taken = _joined(list(_pieces(drawn, boxes, within=True)), kept, JOIN * max(original.box[2:]))
    points = [piece for piece, _, _ in kept] + taken
    if not points:  # all is lost, and nothing was drawn there
        return drawn
    return Sketch.from_strokes(points, category=original.category, key=original.key)


def _pieces(sketch: Sketch, boxes: Doubles, within: bool) -> Iterator[Piece]:
    """What lies inside, or outside, of the boxes, stroke by stroke."""
    for stroke, touched in zip(sketch.strokes, _touched(sketch, boxes).tolist(), strict=True):
        if not touched:
            if not within:
                yield stroke.astype(np.float64), False, False
            continue
        points, crossing = _with_crossings(stroke.astype(np.float64), boxes)
        middles = (points[:-1] + points[1:]) / 2 if len(points) > 1 else points
        wanted = inside(middles, boxes) == within
        edges = np.flatnonzero(np.diff(wanted.astype(np.int8), prepend=0, append=0))
        for start, stop in edges.reshape(-1, 2).tolist():
            there = np.arange(start, min(stop + 1, len(points)))
            inner = ~crossing[there] | (there == there[0]) | (there == there[-1])  # from box to box nothing is cut
            yield points[there[inner]], start > 0, stop < len(middles)


def _touched(sketch: Sketch, boxes: Doubles) -> Flags:
    """(S,) strokes whose own box meets one of the boxes: the others stay as they are."""
    low, high = (reduce.reduceat(sketch.points, sketch.starts, axis=0) for reduce in (np.minimum, np.maximum))
    touched = np.zeros(len(low), bool)
    for box in boxes:
        touched |= ((low <= box[2:]) & (high >= box[:2])).all(axis=1)
    return touched


def _with_crossings(stroke: Doubles, boxes: Doubles) -> tuple[Doubles, Flags]:
    """The stroke with a point wherever it crosses an edge of a box, and which of its points are such."""
    if len(stroke) == 1:
        return stroke, np.zeros(1, bool)
    way = np.diff(stroke, axis=0)
    places = [np.empty(0)]
    for box in boxes.reshape(-1, 2, 2):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            shares = (box - stroke[:-1, None]) / way[:, None]  # (m, low and high, axis) of the way to each edge's line
        which, side, axis = np.nonzero((shares > 0) & (shares < 1))
        share = shares[which, side, axis]
        along = stroke[which, 1 - axis] + share * way[which, 1 - axis]  # where the edge's line is crossed
        on_edge = (along >= box[0, 1 - axis]) & (along <= box[1, 1 - axis])
        places.append((which + share)[on_edge])
    place = np.unique(np.concatenate(places))
    which = np.minimum(place.astype(np.int64), len(stroke) - 2)
    crossings = stroke[which] + (place - which)[:, None] * way[which] if len(place) else np.empty((0, 2))
    order = np.argsort(np.concatenate([np.arange(len(stroke)), place]), kind="stable")
    return np.concatenate([stroke, crossings])[order], order >= len(stroke)


def _joined(taken: list[Piece], kept: list[Piece], reach: float) -> list[Doubles]:
    """Ends of taken pieces that were cut go to the nearest end of a kept one that was cut, if it is within reach.

    No piece goes to the same end with both of its own. Only ends in the cells around are looked at.
    """
    ends = np.array([piece[at] for piece, *cut in kept for at in (0, -1) if cut[at]]).reshape(-1, 2)
    cells: dict[tuple[int, int], list[int]] = {}
    for number, cell in enumerate(_cells(ends, reach)):
        cells.setdefault(cell, []).append(number)
    for piece, *cut in taken:
        used = -1
        for at in (0, -1):
            if not cut[at]:
                continue
            [(x, y)] = _cells(piece[at : at + 1 or None], reach)
            around = [n for i in (x - 1, x, x + 1) for j in (y - 1, y, y + 1) for n in cells.get((i, j), ())]
            near = [n for n in around if n != used]
            away = np.linalg.norm(ends[near] - piece[at], axis=1)
            if len(away) and away.min() < reach:
                used = near[int(away.argmin())]
                piece[at] = ends[used]
    return [piece for piece, _, _ in taken]


def _cells(points: Doubles, width: float) -> list[tuple[int, int]]:
    """Column and row of each point in a grid of cells of this width."""
    return [(int(x), int(y)) for x, y in np.floor(points / (width or 1.0)).tolist()]
