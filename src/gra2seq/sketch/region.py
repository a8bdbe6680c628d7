"""A region of the plane in a drawing's units, and cutting strokes at its border."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Doubles, Floats, Sketch

Flags = NDArray[np.bool_]
Box = tuple[float, float, float, float]  # x, y, width, height in the drawing's units

ON_BORDER = 1e-6  # of the largest coordinate: a point this near to the border lies on it (single precision is 1e-7)
MAX_PASSES = 30  # of cutting: each one leaves few ends beyond the border
PAIRS = 1 << 20  # of segments and edges that are intersected at a time, which bounds the memory


def no_boxes() -> Doubles:
    return np.empty((0, 4))


@dataclass(frozen=True, eq=False)
class Region:
    """The union of boxes and polygons. An empty region contains nothing.

    >>> import gra2seq
    >>> hole = gra2seq.Region.of_boxes([(0, 0, 10, 5)]) | gra2seq.Region.of_polygons([[(20, 0), (30, 0), (30, 20)]])
    >>> hole.bounds
    (0.0, 0.0, 30.0, 20.0)
    """

    boxes: Doubles = field(default_factory=no_boxes)  # (k, 4) left, top, right, bottom
    polygons: tuple[Doubles, ...] = ()  # (n, 2) each, closed, even-odd

    @staticmethod
    def of_boxes(boxes: Sequence[Box]) -> Region:
        """From boxes (x, y, width, height)."""
        for box in boxes:
            if len(box) != 4 or not np.isfinite(box).all() or box[2] <= 0 or box[3] <= 0:
                raise UserError(f"hole {tuple(box)} needs a finite place and a positive size: x,y,width,height")
        corners = np.array([[x, y, x + width, y + height] for x, y, width, height in boxes])
        return Region(corners.reshape(-1, 4))

    @staticmethod
    def of_polygons(polygons: Sequence[ArrayLike]) -> Region:
        """From polygons of three or more points (x, y)."""
        rings = [np.asarray(polygon, np.float64) for polygon in polygons]
        for ring in rings:
            if ring.ndim != 2 or ring.shape[1] != 2 or len(ring) < 3 or not np.isfinite(ring).all():
                raise UserError(f"a region needs polygons of three or more finite points (x, y), got {ring.shape}")
        return Region(polygons=tuple(rings))

    def __bool__(self) -> bool:
        return len(self.boxes) > 0 or len(self.polygons) > 0

    def __or__(self, other: Region) -> Region:
        return Region(np.concatenate([self.boxes, other.boxes]), self.polygons + other.polygons)

    @cached_property
    def rings(self) -> tuple[Doubles, ...]:
        """Boxes and polygons alike as closed polygons."""
        left, top, right, bottom = self.boxes.T
        corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
        return (*corners, *self.polygons)

    @cached_property
    def edges(self) -> tuple[Doubles, Doubles]:
        """(e, 2) first and second point of every edge of every ring."""
        if not self:
            return np.empty((0, 2)), np.empty((0, 2))
        return np.concatenate(self.rings), np.concatenate([np.roll(ring, -1, axis=0) for ring in self.rings])

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """left, top, right, bottom of all of it; the region must not be empty."""
        points = np.concatenate(self.rings)
        (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
        return float(left), float(top), float(right), float(bottom)

    @cached_property
    def tolerance(self) -> float:
        """Distance below which a point counts as lying on the border."""
        return ON_BORDER * float(np.abs(np.concatenate(self.rings)).max()) if self else 0.0

    def contains(self, points: Doubles) -> Flags:
        """(m, 2) -> (m,) points inside, by the even-odd rule in each ring."""
        within = inside(points, self.boxes)
        for ring in self.polygons:
            following = np.roll(ring, -1, axis=0)
            rise = following[:, 1] - ring[:, 1]
            slope = (following[:, 0] - ring[:, 0]) / np.where(rise == 0, 1, rise)
            for start in range(0, len(points), max(PAIRS // len(ring), 1)):
                part = slice(start, start + max(PAIRS // len(ring), 1))
                x, y = points[part, :1], points[part, 1:]
                spans = (ring[:, 1] > y) != (following[:, 1] > y)
                crossed = spans & (x < ring[:, 0] + (y - ring[:, 1]) * slope)
                within[part] |= crossed.sum(axis=1) % 2 == 1
        return within

    def distance(self, points: Doubles) -> Doubles:
        """(m, 2) -> (m,) distance to the border, inside as outside; infinite for an empty region."""
        if not self:
            return np.full(len(points), np.inf)
        start, stop = self.edges
        way = stop - start
        offset = points[:, None] - start  # (m, e, 2)
        share = (offset * way).sum(axis=-1) / np.maximum((way * way).sum(axis=-1), 1e-300)
        nearest = offset - share.clip(0, 1)[..., None] * way
        distances: Doubles = np.sqrt((nearest * nearest).sum(axis=-1).min(axis=1))
        return distances

    def moved(self, middle: Doubles, scale: float, target: float = 0.0) -> Region:
        """The same region in units in which `middle` is at (target, target) and lengths are `scale` times as large."""

        def move(points: Doubles) -> Doubles:
            return (points - middle) * scale + target

        return Region(
            move(self.boxes.reshape(-1, 2)).reshape(-1, 4),
            tuple(move(ring) for ring in self.polygons),
        )

    def paint(self, pixels: NDArray[np.uint8], value: int) -> None:
        """Set all pixels inside to `value`; the region is in pixels, in columns and rows."""
        limit = np.array(pixels.shape[::-1] * 2)
        for left, top, right, bottom in np.rint(self.boxes).clip(0, limit).astype(np.int64).tolist():
            pixels[top:bottom, left:right] = value
        if not self.polygons:
            return
        # OpenCV also paints the first column where a polygon lies left of it: one more column takes that.
        mask = np.zeros((pixels.shape[0], pixels.shape[1] + 1), np.uint8)
        for ring in self.polygons:
            corners = np.rint(ring.clip(-limit[0], 2 * limit[0])).astype(np.int32) + np.array([1, 0], np.int32)
            cv2.fillPoly(mask, [corners], 1, lineType=cv2.LINE_8)
        pixels[mask[:, 1:] > 0] = value


def inside(points: NDArray[np.floating] | NDArray[np.integer], boxes: NDArray[np.floating]) -> Flags:
    """(m, 2) -> (m,) which of the points lie in one of the boxes (k, 4): left, top, right, bottom."""
    x, y = points[:, None, 0], points[:, None, 1]
    left, top, right, bottom = boxes.T
    within: Flags = ((x >= left) & (x < right) & (y >= top) & (y < bottom)).any(axis=1)
    return within


@dataclass(frozen=True)
class Piece:
    """A part of a stroke on one side of a region's border."""

    points: Floats  # (n, 2)
    stroke: int  # number of the stroke it comes from
    cut_start: bool  # whether it begins, and ends, where the stroke was cut
    cut_end: bool


def pieces(sketch: Sketch, region: Region, *, within: bool = False) -> Iterator[Piece]:
    """The parts of the strokes outside of a region, or `within` it, in drawing order, cut exactly at its border.

    Cutting is idempotent: pieces that are cut again by the same region stay as they are, to the last bit.
    """
    touched = _touched(sketch, region)
    near = np.flatnonzero(touched)
    if len(near):
        points = sketch.points[np.repeat(touched, sketch.lengths)].astype(np.float64)
        never = np.zeros(len(near), bool)
        lines = _cut(_Lines(points, sketch.lengths[near], near, never, never), region, within)
        parts = np.split(lines.points.astype(np.float32), np.cumsum(lines.lengths)[:-1])
        bounds = np.searchsorted(lines.stroke, np.arange(len(touched) + 1))
    for number, stroke in enumerate(sketch.strokes):
        if touched[number]:
            for part in range(bounds[number], bounds[number + 1]):
                yield Piece(parts[part], number, bool(lines.cut_start[part]), bool(lines.cut_end[part]))
        elif not within:
            yield Piece(stroke, number, False, False)


@dataclass(frozen=True)
class _Lines:
    """L polylines, one after the other, and what `Piece` says of each."""

    points: Doubles  # (P, 2)
    lengths: NDArray[np.int64]  # (L,)
    stroke: NDArray[np.int64]  # (L,)
    cut_start: Flags  # (L,)
    cut_end: Flags


def _cut(lines: _Lines, region: Region, within: bool) -> _Lines:
    """The parts of the lines on one side of the border.

    A new end is rounded to single precision, and may then lie a little beyond the border; of a line that runs along
    the border that is a long way. So parts are cut again until they stay as they are.
    """
    for _ in range(MAX_PASSES):
        parts = _cut_once(lines, region, within)
        settled = np.array_equal(parts.points, lines.points) and np.array_equal(parts.lengths, lines.lengths)
        if settled or len(parts.points) == 0:
            break
        lines = parts
    return parts


def _cut_once(lines: _Lines, region: Region, within: bool) -> _Lines:
    points, line, is_crossing = _with_crossings(lines.points, lines.lengths, region)
    is_first, is_last = (np.diff(line, prepend=-1) != 0), (np.diff(line, append=-1) != 0)
    drawn = ~is_last[:-1]  # segments, each from a point to the next; between two lines there is none
    wanted = np.zeros(len(points) + 1, bool)  # of the segment that leads to each point
    wanted[1:-1][drawn] = region.contains((points[:-1][drawn] + points[1:][drawn]) / 2) == within
    dot = is_first & is_last
    wanted_dot = np.zeros(len(points), bool)
    wanted_dot[dot] = region.contains(points[dot]) == within
    starts, stops = ~wanted[:-1] & wanted[1:] | wanted_dot, wanted[:-1] & ~wanted[1:] | wanted_dot
    # Where two shapes of the region overlap, their borders cross lines that are not cut there.
    kept = starts | stops | (wanted[:-1] & wanted[1:] & ~is_crossing)
    first, last = np.flatnonzero(starts), np.flatnonzero(stops)
    lengths = np.diff(np.append(np.flatnonzero(starts[kept]), int(kept.sum())))
    return _Lines(
        points[kept].astype(np.float32).astype(np.float64),
        lengths,
        lines.stroke[line[first]],
        ~is_first[first] | lines.cut_start[line[first]],
        ~is_last[last] | lines.cut_end[line[last]],
    )


def _touched(sketch: Sketch, region: Region) -> Flags:
    """(S,) strokes whose bounding box meets that of the region: the others need no cutting."""
    if not region:
        return np.zeros(len(sketch.lengths), bool)
    low, high = (reduce.reduceat(sketch.points, sketch.starts, axis=0) for reduce in (np.minimum, np.maximum))
    left, top, right, bottom = region.bounds
    meets: Flags = (low <= (right, bottom)) & (high >= (left, top))
    return np.asarray(meets.all(axis=1), bool)


def _with_crossings(
    points: Doubles, lengths: NDArray[np.int64], region: Region
) -> tuple[Doubles, NDArray[np.int64], Flags]:
    """Lines with a point wherever they cross the border: points, the line of each, and which of them are crossings."""
    line = np.repeat(np.arange(len(lengths)), lengths)
    way = np.diff(points, axis=0)
    way[line[1:] != line[:-1]] = 0  # the pen is in the air
    found = list(_crossings(points, way, region))
    segment, share = (np.concatenate([one[which] for one in found]) for which in (0, 1))
    before = np.concatenate([np.arange(len(points)), segment])  # the line's own point that each one follows, or is
    along = np.concatenate([np.zeros(len(points)), share])
    order = np.lexsort((along, before))
    every = np.concatenate([points, points[segment] + share[:, None] * way[segment]])[order]
    new = order >= len(points)
    again = np.zeros(len(order), bool)  # corners of the region, and edges that two of its shapes share
    again[1:] = new[1:] & (along[order][1:] == along[order][:-1]) & (before[order][1:] == before[order][:-1])
    return every[~again], line[before[order][~again]], new[~again]


def _crossings(points: Doubles, way: Doubles, region: Region) -> Iterator[tuple[NDArray[np.int64], Doubles]]:
    """Where segments, each of a `way` from its point, cross the border: their numbers, and the share of the way.

    Where an end of the segment lies on the edge, to the tolerance, there is nothing to cut: a line that was cut there,
    and whose end was rounded, is not cut again.
    """
    start, stop = region.edges
    border = stop - start
    slack = region.tolerance * np.hypot(border[:, 0], border[:, 1])
    rows = max(PAIRS // len(start), 1)
    for first in range(0, len(points), rows):
        part = slice(first, first + rows)
        offset = start - points[:-1][part, None]  # (m, e, 2)
        across = _cross(way[part, None], border)  # (m, e)
        from_start = _cross(offset, border)  # (m, e) distances of the segment's ends from the edge, times its length
        from_stop = across - from_start
        with np.errstate(divide="ignore", invalid="ignore"):
            along = from_start / across
            on_edge = _cross(offset, way[part, None]) / across
            crossed = (along > 0) & (along < 1) & (on_edge >= -ON_BORDER) & (on_edge <= 1 + ON_BORDER)
        crossed &= (np.abs(from_start) > slack) & (np.abs(from_stop) > slack)
        segment, edge = np.nonzero(crossed)
        yield first + segment, along[segment, edge]


def _cross(a: Doubles, b: Doubles) -> Doubles:
    product: Doubles = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def with_border_points(sketch: Sketch, region: Region) -> tuple[Sketch, Flags]:
    """The same lines with a point wherever they cross the border, and (P,) which rows are visible.

    A row is visible if the line that leads to its point lies outside of the region; at the start of a stroke, if the
    point does.
    """
    if not region:
        return sketch, np.ones(len(sketch), bool)
    points, line, _ = _with_crossings(sketch.points.astype(np.float64), sketch.lengths, region)
    before = np.concatenate([points[:1], points[:-1]])
    is_first = np.diff(line, prepend=-1) != 0
    before[is_first] = points[is_first]
    lengths = np.bincount(line, minlength=len(sketch.lengths))
    denser = Sketch(points.astype(np.float32), lengths, sketch.category, sketch.key, sketch.parts)
    return denser, ~region.contains((before + points) / 2)
