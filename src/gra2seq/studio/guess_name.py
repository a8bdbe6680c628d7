"""What a drawing looks like: the names of the nearest codes of a gallery, or that it is like none of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gra2seq.sketch.strokes import Doubles, Floats

NEIGHBOURS = 10  # whose names count
NAMES = 5  # that are given
UNLIKE_SHARE = 0.05  # of the gallery's own drawings that the rule would call unlike the others
MIN_DRAWINGS = 30  # of a gallery that can say what is unlike it
BLOCK = 512  # drawings whose distances are computed at a time
REASONS = (  # why a drawing is unlike those of the gallery: its distance, then the signs of `studio.signs`
    "no drawing that I know is near",
    "its lines go where I do not expect them",
    "its strokes are longer than those of drawings",
)


@dataclass(frozen=True)
class Guess:
    """Names with their shares, the largest first; `reasons` not to believe them, where there are some."""

    names: list[tuple[str, float]]
    distance: float  # to the nearest drawing
    reasons: list[str]

    @property
    def unlike(self) -> bool:
        """The drawing is unlike those of the gallery."""
        return bool(self.reasons)


class Guesser:
    """Guesses by the codes (n, D), names and signs (n, S) of drawings.

    A drawing is unlike them if its distance to the nearest code, or one of its signs, is larger than those of nearly
    all drawings of the gallery. All thresholds are exceeded by the same share of the gallery, and together by
    `UNLIKE_SHARE` of it.
    """

    def __init__(self, codes: Floats, names: Sequence[str], signs: Doubles) -> None:
        self.codes, self.names = codes.astype(np.float64), list(names)
        self.thresholds = self._thresholds(signs)

    def guess(self, code: Floats, signs: Doubles) -> Guess:
        """The names of the nearest drawings, each weighed by how near it is."""
        distance = np.linalg.norm(self.codes - code, axis=1)
        order = np.argsort(distance, kind="stable")[:NEIGHBOURS]
        nearest = float(distance[order[0]])
        scale = max(float(distance[order].mean()) - nearest, 1e-9)
        weights = np.exp(-(distance[order] - nearest) / scale)
        shares: dict[str, float] = defaultdict(float)
        for number, weight in zip(order.tolist(), (weights / weights.sum()).tolist(), strict=True):
            shares[self.names[number] or "unnamed"] += weight
        ranked = sorted(shares.items(), key=lambda entry: -entry[1])[:NAMES]
        beyond = np.array([nearest, *signs]) > self.thresholds
        return Guess(ranked, nearest, [reason for reason, is_true in zip(REASONS, beyond, strict=True) if is_true])

    def _thresholds(self, signs: Doubles) -> Doubles:
        """(1 + S,) of the distance to the nearest drawing, and of the signs."""
        count = len(self.codes)
        if count < MIN_DRAWINGS:
            return np.full(1 + signs.shape[1], np.inf)
        nearest = [
            _nearest_other(self.codes[start : start + BLOCK], self.codes, start) for start in range(0, count, BLOCK)
        ]
        values = np.column_stack([np.concatenate(nearest), signs])
        below = np.argsort(np.argsort(values, axis=0, kind="stable"), axis=0, kind="stable") / count  # shares
        quantile = np.quantile(below.max(axis=1), 1 - UNLIKE_SHARE)
        thresholds: Doubles = np.quantile(values, quantile, axis=0)
        return thresholds


def _nearest_other(part: Doubles, codes: Doubles, start: int) -> Doubles:
    """The distance of each code of a part to the nearest code but itself."""
    squares = (part * part).sum(axis=1)[:, None] + (codes * codes).sum(axis=1) - 2 * part @ codes.T
    squares[np.arange(len(part)), start + np.arange(len(part))] = np.inf
    nearest: Doubles = np.sqrt(np.maximum(squares.min(axis=1), 0))
    return nearest
