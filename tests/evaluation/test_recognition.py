"""Rec by hand and against a loop."""

import numpy as np
import pytest

from gra2seq.evaluation.judging import UNKNOWN
from gra2seq.evaluation.recognition import recognition

NAMES = ("bee", "bus", "cat")


def test_recognition_of_four_known_answers():
    found = recognition(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1]), NAMES)
    assert found.rate == 0.5
    assert found.per_category == {"bee": 0.5, "bus": 0.5}  # no cat was shown


def test_a_sketch_without_an_answer_is_a_miss():
    found = recognition(np.array([UNKNOWN, 2]), np.array([0, 2]), NAMES)
    assert (found.rate, found.per_category) == (0.5, {"bee": 0.0, "cat": 1.0})


def test_recognition_equals_a_loop():
    random = np.random.default_rng(0)
    predicted, true = random.integers(-1, 3, 200), random.integers(0, 3, 200)
    found = recognition(predicted, true, NAMES)
    right = {name: [] for name in NAMES}
    for t, a in zip(predicted, true, strict=True):
        right[NAMES[a]].append(t == a)
    assert found.rate == pytest.approx(sum(sum(r) for r in right.values()) / 200)
    assert found.per_category == pytest.approx({name: sum(r) / len(r) for name, r in right.items()})
