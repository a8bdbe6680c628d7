"""A healed drawing that keeps its own lines: outside of what was lost the original's, inside of it the drawn ones.

Lines are cut exactly where they cross an edge. Where a drawn line comes out of a loss near the end of a kept one, the
two are joined.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gra2seq.sketch.masking import inside
from gra2seq.sketch.strokes import Doubles, Sketch

JOIN = 0.05  # longer sides of the original: two ends that are nearer than this are meant to be one

Piece = tuple[Doubles, bool, bool]  # (n, 2) points; whether its first and its last one are cuts


def keep_lines(original: Sketch, drawn: Sketch, boxes: Doubles) -> Sketch:
    """The original outside of the boxes (k, 4: left, top, right, bottom), in its own units, `drawn` inside of them."""
    kept = list(_pieces(original, boxes, within=False))
    taken = _joined(list(_pieces(drawn, boxes, within=True)), kept, JOIN * max(original.box[2:]))
    points = [piece for piece, _, _ in kept] + taken
    if not points:  # all is lost, and nothing was drawn there
        return drawn
    lengths = np.array([len(piece) for piece in points])
    return Sketch(np.concatenate(points).astype(np.float32), lengths, original.category, original.key)


def _pieces(sketch: Sketch, boxes: Doubles, within: bool) -> Iterator[Piece]:
    """What lies inside, or outside, of the boxes, stroke by stroke."""
    for stroke in np.split(sketch.points.astype(np.float64), np.cumsum(sketch.lengths)[:-1]):
        points = _with_crossings(stroke, boxes)
        middles = (points[:-1] + points[1:]) / 2 if len(points) > 1 else points
        wanted = inside(middles, boxes) == within
        edges = np.flatnonzero(np.diff(wanted.astype(np.int8), prepend=0, append=0))
        for start, stop in edges.reshape(-1, 2).tolist():
            yield points[start : stop + 1], start > 0, stop < len(middles)


def _with_crossings(stroke: Doubles, boxes: Doubles) -> Doubles:
    """The stroke with a point wherever it crosses an edge of a box."""
    start, way = stroke[:-1, None], np.diff(stroke, axis=0)[:, None]  # (m, 1, 2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = (boxes.reshape(-1, 2, 2)[None] - start[..., None, :]) / way[..., None, :]  # (m, k, low and high, axis)
    which, box, _, axis = np.nonzero((shares > 0) & (shares < 1))
    share = shares[(shares > 0) & (shares < 1)]
    at = stroke[which] + share[:, None] * way[which, 0]
    other = at[np.arange(len(at)), 1 - axis]  # along the edge
    on_edge = (other >= boxes[box, 1 - axis]) & (other <= boxes[box, 3 - axis])
    place = np.unique(which[on_edge] + share[on_edge])
    every = np.concatenate([np.arange(len(stroke)), place])
    order = np.argsort(every, kind="stable")
    first = np.minimum(place.astype(np.int64), len(stroke) - 2)
    crossings = stroke[first] + (place - first)[:, None] * way[first, 0] if len(place) else np.empty((0, 2))
    points: Doubles = np.concatenate([stroke, crossings])[order]
    return points


def _joined(taken: list[Piece], kept: list[Piece], reach: float) -> list[Doubles]:
    """Ends of taken pieces that were cut go to the nearest end of a kept one that was cut, if it is within reach."""
    ends = [piece[at] for piece, first, last in kept for at, is_cut in ((0, first), (-1, last)) if is_cut]
    for piece, first, last in taken if ends else ():
        for at, is_cut in ((0, first), (-1, last)):
            away = np.linalg.norm(np.array(ends) - piece[at], axis=1)
            if is_cut and away.min() < reach:
                piece[at] = ends[int(away.argmin())]
    return [piece for piece, _, _ in taken]
