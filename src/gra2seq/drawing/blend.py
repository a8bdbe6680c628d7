"""Codes between two codes, along the straight line or the great circle; drawings between two places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import BOX, Floats, Sketch

PARALLEL = 1e-4  # sine of the angle below which the great circle is the line


def blended(first: Floats, second: Floats, share: NDArray[np.floating]) -> Floats:
    """(n, code) codes on the way from one code to the other, at these shares (n,) of it."""
    return along_line(first, second, share)


def placed_between(drawn: Sequence[Sketch], ends: Sequence[Damage], share: NDArray[np.floating]) -> list[Sketch]:
    """Drawings of the model at these shares of the way from the frame of the first damage to that of the second."""
    weights = np.stack([1 - share, share], axis=1)
    middles = weights @ np.stack([damage.middle for damage in ends])
    sides = weights @ np.array([damage.side for damage in ends])
    return [
        Sketch(one.points / BOX * side + middle, one.lengths)
        for one, side, middle in zip(drawn, sides, middles, strict=True)
    ]


def along_line(first: Floats, second: Floats, share: NDArray[np.floating]) -> Floats:
    """Codes on the straight line."""
    codes: Floats = (first + share[:, None] * (second - first)).astype(np.float32)
    return codes


def along_great_circle(first: Floats, second: Floats, share: NDArray[np.floating]) -> Floats:
    """Codes whose direction turns evenly and whose length changes evenly."""
    lengths = np.linalg.norm(first), np.linalg.norm(second)
    if min(lengths) == 0:
        return along_line(first, second, share)
    one, other = first / lengths[0], second / lengths[1]
    angle = np.arccos(np.clip(one @ other, -1, 1))
    if np.sin(angle) < PARALLEL:
        return along_line(first, second, share)
    direction = np.sin((1 - share) * angle)[:, None] * one + np.sin(share * angle)[:, None] * other
    length = (1 - share) * lengths[0] + share * lengths[1]
    codes: Floats = (direction / np.sin(angle) * length[:, None]).astype(np.float32)
    return codes
