"""Cutting a path at the border of a region: what lies outside keeps its exact lines, curves and arcs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.svg.affine import Affine, apply
from gra2seq.formats.svg.geometry import Arc, Point
from gra2seq.formats.svg.region import SAME, Region
from gra2seq.sketch.strokes import Doubles

MAX_SEGMENTS = 100_000  # of a shape that is cut
LETTERS = {2: "L", 3: "Q", 4: "C"}  # path command by the number of control points


@dataclass(frozen=True, eq=False)
class Segment:
    """A line or Bézier curve by its control points, or an arc with its two ends."""

    points: tuple[Point, ...]
    arc: Arc | None = None

    def text(self) -> str:
        """The path command that draws it from its first point."""
        ends = " ".join(_pair(point) for point in self.points[1:])
        if self.arc is None:
            return LETTERS[len(self.points)] + ends
        large, sweep = int(abs(self.arc.turn) > math.pi), int(self.arc.turn > 0)
        rx, ry = (_number(radius) for radius in self.arc.radii)
        return f"A{rx} {ry} {_number(self.arc.tilt)} {large} {sweep} {ends}"

    def between(self, low: float, high: float) -> Segment:
        """The part between two shares."""
        if (low, high) == (0, 1):
            return self
        if self.arc is not None:
            first = self.points[0] if low == 0 else self.arc.point(low)
            last = self.points[1] if high == 1 else self.arc.point(high)
            begin, turn = self.arc.begin + low * self.arc.turn, (high - low) * self.arc.turn
            return Segment((first, last), self.arc._replace(begin=begin, turn=turn))
        points = np.array(self.points)
        if high < 1:
            points = _halves(points, high)[0]
        if low > 0:
            points = _halves(points, low / high)[1]
        kept = [(float(x), float(y)) for x, y in points]
        return Segment(tuple(kept))

    def at(self, shares: Doubles) -> Doubles:
        """Points at these shares, (n, 2)."""
        if self.arc is not None:
            return np.array([self.arc.point(share) for share in shares.tolist()])
        points = np.array(self.points)[:, None] + np.zeros((1, len(shares), 1))
        while len(points) > 1:
            points = points[:-1] + shares[:, None] * (points[1:] - points[:-1])
        return np.asarray(points[0])

    def crossings(self, matrix: Affine, region: Region) -> Doubles:
        """Shares where it meets the border of a region on the page."""
        if self.arc is None:
            return region.bezier_crossings(apply(matrix, np.array(self.points)))
        ax, ay, bx, by = self.arc.axes
        a, b, c, d, _, _ = matrix
        axes = np.array([[a, c], [b, d]]) @ np.array([[ax, bx], [ay, by]])
        return region.arc_crossings(apply(matrix, np.array(self.arc.centre)), axes, self.arc.begin, self.arc.turn)

    def bounds(self, matrix: Affine) -> tuple[float, float, float, float]:
        """A box around it on the page: left, top, right, bottom."""
        points = self.points
        if self.arc is not None:
            (x, y), reach = self.arc.centre, max(self.arc.radii)
            points = tuple((x + i * reach, y + j * reach) for i in (-1, 1) for j in (-1, 1))
        a, b, c, d, e, f = matrix
        xs, ys = [a * x + c * y + e for x, y in points], [b * x + d * y + f for x, y in points]
        return min(xs), min(ys), max(xs), max(ys)


@dataclass(eq=False)
class Subpath:
    start: Point
    segments: list[Segment] = field(default_factory=list)
    closed: bool = False

    def text(self) -> str:
        return f"M{_pair(self.start)}" + "".join(segment.text() for segment in self.segments) + "Z" * self.closed


class SegmentPen:
    """Draws exact subpaths; the line that closes one is a segment of its own if it has a length."""

    def __init__(self) -> None:
        self.x = self.y = 0.0
        self.subpaths: list[Subpath] = []
        self._start = (0.0, 0.0)
        self._drawing = False
        self._count = 0

    def move(self, x: float, y: float) -> None:
        self.x, self.y = self._start = x, y
        self._drawing = False

    def line(self, x: float, y: float) -> None:
        self._add((x, y))

    def quadratic(self, x1: float, y1: float, x: float, y: float) -> None:
        self._add((x1, y1), (x, y))

    def cubic(self, x1: float, y1: float, x2: float, y2: float, x: float, y: float) -> None:
        self._add((x1, y1), (x2, y2), (x, y))

    def arc(self, rx: float, ry: float, tilt: float, large: bool, sweep: bool, x: float, y: float) -> None:
        if (x, y) != (self.x, self.y):
            self._add((x, y), arc=Arc.from_ends((self.x, self.y), (rx, ry), tilt, (large, sweep), (x, y)))

    def close(self) -> None:
        self._begin()
        if (self.x, self.y) != self._start:
            self.line(*self._start)
        self.subpaths[-1].closed = True
        self._drawing = False

    def _add(self, *points: Point, arc: Arc | None = None) -> None:
        self._begin()
        self._count += 1
        if self._count > MAX_SEGMENTS:
            raise UserError(f"a shape of more than {MAX_SEGMENTS:,} segments is not cut: simplify it or divide it")
        self.subpaths[-1].segments.append(Segment(((self.x, self.y), *points), arc))
        self.x, self.y = points[-1]

    def _begin(self) -> None:
        if not self._drawing:
            self._drawing = True
            self._start = self.x, self.y
            self.subpaths.append(Subpath(self._start))


def cut(subpaths: Sequence[Subpath], matrix: Affine, region: Region) -> list[Subpath] | None:
    """What lies outside of a region; None if nothing lies inside."""
    kept: list[Subpath] = []
    changed = False
    for subpath in subpaths:
        pieces = _cut_one(subpath, matrix, region)
        changed |= pieces != [subpath]
        kept += pieces
    return kept if changed else None


def _cut_one(subpath: Subpath, matrix: Affine, region: Region) -> list[Subpath]:
    if not subpath.segments:
        return [] if region.contains(apply(matrix, np.array([subpath.start])))[0] else [subpath]
    pieces: list[list[Segment]] = []
    lost = joined = False  # `joined`: the next part goes on from the last piece
    begins_outside = False
    for segment in subpath.segments:
        for low, high, inside in _intervals(segment, matrix, region):
            if not pieces and not lost:
                begins_outside = not inside
            if inside:
                lost, joined = True, False
                continue
            if not joined:
                pieces.append([])
            pieces[-1].append(segment.between(low, high))
            joined = True
    if not lost:
        return [subpath]
    if subpath.closed and begins_outside and joined and len(pieces) > 1:  # through the start
        pieces[0] = pieces.pop() + pieces[0]
    return [Subpath(piece[0].points[0], piece) for piece in pieces]


def _intervals(segment: Segment, matrix: Affine, region: Region) -> Iterator[tuple[float, float, bool]]:
    """The parts of a segment that lie wholly inside or wholly outside of a region."""
    if not region.may_touch(*segment.bounds(matrix)):
        yield 0.0, 1.0, False
        return
    shares = np.unique(np.concatenate([[0.0, 1.0], segment.crossings(matrix, region)]))
    shares = shares[np.append(True, np.diff(shares) > SAME)]
    shares[-1] = 1.0
    inside = region.contains(apply(matrix, segment.at((shares[:-1] + shares[1:]) / 2)))
    changes = np.flatnonzero(np.diff(inside)) + 1
    edges = [0.0, *shares[changes].tolist(), 1.0]
    states = [bool(inside[0]), *inside[changes].tolist()]
    yield from zip(edges[:-1], edges[1:], states, strict=True)


def _halves(points: Doubles, share: float) -> tuple[Doubles, Doubles]:
    """Control points of a Bézier curve before and after a share, by de Casteljau's algorithm."""
    before, after = [points[0]], [points[-1]]
    while len(points) > 1:
        points = points[:-1] + share * (points[1:] - points[:-1])
        before.append(points[0])
        after.append(points[-1])
    return np.array(before), np.array(after[::-1])


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    """As written by hand where that is exact to 12 digits."""
    text = f"{value:.12g}"
    return "0" if text == "-0" else text
