"""What a drawing looks like: the names of the nearest codes of a gallery, or that it is like none of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gra2seq.sketch.strokes import Doubles, Floats

NEIGHBOURS = 10  # whose names count
NAMES = 5  # that are given
UNLIKE_QUANTILE = 0.95  # of the gallery's own drawings lie nearer to another one than a drawing that is known
MIN_DRAWINGS = 30  # of a gallery that can say what is unlike it
BLOCK = 512  # drawings whose distances are computed at a time


@dataclass(frozen=True)
class Guess:
    """Names with their shares, the largest first; `unlike`: the drawing is too far from all of them to believe it."""

    names: list[tuple[str, float]]
    distance: float  # to the nearest drawing
    threshold: float  # beyond which a drawing is unlike
    unlike: bool


class Guesser:
    """Guesses by the codes (n, D) of named drawings."""

    def __init__(self, codes: Floats, names: Sequence[str]) -> None:
        self.codes, self.names = codes.astype(np.float64), list(names)
        self.threshold = self._threshold()

    def guess(self, code: Floats) -> Guess:
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
        return Guess(ranked, nearest, self.threshold, nearest > self.threshold)

    def _threshold(self) -> float:
        """The distance to the nearest other drawing that most of the gallery's own drawings stay below."""
        if len(self.codes) < MIN_DRAWINGS:
            return float("inf")
        nearest = [
            _nearest_other(self.codes[start : start + BLOCK], self.codes, start)
            for start in range(0, len(self.codes), BLOCK)
        ]
        return float(np.quantile(np.concatenate(nearest), UNLIKE_QUANTILE))


def _nearest_other(part: Doubles, codes: Doubles, start: int) -> Doubles:
    """The distance of each code of a part to the nearest code but itself."""
    squares = (part * part).sum(axis=1)[:, None] + (codes * codes).sum(axis=1) - 2 * part @ codes.T
    squares[np.arange(len(part)), start + np.arange(len(part))] = np.inf
    nearest: Doubles = np.sqrt(np.maximum(squares.min(axis=1), 0))
    return nearest
