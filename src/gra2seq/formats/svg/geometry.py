"""SVG geometry: a pen that draws lines, curves and arcs, and the polylines of what it drew.

Every segment (line, quadratic, cubic, arc) is held as a cubic Bézier curve, so that a transform is one
product and flattening one formula for a whole drawing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import MAX_POINTS_READ, Ints

Doubles = NDArray[np.float64]

ARC_SLICE = math.pi / 6  # an arc of 30 degrees differs from its cubic by 5e-8 of the radius
TINY = 1e-12  # a radius or (of the radius) a chord below this is drawn as a line
MAX_PIECES = 1000  # lines for one curve; even a curve across the whole drawing needs only about 120


@dataclass(frozen=True)
class Outline:
    """Subpaths: where each starts and how many cubics it has (0: a dot)."""

    starts: Doubles  # (S, 2)
    counts: Ints  # (S,)
    cubics: Doubles  # (N, 4, 2)

    def moved(self, matrix: Doubles) -> Outline:
        """Through a 2 x 3 affine matrix."""
        turn, shift = matrix[:, :2].T, matrix[:, 2]
        return Outline(self.starts @ turn + shift, self.counts, self.cubics @ turn + shift)

    def fills(self, box: Doubles, slack: float) -> bool:
        """Whether it is filled as an upright rectangle that covers the box, of corners (2, 2), up to `slack`.

        All lines, with those that close a subpath, run along the sides of the rectangle around them: then
        nothing divides it, and it is filled as a whole or not at all.
        """
        if not len(self.cubics):
            return False
        low, high = self.cubics.min(axis=(0, 1)), self.cubics.max(axis=(0, 1))
        if (low > box.min(axis=0) + slack).any() or (high < box.max(axis=0) - slack).any():
            return False
        drawn = self.counts > 0
        ends = self.cubics[np.cumsum(self.counts)[drawn] - 1, -1]
        closing = np.stack([self.starts[drawn], ends, ends, ends], axis=1)
        lines = np.concatenate([self.cubics, closing])  # (N + S, 4, 2)
        along = [(np.abs(lines - side) <= slack).all(axis=1) for side in (low, high)]
        return bool((along[0] | along[1]).any(axis=1).all())


def join(outlines: list[Outline]) -> Outline:
    """All subpaths, one outline after the other."""
    return Outline(
        np.concatenate([outline.starts for outline in outlines]),
        np.concatenate([outline.counts for outline in outlines]),
        np.concatenate([outline.cubics for outline in outlines]),
    )


def flatten(outline: Outline, tolerance: float) -> tuple[Doubles, Ints]:
    """Points and stroke lengths. No polyline is farther than `tolerance` from its curve.

    A chord of B over 1/n is at most max|B''| / (8 n²) away, and |B''| is at most 6 times the larger of
    |p0 - 2 p1 + p2| and |p1 - 2 p2 + p3|.
    """
    cubics = outline.cubics
    bend = np.abs(cubics[:, :-2] - 2 * cubics[:, 1:-1] + cubics[:, 2:])  # (N, 2, 2)
    bend = np.hypot(bend[..., 0], bend[..., 1]).max(axis=1)
    pieces = np.ceil(np.sqrt(0.75 * bend / max(tolerance, 1e-300))).clip(1, MAX_PIECES).astype(np.int64)
    if len(outline.starts) + int(pieces.sum()) > MAX_POINTS_READ:
        raise UserError(f"it has more than {MAX_POINTS_READ:,} points: simplify it in a drawing program")
    curve = np.repeat(np.arange(len(cubics)), pieces)
    nth = np.arange(len(curve)) - np.repeat(np.cumsum(pieces) - pieces, pieces) + 1
    t = (nth / pieces[curve])[:, None]
    a, b, c, d = (cubics[curve, corner] for corner in range(4))
    points = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
    before = np.concatenate([[0], np.cumsum(pieces)])  # points that come before each cubic
    first = before[np.cumsum(outline.counts) - outline.counts]
    last = before[np.cumsum(outline.counts)]
    return np.insert(points, first, outline.starts, axis=0), last - first + 1


class Pen:
    """Draws subpaths as SVG's path commands do; coordinates are absolute."""

    def __init__(self) -> None:
        self.x = self.y = 0.0
        self._start = (0.0, 0.0)
        self._drawing = False
        self._starts: list[tuple[float, float]] = []
        self._firsts: list[int] = []
        self._cubics: list[tuple[float, ...]] = []

    def move(self, x: float, y: float) -> None:
        self.x, self.y = self._start = x, y
        self._drawing = False

    def close(self) -> None:
        """Back to the start, if the pen is not there; a subpath that never moved is a dot."""
        self._begin()
        if (self.x, self.y) != self._start:
            self.line(*self._start)
        self._drawing = False

    def line(self, x: float, y: float) -> None:
        dx, dy = (x - self.x) / 3, (y - self.y) / 3
        self.cubic(self.x + dx, self.y + dy, x - dx, y - dy, x, y)

    def quadratic(self, x1: float, y1: float, x: float, y: float) -> None:
        self.cubic(
            self.x + (x1 - self.x) * 2 / 3, self.y + (y1 - self.y) * 2 / 3,
            x + (x1 - x) * 2 / 3, y + (y1 - y) * 2 / 3, x, y,
        )  # fmt: skip

    def cubic(self, x1: float, y1: float, x2: float, y2: float, x: float, y: float) -> None:
        self._begin()
        self._cubics.append((self.x, self.y, x1, y1, x2, y2, x, y))
        self.x, self.y = x, y

    def arc(self, rx: float, ry: float, tilt: float, large: bool, sweep: bool, x: float, y: float) -> None:
        """SVG 1.1, appendix F.6.5 and F.6.6: from two ends to a centre, then slices; `tilt` in degrees."""
        if (x, y) == (self.x, self.y):
            return
        rx, ry = abs(rx), abs(ry)
        if min(rx, ry) < TINY:
            self.line(x, y)
            return
        cos, sin = math.cos(math.radians(tilt)), math.sin(math.radians(tilt))
        dx, dy = (self.x - x) / 2, (self.y - y) / 2
        u, v = (
            (cos * dx + sin * dy) / rx,
            (cos * dy - sin * dx) / ry,
        )  # the start, where the ellipse is a circle
        half = math.hypot(u, v)  # chord; the end is at (-u, -v)
        if half < TINY:
            self.line(x, y)
            return
        if half > 1:  # too small to reach: grow
            rx, ry, u, v, half = rx * half, ry * half, u / half, v / half, 1.0
        root = math.sqrt(1 / (half * half) - 1)
        root = -root if large == sweep else root
        p, q = root * v, -root * u  # centre
        begin = math.atan2(v - q, u - p)
        turn = 2 * math.asin(half)
        turn = math.tau - turn if large else turn
        turn = turn if sweep else -turn
        cx = (self.x + x) / 2 + cos * rx * p - sin * ry * q
        cy = (self.y + y) / 2 + sin * rx * p + cos * ry * q
        slices = max(1, math.ceil(abs(turn) / ARC_SLICE - 1e-9))
        step = turn / slices
        reach = 4 / 3 * math.tan(step / 4)
        for number in range(slices):
            corners: list[float] = []
            for angle, along in ((begin + number * step, reach), (begin + (number + 1) * step, -reach)):
                c, s = math.cos(angle), math.sin(angle)
                for a, b in ((c - along * s, s + along * c), (c, s)):
                    corners += [cx + cos * rx * a - sin * ry * b, cy + sin * rx * a + cos * ry * b]
            final = (x, y) if number == slices - 1 else (corners[6], corners[7])
            self.cubic(corners[0], corners[1], corners[4], corners[5], *final)

    def ellipse(self, x: float, y: float, rx: float, ry: float) -> None:
        """Clockwise from the right; nothing if a radius is 0 (so SVG has it). One below 0 is as in `rect`."""
        rx, ry = (rx if rx >= 0 else ry), (ry if ry >= 0 else rx)
        if rx > 0 and ry > 0:
            self.move(x + rx, y)
            self.arc(rx, ry, 0, False, True, x - rx, y)
            self.arc(rx, ry, 0, False, True, x + rx, y)
            self.close()

    def rect(self, x: float, y: float, width: float, height: float, rx: float, ry: float) -> None:
        """Clockwise from the top left. A radius below 0 is one that is not given: it is as the other one."""
        if width <= 0 or height <= 0:
            return
        rx, ry = (rx if rx >= 0 else ry), (ry if ry >= 0 else rx)
        rx, ry = min(max(rx, 0.0), width / 2), min(max(ry, 0.0), height / 2)
        if rx == 0 or ry == 0:
            rx = ry = 0.0
        right, bottom = x + width, y + height
        self.move(x + rx, y)
        for begin, end in (
            ((x + rx, y), (right - rx, y)),
            ((right, y + ry), (right, bottom - ry)),
            ((right - rx, bottom), (x + rx, bottom)),
            ((x, bottom - ry), (x, y + ry)),
            ((x + rx, y), (x + rx, y)),
        ):
            self.arc(rx, ry, 0, False, True, *begin)  # nothing where the pen is there already
            if (self.x, self.y) != end:
                self.line(*end)
        self.close()

    def outline(self) -> Outline:
        firsts: Ints = np.array([*self._firsts, len(self._cubics)], np.int64)
        starts = np.array(self._starts, np.float64).reshape(-1, 2)
        return Outline(starts, firsts[1:] - firsts[:-1], np.array(self._cubics, np.float64).reshape(-1, 4, 2))

    def _begin(self) -> None:
        if not self._drawing:
            self._drawing = True
            self._start = self.x, self.y
            self._starts.append(self._start)
            self._firsts.append(len(self._cubics))
        if len(self._starts) + len(self._cubics) > MAX_POINTS_READ:
            raise UserError(f"it has more than {MAX_POINTS_READ:,} points: simplify it in a drawing program")
