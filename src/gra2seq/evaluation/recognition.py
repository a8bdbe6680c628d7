"""Rec: the share of redrawn sketches whose category a classifier recognises. It is classifier accuracy, no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gra2seq.sketch.strokes import Ints


@dataclass(frozen=True)
class Recognition:
    """How often a classifier was right, over all sketches and by category."""

    rate: float  # share of all sketches whose category was recognised
    per_category: dict[str, float]  # of the categories that have sketches


def recognition(answers: Ints, actual: Ints, categories: Sequence[str]) -> Recognition:
    """Answers (N,) and true categories (N,) as numbers in `categories`; -1 is no answer, a miss."""
    hits = actual[answers == actual]
    right, counts = (np.bincount(some, minlength=len(categories)) for some in (hits, actual))
    by_category = {name: float(right[i] / counts[i]) for i, name in enumerate(categories) if counts[i]}
    return Recognition(float(len(hits) / len(actual)), by_category)
