"""Bridges: smooth curves across a lost region between two open ends that face each other.

Where a line was cut by a small hole, going straight on is the best guess. Infill decoding takes these curves in some of
its samples, and lets the decoder draw all lines in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gra2seq.sketch.strokes import Doubles

POINTS = 9  # of a bridge
TANGENT = 0.05  # longer sides of a stroke that tell its direction at its end
LENGTH_COST = 2.0  # radians of bending that one longer side of length counts as


@dataclass(frozen=True)
class Bridge:
    """A curve from one open end to another, in frame units."""

    first: int
    last: int
    points: Doubles
    cost: float  # bending in radians, and length

    def leaving(self, end: int) -> Doubles:
        """Its points, from this end to the other."""
        return self.points if end == self.first else self.points[::-1]

    def other(self, end: int) -> int:
        return self.last if end == self.first else self.first


def bridges(ends: Doubles, strokes: Sequence[Doubles], inside: Callable[[Doubles], bool]) -> dict[int, Bridge]:
    """The bridge of each open end that has one: pairs are chosen by cost, the cheapest first.

    `ends` are (E, 2) in frame units, `strokes` the stroke of each end with that end first; `inside` says whether
    points lie in the lost region.
    """
    out = [outward(stroke) for stroke in strokes]
    every = []
    for first in range(len(ends)):
        for last in range(first):
            points = hermite(ends[first], ends[last], out[first], out[last])
            if inside(points):
                every.append(Bridge(first, last, points, _cost(points)))
    chosen: dict[int, Bridge] = {}
    for bridge in sorted(every, key=lambda one: one.cost):
        if bridge.first not in chosen and bridge.last not in chosen:
            chosen[bridge.first] = chosen[bridge.last] = bridge
    return chosen


def outward(stroke: Doubles) -> Doubles:
    """(2,) unit direction in which a stroke leaves its first point, away from itself; 0 of a dot."""
    far = np.hypot(*(stroke - stroke[0]).T)
    place = int((far >= TANGENT).argmax()) or len(stroke) - 1
    return np.asarray((stroke[0] - stroke[place]) / max(float(far[place]), 1e-9))


def hermite(start: Doubles, stop: Doubles, leaving: Doubles, arriving: Doubles) -> Doubles:
    """(POINTS, 2) cubic curve that leaves both places in these unit directions."""
    length = np.hypot(*(stop - start))
    share = np.linspace(0, 1, POINTS)[:, None]
    rest = 1 - share
    return np.asarray(
        rest**2 * (1 + 2 * share) * start
        + share * rest**2 * length * leaving
        + share**2 * (3 - 2 * share) * stop
        + share**2 * rest * length * arriving
    )


def _cost(points: Doubles) -> float:
    moves = np.diff(points, axis=0)
    angles = np.arctan2(moves[:, 1], moves[:, 0])
    turns = np.abs((np.diff(angles) + np.pi) % (2 * np.pi) - np.pi)
    return float(turns.sum() + LENGTH_COST * np.hypot(*(points[-1] - points[0])))
