"""The samples that are shown stand for all samples and differ from each other."""

import numpy as np
import pytest

from gra2seq.drawing.infill import InfillResult
from gra2seq.drawing.infill_choice import NO_LINES, distances, k_medoids, representatives


def line(y):
    return [np.array([[0.0, y], [1.0, y]])]


def test_distances_agree_with_those_between_points():
    apart = distances([line(0.0), line(0.5), line(0.75)])
    np.testing.assert_allclose(apart, [[0, 0.5, 0.75], [0.5, 0, 0.25], [0.75, 0.25, 0]], atol=2 / 64)


def test_distance_to_a_sample_without_lines():
    apart = distances([line(0.0), [], []])
    np.testing.assert_allclose(apart, [[0, NO_LINES, NO_LINES], [NO_LINES, 0, 0], [NO_LINES, 0, 0]])
    assert not distances([[], []]).any()


def test_further_choices_are_of_other_modes():
    places = np.array([0.0, 0.1, 0.2, 0.9, 1.0])
    apart = np.abs(places[:, None] - places)
    assert k_medoids(apart, 2, first=2) in ([2, 4], [2, 3])


def shown(*samples):
    """The number of the sample that is shown alone."""
    results = [InfillResult(tuple(lines), 0) for lines in samples]
    (best,) = representatives(results, 1)
    return [result is best for result in results].index(True)


def test_the_medoid_is_shown():
    assert shown(line(0.0), line(0.1), line(0.2), line(0.9), line(1.0)) == 2


def test_of_samples_that_stand_for_all_alike_the_one_with_more_lines_is_shown():
    """Lines in two heights: half of the samples have both, which is as near to the others as one line is to them."""
    both = [*line(0.0), *line(0.2)]
    assert shown(line(0.0), both, line(0.2), both) in (1, 3)
    assert shown(line(0.0), line(0.0), line(0.0), both) == 0, "what most samples have stays"


@pytest.mark.parametrize("count", [1, 3, 9])
def test_no_sample_is_chosen_twice(count):
    chosen = k_medoids(np.zeros((5, 5)), count, 1)
    assert len(chosen) == len(set(chosen)) == min(count, 5)
