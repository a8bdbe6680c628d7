"""The paired bootstrap: how far a difference between two models may be due to the choice of test sketches."""

from __future__ import annotations

import numpy as np

from gra2seq.sketch.strokes import Doubles

RESAMPLES, COVERAGE, SEED = 10_000, 0.95, 2023


def paired_interval(differences: Doubles) -> tuple[float, float]:
    """The bootstrap interval (percentiles, 95 %) of the mean of differences (N,), a number for each test sketch.

    Sketches with the same difference are interchangeable, so it is counted how often each value is drawn: the same
    distribution as drawing N sketches one by one, without N numbers a resample.
    """
    values, counts = np.unique(differences, return_counts=True)
    random = np.random.Generator(np.random.PCG64(SEED))
    drawn = random.multinomial(len(differences), counts / len(differences), size=RESAMPLES)  # (RESAMPLES, values)
    low, high = np.quantile(drawn @ values / len(differences), [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)
