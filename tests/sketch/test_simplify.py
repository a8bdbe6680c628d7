from __future__ import annotations

import math
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow_twins import slow_rdp, slow_resample
from some_sketches import ANY, calm, sketches

from gra2seq.data.doodles import doodles
from gra2seq.sketch import simplify
from gra2seq.sketch.simplify import (
    DENSE,
    quickdraw_simplify,
    rdp,
    resample,
    simplify_in_place,
    thinned,
)
from gra2seq.sketch.strokes import Sketch


def wander(seed: int, count: int) -> np.ndarray:
    """A random walk; every third one is closed, so that RDP begins with two ends in one place."""
    points = np.cumsum(np.random.default_rng(seed).normal(size=(count, 2)), axis=0) * 3
    return np.concatenate([points, points[:1]]) if seed % 3 == 0 else points


def cut(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1])


counts = st.lists(st.integers(1, 60), min_size=1, max_size=4)


@calm
@given(st.integers(0, 10**6), counts, st.sampled_from([0.0, 0.5, 2.0, 50.0]))
def test_rdp_equals_its_slow_twin(seed: int, sizes: list[int], epsilon: float) -> None:
    strokes = [wander(seed + number, size) for number, size in enumerate(sizes)]
    points, lengths = np.concatenate(strokes), np.array([len(stroke) for stroke in strokes])
    keep = rdp(points, lengths, epsilon)
    for stroke, flags in zip(strokes, cut(keep, lengths), strict=True):
        expected = slow_rdp([tuple(point) for point in stroke.tolist()], epsilon)
        np.testing.assert_array_equal(stroke[flags], expected)


@calm
@given(st.integers(0, 10**6), counts, st.sampled_from([0.3, 1.0, 7.0]))
def test_resample_equals_its_slow_twin(seed: int, sizes: list[int], spacing: float) -> None:
    strokes = [wander(seed + number, size) for number, size in enumerate(sizes)]
    samples, lengths = resample(np.concatenate(strokes), np.array([len(stroke) for stroke in strokes]), spacing)
    for stroke, ours in zip(strokes, cut(samples, lengths), strict=True):
        expected = slow_resample([tuple(point) for point in stroke.tolist()], spacing)
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)


@calm
@given(st.integers(0, 10**6), counts)
def test_rdp_finds_the_same_points_in_a_thin_resampling(seed: int, sizes: list[int]) -> None:
    strokes = [wander(seed + number, size) * 5 for number, size in enumerate(sizes)]
    points, lengths = np.concatenate(strokes), np.array([len(stroke) for stroke in strokes])
    full, full_lengths = resample(points, lengths)
    thin, thin_lengths = resample(points, lengths, thin=True)
    assert len(thin) <= 2 * len(points)
    np.testing.assert_allclose(full[rdp(full, full_lengths)], thin[rdp(thin, thin_lengths)], rtol=0, atol=1e-9)


def test_resample_by_hand() -> None:
    points, lengths = resample(np.array([[0, 0], [2.5, 0], [2.5, 2], [9, 9]]), np.array([3, 1]))
    assert points.tolist() == [[0, 0], [1, 0], [2, 0], [2.5, 0.5], [2.5, 1.5], [2.5, 2], [9, 9]]
    assert lengths.tolist() == [6, 1]


def test_rdp_keeps_corners_and_drops_what_is_straight() -> None:
    square = [(0, 0), (5, 0), (10, 0), (10, 5), (10, 10), (5, 10), (0, 10), (0, 5), (0, 0)]
    keep = rdp(np.array(square), np.array([9]))
    assert [corner for corner, kept in zip(square, keep, strict=True) if kept] == [
        (0, 0), (10, 0), (10, 10), (0, 10), (0, 0),
    ]  # fmt: skip


def test_a_distance_of_exactly_epsilon_is_dropped() -> None:
    assert rdp(np.array([[0, 0], [5, 2], [10, 0]]), np.array([3]), 2.0).tolist() == [True, False, True]
    assert rdp(np.array([[0, 0], [5, 2.01], [10, 0]]), np.array([3]), 2.0).all()


def test_a_line_is_two_points_in_the_box_of_255() -> None:
    line = quickdraw_simplify(Sketch.from_polylines([[(-3 + t, 7 + t / 2) for t in range(50)]]))
    assert line.points.tolist() == [[0, 0], [255, 128]]  # 127.5 goes to the even neighbour


def test_a_circle_stays_round() -> None:
    angles = np.linspace(0, math.tau, 1000)
    circle = Sketch.from_polylines([np.column_stack([40 * np.cos(angles) + 9, 40 * np.sin(angles) - 99])])
    simple = quickdraw_simplify(circle)
    radius = np.hypot(*(simple.points - 127.5).T)
    assert np.abs(radius - 127.5).max() < 1.5  # resampled and rounded, on the circle
    assert simple.box == (0, 0, 255, 255)
    # A chord 2 px from the circle spans 2 acos(1 - 2 / 127.5): at least 18 are needed; halving gives 32.
    assert 18 <= len(simple) <= 36
    assert simple.points[0].tolist() == simple.points[-1].tolist()


@calm
@given(sketches(ANY))
def test_every_simplified_drawing_keeps_names_strokes_ends_and_fits_the_box(sketch: Sketch) -> None:
    simple = quickdraw_simplify(sketch)
    assert (simple.category, simple.key, simple.parts) == (sketch.category, sketch.key, sketch.parts)
    assert len(simple.lengths) == len(sketch.lengths)
    assert simple.box[:2] == (0, 0) or max(sketch.box[2:]) > 0
    np.testing.assert_array_equal(simple.points, np.rint(simple.points))
    assert simple.points.min() >= 0
    assert simple.points.max() <= 255
    left, top, width, height = sketch.box
    scale = 255 / max(width, height) if max(width, height) else 0
    ends = np.concatenate([sketch.starts, sketch.starts + sketch.lengths - 1])
    ours = np.concatenate([simple.starts, simple.starts + simple.lengths - 1])
    expected = (sketch.points[ends].astype(np.float64) - [left, top]) * scale
    np.testing.assert_allclose(simple.points[ours], expected, rtol=0, atol=0.5 + 1e-6)


@pytest.mark.parametrize("count", [1, 2, 100_000])
def test_points_in_one_place_become_a_dot(count: int) -> None:
    dot = Sketch(np.full((count, 2), 7.25), np.array([count]))
    assert quickdraw_simplify(dot).points.tolist() == [[0, 0], [0, 0]]
    assert simplify_in_place(dot).points.tolist() == [[7.25, 7.25], [7.25, 7.25]]


def test_smallest_and_largest_numbers_are_scaled() -> None:
    for size in (1e-40, 1e-10, 1e38):
        points = quickdraw_simplify(Sketch.from_polylines([[(0, 0), (size, size / 2)]])).points
        assert points.tolist() == [[0, 0], [255, 128]]


def zigzag(count: int) -> np.ndarray:
    """Grows from end to end, so RDP takes one point from its end at every level: its worst case."""
    steps = np.arange(count)
    return np.column_stack([steps / 400, np.where(steps % 2, 1, -1) * np.linspace(2, 255, count)])


@pytest.mark.parametrize("what", ["scribble", "walk", "dots", "pairs", "zigzag"])
def test_a_hundred_thousand_points_take_little_time(what: str) -> None:
    generator = np.random.default_rng(0)
    points, length = generator.random((100_000, 2)), 100_000
    if what == "walk":
        points = np.cumsum(points - 0.5, axis=0)
    elif what == "zigzag":
        points = zigzag(100_000)
    elif what in ("dots", "pairs"):
        length = 1 if what == "dots" else 2
    sketch = Sketch(points, np.full(100_000 // length, length))
    start = time.process_time()
    assert len(quickdraw_simplify(sketch).lengths) == len(sketch.lengths)
    assert time.process_time() - start < 5  # usually 0.4, the zigzag 1.2


def test_beyond_the_last_level_every_dropped_point_is_still_within_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    points, lengths = zigzag(400), np.array([400])
    exact = rdp(points, lengths)
    monkeypatch.setattr(simplify, "MAX_LEVELS", 3)
    bounded = rdp(points, lengths)
    assert bounded.sum() >= exact.sum() * 0.9
    kept = np.flatnonzero(bounded)
    for low, high in pairwise(kept):
        assert len(slow_rdp([tuple(point) for point in points[low : high + 1].tolist()], 2.0)) == 2


def test_a_zigzag_of_a_million_points_is_cut_after_so_many_distances() -> None:
    """As many levels as a contrived zigzag allows would take half a minute."""
    shrinking = np.array([(i * 0.001, 255 - i if i % 2 == 0 else 0) for i in range(100)])
    points = np.concatenate([shrinking, np.column_stack([np.arange(990_000) % 250, np.arange(990_000) % 2 * 100])])
    measured = 0

    def count(points: np.ndarray, begin: np.ndarray, end: np.ndarray, run: np.ndarray) -> np.ndarray:
        nonlocal measured
        measured += len(points)
        return simplify.line_distance(points, begin, end, run)

    keep = rdp(points, np.array([len(points)]), distance=count)
    assert measured < 2 * simplify.MAX_DISTANCES
    assert keep[100:].mean() > 0.99, "its corners stay"


def dense(sketch: Sketch, spacing: float = 0.5) -> Sketch:
    """As a pen would have reported it."""
    points, lengths = resample(sketch.points, sketch.lengths, spacing)
    return Sketch(points, lengths, sketch.category, sketch.key, sketch.parts)


def test_thinning_a_dense_drawing_keeps_place_strokes_and_names() -> None:
    for doodle in doodles(15, seed=4):
        dots = Sketch.from_polylines([[doodle.points.min(axis=0)], [doodle.points[0]] * 90])
        both = Sketch(
            np.concatenate([doodle.points, dots.points]),
            np.concatenate([doodle.lengths, dots.lengths]),
            doodle.category,
            doodle.key,
            (*doodle.parts, "dot", "long dot"),
        )
        pen = dense(both.with_points(both.points * 3 + 1000))
        thin = thinned(pen, 8.0, max(pen.box[2:]))
        assert len(thin) < len(pen) / 5
        assert len(thin.lengths) == len(pen.lengths), "no stroke is lost, no dot"
        assert (thin.category, thin.key, thin.parts) == (pen.category, pen.key, pen.parts)
        px = max(pen.box[2:]) / 255
        np.testing.assert_allclose(thin.box, pen.box, rtol=0, atol=2.6 * px)  # RDP's 2, and the rounding
        ends = [
            [sketch.points[sketch.starts], sketch.points[sketch.starts + sketch.lengths - 1]] for sketch in (thin, pen)
        ]
        np.testing.assert_allclose(*ends, rtol=0, atol=0.51 * px)
        assert thinned(thin, 8.0, max(thin.box[2:])) is thin


def test_thinning_leaves_drawings_with_few_or_distant_or_indispensable_points() -> None:
    angles = np.linspace(0, math.tau, DENSE + 1)
    circle = Sketch.from_polylines([100 * np.column_stack([np.cos(angles), np.sin(angles)])])
    assert thinned(circle, 20.0, max(circle.box[2:])) is not circle
    few = Sketch(circle.points[:DENSE], np.array([DENSE]))
    assert thinned(few, 20.0, max(few.box[2:])) is few
    apart = math.tau * 127.5 / DENSE  # px between points, if its longer side is 255
    assert thinned(circle, 0.99 * apart, 200) is circle
    assert thinned(circle, 1.01 * apart, 200) is not circle
    corners = np.column_stack([np.arange(200), np.arange(200) % 2 * 4])  # close, and every one is a corner
    wire = Sketch.from_polylines([corners, [(0, 200)]])
    assert thinned(wire, 20.0, max(wire.box[2:])) is wire
    one_place = Sketch(np.full((200, 2), 7.0), np.array([200]))
    assert thinned(one_place, 20.0, max(one_place.box[2:])) is one_place
    dots = Sketch(np.random.default_rng(0).random((200, 2)), np.ones(200, np.int64))
    assert thinned(dots, 20.0, max(dots.box[2:])) is dots


def test_thinning_ignores_moves_of_the_pen_in_the_air() -> None:
    """Strokes of close points are thinned even if they lie far apart."""
    strokes = [[(x + t / 4, 250 * (x % 2) + t / 4) for t in range(20)] for x in range(10)]
    sketch = Sketch.from_polylines(strokes)
    assert np.linalg.norm(np.diff(sketch.points, axis=0), axis=1).mean() > 8
    assert thinned(sketch, 8.0, max(sketch.box[2:])).lengths.tolist() == [2] * 10


def test_drawings_of_quickdraw_and_doodles_are_not_thinned() -> None:
    """However many points they have: they are simplified already."""
    generator = np.random.default_rng(1)
    for _ in range(20):
        angles = np.cumsum(generator.normal(0, 0.3, 3000))
        scribble = Sketch.from_polylines([np.cumsum(np.column_stack([np.cos(angles), np.sin(angles)]), axis=0)])
        published = quickdraw_simplify(scribble)
        if len(published) > DENSE:
            assert thinned(published, 1e9, 255) is published
            assert len(simplify_in_place(published)) > 0.8 * len(published)
    assert all(thinned(doodle, 1e9, 255) is doodle for doodle in doodles(300))
