"""Bridges: smooth curves between open ends that face each other."""

import time

import numpy as np

from gra2seq.drawing.bridges import MAX_ENDS, bridges, hermite, outward


def everywhere(places):
    return np.ones(len(places), bool)


def half_line(end, direction):
    """A straight stroke that ends at a place, that end first."""
    return np.array(end, float) - np.linspace(0, 0.3, 7)[:, None] * np.array(direction, float)


def test_a_cut_straight_line_is_bridged_straight():
    ends = np.array([[0.4, 0.5], [0.6, 0.5]])
    found = bridges(ends, [half_line(ends[0], (1, 0)), half_line(ends[1], (-1, 0))], everywhere)
    assert found[0] is found[1]
    bridge = found[0]
    np.testing.assert_allclose(bridge.points[:, 1], 0.5, atol=1e-12)
    np.testing.assert_allclose(bridge.leaving(0)[0], ends[0])
    np.testing.assert_allclose(bridge.leaving(1)[0], ends[1])
    assert bridge.other(0) == 1


def test_crossing_lines_are_bridged_straight_on():
    """Of four ends around a hole the opposite ones belong together, though neighbours are nearer."""
    ends = np.array([[0.4, 0.5], [0.6, 0.5], [0.5, 0.4], [0.5, 0.6]])
    ways = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    found = bridges(ends, [half_line(end, way) for end, way in zip(ends, ways, strict=True)], everywhere)
    assert {number: bridge.other(number) for number, bridge in found.items()} == {0: 1, 1: 0, 2: 3, 3: 2}


def test_no_bridge_leaves_the_region():
    ends = np.array([[0.4, 0.5], [0.6, 0.5]])
    strokes = [half_line(ends[0], (1, 0)), half_line(ends[1], (-1, 0))]
    assert bridges(ends, strokes, lambda places: places[:, 0] < 0.5) == {}


def test_hermite_leaves_both_ends_in_their_directions():
    start, stop = np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])
    (points,) = hermite(start, stop, np.array([[1.0, 0.0]]), np.array([[0.0, -1.0]]))
    np.testing.assert_allclose(points[[0, -1]], np.concatenate([start, stop]))
    first, last = points[1] - points[0], points[-2] - points[-1]
    assert abs(first[1] / first[0]) < 0.4
    assert abs(last[0] / last[1]) < 0.4


def test_a_corner_near_the_end_does_not_turn_the_direction():
    """What is left of the side of a box, and its corner: the side goes on straight."""
    short = np.array([[0.03, 0.0], [0.0, 0.0], [0.0, 0.4]])
    np.testing.assert_allclose(outward(short), [1, 0], atol=1e-12)
    hook = np.array([[0.005, 0.0], [0.0, 0.0], [0.0, 0.4]])  # too short to be a side
    assert outward(hook)[1] < -0.9


def test_direction_at_the_end_of_a_dot_is_nothing():
    assert np.array_equal(outward(np.array([[0.3, 0.3]])), [0, 0])
    assert np.array_equal(outward(np.array([[0.3, 0.3], [0.3, 0.3]])), [0, 0])


def test_a_thousand_ends_take_less_than_a_second():
    random = np.random.default_rng(0)
    ends = random.random((1000, 2))
    strokes = [half_line(end, (1, 0)) for end in ends]
    began = time.process_time()
    found = bridges(ends, strokes, everywhere)
    assert time.process_time() - began < 1
    assert len(found) > 800


def test_time_is_bounded_for_tens_of_thousands_of_ends():
    ends = np.random.default_rng(0).random((30_000, 2))
    strokes = [half_line(end, (1, 0)) for end in ends]
    began = time.process_time()
    found = bridges(ends, strokes, everywhere)
    assert time.process_time() - began < 5  # usually 0.8; all pairs take 10 and more
    assert max(found) < MAX_ENDS
    few = bridges(ends[:MAX_ENDS], strokes[:MAX_ENDS], everywhere)
    assert {end: bridge.other(end) for end, bridge in found.items()} == {end: few[end].other(end) for end in few}


def test_no_ends_have_no_bridges():
    for count in (0, 1):
        ends = np.zeros((count, 2))
        assert bridges(ends, [half_line(end, (1, 0)) for end in ends], everywhere) == {}


def test_two_straight_lines_meet_in_a_corner():
    ends = np.array([[0.4, 0.2], [0.6, 0.4]])
    found = bridges(ends, [half_line(ends[0], (1, 0)), half_line(ends[1], (0, -1))], everywhere)
    assert np.hypot(*(found[0].points - (0.6, 0.2)).T).min() < 1e-9

    def outside_of_the_corner(places):
        return np.hypot(*(places - (0.6, 0.2)).T) > 0.02

    beyond = bridges(ends, [half_line(ends[0], (1, 0)), half_line(ends[1], (0, -1))], outside_of_the_corner)
    assert np.hypot(*(beyond[0].points - (0.6, 0.2)).T).min() > 0.02, "the corner lies outside of the region"


def test_a_cut_circle_is_bridged_by_its_arc():
    turn = np.linspace(0.8, 2 * np.pi - 0.8, 200)
    circle = 0.4 * np.c_[np.cos(turn), np.sin(turn)]
    found = bridges(circle[[0, -1]], [circle, circle[::-1]], everywhere)
    assert np.abs(np.hypot(*found[0].points.T) - 0.4).max() < 0.03
