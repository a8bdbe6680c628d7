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
NOTEBOOK_SIDE = 240  # px of the picture in a notebook
MAX_POINTS_READ = 1_000_000  # a drawing with more points than this is taken for an attack or a mistake


@dataclass(frozen=True, eq=False)
class Sketch:
    """One drawing. x grows to the right, y downwards; units are the drawer's own.

    All points lie in one array, stroke after stroke, because that is how they are stored and drawn. Sketches with the
    same content are equal; `len` is the number of points.

    >>> import gra2seq
    >>> house = gra2seq.Sketch.from_polylines([[(0, 9), (0, 4), (4, 0), (8, 4), (8, 9)]], category="house")
    >>> house, len(house), house == house.with_points(house.points + 1)
    (Sketch(house, 1 stroke, 5 points), 5, False)
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
    def from_polylines(polylines: Iterable[ArrayLike], **about: Any) -> Sketch:
        """From one array (n, 2) a stroke, a row (x, y) a point. A third column, such as a pen's pressure, is ignored.

        `about`: `category`, `key` and `parts`. Strokes without a point are left out, and so is their part label.

        >>> import gra2seq
        >>> roof = gra2seq.Sketch.from_polylines([[(0, 40), (50, 0), (100, 40)]], category="roof")
        >>> roof.box
        (0.0, 0.0, 100.0, 40.0)
        """
        arrays = [_points(stroke, number) for number, stroke in enumerate(polylines)]
        parts = tuple(about.pop("parts", ()))
        if parts:
            if len(parts) != len(arrays):
                raise UserError(f"{len(parts)} part labels for {len(arrays)} strokes")
            parts = tuple(part for part, stroke in zip(parts, arrays, strict=True) if len(stroke))
        arrays = [stroke for stroke in arrays if len(stroke)]
        points = np.concatenate(arrays) if arrays else np.empty((0, 2), np.float32)
        return Sketch(points, np.array([len(stroke) for stroke in arrays], np.int64), parts=parts, **about)

    @staticmethod
    def from_stroke3(rows: ArrayLike, **about: Any) -> Sketch:
        """From sketch-rnn's rows (dx, dy, lift), (P, 3). A missing lift at the very end is added.

        >>> import gra2seq
        >>> gra2seq.Sketch.from_stroke3([(0, 0, 0), (9, 0, 1), (-9, 5, 0), (9, 0, 1)])
        Sketch(?, 2 strokes, 4 points)
        """
        rows = np.asarray(rows, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 3:
            raise UserError(f"stroke-3 needs rows of (dx, dy, lift), got shape {rows.shape}")
        return _from_offsets(rows[:, :2], rows[:, LIFT], about)

    @staticmethod
    def from_quickdraw(drawing: Sequence[Sequence[ArrayLike]], **about: Any) -> Sketch:
        """From QuickDraw's form: a stroke is [[x…], [y…]] (a third list, such as times, is ignored).

        >>> import gra2seq
        >>> gra2seq.Sketch.from_quickdraw([[[0, 50, 100], [40, 0, 40]]])
        Sketch(?, 1 stroke, 3 points)
        """
        strokes = []
        for number, stroke in enumerate(drawing):
            try:
                x, y = (np.asarray(values) for values in (stroke[0], stroke[1]))
                rows = len(stroke) > 3  # more lists than x, y, time: probably one for each point
            except (TypeError, IndexError, ValueError, KeyError):
                x, y, rows = np.empty(()), np.empty(()), False
            if x.ndim != 1 or x.shape != y.shape or (x.size and not {x.dtype.kind, y.dtype.kind} <= set("iuf")) or rows:
                what = f"stroke {number} is not a pair of equally long lists of numbers [[x…], [y…]]"
                raise UserError(f"{what}: give points [[x, y], …] to Sketch.from_polylines" if rows else what)
            strokes.append(np.column_stack([x, y]).astype(np.float64))
        return Sketch.from_polylines(strokes, **about)

    @staticmethod
    def from_svg(text: str | bytes) -> Sketch:
        """From the text of an SVG document, in the units of its page; `gra2seq.read` reads a file.

        Curves become polylines of many points, which `gra2seq.read` also simplifies.

        >>> import gra2seq
        >>> gra2seq.Sketch.from_svg('<svg xmlns="http://www.w3.org/2000/svg"><path d="M 0 0 L 30 40"/></svg>')
        Sketch(?, 1 stroke, 2 points)
        """
        from gra2seq.formats.svg import read_svg  # here: formats are built on sketches

        return read_svg(text.encode() if isinstance(text, str) else text)

    def to_polylines(self) -> list[Floats]:
        """One array (n, 2) a stroke: copies, to be changed freely (`strokes` are views).

        >>> import gra2seq
        >>> [line.tolist() for line in gra2seq.Sketch.from_polylines([[(1, 2), (3, 4)]]).to_polylines()]
        [[[1.0, 2.0], [3.0, 4.0]]]
        """
        return [stroke.copy() for stroke in self.strokes]

    def to_stroke3(self) -> Doubles:
        """Offsets and pen lifts, (P, 3). The first offset is the first point itself, so nothing is lost.

        In double precision: the difference of two single-precision numbers does not fit into one.

        >>> import gra2seq
        >>> gra2seq.Sketch.from_polylines([[(1, 2), (4, 6)]]).to_stroke3()
        array([[1., 2., 0.],
               [3., 4., 1.]])
        """
        rows = np.zeros((len(self), 3))
        rows[0, :2] = self.points[0]
        rows[1:, :2] = np.diff(self.points.astype(np.float64), axis=0)
        rows[self.starts + self.lengths - 1, LIFT] = 1
        return rows

    def to_quickdraw(self) -> list[list[list[float]]]:
        """To QuickDraw's form; whole numbers stay whole.

        >>> import gra2seq
        >>> gra2seq.Sketch.from_polylines([[(1, 2), (3, 4.5)]]).to_quickdraw()
        [[[1, 3], [2, 4.5]]]
        """

        def plain(values: Floats) -> list[float]:
            return [int(value) if float(value).is_integer() else float(value) for value in values.tolist()]

        return [[plain(stroke[:, 0]), plain(stroke[:, 1])] for stroke in self.strokes]

    def to_svg(self, *, curves: bool = False) -> str:
        """The text of an SVG document, one <path> a stroke: exact polylines, or smooth curves.

        >>> import gra2seq
        >>> sketch = gra2seq.Sketch.from_polylines([[(0, 0), (3, 4)]], category="line")
        >>> gra2seq.Sketch.from_svg(sketch.to_svg()) == sketch
        True
        """
        from gra2seq.formats.svg import write_svg  # here: formats are built on sketches

        return write_svg(self, curves=curves)

    def _repr_svg_(self) -> str:
        """A picture for notebooks, of the same size whatever the drawing's units are."""
        points = self.points.astype(np.float64) - self.box[:2]
        shown = self.with_points(points * (BOX / (max(self.box[2:]) or BOX)))
        return shown.to_svg().replace("<svg ", f'<svg width="{NOTEBOOK_SIDE}" height="{NOTEBOOK_SIDE}" ', 1)

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
        """The number of points."""
        return len(self.points)

    def __eq__(self, other: object) -> bool:
        """The same points in the same strokes, with the same category, key and part labels."""
        if not isinstance(other, Sketch):
            return NotImplemented
        return (
            (self.category, self.key, self.parts) == (other.category, other.key, other.parts)
            and np.array_equal(self.lengths, other.lengths)
            and np.array_equal(self.points, other.points)
        )

    def __hash__(self) -> int:
        return hash((self.lengths.tobytes(), self.category, self.key, self.parts))

    def __repr__(self) -> str:
        strokes, points = _counted(len(self.lengths), "stroke"), _counted(len(self), "point")
        return f"Sketch({self.category or '?'}, {strokes}, {points})"


def from_stroke5(rows: ArrayLike, **about: Any) -> Sketch:
    """From offsets and one-hot pen states, (T, 5): DOWN inside a stroke, UP at its end.

    The first END row and what follows it are ignored.
    """
    rows = np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 5:
        raise UserError(f"stroke-5 needs rows of (dx, dy, down, up, end), got shape {rows.shape}")
    pen = rows[:, DOWN:].argmax(axis=1) + DOWN
    ends = np.flatnonzero(pen == END)
    drawn = rows[: ends[0]] if len(ends) else rows
    return _from_offsets(drawn[:, :2], drawn[:, UP], about)


def _from_offsets(offsets: Doubles, lift: Doubles, about: dict[str, Any]) -> Sketch:
    lifted = lift > 0.5
    lifted[-1:] = True
    ends = np.flatnonzero(lifted) + 1
    lengths = ends.copy()
    lengths[1:] -= ends[:-1]
    with np.errstate(over="ignore", invalid="ignore"):  # Sketch says what is wrong with infinite points
        points = offsets.cumsum(axis=0).astype(np.float32)
    return Sketch(points, lengths, **about)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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
            "pass x and y only, or [[x…], [y…]] to Sketch.from_quickdraw"
        )
    return rows[:, :2]
