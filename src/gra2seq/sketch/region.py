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
    """The union of boxes and polygons. An empty region contains nothing."""

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
        for ring in self.polygons:
            corners = np.rint(ring.clip(-limit[0], 2 * limit[0])).astype(np.int32)
            cv2.fillPoly(pixels, [corners], value, lineType=cv2.LINE_8)


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
    for number, stroke in enumerate(sketch.strokes):
        if touched[number]:
            yield from _cut(Piece(stroke, number, False, False), region, within)
        elif not within:
            yield Piece(stroke, number, False, False)


def _cut(whole: Piece, region: Region, within: bool, passes: int = MAX_PASSES) -> Iterator[Piece]:
    """The parts of a piece on one side of the border.

    A new end is rounded to single precision, and may then lie a little beyond the border; of a line that runs along
    the border that is a long way. So parts are cut again until they stay as they are.
    """
    points, is_crossing = _with_crossings(whole.points.astype(np.float64), region)
    middles = (points[:-1] + points[1:]) / 2 if len(points) > 1 else points
    wanted = region.contains(middles) == within
    if wanted.all():  # also where borders inside of the region are crossed
        yield whole
        return
    edges = np.flatnonzero(np.diff(wanted.astype(np.int8), prepend=0, append=0))
    for start, stop in edges.reshape(-1, 2).tolist():
        there = np.arange(start, min(stop + 1, len(points)))
        # Where two shapes of the region overlap, their borders cross lines that are not cut there.
        kept = ~is_crossing[there] | (there == there[0]) | (there == there[-1])
        cut_start, cut_end = start > 0 or whole.cut_start, stop < len(middles) or whole.cut_end
        part = Piece(points[there[kept]].astype(np.float32), whole.stroke, cut_start, cut_end)
        if passes and len(part.points) > 1:
            yield from _cut(part, region, within, passes - 1)
        else:
            yield part


def _touched(sketch: Sketch, region: Region) -> Flags:
    """(S,) strokes whose bounding box meets that of the region: the others need no cutting."""
    if not region:
        return np.zeros(len(sketch.lengths), bool)
    low, high = (reduce.reduceat(sketch.points, sketch.starts, axis=0) for reduce in (np.minimum, np.maximum))
    left, top, right, bottom = region.bounds
    meets = (low <= (right, bottom)) & (high >= (left, top))
    return np.asarray(meets.all(axis=1), np.bool_)


def _with_crossings(stroke: Doubles, region: Region) -> tuple[Doubles, Flags]:
    """The stroke with a point wherever it crosses the border, and which of its points are such crossings."""
    if len(stroke) == 1:
        return stroke, np.zeros(1, bool)
    way = np.diff(stroke, axis=0)
    place = np.unique(np.concatenate(list(_crossings(stroke, way, region))))
    segment = np.minimum(place.astype(np.int64), len(way) - 1)
    crossings = stroke[segment] + (place - segment)[:, None] * way[segment]
    order = np.argsort(np.concatenate([np.arange(len(stroke)), place]), kind="stable")
    return np.concatenate([stroke, crossings])[order], order >= len(stroke)


def _crossings(stroke: Doubles, way: Doubles, region: Region) -> Iterator[Doubles]:
    """Where segments cross the border: number of the segment plus the share of the way along it.

    Where an end of the segment lies on the edge, to the tolerance, there is nothing to cut: a line that was cut there,
    and whose end was rounded, is not cut again.
    """
    start, stop = region.edges
    border = stop - start
    slack = region.tolerance * np.hypot(border[:, 0], border[:, 1])
    rows = max(PAIRS // len(start), 1)
    for first in range(0, len(way), rows):
        part = slice(first, first + rows)
        offset = start - stroke[:-1][part, None]  # (m, e, 2)
        across = _cross(way[part, None], border)  # (m, e)
        from_start = _cross(offset, border)  # (m, e) distances of the segment's ends from the edge, times its length
        from_stop = across - from_start
        with np.errstate(divide="ignore", invalid="ignore"):
            along = from_start / across
            on_edge = _cross(offset, way[part, None]) / across
            crossed = (along > 0) & (along < 1) & (on_edge >= -ON_BORDER) & (on_edge <= 1 + ON_BORDER)
        crossed &= (np.abs(from_start) > slack) & (np.abs(from_stop) > slack)
        segment, edge = np.nonzero(crossed)
        yield first + segment + along[segment, edge]


def _cross(a: Doubles, b: Doubles) -> Doubles:
    product: Doubles = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def with_border_points(sketch: Sketch, region: Region) -> tuple[Sketch, Flags]:
    """The same lines with a point wherever they cross the border, and (P,) which rows are visible.

    A row is visible if the line that leads to its point lies outside of the region; at the start of a stroke, if the
    point does.
    """
    strokes, visible = [], []
    touched = _touched(sketch, region)
    for stroke, near in zip(sketch.strokes, touched.tolist(), strict=True):
        if not near:
            strokes.append(stroke)
            visible.append(np.ones(len(stroke), bool))
            continue
        points, _ = _with_crossings(stroke.astype(np.float64), region)
        strokes.append(points.astype(np.float32))
        visible.append(~region.contains(np.concatenate([points[:1], (points[:-1] + points[1:]) / 2])))
    lengths = np.array([len(stroke) for stroke in strokes])
    return Sketch(np.concatenate(strokes), lengths, sketch.category, sketch.key, sketch.parts), np.concatenate(visible)
