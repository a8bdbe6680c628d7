"""Where patches lie: SketchHealer's rule along the strokes."""

from __future__ import annotations

import numpy as np

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import MAX_POINTS_READ, Floats, Ints, Sketch

NODES = 20  # M of the paper: patches of a sketch, without the whole view
SEGMENTS_PER_PATCH = 4  # a centre at a stroke's first point, then after every 4th drawn segment (released code)
DENSE = 0.1  # longest segment of `densified` strokes, of the longer side: then no gap is wider than a patch of 0.4


def centre_points(sketch: Sketch) -> Floats:
    """(n, 2) patch centres in drawing order, in the sketch's units: the released code's rule.

    Each stroke has one at its first point and after every 4th segment, but none at its last point.
    """
    step = np.arange(len(sketch)) - np.repeat(sketch.starts, sketch.lengths)  # of the point within its stroke
    last = np.repeat(sketch.lengths - 1, sketch.lengths)
    points: Floats = sketch.points[(step % SEGMENTS_PER_PATCH == 0) & ((step < last) | (step == 0))]
    return points


def densified(sketch: Sketch, longest: float) -> Sketch:
    """The same lines with more points, so that no segment is longer than `longest`, in the sketch's units.

    A straight line has one segment however long it is; patches are counted by segments.
    """
    points = sketch.points.astype(np.float64)
    move = np.diff(points, axis=0)
    move[sketch.starts[1:] - 1] = 0  # the pen is in the air
    parts = np.maximum(np.ceil(np.hypot(move[:, 0], move[:, 1]) / longest - 1e-6), 1).astype(np.int64)
    if (parts == 1).all():
        return sketch
    if parts.sum() > MAX_POINTS_READ:  # counted before they are made
        raise UserError(f"the lines of the sketch need more than {MAX_POINTS_READ:,} patches: simplify it")
    segment = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(segment)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[segment]
    dense = np.concatenate([points[:-1][segment] + share[:, None] * move[segment], points[-1:]])
    extra = np.add.reduceat(
        np.append(parts - 1, 0), sketch.starts
    )  # a stroke's last point begins no segment of its own
    return Sketch(dense, sketch.lengths + extra, sketch.category, sketch.key, sketch.parts)


def evenly(count: int, most: int) -> Ints:
    """Numbers of at most `most` out of `count` things, spread evenly over them."""
    if count <= most:
        return np.arange(count)
    return np.linspace(0, count - 1, most).round().astype(np.int64)
