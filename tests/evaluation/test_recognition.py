"""Rec against a loop, and answers that do not fit."""

import numpy as np
import pytest

from gra2seq.errors import UserError
from gra2seq.evaluation.recognition import NOTHING, recognition

NAMES = ("bee", "bus", "cat")


def test_recognition_of_four_known_answers():
    found = recognition(["bee", "bus", "bus", "bee"], ["bee", "bee", "bus", "bus"], NAMES)
    assert found.rate == 0.5
    assert found.per_category == {"bee": 0.5, "bus": 0.5}  # no cat was shown
    assert found.confusion.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert found.counts.tolist() == [2, 2, 0]


def test_recognition_equals_a_loop():
    random = np.random.default_rng(0)
    predicted, true = random.integers(-1, 3, 200), random.integers(0, 3, 200)
    found = recognition(predicted, true, NAMES)
    right = {name: [] for name in NAMES}
    counts = np.zeros((3, 3), int)
    for t, a in zip(predicted, true, strict=True):
        right[NAMES[a]].append(t == a)
        if t != NOTHING:
            counts[a, t] += 1
    assert found.rate == pytest.approx(sum(sum(r) for r in right.values()) / 200)
    assert found.per_category == pytest.approx({name: sum(r) / len(r) for name, r in right.items()})
    assert (found.confusion == counts).all()
    assert (found.counts - found.confusion.sum(axis=1)).sum() == (predicted == NOTHING).sum()


def test_names_and_numbers_of_categories_agree():
    one = recognition(["cat", "bee"], [2, 1], NAMES)
    assert one.rate == recognition([2, 0], ["cat", "bus"], NAMES).rate == 0.5


@pytest.mark.parametrize(
    ("predicted", "actual", "categories", "message"),
    [
        ([], [], NAMES, "split is empty"),
        ([0, 1], [0], NAMES, "2 predicted categories for 1"),
        ([3], [0], NAMES, "from 0 to 2"),
        ([0], [-2], NAMES, "from 0 to 2"),
        ([0], [NOTHING], NAMES, "sketch 0 has no category"),
        (["dog"], ["bee"], NAMES, "judge does not know dog"),
        ([0], ["dog"], NAMES, "same data set"),
        ([0.5], [0], NAMES, "whole number"),
        ([0], [0], (), "different names, got none"),
        ([0], [0], ("bee", "bee"), "different names"),
    ],
)
def test_answers_that_do_not_fit_are_refused(predicted, actual, categories, message):
    with pytest.raises(UserError, match=message):
        recognition(predicted, actual, categories)
