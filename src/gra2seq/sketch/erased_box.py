"""Boxes that may have been erased from a drawing, and what speaks for each of them.

An eraser of a rectangle cuts every line exactly at its border. So the ends it leaves lie on the sides of an empty
axis-aligned box and head into it, often several on the same side, while a hand's own ends lie anywhere, and many of
them touch another line. Coordinates are in longer sides of the visible drawing, from its top left corner.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.strokes import Doubles, Floats, Ints, Sketch

Flags = NDArray[np.bool_]

ON_LINE = 1e-3  # ends nearer than this to a line lie on it: a quarter of QuickDraw's unit
MIN_SIDE, MAX_SIDE = 0.2, 0.75  # of a box
MAX_STRETCH = 1.6  # longer over shorter side of a box
MAX_STRETCH_ONE = 1.15  # where lines end on one side only: nothing else shows its extent
GRID = np.arange(-0.25, 1.2501, 0.05)  # places of sides at which no line ends
OVERLAP = 0.05  # by which a box must reach into the drawing's own box
TOUCHING = 0.012  # an end nearer than this to another line touches it
OWN_LINE = 0.08  # of its own stroke, along it, that an end does not touch
NEAR = 0.08  # of a box: ends that it might have cut, but did not
RING = 0.1  # around a box, in which ink is measured
TYPICAL_SIDE = 0.4
MAX_ENDS = 400  # a drawing with more loose ends is hatched: no box stands out
MAX_COMPARED = 40_000_000  # ends times points: two seconds; a drawing of 100 strokes has 200,000 points then
MAP_SIDE, MAP_MARGIN = 320, 0.3  # pixels of the map of the ink, and how far it reaches beyond the drawing
MAP_SLACK = 2  # pixels inside the border of an empty box that may have ink: lines are a pixel wide
MAX_TURN = 3.2  # radians that a line turns between two ends that belong together


@dataclass(frozen=True)
class Ends:
    """The E ends of a drawing's strokes."""

    points: Doubles  # (E, 2)
    heading: Doubles  # (E, 2) unit vectors in which the line would go on
    gap: Doubles  # (E,) distance to the nearest other line


class InkMap:
    """Where a drawing has ink, as a picture that answers how much of it lies in many boxes at once."""

    def __init__(self, strokes: list[Doubles]) -> None:
        self.scale = MAP_SIDE / (1 + 2 * MAP_MARGIN)
        pixels = np.zeros((MAP_SIDE, MAP_SIDE), np.uint8)
        for stroke in strokes:
            line = np.rint(((stroke + MAP_MARGIN) * self.scale - 0.5) * 16).astype(np.int32)
            cv2.polylines(pixels, [line if len(line) > 1 else np.repeat(line, 2, axis=0)], False, 1, 1, cv2.LINE_8, 4)
        self.sums = cv2.integral(pixels)

    def pixel(self, places: Doubles, inwards: int = 0) -> Ints:
        """Columns or rows of the summed map."""
        pixels: Ints = (((places + MAP_MARGIN) * self.scale).astype(np.int64) + inwards).clip(0, MAP_SIDE)
        return pixels

    def within(self, boxes: Doubles) -> Doubles:
        """(C, 4) -> (C,) length of the lines inside, about."""
        left, top, right, bottom = self.pixel(boxes).T
        sums = self.sums
        ink = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        return np.asarray(ink / self.scale, np.float64)

    def is_empty(self, across: Doubles, down: Doubles) -> Flags:
        """Intervals (X, 2) and (Y, 2) -> (Y, X) whether the box of each pair is empty but for its border."""
        left, right = self.pixel(across[:, 0], MAP_SLACK), self.pixel(across[:, 1], -MAP_SLACK)
        top, bottom = self.pixel(down[:, 0], MAP_SLACK), self.pixel(down[:, 1], -MAP_SLACK)
        rows = self.sums[bottom] - self.sums[top]
        return np.asarray(rows[:, right] == rows[:, left], bool)


@dataclass(frozen=True)
class Candidates:
    """C empty boxes at whose sides lines end."""

    boxes: Doubles  # (C, 4) left, top, right, bottom
    on_side: Flags  # (C, 4, E) ends that lie on a side, in that order, and head into the box
    ends: Ends
    ink: InkMap
    size: tuple[float, float]  # width and height of the drawing

    @cached_property
    def features(self) -> Floats:
        """(C, F) what speaks for and against each box, as `detection` weighs it."""
        columns = [*self._cuts(), *self._shape(), *self._surroundings()]
        return np.stack(columns, axis=1).astype(np.float32)

    @cached_property
    def cut(self) -> Flags:
        """(C, E) ends that each box would have cut."""
        return np.asarray(self.on_side.any(axis=1), bool)

    @cached_property
    def supported(self) -> Flags:
        """(C, 4) sides on which lines end."""
        return np.asarray(self.on_side.any(axis=2), bool)

    def _cuts(self) -> list[NDArray[np.number]]:
        """How many ends, on how many sides, whether they are loose, how steeply they enter and how they go together."""
        ends, cut, count = self.ends, self.cut, self.cut.sum(axis=1)
        on_each, some = self.on_side.sum(axis=2), np.maximum(count, 1)
        sides = self.supported.sum(axis=1)
        further = np.maximum(on_each - 1, 0).sum(axis=1)  # ends that share their side with another
        loose = (cut & (ends.gap > TOUCHING)).sum(axis=1)
        x, y = ends.heading.T
        entering = sum(on * way for on, way in zip(self.on_side.transpose(1, 0, 2), (x, y, -x, -y), strict=True))
        return [
            *(count == number for number in (1, 2, 3, 4)),
            count >= 5,
            np.minimum(count, 12),
            *(sides == number for number in (1, 2, 3, 4)),
            (on_each >= 2).sum(axis=1),
            np.minimum(further, 6),
            loose,
            count - loose,
            loose / some,
            np.where(cut, np.minimum(ends.gap, 0.1), 0).sum(axis=1) / some * 10,
            np.where(cut, entering, 0).sum(axis=1) / some,
            np.where(cut, entering, 2).min(axis=1),
            self._turning() / some,
            count % 2,
            further * np.log(1 + len(ends.points)),
        ]

    def _turning(self) -> Doubles:
        """(C,) for each cut end the angle by which a line turns on its way to the best other one, in sum."""
        ends = self.ends
        way = ends.points[None] - ends.points[:, None]  # (E, E, 2)
        length = np.hypot(way[..., 0], way[..., 1])
        along = (way * ends.heading[:, None]).sum(axis=-1) / np.maximum(length, 1e-9)
        turn = np.arccos(along.clip(-1, 1))
        turn = np.where(length > 1e-6, turn + turn.T, 9)
        total = np.zeros(len(self.boxes))
        for end in range(len(ends.points)):
            rows = np.flatnonzero(self.cut[:, end])
            total[rows] += np.where(self.cut[rows], turn[end], 9).min(axis=1, initial=9).clip(max=MAX_TURN)
        return total

    def _shape(self) -> list[NDArray[np.number]]:
        """Size and stretch of the boxes, and how they lie to the drawing's own box."""
        left, top, right, bottom = self.boxes.T
        wide, high = right - left, bottom - top
        width, height = self.size
        size, stretch = np.log(np.sqrt(wide * high) / TYPICAL_SIDE), np.log(wide / high)
        inside_x = (np.minimum(right, width) - np.maximum(left, 0)).clip(min=0) / wide
        inside_y = (np.minimum(bottom, height) - np.maximum(top, 0)).clip(min=0) / high
        outside = np.stack([left < 0, top < 0, right > width, bottom > height], axis=1)
        supported = self.supported
        sides = supported.sum(axis=1)
        guessed_inside = (~supported & ~outside).sum(axis=1)
        opposite = (supported[:, 0] & supported[:, 2]).astype(np.int64) + (supported[:, 1] & supported[:, 3])
        return [
            size,
            size**2,
            stretch**2,
            np.abs(stretch),
            inside_x,
            inside_y,
            inside_x * inside_y,
            guessed_inside,
            (~supported & outside).sum(axis=1),
            opposite,
            (sides == 2) & (opposite == 1),
            np.minimum(size, 0) ** 2 * (guessed_inside == 0),
            (sides == 4) * size**2,
            (sides == 3) * stretch**2,
        ]

    def _surroundings(self) -> list[NDArray[np.number]]:
        """Ends that the box did not cut, and the ink around it."""
        ends, cut = self.ends, self.cut
        loose = ends.gap > TOUCHING
        x, y = ends.points.T
        left, top, right, bottom = self.boxes.T[..., None]
        outside = np.maximum(np.maximum(left - x, x - right), np.maximum(top - y, y - bottom))  # (C, E)
        near = (outside < NEAR) & ~cut
        ring = self.ink.within(self.boxes + np.array([-RING, -RING, RING, RING]))
        return [
            near.sum(axis=1),
            (near & loose).sum(axis=1),
            np.minimum((~cut & loose).sum(axis=1), 12),
            ring,
            ring**2,
            np.full(len(self.boxes), min(len(ends.points), 40) / 10),
        ]


def normalised(sketch: Sketch) -> tuple[list[Doubles], tuple[float, float]]:
    """The strokes in longer sides of the drawing, from its top left corner, and its width and height."""
    left, top, width, height = sketch.box
    side = max(width, height) or 1.0
    strokes = [(stroke.astype(np.float64) - (left, top)) / side for stroke in sketch.strokes]
    return strokes, (width / side, height / side)


def candidates(sketch: Sketch) -> Candidates | None:
    """All boxes that may have been erased; None if no line ends anywhere, or far too many do."""
    count = 2 * int(np.count_nonzero(sketch.lengths > 1))  # ends, before each is compared with all lines
    if not 0 < count <= MAX_ENDS or count * len(sketch) > MAX_COMPARED:
        return None
    strokes, size = normalised(sketch)
    ends = stroke_ends(strokes)
    ink = InkMap(strokes)
    (x, y), (way_x, way_y) = ends.points.T, ends.heading.T
    across, across_known = _intervals(x[way_x > 0], x[way_x < 0], size[0])
    down, down_known = _intervals(y[way_y > 0], y[way_y < 0], size[1])
    known = down_known.sum(axis=1)[:, None] + across_known.sum(axis=1)  # (Y, X) sides at which lines end
    stretch = np.abs(np.log(np.diff(down, axis=1) / np.diff(across, axis=1).T))
    fitting = (known > 0) & (stretch < np.log(np.where(known > 1, MAX_STRETCH, MAX_STRETCH_ONE)))
    row, column = np.nonzero(fitting & ink.is_empty(across, down))
    boxes = np.stack([across[column, 0], down[row, 0], across[column, 1], down[row, 1]], axis=1)
    expected = np.stack(
        [across_known[column, 0], down_known[row, 0], across_known[column, 1], down_known[row, 1]], axis=1
    )
    on_side = _on_sides(boxes, ends)
    valid = (on_side.any(axis=2) == expected).all(axis=1)
    return Candidates(boxes[valid], on_side[valid], ends, ink, size)


def _on_sides(boxes: Doubles, ends: Ends) -> Flags:
    """(C, 4, E) which ends lie on the left, top, right and bottom side and head into the box."""
    (x, y), (way_x, way_y) = ends.points.T, ends.heading.T
    left, top, right, bottom = boxes.T[..., None]
    level = (y >= top - ON_LINE) & (y <= bottom + ON_LINE)
    upright = (x >= left - ON_LINE) & (x <= right + ON_LINE)
    return np.stack(
        [
            level & (np.abs(x - left) < ON_LINE) & (way_x > 0),
            upright & (np.abs(y - top) < ON_LINE) & (way_y > 0),
            level & (np.abs(x - right) < ON_LINE) & (way_x < 0),
            upright & (np.abs(y - bottom) < ON_LINE) & (way_y < 0),
        ],
        axis=1,
    )


def _intervals(first: Doubles, last: Doubles, extent: float) -> tuple[Doubles, Flags]:
    """(n, 2) extents of boxes along one axis, and at which of their two sides lines end; the others lie on a grid."""
    grid = GRID[extent + 0.26 > GRID]
    begins, ends = (np.concatenate([_distinct(places), grid]) for places in (first, last))
    begins_known, ends_known = len(begins) - len(grid), len(ends) - len(grid)
    width = ends - begins[:, None]
    fitting = (width > MIN_SIDE) & (width < MAX_SIDE) & (ends > OVERLAP) & (begins[:, None] < extent - OVERLAP)
    row, column = np.nonzero(fitting)
    known = np.stack([row < begins_known, column < ends_known], axis=1)
    return np.stack([begins[row], ends[column]], axis=1), known


def _distinct(places: Doubles) -> Doubles:
    """The places in order, each once."""
    places = np.sort(places)
    return places[np.diff(places, prepend=-np.inf) > ON_LINE]


def stroke_ends(strokes: list[Doubles]) -> Ends:
    """Both ends of every stroke of two or more points."""
    long = [(number, stroke) for number, stroke in enumerate(strokes) if len(stroke) > 1]
    points = np.array([place for _, stroke in long for place in (stroke[0], stroke[-1])]).reshape(-1, 2)
    before = np.array([place for _, stroke in long for place in (stroke[1], stroke[-2])]).reshape(-1, 2)
    way = points - before
    heading = way / np.maximum(np.hypot(*way.T), 1e-12)[:, None]
    return Ends(points, heading, _gaps(strokes, points, np.repeat([number for number, _ in long], 2).astype(np.int64)))


def _gaps(strokes: list[Doubles], points: Doubles, owner: Ints) -> Doubles:
    """(E,) distance of each end to the nearest line, its own stroke near that end excepted."""
    lines = [stroke if len(stroke) > 1 else np.repeat(stroke, 2, axis=0) for stroke in strokes]
    start, stop = (np.concatenate(some) for some in ([line[:-1] for line in lines], [line[1:] for line in lines]))
    stroke = np.repeat(np.arange(len(lines)), [len(line) - 1 for line in lines])
    passed = [np.append(0, np.cumsum(np.hypot(*np.diff(line, axis=0).T))) for line in lines]  # along each stroke
    from_start = np.concatenate([some[:-1] for some in passed])
    from_end = np.concatenate([some[-1] - some[1:] for some in passed])
    gaps = np.full(len(points), 9.0)
    way = stop - start
    length = np.maximum((way * way).sum(axis=1), 1e-300)
    for number, (point, own) in enumerate(zip(points, owner, strict=True)):
        offset = point - start
        share = ((offset * way).sum(axis=1) / length).clip(0, 1)
        away = np.hypot(*(offset - share[:, None] * way).T)
        along = from_end if number % 2 else from_start
        gaps[number] = away[(stroke != own) | (along >= OWN_LINE)].min(initial=9.0)
    return gaps
