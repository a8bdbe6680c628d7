"""Affine maps of the plane, as SVG writes them: (a, b, c, d, e, f) maps x, y to a x + c y + e, b x + d y + f.

Plain tuples: a document composes tens of thousands of them, and for so few numbers an array is the slower form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.svg.values import MAX_NUMBER, SEPARATORS, numbers, shortened, unreadable
from gra2seq.sketch.strokes import Doubles

Affine = tuple[float, float, float, float, float, float]

IDENTITY: Affine = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
MAX_TRANSFORM = 10_000  # characters


def compose(outer: Affine, inner: Affine) -> Affine:
    """The map that applies `inner` first, then `outer`."""
    a, b, c, d, e, f = outer
    p, q, r, s, t, u = inner
    return (a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f)


def shift(x: float, y: float) -> Affine:
    return (1.0, 0.0, 0.0, 1.0, x, y)


def invert(affine: Affine) -> Affine | None:
    """The inverse map, None if there is none."""
    a, b, c, d, e, f = affine
    determinant = a * d - b * c
    if not math.isfinite(determinant) or abs(determinant) < 1e-300:
        return None
    a, b, c, d = d / determinant, -b / determinant, -c / determinant, a / determinant
    return (a, b, c, d, -(a * e + c * f), -(b * e + d * f))


def scale_of(affine: Affine) -> float:
    """How much the map scales a length on average: the square root of its change of area."""
    a, b, c, d, _, _ = affine
    return math.sqrt(abs(a * d - b * c))


def apply(affine: Affine, points: Doubles) -> Doubles:
    """The images of points in an array (..., 2)."""
    a, b, c, d, e, f = affine
    return np.asarray(points @ np.array([[a, b], [c, d]]) + (e, f))


def parse_transform(text: str) -> Affine:
    """A list such as "translate(3 4) rotate(30)" as one map; the last one acts first."""
    if not text:
        return IDENTITY
    if len(text) > MAX_TRANSFORM:
        raise UserError(f"a transform has {len(text)} characters, {MAX_TRANSFORM} are read: combine its parts")
    result = IDENTITY
    for call in text.split(")")[:-1]:
        name, opened, arguments = call.strip(SEPARATORS).partition("(")
        values = numbers(arguments.replace("px", "").replace("deg", ""), "transform")
        made = _function(name.strip(), values) if opened else None
        if made is None:
            raise unreadable("transform", text)
        result = compose(result, made)
        if not max(map(abs, result)) <= MAX_NUMBER:
            raise UserError(f"transform is too large: {shortened(text)}")
    if text.rpartition(")")[2].strip(SEPARATORS) not in ("", "none"):
        raise unreadable("transform", text)
    return result


def _function(name: str, v: Sequence[float]) -> Affine | None:
    """One transform function, None if there is none of this name and number of arguments."""
    match name, len(v):
        case "matrix", 6:
            return (v[0], v[1], v[2], v[3], v[4], v[5])
        case "translate", 1 | 2:
            return shift(v[0], v[1] if len(v) == 2 else 0.0)
        case "scale", 1 | 2:
            return (v[0], 0.0, 0.0, v[-1], 0.0, 0.0)
        case "rotate", 1 | 3:
            cos, sin = math.cos(math.radians(v[0])), math.sin(math.radians(v[0]))
            x, y = v[1:] if len(v) == 3 else (0.0, 0.0)
            return (cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y)
        case "skewX", 1:
            return (1.0, 0.0, math.tan(math.radians(v[0])), 1.0, 0.0, 0.0)
        case "skewY", 1:
            return (1.0, math.tan(math.radians(v[0])), 0.0, 1.0, 0.0, 0.0)
    return None
