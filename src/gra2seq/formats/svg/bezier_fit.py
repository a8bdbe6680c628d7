"""Polylines as smooth curves: the algorithm of Schneider (Graphics Gems, 1990), with corners kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Doubles, Ints

TOLERANCE = 1 / 400  # largest distance of a curve from the points it is fitted to, of the drawing's longer side
DIGITS = 5  # significant digits of a coordinate that is as large as the drawing
CORNER_ANGLE = (
    75.0  # degrees; a sharper turn of the pen is a corner: those of a square are, those of a pentagon are not
)
REFINEMENTS = 4  # times the points of a curve are assigned anew before it is divided
WORTH_REFINING = 4.0  # times the tolerance; a curve farther away is divided at once
BULGE = 3.0  # times the tolerance that a curve may go from the line between two points
LONGEST_ARM = 1.5  # of the polyline's length: a control point farther away would make the curve swing out


def fit_curves(points: ArrayLike, tolerance: float, corner_angle: float = CORNER_ANGLE) -> list[Doubles]:
    """Cubic Bézier curves, each (4, 2), that follow a polyline: no point is farther than `tolerance` from them.

    Between two points they are as straight as their directions there allow, so that a long line stays one.
    Each curve begins where the one before it ends, in the same direction unless the polyline turns there by more
    than `corner_angle` degrees. A polyline that ends where it began is a smooth loop. A single point gives no curve.
    """
    line = np.asarray(points, np.float64)
    if line.ndim != 2 or line.shape[1] != 2 or not np.isfinite(line).all():
        raise UserError(f"a curve is fitted to finite points of shape (n, 2), not to {line.shape}")
    if not tolerance > 0:
        raise UserError(f"the tolerance of a curve must be above 0, not {tolerance}")
    line = line[np.append(True, (np.diff(line, axis=0) != 0).any(axis=1))] if len(line) else line
    if len(line) < 2:
        return []
    corners, seam = _corners(line, corner_angle)
    curves: list[Doubles] = []
    for first, last in pairwise(corners):
        piece = line[first : last + 1]
        begin, end = _unit(piece[1] - piece[0]), _unit(piece[-2] - piece[-1])
        if seam is not None and first == 0:
            begin = seam
        if seam is not None and last == len(line) - 1:
            end = -seam
        curves += _fit_smooth(piece, begin, end, tolerance)
    return curves


def path_data(curves: Sequence[Doubles], digits: int = 3) -> str:
    """The `d` of a path along curves, with so many decimals; straight curves as lines; a loop is closed."""
    if not len(curves):
        return ""
    words = ["M" + _pairs(curves[0][:1], digits)]
    letter = ""
    for curve in curves:
        straight = _is_straight(curve, 10.0**-digits)
        new = "L" if straight else "C"
        words.append((new if new != letter else " ") + _pairs(curve[3:] if straight else curve[1:], digits))
        letter = new
    loop = len(curves) > 1 or not _is_straight(curves[0], 10.0**-digits)
    return "".join(words) + ("Z" if loop and (curves[0][0] == curves[-1][3]).all() else "")


def line_data(line: Doubles, tolerance: float, digits: int) -> str:
    """The `d` of a path along a polyline: curves within the tolerance, or straight lines if it is 0."""
    line = line.round(digits)
    curves = fit_curves(line, tolerance) if tolerance > 0 and len(line) > 2 else []
    if curves:
        return path_data(curves, digits)
    pairs = [f"{format_number(x, digits)} {format_number(y, digits)}" for x, y in line.tolist()]
    return f"M{pairs[0]}Z" if len(pairs) == 1 else f"M{pairs[0]}L{' '.join(pairs[1:])}"


def decimals(side: float) -> int:
    """How many decimals a coordinate of a drawing of this size needs."""
    return max(0, DIGITS - math.ceil(math.log10(side))) if side > 0 else DIGITS


def format_number(value: float, digits: int) -> str:
    """A number with at most so many decimals, none of them a trailing zero."""
    text = f"{value:.{max(digits, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _pairs(points: Doubles, digits: int) -> str:
    return " ".join(f"{format_number(x, digits)} {format_number(y, digits)}" for x, y in points.tolist())


def _is_straight(curve: Doubles, slack: float) -> bool:
    """Whether the controls of a curve lie on the line between its ends."""
    way = curve[3] - curve[0]
    size = math.hypot(*way)
    if not size:
        return bool((curve == curve[0]).all())
    arms = curve[1:3] - curve[0]
    along, across = arms @ way / size, (arms[:, 0] * way[1] - arms[:, 1] * way[0]) / size
    return bool((np.abs(across) <= slack / 2).all() and (along >= -slack).all() and (along <= size + slack).all())


def _corners(line: Doubles, corner_angle: float) -> tuple[list[int], Doubles | None]:
    """Indices where the polyline is divided, both ends among them; and the direction at the seam of a smooth loop."""
    way = np.diff(line, axis=0)
    turn = np.abs(_angle_between(way[:-1], way[1:]))
    corners = [0, *(np.flatnonzero(turn > corner_angle) + 1).tolist(), len(line) - 1]
    closed = len(line) > 3 and (line[0] == line[-1]).all()
    if closed and float(np.abs(_angle_between(way[-1:], way[:1]))[0]) <= corner_angle:
        return corners, _unit(line[1] - line[-2])
    return corners, None


def _angle_between(one: Doubles, other: Doubles) -> Doubles:
    """Degrees from each row of `one` to that of `other`."""
    cross = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
    return np.asarray(np.degrees(np.arctan2(cross, (one * other).sum(axis=1))))


def _fit_smooth(line: Doubles, begin: Doubles, end: Doubles, tolerance: float) -> list[Doubles]:
    """Curves along a polyline without corners; `begin` and `end` are directions into it at its ends."""
    curves: list[Doubles] = []
    todo = [(line, begin, end)]
    while todo:
        piece, begin, end = todo.pop()
        curve, worst = _fit_one(piece, begin, end, tolerance)
        if curve is not None:
            curves.append(curve)
            continue
        middle = _unit(piece[worst - 1] - piece[worst + 1])
        if not middle.any():  # there and back
            middle = _unit(piece[worst - 1] - piece[worst])
        todo.append((piece[worst:], -middle, end))
        todo.append((piece[: worst + 1], begin, middle))
    return curves


def _fit_one(line: Doubles, begin: Doubles, end: Doubles, tolerance: float) -> tuple[Doubles | None, int]:
    """One curve within the tolerance, or None and the index of the point to divide the polyline at."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    share = np.append(0, np.cumsum(steps)) / steps.sum()
    if len(line) == 2:
        arms = np.array([begin, end]) * steps[0] / 3
        curve = np.array([line[0], line[0] + arms[0], line[1] + arms[1], line[1]])
        bulge = float(_bulges(curve, line, share)[0])
        if bulge > tolerance * BULGE:
            curve[1:3] = line + arms * (tolerance * BULGE / bulge)
        return curve, 0
    worst = len(line) // 2
    for _ in range(REFINEMENTS + 1):
        curve = _least_squares(line, share, begin, end, float(steps.sum()))
        away = np.hypot(*(evaluate(curve, share) - line).T)
        worst = int(away[1:-1].argmax()) + 1
        if away[worst] <= tolerance:
            bulges = _bulges(curve, line, share)
            if bulges.max() <= tolerance * BULGE:
                return curve, 0
            return None, min(max(int(bulges.argmax()), 1), len(line) - 2)
        if away[worst] > tolerance * WORTH_REFINING:
            break
        share = _reassign(curve, line, share)
    return None, worst


def _bulges(curve: Doubles, line: Doubles, share: Doubles) -> Doubles:
    """How far the curve goes from each segment of the polyline between its ends: at three places of each."""
    places = share[:-1] + np.array([[0.25], [0.5], [0.75]]) * np.diff(share)  # (3, n - 1)
    points = evaluate(curve, places.ravel()).reshape(3, -1, 2)
    way = np.diff(line, axis=0)
    square = np.maximum((way**2).sum(axis=1), 1e-300)
    along = (((points - line[:-1]) * way).sum(axis=2) / square).clip(0, 1)[..., None]
    off = line[:-1] + along * way - points
    return np.asarray(np.hypot(off[..., 0], off[..., 1]).max(axis=0))


def _least_squares(line: Doubles, share: Doubles, begin: Doubles, end: Doubles, size: float) -> Doubles:
    """The curve with these ends and directions that is nearest to the points at the given shares."""
    first, last = line[0], line[-1]
    b0, b1, b2, b3 = _bernstein(share)
    one, two = b1[:, None] * begin, b2[:, None] * end
    rest = line - (b0 + b1)[:, None] * first - (b2 + b3)[:, None] * last
    matrix = np.array([[(one * one).sum(), (one * two).sum()], [(one * two).sum(), (two * two).sum()]])
    target = np.array([(one * rest).sum(), (two * rest).sum()])
    determinant = matrix[0, 0] * matrix[1, 1] - matrix[0, 1] ** 2
    arms = np.full(2, -1.0)
    if abs(determinant) > 1e-12 * matrix[0, 0] * matrix[1, 1]:
        arms = np.linalg.solve(matrix, target)
    if not ((arms > 1e-6 * size) & (arms < LONGEST_ARM * size)).all():
        arms = np.full(2, math.hypot(*(last - first)) / 3)  # Wu and Barsky's rule
    return np.array([first, first + arms[0] * begin, last + arms[1] * end, last])


def _reassign(curve: Doubles, line: Doubles, share: Doubles) -> Doubles:
    """Shares nearer to those where the curve passes the points: one step of Newton's method each."""
    speed = 3 * np.diff(curve, axis=0)
    change = 2 * np.diff(speed, axis=0)
    t = share[:, None]
    first = (1 - t) ** 2 * speed[0] + 2 * (1 - t) * t * speed[1] + t**2 * speed[2]
    second = (1 - t) * change[0] + t * change[1]
    off = evaluate(curve, share) - line
    slope = (first * first + off * second).sum(axis=1)
    step = np.divide((off * first).sum(axis=1), slope, out=np.zeros_like(slope), where=slope > 0)
    return np.asarray(np.clip(share - step, 0, 1))


def evaluate(curve: Doubles, share: Doubles | Ints) -> Doubles:
    """Points of a curve, (n, 2)."""
    return np.asarray(np.stack(_bernstein(np.asarray(share, np.float64)), axis=1) @ curve)


def _bernstein(t: Doubles) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    return (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3


def _unit(vector: Doubles) -> Doubles:
    size = math.hypot(*vector)
    return vector / size if size else np.zeros(2)
