"""The samples that are shown stand for all samples and differ from each other."""

import numpy as np
import pytest

from gra2seq.drawing.infill import InfillResult
from gra2seq.drawing.infill_choice import NO_LINES, distances, ink, k_medoids, representatives
from gra2seq.drawing.likely_ink import LikelyInk
from gra2seq.nn.ink_predictor import SIDE


def line(y, length=1.0):
    return [np.array([[0.0, y], [length, y]])]


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
    assert k_medoids(apart, np.ones(5), 2) in ([2, 4], [2, 3])


def test_an_item_that_is_no_candidate_draws_the_choice_to_it_by_its_weight():
    places = np.array([0.0, 0.1, 0.2, 0.9, 1.0])
    apart = np.abs(np.append(places, 0.9)[:, None] - places)
    assert k_medoids(apart, np.array([1, 1, 1, 1, 1, 0.1]), 1) == [2]
    assert k_medoids(apart, np.array([1, 1, 1, 1, 1, 5.0]), 2) in ([3, 0], [3, 1])


@pytest.mark.parametrize("count", [1, 3, 9])
def test_no_sample_is_chosen_twice(count):
    chosen = k_medoids(np.zeros((6, 5)), np.ones(6), count)
    assert len(chosen) == len(set(chosen)) == min(count, 5)


def test_of_a_drawing_that_goes_on_samples_that_draw_nothing_come_last():
    line = np.array([[0.0, 0.0], [0.5, 0.0]])
    nothing, dot, drawn = InfillResult((), 0), InfillResult((np.zeros((2, 2)),), 0), InfillResult((line,), 0)
    results = [nothing, dot, nothing, drawn]
    assert representatives(results, 1)[0] is not drawn
    chosen = representatives(results, 4, goes_on=True)
    for found, expected in zip(chosen, [drawn, nothing, dot, nothing], strict=True):
        assert found is expected
    (only,) = representatives(results, 1, goes_on=True)
    assert only is drawn
    assert len(representatives([nothing, dot], 2, goes_on=True)) == 2


def test_a_begun_drawing_goes_on_with_one_of_its_longest_samples_first():
    """Six short samples beside each other, two long ones elsewhere: the medoid of all is short."""
    results = [InfillResult(tuple(line(0.01 * number, length=0.1)), 0) for number in range(6)]
    results += [InfillResult(tuple(line(0.5 + 0.1 * number, length=0.8)), 0) for number in range(2)]
    assert ink(representatives(results, 1)[0]) == pytest.approx(0.1)
    assert ink(representatives(results, 1, goes_on=True)[0]) == pytest.approx(0.1), "its frame is known"
    assert ink(representatives(results, 1, goes_on=True, begun=True)[0]) == pytest.approx(0.8)
    chosen = representatives(results, 8, goes_on=True, begun=True)
    assert len({id(result) for result in chosen}) == 8


def test_predicted_ink_draws_the_choice_to_it():
    """Five lines; that of the medoid is in the middle, likely ink is along the last."""
    results = [InfillResult(tuple(line(0.1 * number)), 0) for number in range(5)]
    hidden, distance = np.zeros((SIDE, SIDE), np.float32), np.full((SIDE, SIDE), 0.15, np.float32)
    row = int((0.4 + 1) / 2 * SIDE)
    hidden[row : row + 2, SIDE // 2 :], distance[row] = 1, 0
    assert representatives(results, 1)[0] is results[2]
    assert representatives(results, 1, likely=LikelyInk(hidden, distance, 1.0))[0] is results[4]


def test_samples_of_much_more_ink_than_predicted_come_last():
    """A scribble covers all likely ink: it is near to everything, and yet no drawing."""
    hidden, distance = np.zeros((SIDE, SIDE), np.float32), np.zeros((SIDE, SIDE), np.float32)
    hidden[32:48, 32:] = 0.15  # a blur
    likely = LikelyInk(hidden, distance, 1.0)
    assert 1 < likely.length < 2
    scribble = InfillResult(tuple(one for y in np.linspace(0, 0.5, 9) for one in line(y)), 0)
    plain = [InfillResult(tuple(line(y)), 0) for y in (0.1, 0.2, 0.4)]
    assert likely.expected_distance(scribble.lines) < min(likely.expected_distance(one.lines) for one in plain)
    chosen = representatives([scribble, *plain], 4, likely=likely)
    assert chosen[-1] is scribble
    assert len({id(one) for one in chosen}) == 4
    assert representatives([scribble], 1, likely=likely) == [scribble], "there is nothing else to show"
