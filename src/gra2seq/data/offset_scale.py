"""sketch-rnn's normaliser: the standard deviation of the offsets between points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_SKETCHES = 8192  # converted to float64 at once


def offset_scale(
    points: NDArray[Any], starts: NDArray[np.int64], indices: NDArray[np.int64], box: float | None = None
) -> float:
    """Standard deviation of all offsets of the chosen sketches, dx and dy together.

    `starts` (N + 1,) says where each sketch begins in `points`. The first row of a sketch is left out:
    it says where the drawing lies on the page, not how it is drawn. With `box`, every sketch is first scaled so
    that its longer side has that length.
    """
    moments = np.zeros(3)  # count, sum, sum of squares
    for block in np.array_split(indices, len(indices) // BLOCK_SKETCHES + 1):
        sizes = starts[block + 1] - starts[block]
        ends = np.cumsum(sizes)
        rows = np.arange(sizes.sum()) + np.repeat(starts[block] - (ends - sizes), sizes)
        together = points[rows].astype(np.float64)
        if box is not None and len(block):
            extent = np.maximum.reduceat(together, ends - sizes) - np.minimum.reduceat(together, ends - sizes)
            longer = extent.max(axis=1)
            together *= np.repeat(box / np.where(longer > 0, longer, box), sizes)[:, None]
        offsets = np.diff(together, axis=0)
        inside = np.ones(len(offsets), bool)
        inside[ends[:-1] - 1] = False  # from the end of one sketch to the beginning of the next
        offsets = offsets[inside]
        moments += (offsets.size, offsets.sum(), np.square(offsets).sum())
    return scale_of(*moments.tolist())


def scale_of(count: float, total: float, squares: float) -> float:
    """Standard deviation from count, sum and sum of squares; 1.0 if nothing moves."""
    variance = squares / count - (total / count) ** 2 if count else 0.0
    return float(np.sqrt(variance)) if variance > 0 else 1.0
