"""A sketch: pen strokes as polylines, and the stroke-3 and stroke-5 forms of sketch-rnn.

Letters used all over the package: B batch, N nodes, D features, T steps, M Gaussians, P points, S strokes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gra2seq.errors import UserError

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

DX, DY, DOWN, UP, END = range(5)  # columns of stroke-5: offset, then one-hot pen state
LIFT = 2  # third column of stroke-3: 1 where the pen is lifted after the point

BOX = 255.0  # longer side of a drawing as models draw it: QuickDraw's own unit
MAX_POINTS_READ = 1_000_000  # a drawing with more points than this is taken for an attack or a mistake


@dataclass(frozen=True, eq=False)
class Sketch:
    """One drawing. x grows to the right, y downwards; units are the drawer's own.

    All points lie in one array, stroke after stroke, because that is how they are stored and drawn.
    """

    points: Floats  # (P, 2)
    lengths: Ints  # (S,) points of each stroke, every one at least 1
    category: str = ""
    key: str = ""
    parts: tuple[str, ...] = field(default=())  # the part each stroke shows ("wheel"), or empty if not known

    def __post_init__(self) -> None:
        points = self.points
        if getattr(points, "dtype", None) != np.float32:
            with np.errstate(over="ignore", invalid="ignore"):  # what does not fit becomes infinite, refused below
                points = np.asarray(points, dtype=np.float32)
        points = np.ascontiguousarray(points)
        lengths = np.ascontiguousarray(self.lengths, dtype=np.int64)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "lengths", lengths)
        who = f"sketch {self.key!r}" if self.key else "sketch"
        if points.ndim != 2 or points.shape[1] != 2:
            raise UserError(f"{who}: points must be an array of (x, y) rows, got shape {points.shape}")
        if len(lengths) == 0 or len(points) == 0:
            raise UserError(f"{who} is empty: it needs at least one stroke with one point")
        counts = lengths.tolist()  # for a few strokes, as most drawings have, much faster than numpy
        if min(counts) < 1 or sum(counts) != len(points):
            raise UserError(f"{who}: stroke lengths {counts[:10]} do not add up to {len(points)} points")
        if len(points) > MAX_POINTS_READ:
            raise UserError(f"{who} has {len(points)} points; more than {MAX_POINTS_READ} is not read: simplify it")
        if not np.isfinite(points).all():
            raise UserError(f"{who} has a coordinate that is NaN or infinite: remove that point")
        if self.parts and len(self.parts) != len(lengths):
            raise UserError(f"{who}: {len(self.parts)} part labels for {len(lengths)} strokes")

    @staticmethod
    def from_strokes(strokes: Iterable[ArrayLike], **about: Any) -> Sketch:
        """From polylines of one row (x, y) a point; a third column, such as a pen's pressure, is left out.

        So are strokes without a point, with their part label.
        """
        arrays = [_points(stroke, number) for number, stroke in enumerate(strokes)]
        parts = tuple(about.pop("parts", ()))
        if parts:
            if len(parts) != len(arrays):
                raise UserError(f"{len(parts)} part labels for {len(arrays)} strokes")
            parts = tuple(part for part, stroke in zip(parts, arrays, strict=True) if len(stroke))
        arrays = [stroke for stroke in arrays if len(stroke)]
        points = np.concatenate(arrays) if arrays else np.empty((0, 2), np.float32)
        return Sketch(points, np.array([len(stroke) for stroke in arrays], np.int64), parts=parts, **about)

    @cached_property
    def starts(self) -> Ints:
        """Index of each stroke's first point. (S,)"""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)

    @property
    def strokes(self) -> list[Floats]:
        """The polylines, each (n, 2): views, not copies."""
        return np.split(self.points, self.starts[1:])

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """left, top, width, height"""
        low, high = self.points.min(axis=0).astype(float), self.points.max(axis=0).astype(float)
        return float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1])

    def with_points(self, points: NDArray[Any]) -> Sketch:
        """The same strokes, labels and names at other places."""
        return Sketch(points, self.lengths, self.category, self.key, self.parts)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"Sketch({self.category or '?'}, {len(self.lengths)} strokes, {len(self)} points)"


def to_stroke3(sketch: Sketch) -> Doubles:
    """Offsets and pen lifts, (P, 3). The first offset is the first point itself, so nothing is lost.

    In double precision: the difference of two single-precision numbers does not fit into one.
    """
    rows = np.zeros((len(sketch), 3))
    rows[0, :2] = sketch.points[0]
    rows[1:, :2] = np.diff(sketch.points.astype(np.float64), axis=0)
    rows[sketch.starts + sketch.lengths - 1, LIFT] = 1
    return rows


def from_stroke3(rows: ArrayLike, **about: Any) -> Sketch:
    """The inverse of `to_stroke3`. A missing lift at the very end is added."""
    rows = np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise UserError(f"stroke-3 needs rows of (dx, dy, lift), got shape {rows.shape}")
    return _from_offsets(rows[:, :2], rows[:, LIFT], about)


def _from_offsets(offsets: Doubles, lift: Doubles, about: dict[str, Any]) -> Sketch:
    lifted = lift > 0.5
    lifted[-1:] = True
    ends = np.flatnonzero(lifted) + 1
    lengths = ends.copy()
    lengths[1:] -= ends[:-1]
    with np.errstate(over="ignore", invalid="ignore"):  # Sketch says what is wrong with infinite points
        points = offsets.cumsum(axis=0).astype(np.float32)
    return Sketch(points, lengths, **about)


def to_stroke5(sketch: Sketch, length: int | None = None) -> Doubles:
    """Offsets and one-hot pen states, (T, 5): DOWN inside a stroke, UP at its end, then END rows up to `length`.

    There is always at least one END row.
    """
    rows3 = to_stroke3(sketch)
    length = len(rows3) + 1 if length is None else length
    if len(rows3) >= length:
        raise UserError(
            f"sketch has {len(rows3)} points, the model takes {length - 1}: simplify it or raise max_points"
        )
    rows = np.zeros((length, 5))
    rows[: len(rows3), :2] = rows3[:, :2]
    rows[: len(rows3), UP] = rows3[:, LIFT]
    rows[: len(rows3), DOWN] = 1 - rows3[:, LIFT]
    rows[len(rows3) :, END] = 1
    return rows


def from_stroke5(rows: ArrayLike, **about: Any) -> Sketch:
    """The inverse of `to_stroke5`: what follows the first END row is ignored."""
    rows = np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 5:
        raise UserError(f"stroke-5 needs rows of (dx, dy, down, up, end), got shape {rows.shape}")
    pen = rows[:, DOWN:].argmax(axis=1) + DOWN
    ends = np.flatnonzero(pen == END)
    drawn = rows[: ends[0]] if len(ends) else rows
    return _from_offsets(drawn[:, :2], drawn[:, UP], about)


def from_polylines(drawing: Sequence[Sequence[ArrayLike]], **about: Any) -> Sketch:
    """From QuickDraw's form: a stroke is [[x…], [y…]] (a third list, such as times, is ignored)."""
    strokes = []
    for number, stroke in enumerate(drawing):
        try:
            x, y = (np.asarray(values) for values in (stroke[0], stroke[1]))
            points = len(stroke) > 3
        except (TypeError, IndexError, ValueError, KeyError):
            x, y, points = np.empty(()), np.empty(()), False
        if x.ndim != 1 or x.shape != y.shape or (x.size and not {x.dtype.kind, y.dtype.kind} <= set("iuf")) or points:
            what = f"stroke {number} is not a pair of equally long lists of numbers [[x…], [y…]]"
            raise UserError(f"{what}: give points [[x, y], …] to Sketch.from_strokes" if points else what)
        strokes.append(np.column_stack([x, y]).astype(np.float64))
    return Sketch.from_strokes(strokes, **about)


def _points(stroke: ArrayLike, number: int) -> Floats:
    """x and y of the rows of a polyline. (n, 2)"""
    try:
        with np.errstate(over="ignore"):  # Sketch refuses what becomes infinite
            rows = np.asarray(stroke, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise UserError(f"stroke {number} is not a list of points (x, y): {error}") from error
    if rows.size == 0:
        return np.empty((0, 2), np.float32)
    if rows.ndim != 2 or rows.shape[1] not in (2, 3):
        raise UserError(
            f"stroke {number} has shape {rows.shape}, not (n, 2), one row (x, y) a point: "
            "pass x and y only, or [[x…], [y…]] to from_polylines"
        )
    return rows[:, :2]


def to_polylines(sketch: Sketch) -> list[list[list[float]]]:
    """To QuickDraw's form; whole numbers stay whole."""

    def plain(values: Floats) -> list[float]:
        return [int(value) if float(value).is_integer() else float(value) for value in values.tolist()]

    return [[plain(stroke[:, 0]), plain(stroke[:, 1])] for stroke in sketch.strokes]
