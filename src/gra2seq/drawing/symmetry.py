"""Symmetric drawings: what is lost on one side of an axis is still visible on the other.

Where nearly all visible lines, mirrored, fall on visible lines, and the mirrored lines in the lost region meet the open
ends around it, they are what is missing. What lies in the region and its own mirror image stays lost, and smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import ArrayLike

from gra2seq.drawing.merge import AT_BORDER
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import dense_points
from gra2seq.sketch.region import Piece, Region, pieces
from gra2seq.sketch.strokes import Doubles, Ints, Sketch

NORMALS = np.array([(1.0, 0.0), (0.0, 1.0), (0.5**0.5, 0.5**0.5), (0.5**0.5, -(0.5**0.5))])  # of axes, likeliest first
OFFSETS = np.linspace(-0.15, 0.15, 121)  # longer sides from the frame's centre to an axis
CELLS = 256  # a longer side, of the distance map
NEAR = 0.015  # longer sides: mirrored lines this near to visible ones agree with them
EVERY = 4  # one of so many points is looked at before all are
MIN_AGREED = 0.93  # share of the mirrored points, outside of the region, that agree
MIN_COMPARED = 0.5  # share of all points that can be compared
REACH = 0.03  # longer sides from a mirrored line's end to the open end that it belongs to
MIN_MET = 0.8  # share of ends around the region, of both kinds, that belong together
MIN_AREA = 1e-4  # squared longer sides: less of a region is nothing


@dataclass(frozen=True)
class Mirror:
    """A reflection in frame units: the axis has this unit normal (2,) and distance from the origin."""

    normal: Doubles
    offset: float

    def __call__(self, points: Doubles) -> Doubles:
        away = points @ self.normal - self.offset
        return np.asarray(points - 2 * away[:, None] * self.normal)


@dataclass(frozen=True)
class Completed:
    """New lines (n, 2) in frame units, and the damage that is left with them drawn; None if there is none."""

    lines: tuple[Doubles, ...]
    rest: Damage | None


def complete_by_symmetry(damage: Damage) -> Completed | None:
    """Lines in the lost region by one axis or, if a part stays lost, by a second one; None: it is not symmetric."""
    first = _complete_once(damage)
    if first is None or first.rest is None:
        return first
    second = _complete_once(first.rest)
    return first if second is None else Completed(first.lines + second.lines, second.rest)


def _complete_once(damage: Damage) -> Completed | None:
    region = damage.lost_normalised
    if not region or not all(_is_convex(ring) for ring in region.rings):
        return None
    strokes = [damage.normalised(stroke) for stroke in damage.visible.strokes]
    mirror = find_mirror(strokes, region)
    if mirror is None:
        return None
    image = Sketch.from_polylines([mirror(stroke) for stroke in strokes])
    rest = _shared(region, Region.of_polygons([mirror(ring) for ring in region.rings]))
    found = list(pieces(image, region, within=True))
    lines = _joined(found, _open_ends(strokes, region), rest)
    if not lines:
        return None
    drawn: list[ArrayLike] = [*damage.visible.strokes, *(damage.denormalised(line) for line in lines)]
    visible = Sketch.from_polylines(drawn, category=damage.visible.category, key=damage.visible.key)
    lost = rest.moved(-damage.middle / damage.side, damage.side) if rest else rest
    return Completed(tuple(lines), Damage(visible, lost, damage.frame) if rest else None)


def find_mirror(strokes: Sequence[Doubles], region: Region) -> Mirror | None:
    """The axis in which the visible strokes, in frame units, are symmetric as far as the region lets one see."""
    points = dense_points(strokes)
    ink = _InkDistance(points)
    best, least = None, np.inf
    for mirror in _possible(points, ink, region):
        image = mirror(points)
        seen = ~region.contains(image)
        if seen.mean() < MIN_COMPARED or seen.all():
            continue
        away = ink(image[seen])
        cost = float(np.minimum(away, 4 * NEAR).mean())
        if (away <= NEAR).mean() >= MIN_AGREED and cost < least:
            best, least = mirror, cost
    return best


class _InkDistance:
    """How far places are from the nearest of some points, in longer sides; infinite off their map."""

    def __init__(self, points: Doubles) -> None:
        self.low = points.min(axis=0) - 2 / CELLS
        cells = self._cells(points)
        blank = np.ones(cells.max(axis=0)[::-1] + 3, np.uint8)
        blank[cells[:, 1], cells[:, 0]] = 0
        self.far = cv2.distanceTransform(blank, cv2.DIST_L2, 5) / CELLS

    def __call__(self, places: Doubles) -> Doubles:
        """(n, 2) -> (n,)"""
        cells = self._cells(places)
        within = ((cells >= 0) & (cells < self.far.shape[::-1])).all(axis=1)
        away = np.full(len(cells), np.inf)
        away[within] = self.far[cells[within, 1], cells[within, 0]]
        return away

    def _cells(self, places: Doubles) -> Ints:
        return np.asarray(np.rint((places - self.low) * CELLS).astype(np.int64))


def _possible(points: Doubles, ink: _InkDistance, region: Region) -> Iterator[Mirror]:
    """All axes but those that some of the points rule out: more of them disagree than all points may."""
    some = points[::EVERY]
    most = (1 - MIN_AGREED) * len(points) + 0.5  # the half is for rounding
    for normal in NORMALS:
        away = some @ normal - OFFSETS[:, None]
        images = (some - 2 * away[..., None] * normal).reshape(-1, 2)
        disagree = (ink(images) > NEAR) & ~region.contains(images)
        for offset in OFFSETS[disagree.reshape(len(OFFSETS), -1).sum(axis=1) <= most]:
            yield Mirror(normal, float(offset))


def _joined(found: Sequence[Piece], ends: Doubles, rest: Region) -> list[Doubles]:
    """The mirrored lines, moved at the border of the region to the open ends there; none if too few of them meet."""
    lines, met, expected = [], 0, 0
    used: set[int] = set()
    for piece in found:
        points = piece.points.astype(np.float64)
        for at, cut in ((0, piece.cut_start), (-1, piece.cut_end)):
            if not cut or _touches(rest, points[at]):
                continue
            expected += 1
            away = np.hypot(*(ends - points[at]).T)
            if len(away) and away.min() <= REACH:
                met += 1
                used.add(int(away.argmin()))
                points[at] = ends[int(away.argmin())]
        lines.append(points)
    away_from_rest = [number for number, end in enumerate(ends) if not _touches(rest, end)]
    expected += len(away_from_rest)
    met += sum(number in used for number in away_from_rest)
    return lines if met >= MIN_MET * expected else []


def _open_ends(strokes: Sequence[Doubles], region: Region) -> Doubles:
    is_open = [len(stroke) == 1 or (stroke[0] != stroke[-1]).any() for stroke in strokes]
    ends = np.array([end for stroke, own in zip(strokes, is_open, strict=True) if own for end in stroke[[0, -1]]])
    ends = ends.reshape(-1, 2)
    return np.asarray(ends[region.distance(ends) <= AT_BORDER])


def _touches(region: Region, place: Doubles) -> bool:
    return bool(region) and bool((region.distance(place[None]) <= REACH)[0] or region.contains(place[None])[0])


def _shared(region: Region, image: Region) -> Region:
    """What of the region its own mirror image covers; all rings are convex."""
    rings = []
    for one in region.rings:
        for other in image.rings:
            area, ring = cv2.intersectConvexConvex(one.astype(np.float32), other.astype(np.float32))
            if area > MIN_AREA:
                rings.append(ring.reshape(-1, 2).astype(np.float64))
    return Region.of_polygons(rings) if rings else Region()


def _is_convex(ring: Doubles) -> bool:
    return bool(cv2.isContourConvex(ring.astype(np.float32)))
