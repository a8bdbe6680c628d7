"""A region of the page, and where lines and curves cross its border."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Doubles, Ints

SAME = 1e-9  # shares of a curve closer than this are one
REAL = 1e-7  # largest imaginary part of a root that counts as real
POLISH = 3  # steps of Newton's method for each root
CHUNK = 1 << 20  # pairs of a point and an edge looked at a time


class Region:
    """The union of polygons, each filled by the even-odd rule."""

    def __init__(self, polygons: Sequence[ArrayLike]) -> None:
        rings = [np.asarray(polygon, np.float64) for polygon in polygons]
        for ring in rings:
            if ring.ndim != 2 or ring.shape[1] != 2 or len(ring) < 3 or not np.isfinite(ring).all():
                raise UserError(
                    f"a region is given by polygons of three or more finite points (x, y), not {ring.shape}"
                )
        if not rings:
            raise UserError("a region needs at least one polygon")
        self.begin = np.concatenate(rings)  # (E, 2): of each edge
        self.end = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
        self.first: Ints = np.cumsum([0, *(len(ring) for ring in rings[:-1])])  # edge of each polygon
        self._low, self._high = self.begin.min(axis=0).tolist(), self.begin.max(axis=0).tolist()
        way = self.end - self.begin
        self._normal = np.column_stack([-way[:, 1], way[:, 0]])
        self._offset = (self._normal * self.begin).sum(axis=1)
        self._edge_low, self._edge_high = np.minimum(self.begin, self.end), np.maximum(self.begin, self.end)

    def contains(self, points: Doubles) -> NDArray[np.bool_]:
        """Which points, (n, 2), lie inside."""
        step = max(1, CHUNK // len(self.begin))
        parts = [self._contains(points[start : start + step]) for start in range(0, len(points), step)]
        return np.concatenate(parts) if parts else np.zeros(0, np.bool_)

    def _contains(self, points: Doubles) -> NDArray[np.bool_]:
        x, y = points[:, :1], points[:, 1:]
        spans = (self.begin[:, 1] > y) != (self.end[:, 1] > y)  # (n, E)
        rise = self.end[:, 1] - self.begin[:, 1]
        share = (y - self.begin[:, 1]) / np.where(rise == 0, 1, rise)
        right = x < self.begin[:, 0] + share * (self.end[:, 0] - self.begin[:, 0])
        crossings = np.add.reduceat((spans & right).astype(np.int64), self.first, axis=1)
        return np.asarray((crossings % 2 == 1).any(axis=1))

    def may_touch(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Whether the box around the region meets this one."""
        (low_x, low_y), (high_x, high_y) = self._low, self._high
        return bool(left <= high_x and right >= low_x and top <= high_y and bottom >= low_y)

    def bezier_crossings(self, controls: Doubles) -> Doubles:
        """Shares from 0 to 1 where a Bézier curve of these control points, (n, 2), meets the line of an edge."""
        low, high = controls.min(axis=0), controls.max(axis=0)
        near = np.flatnonzero(((self._edge_low <= high) & (self._edge_high >= low)).all(axis=1))
        side = controls @ self._normal[near].T - self._offset[near]  # (n, edges): distances, signed and scaled
        side = side[:, (side.min(axis=0) <= 0) & (side.max(axis=0) >= 0)]
        found = [_bernstein_roots(values) for values in side.T]
        return np.concatenate(found) if found else np.zeros(0)

    def arc_crossings(self, centre: Doubles, axes: Doubles, begin: float, turn: float) -> Doubles:
        """Shares where centre + axes (one a column) times (cos, sin) of an angle meets the line of an edge."""
        reach = np.hypot(axes[:, 0], axes[:, 1])
        near = ((self._edge_low <= centre + reach) & (self._edge_high >= centre - reach)).all(axis=1)
        along = self._normal[near] @ axes  # (edges, 2)
        height = self._offset[near] - self._normal[near] @ centre
        size = np.hypot(along[:, 0], along[:, 1])
        meets = np.abs(height) < size
        middle = np.arctan2(along[meets, 1], along[meets, 0])
        spread = np.arccos(height[meets] / size[meets])
        angles = np.concatenate([middle - spread, middle + spread])
        share: Doubles = ((angles - begin) * math.copysign(1, turn)) % math.tau / abs(turn)
        return share[share <= 1]


def _bernstein_roots(values: Doubles) -> Doubles:
    """Where a polynomial from 0 to 1, by its Bernstein coefficients, is 0."""
    degree = len(values) - 1
    if degree == 1:
        slope = values[0] - values[1]
        return values[:1] / slope if slope else np.zeros(0)
    if degree == 2:
        power = np.array([values[0] - 2 * values[1] + values[2], 2 * (values[1] - values[0]), values[0]])
    else:
        a, b, c, d = values
        power = np.array([d - 3 * c + 3 * b - a, 3 * (a - 2 * b + c), 3 * (b - a), a])
    largest = np.abs(power).max()
    if not largest:
        return np.zeros(0)
    significant = np.abs(power) > 1e-12 * largest
    roots = np.roots(power[int(significant.argmax()) :])
    real = roots[np.abs(roots.imag) < REAL].real
    for _ in range(POLISH):
        slope = np.polyval(np.polyder(power), real)
        real = real - np.divide(np.polyval(power, real), slope, out=np.zeros_like(real), where=slope != 0)
    return np.asarray(real[(real > -SAME) & (real < 1 + SAME)].clip(0, 1))
