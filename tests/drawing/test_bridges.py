"""Bridges: smooth curves between open ends that face each other."""

import numpy as np

from gra2seq.drawing.bridges import bridges, hermite, outward


def everywhere(_points):
    return True


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
    assert bridges(ends, strokes, lambda points: bool((points[:, 0] < 0.5).all())) == {}


def test_hermite_leaves_both_ends_in_their_directions():
    start, stop = np.array([0.0, 0.0]), np.array([1.0, 1.0])
    points = hermite(start, stop, np.array([1.0, 0.0]), np.array([0.0, -1.0]))
    np.testing.assert_allclose(points[[0, -1]], [start, stop])
    first, last = points[1] - points[0], points[-2] - points[-1]
    assert abs(first[1] / first[0]) < 0.4
    assert abs(last[0] / last[1]) < 0.4


def test_direction_at_the_end_of_a_dot_is_nothing():
    assert np.array_equal(outward(np.array([[0.3, 0.3]])), [0, 0])
    assert np.array_equal(outward(np.array([[0.3, 0.3], [0.3, 0.3]])), [0, 0])
