"""Bridges: curves or corners across a lost region between two open ends that face each other.

Where a line was cut by a small hole, going straight on is the best guess; two straight lines meet in a corner. Infill
decoding takes these curves in some of its samples, and lets the decoder draw all lines in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.strokes import Doubles, Ints

POINTS = 9  # of a bridge
NEIGHBOURS = 15  # nearest other ends that an end may be joined with
MAX_ENDS = 2000  # that are looked at, the first ones: the time grows with their square (drawings have tens)
TANGENT = 0.05  # longer sides of a stroke that show its direction at its end
CORNER = 1.0  # radians: a stroke that turns more at one point has its direction from before it
SHORTEST = 0.015  # longer sides: a shorter way to a corner shows no direction
STRAIGHT = (0.12, 0.003)  # longer sides: a stroke that leaves its chord over the first by at most the second is
MIN_TURN = 0.4  # radians between two straight lines that meet in a corner
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


def bridges(
    ends: Doubles, strokes: Sequence[Doubles], inside: Callable[[Doubles], NDArray[np.bool_]]
) -> dict[int, Bridge]:
    """The bridge of each open end that has one: pairs are chosen by cost, the cheapest first.

    `ends` are (E, 2) in frame units, `strokes` the stroke of each end with that end first; `inside` says which places
    (n, 2) lie in the lost region. Each end looks at the nearest others only; ends after the
    first MAX_ENDS have no bridge.
    """
    first, last = _pairs(ends)
    if not len(first):
        return {}
    out = np.array([outward(stroke) for stroke in strokes])

    def stay(points: Doubles) -> NDArray[np.bool_]:
        return np.asarray(inside(points.reshape(-1, 2)).reshape(points.shape[:2]).all(axis=1))

    points = hermite(ends[first], ends[last], out[first], out[last])
    straight = np.array([is_straight(stroke) for stroke in strokes])
    meeting, angular = corners(ends[first], ends[last], out[first], out[last])
    meeting &= straight[first] & straight[last] & stay(angular)
    points[meeting] = angular[meeting]
    within = stay(points)
    costs = _costs(points)
    chosen: dict[int, Bridge] = {}
    for pair in np.argsort(costs, kind="stable").tolist():
        one, other = int(first[pair]), int(last[pair])
        if within[pair] and one not in chosen and other not in chosen:
            chosen[one] = chosen[other] = Bridge(one, other, points[pair], float(costs[pair]))
    return chosen


def _pairs(ends: Doubles) -> tuple[Ints, Ints]:
    """Pairs of ends, the smaller number first, each once: every end with the NEIGHBOURS nearest others."""
    ends = ends[:MAX_ENDS]
    count = len(ends)
    near: list[Ints] = []
    for start in range(0, count, 256):
        apart = ends[start : start + 256, None] - ends
        squares = (apart * apart).sum(axis=-1)
        squares[np.arange(len(squares)), np.arange(start, start + len(squares))] = np.inf
        kept = min(NEIGHBOURS, count - 1)
        others = np.argsort(squares, axis=1, kind="stable")[:, :kept]
        own = np.repeat(np.arange(start, start + len(squares)), kept)
        near.append(np.stack([own, others.ravel()], axis=1))
    if not near:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    every = np.unique(np.sort(np.concatenate(near), axis=1), axis=0)
    return every[:, 0], every[:, 1]


def outward(stroke: Doubles) -> Doubles:
    """(2,) unit direction in which a stroke leaves its first point, away from itself; 0 of a dot."""
    far = np.hypot(*(stroke - stroke[0]).T)
    place = int((far >= TANGENT).argmax()) or len(stroke) - 1
    moves = np.diff(stroke[: place + 1], axis=0)
    angles = np.arctan2(moves[:, 1], moves[:, 0])
    turns = np.abs((np.diff(angles) + np.pi) % (2 * np.pi) - np.pi)
    corners = np.flatnonzero((turns >= CORNER) & (far[1:place] >= SHORTEST)) + 1
    place = int(corners[0]) if len(corners) else place
    return np.asarray((stroke[0] - stroke[place]) / max(float(far[place]), 1e-9))


def is_straight(stroke: Doubles) -> bool:
    """Whether a stroke goes straight to its first point."""
    reach, tolerance = STRAIGHT
    offset = stroke - stroke[0]
    beyond = np.hypot(*offset.T) >= reach
    if not beyond.any():
        return False
    last = int(beyond.argmax())
    way = offset[last] / np.hypot(*offset[last])
    return bool(np.abs(offset[: last + 1] @ np.array([-way[1], way[0]])).max() <= tolerance)


def corners(start: Doubles, stop: Doubles, leaving: Doubles, arriving: Doubles) -> tuple[NDArray[np.bool_], Doubles]:
    """Which lines from places (n, 2) in unit directions (n, 2) meet ahead at an angle, and the ways (n, POINTS, 2)."""
    across = leaving[:, 0] * arriving[:, 1] - leaving[:, 1] * arriving[:, 0]
    gap, slope = stop - start, np.where(np.abs(across) < 1e-9, 1.0, across)
    ahead = (gap[:, 0] * arriving[:, 1] - gap[:, 1] * arriving[:, 0]) / slope
    behind = (gap[:, 0] * leaving[:, 1] - gap[:, 1] * leaving[:, 0]) / slope
    turn = np.pi - np.arccos((leaving * arriving).sum(axis=1).clip(-1, 1))
    meeting = (np.abs(across) > 1e-9) & (ahead > 0) & (behind > 0) & (turn >= MIN_TURN)
    corner = start + np.where(meeting, ahead, 0.0)[:, None] * leaving
    half = np.linspace(0, 1, POINTS // 2 + 1)[:, None]
    there = start[:, None] + half * (corner - start)[:, None]
    back = corner[:, None] + half[1:] * (stop - corner)[:, None]
    return meeting, np.concatenate([there, back], axis=1)


def hermite(start: Doubles, stop: Doubles, leaving: Doubles, arriving: Doubles) -> Doubles:
    """(n, POINTS, 2) cubic curves between places (n, 2) that they leave in these unit directions (n, 2).

    Directions that turn evenly, as those of a circle do, give its arc.
    """
    turn = np.pi - np.arccos((leaving * arriving).sum(axis=1).clip(-1, 1))
    length = (np.hypot(*(stop - start).T) / np.cos(turn / 4) ** 2)[:, None, None]
    share = np.linspace(0, 1, POINTS)[:, None]
    rest = 1 - share
    start, stop, leaving, arriving = (part[:, None] for part in (start, stop, leaving, arriving))
    return np.asarray(
        rest**2 * (1 + 2 * share) * start
        + share * rest**2 * length * leaving
        + share**2 * (3 - 2 * share) * stop
        + share**2 * rest * length * arriving
    )


def _costs(points: Doubles) -> Doubles:
    """(n,) bending in radians and length of curves (n, POINTS, 2)."""
    moves = np.diff(points, axis=1)
    angles = np.arctan2(moves[..., 1], moves[..., 0])
    turns = np.abs((np.diff(angles, axis=1) + np.pi) % (2 * np.pi) - np.pi)
    return np.asarray(turns.sum(axis=1) + LENGTH_COST * np.hypot(*(points[:, -1] - points[:, 0]).T))
