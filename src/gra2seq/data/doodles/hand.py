"""A hand with a pen: it draws lines, ovals and curves the way people do, nearly right.

A drawing is made on a sheet of about 255 x 255, x to the right and y downwards; angles are in degrees, 0 to
the right and 90 downwards. Plain floats and lists: for strokes this short, calling numpy takes longer.
"""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt
from random import Random
from typing import TypeVar

import numpy as np

from gra2seq.data.doodles.curves import CHORD_ERROR, Point, smooth, sweep_steps
from gra2seq.sketch.strokes import Sketch

T = TypeVar("T")

SIDE = 255  # the longer side of a finished drawing, as in QuickDraw's simplified files
FLAT = CHORD_ERROR**2  # a point this near (squared) to the line between its neighbours is left out


class Hand:
    """One drawer at one drawing: the habits are drawn once, every stroke then varies a little."""

    def __init__(self, rng: Random) -> None:
        self.random = random = rng.random
        care = random()
        self.tremble = 0.6 + 3.2 * care * care  # how far a point strays, in units of the sheet
        self.misplace = 1.0 + 4.0 * random() ** 2  # how far a whole stroke strays
        self.miss = 0.3 + random()  # how badly closed shapes close
        self.turn = 1 if random() < 0.3 else -1  # most people draw a circle counter-clockwise
        self.backwards = 0.3 * random()  # share of strokes begun at the other end
        self.dot_style = int(random() * 4)  # tap, hook, tick, ring
        self.eye_style = max(0, int(random() * 6) - 2)  # dot, tall ring, round ring, ring with a pupil
        self.wide, self.slant = 0.82 + 0.36 * random(), (random() - 0.5) * 0.16
        self.strokes: list[list[Point]] = []
        self.parts: list[str] = []
        self.groups: list[int] = []
        self.group = 0
        self.pose()

    # Chance

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self.random()

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int((high - low + 1) * self.random())

    def maybe(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, *options: T) -> T:
        return options[int(len(options) * self.random())]

    # What the drawing as a whole does

    def then(self) -> None:
        """What follows is another part of the drawing: such parts change places, but not far."""
        self.group += 1

    def pose(self, *, mirrored: float = 0.5, tilt: float = 6.0) -> None:
        """Before the first stroke: face left with probability `mirrored`, turn by at most `tilt` degrees."""
        turn = radians((self.random() + self.random() - 1) * tilt)
        c, s = cos(turn), sin(turn)
        wide = -self.wide if self.random() < mirrored else self.wide
        self.axes = wide * c, self.slant * c - s, wide * s, self.slant * s + c

    # Strokes

    def put(self, part: str, points: list[Point]) -> None:
        """Draw a polyline with a trembling hand."""
        random = self.random
        (x0, y0), (x1, y1) = points[0], points[len(points) // 2]
        extent = abs(x1 - x0) + abs(y1 - y0)  # small things are drawn with small movements
        tremble = min(self.tremble, 0.06 * extent)
        misplace = min(self.misplace, 0.5 + 0.12 * extent)
        shift_x, shift_y = (random() - 0.5) * misplace, (random() - 0.5) * misplace
        stray_x = stray_y = 0.0
        a, b, d, e = self.axes
        stroke = []
        for x, y in points:  # the error carries over from point to point: smooth noise
            stray_x = 0.6 * stray_x + (random() - 0.5) * 2 * tremble
            stray_y = 0.6 * stray_y + (random() - 0.5) * 2 * tremble
            x += shift_x + stray_x
            y += shift_y + stray_y
            stroke.append((a * x + b * y, d * x + e * y))
        if random() < self.backwards:
            stroke.reverse()
        self.strokes.append(stroke)
        self.parts.append(part)
        self.groups.append(self.group)

    def _bowed(self, corners: list[Point]) -> list[Point]:
        """Long straight lines sag now and then: a point in the middle."""
        random = self.random
        points = corners[:1]
        for x1, y1 in corners[1:]:
            x0, y0 = points[-1]
            dx, dy = x1 - x0, y1 - y0
            length = sqrt(dx * dx + dy * dy)
            if length > 70 and random() < 0.22:
                along, bow = 0.3 + 0.4 * random(), (random() - 0.5) * 10 / length
                points.append((x0 + dx * along - dy * bow, y0 + dy * along + dx * bow))
            points.append((x1, y1))
        return points

    def line(self, part: str, *corners: Point) -> None:
        """Straight from corner to corner; the ends fall a little short or run over."""
        random = self.random
        points = list(corners)
        for end, before in ((0, 1), (-1, -2)):
            (x, y), (x0, y0) = points[end], points[before]
            over = (random() - 0.45) * 0.08
            points[end] = (x + (x - x0) * over, y + (y - y0) * over)
        self.put(part, self._bowed(points))

    def shape(self, part: str, *corners: Point) -> None:
        """A closed polygon, begun at any corner, either way round, in one stroke or in two."""
        random = self.random
        first = int(random() * len(corners)) if random() < 0.5 else 0
        points = list(corners[first:] + corners[:first])
        if random() < 0.3:
            points[1:] = points[:0:-1]
        if len(points) > 3 and random() < 0.2:
            cut = int(1 + random() * (len(points) - 1))
            self.line(part, *points[: cut + 1])
            self.line(part, *points[cut:], points[0])
            return
        (x, y), (x1, y1) = points[0], points[-1]
        over = (random() - 0.5) * 0.14 * self.miss
        points.append((x + (x - x1) * over, y + (y - y1) * over))
        self.put(part, self._bowed(points))

    def box(self, part: str, left: float, top: float, right: float, bottom: float, rounded: float = 0) -> None:
        if not rounded:
            self.shape(part, (left, top), (left, bottom), (right, bottom), (right, top))
            return
        r = rounded
        corners = [
            (left + r, top), (left, top + r), (left, bottom - r), (left + r, bottom),
            (right - r, bottom), (right, bottom - r), (right, top + r), (right - r, top),
        ]  # fmt: skip
        self.shape(part, *corners)

    def arc(
        self, part: str, x: float, y: float, rx: float, ry: float, start: float, sweep: float, lean: float = 0
    ) -> None:
        """A piece of an ellipse whose first axis leans by `lean` degrees."""
        r = max(rx, ry)
        steps = max(2, round(sweep_steps(r) * abs(sweep) / 360))
        a, step = radians(start), radians(sweep) / steps
        u, v = cos(radians(lean)), sin(radians(lean))
        points = []
        for _ in range(steps + 1):
            p, q = rx * cos(a), ry * sin(a)
            points.append((x + p * u - q * v, y + p * v + q * u))
            a += step
        self.put(part, points)

    def oval(self, part: str, x: float, y: float, rx: float, ry: float | None = None, lean: float = 0) -> None:
        """A whole ellipse: not quite round, and the ends do not quite meet."""
        random = self.random
        if ry is None:
            ry = rx * (0.88 + 0.24 * random())
        steps = sweep_steps(max(rx, ry))
        a = (-0.5 + 0.5 * (random() - 0.5)) * pi if random() < 0.75 else 2 * pi * random()
        step = self.turn * (2 * pi + (random() - 0.45) * 0.5 * self.miss) / steps
        u, v = cos(radians(lean)), sin(radians(lean))
        size, grow = 1.0, (random() - 0.5) * 0.14 * self.miss / steps
        points = []
        for _ in range(steps + 1):
            b = a + (random() - 0.5) * 0.5 * step
            p, q = size * rx * cos(b), size * ry * sin(b)
            points.append((x + p * u - q * v, y + p * v + q * u))
            a += step
            size += grow
        self.put(part, points)

    def curve(self, part: str, *through: Point) -> None:
        """Smoothly through all the points."""
        self.put(part, smooth(self._loosened(through)))

    def trace(self, part: str, *runs: tuple[Point, ...]) -> None:
        """Smooth within a run, a corner where the next run begins; a run goes on where the last one ended."""
        points: list[Point] = []
        for run in runs:
            points += smooth(self._loosened((points[-1], *run)))[1:] if points else smooth(self._loosened(run))
        self.put(part, points)

    def loop(self, part: str, *through: Point) -> None:
        """A smooth closed curve, begun anywhere, with its ends a little off."""
        first = int(self.random() * len(through)) if self.random() < 0.4 else 0
        points = list(through[first:] + through[:first])
        points = self._loosened((*points, points[0]))
        self.put(part, smooth(points, closed=True))

    def _loosened(self, points: tuple[Point, ...]) -> list[Point]:
        """The form itself varies, not only the hand: every guide point moves by a share of the distances."""
        random = self.random
        (x0, y0), (x1, y1) = points[0], points[len(points) // 2]
        loose = min(9.0, 0.08 * (abs(x1 - x0) + abs(y1 - y0)))
        return [(x + (random() - 0.5) * loose, y + (random() - 0.5) * loose) for x, y in points]

    def petal(
        self, part: str, x: float, y: float, angle: float, length: float, width: float, pointed: bool = False
    ) -> None:
        """A leaf, wing or ear: out from (x, y) at `angle` and back; `width` is half of its breadth."""
        random = self.random
        u, v = cos(radians(angle)), sin(radians(angle))
        steps = sweep_steps(0.45 * length) // 2 * 2 if pointed else sweep_steps(0.45 * length)  # even: through the tip
        side = width * self.turn
        points = []
        for number in range(steps + 1):
            t = 2 * pi * number / steps
            along = 0.5 * length * (1 - cos(t))
            across = side * (sin(0.5 * pi * (1 - cos(t))) if pointed else sin(t) * (1.25 - 0.5 * cos(t)))
            if pointed and t > pi:
                across = -across
            points.append((x + along * u - across * v, y + along * v + across * u))
        off = 0.1 * self.miss * width
        points[-1] = (points[-1][0] + (random() - 0.5) * off, points[-1][1] + (random() - 0.5) * off)
        self.put(part, points)

    def dot(self, part: str, x: float, y: float, r: float = 3.0) -> None:
        """A tap of the pen, a tiny ring, or a hook, as this drawer likes it."""
        style = self.dot_style
        if style == 0:
            self.put(part, [(x, y - r), (x + 0.4 * r, y + r)])
        elif style == 1:
            self.put(part, [(x - r, y), (x + r, y - 0.5 * r), (x - 0.5 * r, y + r)])
        elif style == 2:
            self.put(part, [(x - 0.8 * r, y - 0.3 * r), (x + 0.8 * r, y + 0.6 * r)])
        else:
            self.oval(part, x, y, r)

    def eye(self, x: float, y: float, r: float) -> None:
        """A dot, a ring, or a ring with its pupil: the same for all eyes of a drawing."""
        if self.eye_style == 0:
            self.dot("eye", x, y, max(2.5, 0.4 * r))
            return
        self.oval("eye", x, y, 0.85 * r, r if self.eye_style == 1 else None)
        if self.eye_style == 3 and r > 6:
            self.dot("pupil", x + self.between(-0.2, 0.2) * r, y + self.between(-0.2, 0.2) * r, 0.3 * r)

    def smile(self, x: float, y: float, r: float) -> None:
        self.arc("mouth", x, y - 0.5 * r, r, self.between(0.5, 1.0) * r, 160, -140)

    def zigzag(self, part: str, start: Point, end: Point, teeth: int, height: float) -> None:
        """Teeth from `start` to `end`, on the left side of the way for a positive height."""
        random = self.random
        (x0, y0), (x1, y1) = start, end
        dx, dy = (x1 - x0) / teeth, (y1 - y0) / teeth
        length = sqrt(dx * dx + dy * dy) or 1.0
        up_x, up_y = dy / length * height, -dx / length * height
        points = [start]
        for number in range(teeth):
            high = 0.7 + 0.6 * random()
            points.append((x0 + dx * (number + 0.5) + up_x * high, y0 + dy * (number + 0.5) + up_y * high))
            points.append((x0 + dx * (number + 1), y0 + dy * (number + 1)))
        self.put(part, points)

    # The end

    def finish(self, category: str, key: str) -> Sketch:
        """Order the parts and fit the drawing as QuickDraw does: whole numbers from 0, longer side 255."""
        random = self.random
        when = [group + 1.7 * random() for group in range(self.group + 1)]
        back = -1 if random() < 0.3 else 1  # right to left within a part
        groups = self.groups
        order = sorted(range(len(groups)), key=lambda number: (when[groups[number]], back * number))

        sheet = np.array([point for number in order for point in self.strokes[number]])
        sheet -= sheet.min(axis=0)
        sheet *= SIDE / sheet.max()
        sheet += 0.5
        spots = sheet.astype(np.int64).tolist()
        points: list[list[int]] = []
        lengths = []
        begin = 0
        for number in order:
            end = begin + len(self.strokes[number])
            kept = _sparse(spots[begin:end])
            begin = end
            points += kept
            lengths.append(len(kept))
        parts = tuple([self.parts[number] for number in order])
        return Sketch(np.array(points, np.float32), np.array(lengths, np.int64), category, key, parts)


def _sparse(spots: list[list[int]]) -> list[list[int]]:
    """One stroke on whole numbers, without repeated points and without points on a straight way."""
    px, py = qx, qy = spots[0]  # the last point but one, and the last
    kept = spots[:1]
    free = False  # whether the last point may go: it is not the first, and its forerunner did not go
    for spot in spots:
        x, y = spot
        if x == qx and y == qy:
            continue
        if free and 0 < qx < SIDE and 0 < qy < SIDE:  # the outermost points stay, they make the box
            dx, dy, ex, ey = x - px, y - py, qx - px, qy - py
            length, across, along = dx * dx + dy * dy, dx * ey - dy * ex, dx * ex + dy * ey
            if across * across < FLAT * length and 0 < along < length:
                kept[-1] = spot
                qx, qy = x, y
                free = False
                continue
        free = True
        kept.append(spot)
        px, py, qx, qy = qx, qy, x, y
    if len(kept) == 1:  # a tap so short that it became a single point
        kept.append([qx + 1 if qx < SIDE else qx - 1, qy])
    return kept
