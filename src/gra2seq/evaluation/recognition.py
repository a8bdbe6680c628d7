"""Rec: the share of redrawn sketches whose category a classifier recognises. It is classifier accuracy, no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Ints

NOTHING = -1  # the answer for a drawing that the classifier could not be shown: a miss

Answers = Sequence[str] | Sequence[int] | NDArray[Any]


@dataclass(frozen=True)
class Recognition:
    """How often a classifier was right, over all sketches and by category."""

    rate: float  # share of all sketches whose category was recognised
    per_category: dict[str, float]  # of the categories that have sketches
    confusion: Ints  # (C, C) how often a sketch of category [row] was taken for [column]
    counts: Ints  # (C,) sketches of each category; what its row of `confusion` lacks had no answer
    categories: tuple[str, ...]


def recognition(predicted: Answers, actual: Answers, categories: Sequence[str]) -> Recognition:
    """Both as names or as numbers in `categories`. `NOTHING` among the predicted counts as a miss."""
    names = tuple(categories)
    if len(set(names)) != len(names) or not names:
        raise UserError(f"the judge's categories must be different names, got {', '.join(names) or 'none'}")
    answers, true = _numbers(predicted, names, "predicted"), _numbers(actual, names, "actual")
    if len(answers) != len(true):
        raise UserError(f"{len(answers)} predicted categories for {len(true)} sketches: give one for each")
    if len(true) == 0:
        raise UserError("there is no sketch to recognise: the split is empty, choose another")
    if (true == NOTHING).any():
        raise UserError(f"sketch {int(np.flatnonzero(true == NOTHING)[0])} has no category: recognition needs all")
    size = len(names)
    answered = answers != NOTHING
    confusion = np.bincount(true[answered] * size + answers[answered], minlength=size * size).reshape(size, size)
    counts = np.bincount(true, minlength=size)
    right = np.diagonal(confusion)
    return Recognition(
        rate=float(right.sum() / counts.sum()),
        per_category={name: float(right[i] / counts[i]) for i, name in enumerate(names) if counts[i]},
        confusion=confusion.astype(np.int64),
        counts=counts.astype(np.int64),
        categories=names,
    )


def _numbers(answers: Answers, names: tuple[str, ...], which: str) -> Ints:
    array = np.asarray(answers)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iuU"):
        raise UserError(f"{which} categories must be one name or whole number a sketch, got shape {array.shape}")
    if array.dtype.kind == "U":
        number = {name: i for i, name in enumerate(names)}
        unknown = sorted({str(name) for name in array} - set(number))
        if unknown:
            raise UserError(
                f"the judge does not know {', '.join(unknown)}: it was trained on {', '.join(names)}; "
                "take a judge of the same data set"
            )
        return np.array([number[str(name)] for name in array], np.int64)
    if len(array) and not (array.min() >= NOTHING and array.max() < len(names)):
        raise UserError(f"{which} categories must be numbers from 0 to {len(names) - 1}: the judge has no others")
    return array.astype(np.int64)
