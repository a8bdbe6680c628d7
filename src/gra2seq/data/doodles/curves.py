"""Curves of doodles, with about as many points as QuickDraw's simplification (RDP, epsilon 2) leaves."""

from __future__ import annotations

from math import ceil, cos, pi, radians, sin, sqrt

Point = tuple[float, float]

CHORD_ERROR = 2.0  # how far a chord may leave its curve, in units of a side of 255: QuickDraw's RDP epsilon


def sweep_steps(r: float) -> int:
    """Chords for a circle of radius r: a chord over the angle 2a leaves it by r (1 - cos a), about r a² / 2;
    a chord may also cut through the noise from both sides, so a little fewer will do."""
    return min(22, max(4, round(pi * sqrt(0.35 * r / CHORD_ERROR))))


def smooth(guide: list[Point], closed: bool = False) -> list[Point]:
    """A Catmull-Rom curve through the guide points, each piece cut as finely as its bend needs."""
    last = len(guide) - 1
    if last == 1:
        return guide
    points = [guide[0]]
    for number in range(last):
        x1, y1 = guide[number]
        x2, y2 = guide[number + 1]
        x0, y0 = guide[number - 1] if number else (guide[last - 1] if closed else (x1, y1))
        x3, y3 = guide[number + 2] if number + 1 < last else (guide[1] if closed else (x2, y2))
        ax, ay, bx, by = x1 + (x2 - x0) / 6, y1 + (y2 - y0) / 6, x2 - (x3 - x1) / 6, y2 - (y3 - y1) / 6
        bend = max(abs(x1 - 2 * ax + bx) + abs(y1 - 2 * ay + by), abs(ax - 2 * bx + x2) + abs(ay - 2 * by + y2))
        steps = ceil(sqrt(0.34 * bend / CHORD_ERROR))  # Wang's bound has 0.75, but guide points lie on the bends
        for step in range(1, steps):
            t = step / steps
            r = 1 - t
            k1, k2, k3, k4 = r * r * r, 3 * r * r * t, 3 * r * t * t, t * t * t
            points.append((k1 * x1 + k2 * ax + k3 * bx + k4 * x2, k1 * y1 + k2 * ay + k3 * by + k4 * y2))
        points.append((x2, y2))
    return points


def rim(x: float, y: float, rx: float, ry: float, angle: float) -> Point:
    """The point of an ellipse at an angle."""
    return x + rx * cos(radians(angle)), y + ry * sin(radians(angle))


def half_height(x: float, rx: float, ry: float) -> float:
    """How high an ellipse is above its middle line at the distance x from its centre."""
    return ry * sqrt(max(0.0, 1 - (x / rx) ** 2))
