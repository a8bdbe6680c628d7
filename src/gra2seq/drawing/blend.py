"""Codes between two codes, along the straight line (docs/decisions says why), and drawings between two frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import BOX, Floats, Sketch


def blended(first: Floats, second: Floats, share: NDArray[np.floating]) -> Floats:
    """(n, code) codes on the way from one code to the other, at these shares (n,) of it."""
    codes: Floats = (first + share[:, None] * (second - first)).astype(np.float32)
    return codes


def placed_between(drawn: Sequence[Sketch], ends: Sequence[Damage], share: NDArray[np.floating]) -> list[Sketch]:
    """Drawings of the model at these shares of the way from the frame of the first damage to that of the second."""
    weights = np.stack([1 - share, share], axis=1)
    middles = weights @ np.stack([damage.middle for damage in ends])
    sides = weights @ np.array([damage.side for damage in ends])
    return [
        Sketch(one.points / BOX * side + middle, one.lengths)
        for one, side, middle in zip(drawn, sides, middles, strict=True)
    ]
