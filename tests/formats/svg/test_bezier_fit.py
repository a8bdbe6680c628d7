from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from svg_samples import calm

from gra2seq.errors import UserError
from gra2seq.formats.svg import read_svg
from gra2seq.formats.svg.bezier_fit import evaluate, fit_curves, path_data

SHARES = np.linspace(0, 1, 400)
coordinates = st.integers(-200, 200).map(float) | st.floats(-200, 200)
polylines = st.lists(st.tuples(coordinates, coordinates), min_size=2, max_size=40).map(np.array)


def away(points: np.ndarray, curves: list[np.ndarray]) -> float:
    """The largest distance of a point from the curves."""
    line = np.concatenate([evaluate(curve, SHARES) for curve in curves])
    way = np.diff(line, axis=0)
    square = np.maximum((way**2).sum(axis=1), 1e-24)
    worst = 0.0
    for point in points:
        share = (((point - line[:-1]) * way).sum(axis=1) / square).clip(0, 1)[:, None]
        worst = max(worst, float(np.hypot(*(line[:-1] + share * way - point).T).min()))
    return worst


@calm
@given(polylines, st.floats(0.05, 20), st.floats(0, 180))
def test_no_point_is_farther_than_the_tolerance(points: np.ndarray, tolerance: float, corner: float) -> None:
    curves = fit_curves(points, tolerance, corner)
    if not curves:
        assert (points == points[0]).all()
        return
    size = float(np.ptp(points, axis=0).max())
    assert away(points, curves) <= tolerance + size * 1e-3  # of the samples
    np.testing.assert_array_equal(curves[0][0], points[0])
    np.testing.assert_array_equal(curves[-1][3], points[-1])
    for one, other in pairwise(curves):
        np.testing.assert_array_equal(one[3], other[0])


@calm
@given(polylines)
def test_curves_do_not_swing_far_out(points: np.ndarray) -> None:
    length = np.hypot(*np.diff(points, axis=0).T).sum()
    for curve in fit_curves(points, 1.0):
        arms = np.hypot(*(curve[[1, 2]] - curve[[0, 3]]).T)
        assert arms.max() <= 1.5 * length + 1e-9


def test_a_circle_needs_few_curves_and_stays_closed_and_smooth() -> None:
    angle = np.linspace(0, math.tau, 61)
    points = np.column_stack([np.cos(angle), np.sin(angle)]) * 100
    points[-1] = points[0]
    curves = fit_curves(points, 0.5)
    assert len(curves) <= 6
    radius = np.hypot(*np.concatenate([evaluate(curve, SHARES) for curve in curves]).T)
    assert abs(radius - 100).max() < 1
    begin, end = curves[0][1] - curves[0][0], curves[-1][3] - curves[-1][2]
    turn = begin[0] * end[1] - begin[1] * end[0]
    assert abs(turn) < 1e-6 * np.hypot(*begin) * np.hypot(*end)
    assert path_data(curves).endswith("Z")


def test_corners_stay_sharp() -> None:
    square = np.array([(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)], float)
    assert path_data(fit_curves(square, 0.1), 3) == "M0 0L10 0 10 10 0 10 0 0Z"
    wave = np.array([(x, 10 * math.sin(x / 5)) for x in range(32)])
    zigzag = np.concatenate([wave, wave[::-1] + (0, 20)])
    corners = {tuple(curve[0]) for curve in fit_curves(zigzag, 0.5)}
    assert tuple(wave[-1]) in corners


def test_long_lines_stay_straight_beside_round_corners() -> None:
    angle = np.linspace(0, math.pi / 2, 12)[1:]
    corner = np.column_stack([90 + 10 * np.sin(angle), 10 - 10 * np.cos(angle)])
    points = np.concatenate([[(0, 0), (90, 0)], corner, [(100, 100)]])
    line = np.concatenate([evaluate(curve, SHARES) for curve in fit_curves(points, 0.25)])
    assert line.max() < 100.8
    assert line[line[:, 0] < 80, 1].min() > -0.8
    assert line[line[:, 1] > 20, 0].min() > 99.2


def test_smooth_lines_have_no_kinks() -> None:
    wave = np.array([(x, 10 * math.sin(x / 5)) for x in range(64)])
    curves = fit_curves(wave, 0.1)
    assert 2 <= len(curves) <= 16
    for one, other in pairwise(curves):
        before, after = one[3] - one[2], other[1] - other[0]
        assert abs(before[0] * after[1] - before[1] * after[0]) < 1e-6 * np.hypot(*before) * np.hypot(*after)


def test_path_data_is_read_again() -> None:
    wave = np.array([(x, 10 * math.sin(x / 5)) for x in range(64)])
    curves = fit_curves(wave, 0.1)
    read = read_svg(f'<svg><path stroke="red" d="{path_data(curves, 4)}"/></svg>'.encode())
    assert away(read.points, curves) < 0.01
    assert path_data([]) == ""


def test_a_point_has_no_curve_and_two_have_a_line() -> None:
    assert fit_curves([(1, 2)], 1) == []
    assert fit_curves([(1, 2), (1, 2)], 1) == []
    assert fit_curves(np.zeros((0, 2)), 1) == []
    assert path_data(fit_curves([(1, 2), (4, 5)], 1)) == "M1 2L4 5"


@pytest.mark.parametrize(("points", "tolerance"), [([(1, 2, 3)], 1), ([(1, math.nan)], 1), ([(0, 0), (1, 1)], 0)])
def test_bad_values_are_refused(points: list[tuple[float, ...]], tolerance: float) -> None:
    with pytest.raises(UserError, match="curve"):
        fit_curves(points, tolerance)
