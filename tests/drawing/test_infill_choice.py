"""The samples that are shown stand for all samples and differ from each other."""

import numpy as np
import pytest

from gra2seq.drawing.infill_choice import NO_LINES, distances, k_medoids


def line(y):
    return [np.array([[0.0, y], [1.0, y]])]


def test_distances_agree_with_those_between_points():
    apart = distances([line(0.0), line(0.5), line(0.75)])
    np.testing.assert_allclose(apart, [[0, 0.5, 0.75], [0.5, 0, 0.25], [0.75, 0.25, 0]], atol=2 / 64)


def test_distance_to_a_sample_without_lines():
    apart = distances([line(0.0), [], []])
    np.testing.assert_allclose(apart, [[0, NO_LINES, NO_LINES], [NO_LINES, 0, 0], [NO_LINES, 0, 0]])
    assert not distances([[], []]).any()


def test_first_choice_is_the_medoid_and_the_second_another_mode():
    places = np.array([0.0, 0.1, 0.2, 0.9, 1.0])
    apart = np.abs(places[:, None] - places)
    assert k_medoids(apart, 2) == [2, 4] or k_medoids(apart, 2) == [2, 3]


@pytest.mark.parametrize("count", [1, 3, 9])
def test_no_sample_is_chosen_twice(count):
    chosen = k_medoids(np.zeros((5, 5)), count)
    assert len(chosen) == len(set(chosen)) == min(count, 5)
