"""Simplification one number at a time, to compare the fast one with."""

from __future__ import annotations

import math
from itertools import pairwise

Points = list[tuple[float, float]]


def slow_rdp(points: Points, epsilon: float) -> Points:
    """Ramer-Douglas-Peucker as the books have it."""
    if len(points) < 3:
        return points
    (x0, y0), (x1, y1) = points[0], points[-1]
    length = math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)

    def away(x: float, y: float) -> float:
        if length == 0:
            return math.hypot(x - x0, y - y0)
        return abs((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)) / length

    distances = [away(*point) for point in points[1:-1]]
    farthest = max(distances)
    if farthest <= epsilon:
        return [points[0], points[-1]]
    middle = distances.index(farthest) + 1
    return slow_rdp(points[: middle + 1], epsilon)[:-1] + slow_rdp(points[middle:], epsilon)


def slow_resample(points: Points, spacing: float) -> Points:
    """Walk along the polyline and set a point every `spacing`; the last point is always there."""
    samples, walked, due = [], 0.0, 0.0
    for (x0, y0), (x1, y1) in pairwise(points):
        length = math.hypot(x1 - x0, y1 - y0)
        while due < walked + length:
            share = (due - walked) / length
            samples.append((x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
            due += spacing
        walked += length
    return [*samples, points[-1]]


def slow_quickdraw(strokes: list[Points]) -> list[Points]:
    """Google's simplification, one number at a time, as the head of the module describes it."""
    left, top = (min(point[axis] for stroke in strokes for point in stroke) for axis in (0, 1))
    side = max(max(x - left, y - top) for stroke in strokes for x, y in stroke)
    simple = []
    for stroke in strokes:
        scaled = [((x - left) * 255 / side, (y - top) * 255 / side) for x, y in stroke]
        samples, walked, due = [], 0.0, 0.0
        for (x0, y0), (x1, y1) in pairwise(scaled):
            length = math.sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0))
            while due < walked + length:
                share = (due - walked) / length
                samples.append(((1 - share) * x0 + share * x1, (1 - share) * y0 + share * y1))
                due += 1
            walked += length
        kept = slow_rdp([*samples, scaled[-1]], 2.0)
        simple.append([(round(x), round(y)) for x, y in (kept if len(kept) > 1 else kept * 2)])
    return simple
