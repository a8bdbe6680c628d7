"""QuickDraw's simplification, point for point as Google's own.

Google describes its simplification in one paragraph
(https://github.com/googlecreativelab/quickdraw-dataset#simplified-drawing-files-ndjson) but never published the
program. The details below were found by comparison with drawings whose raw and official forms are both known
(docs/reference/quickdraw-simplification.md). Everything is computed in double precision, in this order:

1. Move: subtract the smallest x and the smallest y of the drawing.
2. Scale: multiply by 255, then divide by the longer side of the drawing. Both axes share the scale.
3. Resample: a point after every whole pixel walked along a stroke, counted from its first point. Distance carries
   over from one segment to the next. The point at share s of a segment from a to b is (1 - s) a + s b. The last
   point of the stroke is added; its other original points are dropped.
4. Ramer-Douglas-Peucker: between two kept points, keep the one farthest from the infinite line through them (from
   the point, if both coincide) if it is more than 2 px away; the first, if several are equally far. Repeat.
5. Round to whole numbers, halves to the even neighbour. Nothing is merged afterwards.
6. A stroke that is left with one point, a dot, is written as two equal points.

The formulas look interchangeable with simpler ones, and are not: on a straight segment parallel to the chord all
resampled points are equally far away, and the rounding error of the last bit decides which of them is kept. With
mathematically equal formulas one drawing in twenty differs from Google's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.strokes import Doubles, Ints, Sketch

SIDE = 255.0  # px, the longer side of a simplified drawing
SPACING = 1.0  # px between resampled points
EPSILON = 2.0  # px, the largest distance that RDP lets a dropped point have
MAX_SAMPLES = 500_000  # resampled points of a drawing (the longest of 8,878 real ones has 36,000); see `resample`
MAX_LEVELS = 100  # of RDP; drawings need about 2 log2(points), only a contrived zigzag needs more
MAX_DISTANCES = 20_000_000  # that RDP measures before it cuts runs in the middle: 40 levels of MAX_SAMPLES
MAX_RUN = 64  # points of a run from then on

DENSE = 80  # points; drawings with fewer are never thinned: the 20 patches of a model reach as far
SPARE = 2 / 3  # thinning must drop at least a third of the points (of QuickDraw's drawings it drops 0.2 or less)

Distance = Callable[[Doubles, Doubles, Doubles, Ints], Doubles]


def quickdraw_simplify(sketch: Sketch, epsilon: float = EPSILON) -> Sketch:
    """The drawing as QuickDraw would have published it: whole numbers in 0..255, top left at 0, dots as two points.

    Strokes, their order and all names stay. A sketch holds single precision, which moves a vertex in 0.5 % of the raw
    drawings (those with fractional coordinates); readers of files therefore call `quickdraw_points` on doubles.
    """
    points, lengths = quickdraw_points(sketch.points, sketch.lengths, epsilon)
    return Sketch(points.astype(np.float32), lengths, sketch.category, sketch.key, sketch.parts)


def quickdraw_points(points: NDArray[Any], lengths: Ints, epsilon: float = EPSILON) -> tuple[Doubles, Ints]:
    """Simplify strokes as Google does: points (P, 2) and points per stroke (S,) in, the same two out, fewer points.

    A drawing without extent becomes dots at (0, 0).
    """
    points = np.asarray(points, dtype=np.float64)
    points = points - points.min(axis=0)
    side = points.max()
    if side > 0:
        points = points * SIDE / side
    path = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    samples, counts = resample(points, lengths, thin=path / SPACING > MAX_SAMPLES)
    keep = rdp(samples, counts, epsilon)
    kept = _kept_per_stroke(keep, counts)
    copies = np.where(kept == 1, 2, 1)  # a dot is written twice
    return np.repeat(np.rint(samples[keep]), np.repeat(copies, kept), axis=0), kept * copies


def resample(
    points: NDArray[Any], lengths: Ints, spacing: float = SPACING, *, thin: bool = False
) -> tuple[Doubles, Ints]:
    """Points every `spacing` along each stroke from its first point on, and its last point.

    `thin` keeps only the first and the last of the new points on each segment. The distance to a line is largest at
    an end of a segment, so RDP finds the same vertices, except where points are equally far; and a long zigzag
    (100,000 segments across the canvas are 25 million points at 1 px) stays small.
    """
    points = np.asarray(points, dtype=np.float64)
    stroke = np.repeat(np.arange(len(lengths)), lengths)
    step = _steps(points, stroke)
    size = np.sqrt(step[:, 0] * step[:, 0] + step[:, 1] * step[:, 1]) / spacing
    walked = _walked(size, lengths)
    drawn = np.flatnonzero(size)
    segment, position = _whole_numbers(walked[drawn], walked[drawn + 1], thin)
    begin = drawn[segment]
    share = ((position - walked[begin]) / size[begin])[:, None]
    samples = (1 - share) * points[begin] + share * points[begin + 1]
    return _with_last_points(samples, stroke[begin], points, lengths)


def rdp(
    points: NDArray[Any], lengths: Ints, epsilon: float = EPSILON, distance: Distance | None = None
) -> NDArray[np.bool_]:
    """Ramer-Douglas-Peucker on every stroke: which points stay, a mask of (P,).

    All runs of a level are split at once, so there is no recursion, and the cost is the points times the levels.
    After `MAX_LEVELS` levels or `MAX_DISTANCES` runs are cut into short ones, and those in the middle: a few points
    more than needed may stay, but time is bounded.
    """
    points = np.asarray(points, dtype=np.float64)
    distance = distance or line_distance
    keep = np.zeros(len(points), np.bool_)
    low = _starts(lengths)
    high = low + lengths - 1
    keep[low] = keep[high] = True
    level = measured = 0
    exact = True
    while True:
        open_ = high - low > 1
        low, high = low[open_], high[open_]
        if len(low) == 0:
            return keep
        inside = high - low - 1
        measured += int(inside.sum())
        if exact and (level >= MAX_LEVELS or measured > MAX_DISTANCES):
            exact = False
            low, high = _short_runs(low, high)
            keep[low] = True
            continue
        offset = np.cumsum(inside) - inside
        run = np.repeat(np.arange(len(low)), inside)
        index = np.arange(len(run)) + (low + 1 - offset)[run]
        away = distance(points[index], points[low], points[high], run)
        farthest = np.maximum.reduceat(away, offset)
        split_runs = farthest > epsilon
        if exact:
            ties = np.flatnonzero(away == farthest[run])
            middle = index[ties[np.diff(run[ties], prepend=-1) > 0]]  # the first of several
        else:
            middle = (low + high) // 2
        low, high, middle = low[split_runs], high[split_runs], middle[split_runs]
        keep[middle] = True
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        level += 1


def _short_runs(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Runs of points cut into such of at most `MAX_RUN`, of nearly equal length."""
    cuts = -(-(high - low) // MAX_RUN)
    run = np.repeat(np.arange(len(low)), cuts)
    nth = np.arange(len(run)) - (np.cumsum(cuts) - cuts)[run]
    length, cuts = (high - low)[run], cuts[run]
    return low[run] + nth * length // cuts, low[run] + (nth + 1) * length // cuts


def rdp_sketch(sketch: Sketch, epsilon: float) -> Sketch:
    """The drawing with the points that Ramer-Douglas-Peucker leaves; ends of strokes stay exactly."""
    keep = rdp(sketch.points, sketch.lengths, epsilon)
    lengths = np.add.reduceat(keep, sketch.starts).astype(np.int64)
    return Sketch(sketch.points[keep], lengths, sketch.category, sketch.key)


def line_distance(points: Doubles, begin: Doubles, end: Doubles, run: Ints) -> Doubles:
    """From each point to the line begin-end of its run: cross product over length; to `begin` if both coincide."""
    way = end - begin
    size = np.sqrt(way[:, 0] * way[:, 0] + way[:, 1] * way[:, 1])[run]
    offset = points - begin[run]
    across = np.abs(offset[:, 0] * way[run, 1] - offset[:, 1] * way[run, 0])
    return np.where(size > 0, across / np.where(size > 0, size, 1), np.hypot(offset[:, 0], offset[:, 1]))


def thinned(sketch: Sketch, step: float, side: float) -> Sketch:
    """For models: the drawing with fewer points, if they are closer than `step` px on average and many can go.

    `side` is the longer side of the frame, which spans 255 px. A pen or a mouse reports many times as many points as a
    drawing of QuickDraw has, and patches are centred on every fourth: those of a model trained on sparse points would
    all lie at the beginning of such a drawing.
    """
    if len(sketch) <= DENSE:
        return sketch
    moves = np.linalg.norm(np.diff(sketch.points.astype(np.float64), axis=0), axis=1)
    drawn = np.delete(moves, np.cumsum(sketch.lengths)[:-1] - 1)
    if side == 0 or len(drawn) == 0 or drawn.mean() * SIDE / side >= step:
        return sketch
    simple = simplify_in_place(sketch)
    return simple if len(simple) < SPARE * len(sketch) else sketch


def simplify_in_place(sketch: Sketch) -> Sketch:
    """As few points as `quickdraw_simplify` leaves, but where the drawing lies and in its own units."""
    left, top, width, height = sketch.box
    simple = quickdraw_simplify(sketch)
    return simple.with_points(simple.points * (max(width, height) / SIDE) + (left, top))


def _steps(points: Doubles, stroke: Ints) -> Doubles:
    """From each point to the next, (P - 1, 2); zero where the pen is lifted in between."""
    step = np.diff(points, axis=0)
    step[stroke[1:] != stroke[:-1]] = 0
    return step


def _walked(size: Doubles, lengths: Ints) -> Doubles:
    """The distance walked since the start of the stroke at each point, (P,).

    Each stroke is summed from zero: the difference of two sums over the whole drawing would have other last bits.
    """
    walked = np.concatenate([[0.0], size])
    for start, count in zip(_starts(lengths).tolist(), lengths.tolist(), strict=True):
        if count > 2:
            walked[start : start + count] = np.cumsum(walked[start : start + count])
    return walked


def _whole_numbers(begin: Doubles, end: Doubles, thin: bool) -> tuple[Ints, Doubles]:
    """All whole numbers in [begin, end) of each segment, or with `thin` the first and the last: segment, number."""
    first = np.ceil(begin)
    count = np.maximum(np.ceil(end) - first, 0).astype(np.int64)
    taken = np.minimum(count, 2) if thin else count
    segment = np.repeat(np.arange(len(begin)), taken)
    nth = np.arange(len(segment)) - np.repeat(np.cumsum(taken) - taken, taken)
    if thin:
        nth = np.where(nth == 1, count[segment] - 1, nth)
    return segment, first[segment] + nth


def _with_last_points(samples: Doubles, stroke: Ints, points: Doubles, lengths: Ints) -> tuple[Doubles, Ints]:
    """The samples of each stroke followed by its last point, and how many that makes."""
    per_stroke = np.bincount(stroke, minlength=len(lengths)).astype(np.int64)
    last = _starts(lengths) + lengths - 1
    return np.insert(samples, np.cumsum(per_stroke), points[last], axis=0), per_stroke + 1


def _kept_per_stroke(keep: NDArray[np.bool_], lengths: Ints) -> Ints:
    return np.add.reduceat(keep.astype(np.int64), _starts(lengths))


def _starts(lengths: Ints) -> Ints:
    return np.cumsum(lengths) - lengths
