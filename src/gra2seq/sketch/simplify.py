"""QuickDraw's simplification: align, scale to 255, resample at 1 px, Ramer-Douglas-Peucker, round.

The recipe is Google's (https://github.com/googlecreativelab/quickdraw-dataset#simplified-drawing-files-ndjson).
All strokes of a drawing are worked on at once in whole arrays, so 100,000 points take a fraction of a second
whether they lie in one stroke or in 100,000. OpenCV's `approxPolyDP` is not used: after the splitting it
removes further vertices on almost straight lines, which RDP does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.strokes import Ints, Sketch

SIDE = 255.0  # px, the longer side of a simplified drawing
SPACING = 1.0  # px between resampled points
EPSILON = 2.0  # px, the largest distance that RDP lets a dropped point have
DENSE = 80  # points; drawings of fewer are left as they are: 20 patches reach as far
SPARE = 2 / 3  # of its points is what a drawing may keep to count as simplified (QuickDraw's keep 0.8 or more)
MAX_LEVELS = 100  # of RDP; drawings need about 2 log2(points), only a contrived zigzag needs more

Doubles = NDArray[np.float64]


def quickdraw_simplify(sketch: Sketch, epsilon: float = EPSILON) -> Sketch:
    """The drawing as QuickDraw would have published it: whole numbers in 0..255, top left at 0, few points.

    Strokes, their order and all names stay. A drawing without extent becomes dots at (0, 0).
    """
    points = sketch.points.astype(np.float64)
    points -= points.min(axis=0)
    side = points.max()
    if side > 0:
        points *= SIDE / side
    points, lengths = resample(points, sketch.lengths, SPACING, thin=True)
    keep = rdp(points, lengths, epsilon)
    lengths = np.add.reduceat(keep.astype(np.int64), _starts(lengths))
    return Sketch(np.rint(points[keep]).astype(np.float32), lengths, sketch.category, sketch.key, sketch.parts)


def simplify_in_place(sketch: Sketch) -> Sketch:
    """As few points as `quickdraw_simplify` leaves, but where the drawing lies and in its own units."""
    left, top, width, height = sketch.box
    simple = quickdraw_simplify(sketch)
    return simple.with_points(simple.points * (max(width, height) / SIDE) + (left, top))


def thinned(sketch: Sketch, step: float, side: float) -> Sketch:
    """The drawing with fewer points, if they lie closer than `step` px on average and it can do with fewer.

    `side` is the longer side of the frame that spans 255 px.

    As a pen or a mouse tells them, points are many times as many as a drawing has in QuickDraw, and patches are cut
    at every fourth: those of a model that learnt from few points would all lie at the beginning.
    """
    if len(sketch) <= DENSE:
        return sketch
    moves = np.linalg.norm(np.diff(sketch.points.astype(np.float64), axis=0), axis=1)
    drawn = np.delete(moves, np.cumsum(sketch.lengths)[:-1] - 1)
    if side == 0 or len(drawn) == 0 or drawn.mean() * SIDE / side >= step:
        return sketch
    simple = simplify_in_place(sketch)
    return simple if len(simple) < SPARE * len(sketch) else sketch


def resample(
    points: NDArray[Any], lengths: Ints, spacing: float = SPACING, *, thin: bool = False
) -> tuple[Doubles, Ints]:
    """Points every `spacing` along each stroke from its first point on, and its last point.

    `thin` leaves out those between the first and the last on one straight segment. The distance to a line is
    largest at an end of a segment, so RDP finds the same points without them, and a long zigzag
    (100,000 segments across the canvas are 25 million points at 1 px) stays small.
    """
    points = np.asarray(points, dtype=np.float64)
    stroke = np.repeat(np.arange(len(lengths)), lengths)
    step = np.diff(points, axis=0)
    step[stroke[1:] != stroke[:-1]] = 0  # the pen is in the air
    size = np.hypot(step[:, 0], step[:, 1])
    # Distance walked since the start of the stroke, in spacings, at both ends of every segment.
    walked = np.concatenate([[0.0], np.cumsum(size)]) / spacing
    walked -= walked[_starts(lengths)][stroke]
    drawn = np.flatnonzero(size)
    begin, end = walked[drawn], walked[drawn + 1]
    first = np.ceil(begin)
    count = np.maximum(np.ceil(end) - first, 0).astype(np.int64)  # whole numbers in [begin, end)
    taken = np.minimum(count, 2) if thin else count
    segment = np.repeat(np.arange(len(drawn)), taken)
    nth = np.arange(len(segment)) - np.repeat(np.cumsum(taken) - taken, taken)
    if thin:
        nth = np.where(nth == 1, count[segment] - 1, nth)
    along = (first[segment] + nth - begin[segment]) * spacing / size[drawn][segment]
    samples = points[drawn][segment] + along[:, None] * step[drawn][segment]
    per_stroke = np.bincount(stroke[drawn][segment], minlength=len(lengths)).astype(np.int64)
    last = _starts(lengths) + lengths - 1
    return np.insert(samples, np.cumsum(per_stroke), points[last], axis=0), per_stroke + 1


def rdp(points: NDArray[Any], lengths: Ints, epsilon: float = EPSILON) -> NDArray[np.bool_]:
    """Ramer-Douglas-Peucker on every stroke: which points stay, a mask of (P,).

    Of a run between two kept points the one farthest from the line through them is kept if it is more than
    `epsilon` away, and both halves are looked at again. All runs of a level are split in one go, so there is
    no recursion, and the cost is the points times the levels. After `MAX_LEVELS` runs are cut in the middle:
    then a few points more than needed may stay, but time is bounded.
    """
    points = np.asarray(points, dtype=np.float64)
    keep = np.zeros(len(points), np.bool_)
    low = _starts(lengths)
    high = low + lengths - 1
    keep[low] = keep[high] = True
    level = 0
    while True:
        open_ = high - low > 1
        low, high = low[open_], high[open_]
        if len(low) == 0:
            return keep
        inside = high - low - 1
        offset = np.cumsum(inside) - inside
        run = np.repeat(np.arange(len(low)), inside)
        index = np.arange(len(run)) + (low + 1 - offset)[run]
        away = _distance(points[index], points[low], points[high], run)
        farthest = np.maximum.reduceat(away, offset)
        split_runs = farthest > epsilon
        if level < MAX_LEVELS:
            ties = np.flatnonzero(away == farthest[run])
            middle = index[ties[np.diff(run[ties], prepend=-1) > 0]]  # the first of several
        else:
            middle = (low + high) // 2
        low, high, middle = low[split_runs], high[split_runs], middle[split_runs]
        keep[middle] = True
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        level += 1


def _distance(points: Doubles, begin: Doubles, end: Doubles, run: Ints) -> Doubles:
    """Of each point to the line begin-end of its run, or to the one point where both are the same."""
    way = end - begin
    size = np.hypot(way[:, 0], way[:, 1])
    unit = way / np.where(size > 0, size, 1)[:, None]
    offset = points - begin[run]
    across = np.abs(offset[:, 0] * unit[run, 1] - offset[:, 1] * unit[run, 0])
    return np.where(size[run] > 0, across, np.hypot(offset[:, 0], offset[:, 1]))


def _starts(lengths: Ints) -> Ints:
    return np.cumsum(lengths) - lengths
