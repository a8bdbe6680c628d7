"""From the skeleton of a picture to pen strokes: merge split crossings, drop spurs, join lines that run on.

Where two lines of some width cross, the skeleton has two junctions with a short bridge between them; where a line has
a rough border, it has a short side branch. Both are artefacts of thinning and are undone here. At each crossing the
line ends that continue each other with the smallest turn become one stroke, as a pen would have drawn them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gra2seq.formats.skeleton import Edge, SkeletonGraph
from gra2seq.sketch.strokes import Doubles

SPUR = 0.7  # line widths; a side branch up to this length is an artefact if it ends in a point, as no pen does
POINTED = 0.6  # of half the line width: radius of the ink up to which an end is pointed
BRIDGE = 1.0  # sum of the radii of two junctions; a bridge up to this length is part of one crossing
MIN_BRIDGE = 3.0  # px; the same for very thin lines
LOOP = 1.0  # line widths; a loop at one crossing up to this length is a rough spot: around a hole it is over three
LOOK_AHEAD = 2.5  # line widths along which the direction of a line is measured, from where it leaves the crossing
MIN_LOOK_AHEAD = 5.0  # px
MAX_TURN = math.radians(60)  # lines that turn more at a crossing are not joined
CUSP = 3.0  # line widths; where two lines meet at a sharp tip, their ink runs together over up to this length
MAX_CUSP_TURN = math.radians(50)  # between either line and the tip they share
DOT = 0.5  # line widths; a stroke up to this length is a dot


@dataclass
class _Line:
    """An edge with the crossings it runs between, and how far it is distorted at each end."""

    points: Doubles  # (n, 2)
    walked: Doubles  # (n,) distance along the line
    crossings: tuple[int, int]

    @property
    def length(self) -> float:
        return float(self.walked[-1])

    def at(self, end: int, distance: float) -> int:
        """Index of the point this far from an end (0 or 1), but never beyond the middle."""
        distance = min(distance, self.length / 2)
        if end == 0:
            return int(np.searchsorted(self.walked, distance))
        return int(np.searchsorted(self.walked, self.length - distance, side="right")) - 1

    def direction(self, end: int, skip: float, look: float) -> Doubles:
        """Unit vector that leads away from an end, measured where the crossing does not distort the line."""
        begin = self.points[self.at(end, skip)]
        far = min(skip + look, self.length)
        index = np.searchsorted(self.walked, far if end == 0 else self.length - far)
        away = self.points[index] - begin
        size = math.hypot(*away)
        return away / size if size else np.zeros(2)


def strokes_of(graph: SkeletonGraph) -> list[Doubles]:
    """The strokes of a skeleton, each (n, 2), in no particular order or direction. A dot is a stroke of one point."""
    crossing_of, inner = _crossings(graph)
    lines, rings, dots = [], [], []
    for number, edge in enumerate(graph.edges):
        if edge.closed:
            rings.append(edge.points)
        elif number not in inner:
            line = _line(edge, crossing_of)
            if line.crossings[0] == line.crossings[1] and line.length <= LOOP * graph.line_width:
                inner.add(number)
            else:
                lines.append(line)
    reach: dict[int, float] = defaultdict(float)
    members: dict[int, list[int]] = defaultdict(list)
    for node, crossing in enumerate(crossing_of):
        members[crossing].append(node)
        reach[crossing] = max(reach[crossing], float(graph.radius[node]))
    used = {crossing for line in lines for crossing in line.crossings}
    for crossing in {crossing_of[graph.edges[number].first] for number in inner} - used:
        dots.append(graph.nodes[members[crossing]].mean(axis=0)[None])
    joints = _Joints(lines, reach, _spurs(lines, graph), graph.line_width)
    chains = _chains(lines, joints)
    return [_as_dot(stroke, DOT * graph.line_width) for stroke in rings + chains] + dots


def _line(edge: Edge, crossing_of: list[int]) -> _Line:
    steps = np.diff(edge.points, axis=0)
    walked = np.concatenate([[0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))])
    return _Line(edge.points, walked, (crossing_of[edge.first], crossing_of[edge.last]))


def _crossings(graph: SkeletonGraph) -> tuple[list[int], set[int]]:
    """The crossing each node belongs to, and the numbers of the edges inside crossings (isolated pixels too)."""
    crossing_of = list(range(len(graph.nodes)))

    def root(node: int) -> int:
        while crossing_of[node] != node:
            crossing_of[node] = node = crossing_of[crossing_of[node]]
        return node

    degree = Counter(node for edge in graph.edges for node in (edge.first, edge.last))
    inner = set()
    for number, edge in enumerate(graph.edges):
        if edge.closed:
            continue
        if len(edge.points) == 1:
            inner.add(number)
        elif degree[edge.first] > 1 and degree[edge.last] > 1 and edge.first != edge.last:
            reach = max(BRIDGE * (graph.radius[edge.first] + graph.radius[edge.last]), MIN_BRIDGE)
            if len(edge.points) - 1 <= reach:  # steps are 1 to 1.4 px long
                inner.add(number)
                crossing_of[root(edge.first)] = root(edge.last)
    return [root(node) for node in range(len(crossing_of))], inner


def _spurs(lines: list[_Line], graph: SkeletonGraph) -> set[int]:
    """Numbers of the side branches that thinning may have made: short, with one loose, pointed end."""
    width = graph.line_width
    degree = Counter(crossing for line in lines for crossing in line.crossings)
    spurs = set()
    for number, line in enumerate(lines):
        tip = min(line.crossings, key=lambda crossing: degree[crossing])
        if degree[tip] == 1 and graph.radius[tip] <= POINTED * width / 2 and line.length <= SPUR * width:
            spurs.add(number)
    return spurs


class _Joints:
    """Which line end continues which. Line n has the ends 2n and 2n + 1."""

    def __init__(self, lines: list[_Line], reach: dict[int, float], spurs: set[int], width: float) -> None:
        self.lines, self.reach, self.spurs, self.width = lines, reach, spurs, width
        self.dropped: set[int] = set()  # lines that are no part of the drawing
        self.partner: dict[int, int] = {}
        self.tip: dict[int, int] = {}  # of two ends that meet at a sharp tip: the line that leads there
        meeting: dict[int, list[int]] = defaultdict(list)
        for number, line in enumerate(lines):
            for end, crossing in enumerate(line.crossings):
                meeting[crossing].append(2 * number + end)
        loose = {ends[0] for ends in meeting.values() if len(ends) == 1}
        look = max(LOOK_AHEAD * width, MIN_LOOK_AHEAD)
        for crossing, ends in meeting.items():
            if len(ends) > 2:
                away = {end: lines[end // 2].direction(end % 2, reach[crossing], look) for end in ends}
                if len(ends) == 3 and self._join_at_tip(away, loose):  # before spurs go: that of a corner is its tip
                    continue
                ends = self._without_spurs(ends)
                if len(ends) > 2:
                    for pair in _straightest({end: away[end] for end in ends}):
                        self._join(*pair)
            if len(ends) == 2:  # one line, or what remains of a junction without its spur
                self._join(*ends)

    def _without_spurs(self, ends: list[int]) -> list[int]:
        """The ends at a crossing without those of spurs, the shortest of which go first as long as two lines remain."""
        spurs = sorted((end for end in ends if end // 2 in self.spurs), key=lambda end: self.lines[end // 2].length)
        gone = spurs[: max(len(ends) - 2, 0)]
        self.dropped |= {end // 2 for end in gone}
        return [end for end in ends if end not in gone]

    def _join(self, one: int, other: int) -> None:
        self.partner[one], self.partner[other] = other, one

    def _join_at_tip(self, away: dict[int, Doubles], loose: set[int]) -> bool:
        """Join two of three ends if the third is a short loose line that continues both: the pen turned back there."""
        stem = min(away, key=lambda end: self.lines[end // 2].length)
        if stem ^ 1 not in loose or self.lines[stem // 2].length > CUSP * self.width:
            return False
        one, other = (end for end in away if end != stem)
        least = math.cos(MAX_CUSP_TURN)
        leads = self.lines[stem // 2].direction(stem % 2, 0.0, math.inf)  # of a few pixels all are needed
        if -float(leads @ away[one]) < least or -float(leads @ away[other]) < least:
            return False
        self._join(one, other)
        self.tip[one] = self.tip[other] = stem
        return True

    def cut(self, end: int) -> float:
        """How much of a line is left out at an end because the crossing distorts it."""
        return self.reach[self.lines[end // 2].crossings[end % 2]] if end in self.partner else 0.0


def _straightest(away: dict[int, Doubles]) -> list[tuple[int, int]]:
    """Pairs of ends whose directions are most nearly opposite, the best pair first."""
    turns = []
    for one, other in combinations(away, 2):
        cosine = -float(away[one] @ away[other])
        if cosine >= math.cos(MAX_TURN):
            turns.append((cosine, one, other))
    taken: set[int] = set()
    pairs = []
    for _, one, other in sorted(turns, reverse=True):
        if one not in taken and other not in taken:
            pairs.append((one, other))
            taken |= {one, other}
    return pairs


def _chains(lines: list[_Line], joints: _Joints) -> list[Doubles]:
    """Join the lines end to end: the points of each stroke. The last point of a closed one is its first."""
    every = range(2 * len(lines))
    seen = joints.dropped | {end // 2 for end in joints.tip.values()}
    chains = []
    for start in [end for end in every if end not in joints.partner] + [end for end in every if end in joints.partner]:
        if start // 2 in seen:
            continue
        parts, end, closed = [], start, False
        while True:
            seen.add(end // 2)
            parts.append(_part(lines[end // 2], end, joints))
            leaving = end ^ 1
            if leaving not in joints.partner:
                break
            if leaving in joints.tip:
                parts.append(_tip(lines, joints.tip[leaving]))
            end = joints.partner[leaving]
            if end // 2 in seen:
                closed = end == start
                break
        if closed:
            parts.append(parts[0][:1])
        chains.append(np.concatenate(parts))
    return chains


def _tip(lines: list[_Line], stem: int) -> Doubles:
    """The point of a sharp tip, (1, 2): the far end of the line that leads there."""
    points = lines[stem // 2].points
    return points[-1:] if stem % 2 == 0 else points[:1]


def _part(line: _Line, entry: int, joints: _Joints) -> Doubles:
    """A line's points from the end `entry` on, without what a crossing distorts where the line is joined to another."""
    low, high = sorted((line.at(0, joints.cut(entry & ~1)), line.at(1, joints.cut(entry | 1))))
    points = line.points[low : high + 1]
    return points if entry % 2 == 0 else points[::-1]


def _as_dot(stroke: Doubles, limit: float) -> Doubles:
    """The stroke, or its middle if it is shorter than the limit."""
    steps = np.diff(stroke, axis=0)
    if np.hypot(steps[:, 0], steps[:, 1]).sum() > limit:
        return stroke
    middle: Doubles = stroke.mean(axis=0, keepdims=True)
    return middle
