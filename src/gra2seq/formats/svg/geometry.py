"""SVG geometry: outlines of lines and cubic Bézier curves, the pens that draw them, and their polylines."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import MAX_POINTS_READ, Doubles, Ints

MOVE, LINE, CUBIC = 0, 1, 3  # kinds of segments; each adds max(kind, 1) points
ARC_SLICE = math.pi / 4  # an arc of 45 degrees differs from its cubic by less than 1e-5 of the radius
TINY = 1e-12  # a radius or (of the radius) a chord below this is drawn as a line
MAX_PIECES = 1000  # lines for one curve; even a curve across the whole drawing needs only about 120
BLOCK = 1 << 14  # points worked out at a time, so that temporary arrays stay small

Point = tuple[float, float]
Points = list[Point]

TOO_MANY_POINTS = f"it has more than {MAX_POINTS_READ:,} points: simplify it in a drawing program"


@dataclass(frozen=True, eq=False, slots=True)
class Outline:
    """Subpaths: each is a MOVE, then LINEs and CUBICs; a single MOVE is a dot. Quadratics and arcs are cubics."""

    kinds: NDArray[np.uint8]  # (N,)
    points: Doubles  # (P, 2): the point of a MOVE, the end of a LINE, two controls and the end of a CUBIC


class Span(NamedTuple):
    """Where one outline lies in a longer one: its segments and its points."""

    first: int
    last: int
    first_point: int
    last_point: int


def is_covering_rectangle(kinds: bytes, points: Points, low: Point, high: Point, slack: float) -> bool:
    """Whether an outline fills an upright rectangle that covers the box from `low` to `high`, up to `slack`.

    All lines, with those that close a subpath, run along the sides of the rectangle around them: then
    nothing divides it, and it is filled as a whole or not at all.
    """
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, top, right, bottom = min(xs), min(ys), max(xs), max(ys)
    if left > low[0] + slack or top > low[1] + slack or right < high[0] - slack or bottom < high[1] - slack:
        return False
    sides = [  # those that each point lies on, as bits
        (abs(x - left) <= slack) + 2 * (abs(x - right) <= slack) + 4 * (abs(y - top) <= slack)
        + 8 * (abs(y - bottom) <= slack)
        for x, y in points
    ]  # fmt: skip
    place = start = 0
    for kind in kinds:
        if kind == MOVE:
            if place and not sides[place - 1] & sides[start]:  # the line that closes the subpath before
                return False
            start = place
        elif not sides[place - 1] & sides[place] & (15 if kind == LINE else sides[place + 1] & sides[place + 2]):
            return False
        place += max(kind, 1)
    return bool(sides[-1] & sides[start])


def flatten(outline: Outline, tolerance: float) -> tuple[Doubles, Ints]:
    """Points and stroke lengths. No polyline is farther than `tolerance` from its curve.

    A chord of B over 1/n is at most max|B''| / (8 n²) away, and |B''| is at most 6 times the larger of
    |p0 - 2 p1 + p2| and |p1 - 2 p2 + p3|.
    """
    kinds, points = outline.kinds, outline.points
    ends = np.cumsum(np.maximum(kinds, 1), dtype=np.int64) - 1
    curves = np.flatnonzero(kinds == CUBIC)
    if not len(curves):
        return points, np.diff(np.append(np.flatnonzero(kinds == MOVE), len(kinds)))
    pieces = np.ones(len(kinds), np.int64)
    for some in _split(curves, BLOCK):
        a, b, c, d = _corners(points, ends[some])
        bend = np.maximum(np.hypot(*(a - 2 * b + c).T), np.hypot(*(b - 2 * c + d).T))
        pieces[some] = np.ceil(np.sqrt(0.75 * bend / max(tolerance, 1e-300))).clip(1, MAX_PIECES)
    after = np.cumsum(pieces)  # points up to the end of each segment
    if after[-1] > MAX_POINTS_READ:
        raise UserError(TOO_MANY_POINTS)
    flat = np.empty((int(after[-1]), 2))
    flat[after - 1] = points[ends]
    bent = curves[pieces[curves] > 1]
    for some in _split(bent, BLOCK, np.cumsum(pieces[bent])):
        count = pieces[some] - 1
        each = np.repeat(np.arange(len(some)), count)
        nth = np.arange(len(each)) - np.repeat(np.cumsum(count) - count, count) + 1
        t = (nth / (count[each] + 1))[:, None]
        a, b, c, d = (corner[each] for corner in _corners(points, ends[some]))
        place = (after[some] - pieces[some])[each] + nth - 1
        flat[place] = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
    starts = after[kinds == MOVE] - 1
    return flat, np.diff(np.append(starts, len(flat)))


def _corners(points: Doubles, ends: Ints) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    return points[ends - 3], points[ends - 2], points[ends - 1], points[ends]


def _split(items: Ints, size: int, weight: Ints | None = None) -> Iterator[Ints]:
    """The items in groups of about `size`, or of about that cumulative weight."""
    if not len(items):
        return
    weight = np.arange(1, len(items) + 1) if weight is None else weight
    cuts = np.unique(np.searchsorted(weight, np.arange(size, int(weight[-1]), size)))
    for group in np.split(items, cuts):
        if len(group):
            yield group


class Pen(Protocol):
    """What draws a path: SVG's path commands with absolute coordinates. The pen is at x, y."""

    x: float
    y: float

    def move(self, x: float, y: float) -> None: ...
    def line(self, x: float, y: float) -> None: ...
    def quadratic(self, x1: float, y1: float, x: float, y: float) -> None: ...
    def cubic(self, x1: float, y1: float, x2: float, y2: float, x: float, y: float) -> None: ...
    def arc(self, rx: float, ry: float, tilt: float, large: bool, sweep: bool, x: float, y: float) -> None: ...
    def close(self) -> None: ...


class OutlinePen:
    """Draws outlines, one behind the other. A single move draws nothing; a subpath that is closed at once is a dot."""

    def __init__(self) -> None:
        self.x = self.y = 0.0
        self._start = (0.0, 0.0)
        self._drawing = False
        self._kinds = bytearray()
        self._points = array("d")
        self._taken = (0, 0)

    def move(self, x: float, y: float) -> None:
        self.x, self.y = self._start = x, y
        self._drawing = False

    def line(self, x: float, y: float) -> None:
        if not self._drawing:
            self._begin()
        self._kinds.append(LINE)
        self._points.append(x)
        self._points.append(y)
        self.x, self.y = x, y

    def quadratic(self, x1: float, y1: float, x: float, y: float) -> None:
        self.cubic(
            self.x + (x1 - self.x) * 2 / 3, self.y + (y1 - self.y) * 2 / 3,
            x + (x1 - x) * 2 / 3, y + (y1 - y) * 2 / 3, x, y,
        )  # fmt: skip

    def cubic(self, x1: float, y1: float, x2: float, y2: float, x: float, y: float) -> None:
        if not self._drawing:
            self._begin()
        self._kinds.append(CUBIC)
        self._points.extend((x1, y1, x2, y2, x, y))
        self.x, self.y = x, y

    def arc(self, rx: float, ry: float, tilt: float, large: bool, sweep: bool, x: float, y: float) -> None:
        if (x, y) == (self.x, self.y):
            return
        arc = Arc.from_ends((self.x, self.y), (rx, ry), tilt, (large, sweep), (x, y))
        if arc is None:
            self.line(x, y)
            return
        for cubic in arc.cubics():
            self.cubic(*cubic)
        self._points[-2], self._points[-1] = self.x, self.y = x, y  # without rounding errors

    def close(self) -> None:
        if not self._drawing:
            self._begin()
        if (self.x, self.y) != self._start:
            self.line(*self._start)
        self._drawing = False

    def take(self) -> Span:
        """What was drawn since the last call; the pen is as new."""
        first, first_point = self._taken
        self._taken = last, last_point = len(self._kinds), len(self._points) // 2
        self.x = self.y = 0.0
        self._drawing = False
        return Span(first, last, first_point, last_point)

    def drawn(self, span: Span) -> tuple[bytes, Points]:
        """The kinds and points of an outline."""
        first, last, first_point, last_point = span
        flat = self._points[2 * first_point : 2 * last_point]
        return bytes(self._kinds[first:last]), list(zip(flat[::2], flat[1::2], strict=True))

    def outline(self) -> Outline:
        """All that was drawn, without a copy: the pen cannot be used after it."""
        kinds = np.frombuffer(self._kinds, np.uint8)
        return Outline(kinds, np.frombuffer(self._points, np.float64).reshape(-1, 2))

    def _begin(self) -> None:
        self._drawing = True
        self._start = self.x, self.y
        self._kinds.append(MOVE)
        self._points.extend(self._start)


class Arc(NamedTuple):
    """A part of an ellipse: centre + (axes, one a column) times (cos, sin) of an angle that goes from begin by turn."""

    centre: tuple[float, float]
    radii: tuple[float, float]
    tilt: float  # degrees
    begin: float  # radians
    turn: float

    @staticmethod
    def from_ends(
        start: tuple[float, float],
        radii: tuple[float, float],
        tilt: float,
        flags: tuple[bool, bool],
        end: tuple[float, float],
    ) -> Arc | None:
        """SVG 1.1, appendix F.6.5 and F.6.6. `flags`: large, sweep. None: it is a straight line."""
        rx, ry = abs(radii[0]), abs(radii[1])
        if min(rx, ry) < TINY:
            return None
        large, sweep = flags
        cos, sin = math.cos(math.radians(tilt)), math.sin(math.radians(tilt))
        dx, dy = (start[0] - end[0]) / 2, (start[1] - end[1]) / 2
        u, v = (cos * dx + sin * dy) / rx, (cos * dy - sin * dx) / ry  # the start, where the ellipse is a circle
        half = math.hypot(u, v)  # chord; the end is at (-u, -v)
        if half < TINY:
            return None
        if half > 1:  # too small to reach: SVG scales the ellipse up
            rx, ry, u, v, half = rx * half, ry * half, u / half, v / half, 1.0
        root = math.sqrt(1 / (half * half) - 1)
        root = -root if large == sweep else root
        p, q = root * v, -root * u  # centre, where the ellipse is a circle
        turn = 2 * math.asin(half)
        turn = math.tau - turn if large else turn
        centre_x = (start[0] + end[0]) / 2 + cos * rx * p - sin * ry * q
        centre_y = (start[1] + end[1]) / 2 + sin * rx * p + cos * ry * q
        return Arc((centre_x, centre_y), (rx, ry), tilt, math.atan2(v - q, u - p), turn if sweep else -turn)

    @property
    def axes(self) -> tuple[float, float, float, float]:
        """x and y of the first axis, x and y of the second."""
        cos, sin = math.cos(math.radians(self.tilt)), math.sin(math.radians(self.tilt))
        return cos * self.radii[0], sin * self.radii[0], -sin * self.radii[1], cos * self.radii[1]

    def point(self, share: float) -> tuple[float, float]:
        """The point at this share of the turn."""
        ax, ay, bx, by = self.axes
        cos, sin = math.cos(self.begin + share * self.turn), math.sin(self.begin + share * self.turn)
        return self.centre[0] + ax * cos + bx * sin, self.centre[1] + ay * cos + by * sin

    def cubics(self) -> Iterator[tuple[float, float, float, float, float, float]]:
        """Cubic curves along the arc: two controls and the end of each."""
        (cx, cy), (ax, ay, bx, by) = self.centre, self.axes
        for c1, s1, c2, s2, c3, s3 in _unit_arc(self.begin, self.turn):
            yield (cx + ax * c1 + bx * s1, cy + ay * c1 + by * s1, cx + ax * c2 + bx * s2, cy + ay * c2 + by * s2,
                   cx + ax * c3 + bx * s3, cy + ay * c3 + by * s3)  # fmt: skip


@lru_cache(maxsize=256)  # circles and rounded corners always begin and turn by the same angles
def _unit_arc(begin: float, turn: float) -> list[tuple[float, float, float, float, float, float]]:
    """Cubic curves along an arc of the circle around 0 of radius 1: two controls and the end of each."""
    slices = max(1, math.ceil(abs(turn) / ARC_SLICE - 1e-9))
    step = turn / slices
    reach = 4 / 3 * math.tan(step / 4)
    cubics = []
    cos, sin = math.cos(begin), math.sin(begin)
    for number in range(1, slices + 1):
        first = (cos - reach * sin, sin + reach * cos)
        cos, sin = math.cos(begin + number * step), math.sin(begin + number * step)
        cubics.append((*first, cos + reach * sin, sin - reach * cos, cos, sin))
    return cubics


def draw_ellipse(pen: Pen, centre: tuple[float, float], rx: float, ry: float) -> None:
    """Clockwise from the right; nothing if a radius is 0. A radius below 0 is not given: it equals the other one."""
    x, y = centre
    rx, ry = (rx if rx >= 0 else ry), (ry if ry >= 0 else rx)
    if rx > 0 and ry > 0:
        pen.move(x + rx, y)
        pen.arc(rx, ry, 0, False, True, x - rx, y)
        pen.arc(rx, ry, 0, False, True, x + rx, y)
        pen.close()


def draw_rect(pen: Pen, box: tuple[float, float, float, float], rx: float, ry: float) -> None:
    """Clockwise from the top left; `box` is x, y, width, height. A radius below 0 equals the other one."""
    x, y, width, height = box
    if width <= 0 or height <= 0:
        return
    rx, ry = (rx if rx >= 0 else ry), (ry if ry >= 0 else rx)
    rx, ry = min(max(rx, 0.0), width / 2), min(max(ry, 0.0), height / 2)
    if rx == 0 or ry == 0:
        rx = ry = 0.0
    right, bottom = x + width, y + height
    pen.move(x + rx, y)
    for begin, end in (
        ((x + rx, y), (right - rx, y)),
        ((right, y + ry), (right, bottom - ry)),
        ((right - rx, bottom), (x + rx, bottom)),
        ((x, bottom - ry), (x, y + ry)),
        ((x + rx, y), (x + rx, y)),
    ):
        if rx:
            pen.arc(rx, ry, 0, False, True, *begin)  # nothing where the pen is there already
        if (pen.x, pen.y) != end:
            pen.line(*end)
    pen.close()
