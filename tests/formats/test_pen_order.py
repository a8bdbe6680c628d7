"""The guess how a person would have drawn: the same strokes, each once, in an order that people use."""

from __future__ import annotations

import numpy as np

from gra2seq.data.doodles import CATEGORIES, doodle
from gra2seq.formats.pen_order import in_drawing_order

BODY = np.array([(20.0, 20.0), (20.0, 180.0), (220.0, 180.0), (220.0, 20.0), (20.0, 20.0)])


def as_set(strokes):
    return sorted(min(tuple(map(tuple, s)), tuple(map(tuple, s[::-1]))) for s in strokes)


def test_no_stroke_is_lost_or_changed_but_for_its_direction():
    for number, category in enumerate(CATEGORIES):
        strokes = [stroke.astype(np.float64) for stroke in doodle(category, number).strokes]
        opened = [stroke for stroke in strokes if (stroke[0] != stroke[-1]).any() or len(stroke) == 1]
        assert as_set(in_drawing_order(opened)) == as_set(opened)


def test_result_does_not_depend_on_the_order_or_direction_given():
    rng = np.random.default_rng(0)
    strokes = [stroke.astype(np.float64) for stroke in doodle("cat", 5).strokes]
    strokes = [stroke for stroke in strokes if (stroke[0] != stroke[-1]).any()]
    expected = in_drawing_order(strokes)
    for _ in range(5):
        shuffled = [strokes[n][:: rng.choice([1, -1])] for n in rng.permutation(len(strokes))]
        for one, other in zip(in_drawing_order(shuffled), expected, strict=True):
            assert (one == other).all()


def test_large_outline_comes_before_small_details_inside_it():
    eye = np.array([(100.0, 60.0), (110.0, 60.0)])
    first, second = in_drawing_order([eye, BODY])
    assert len(first) == len(BODY)
    assert len(second) == 2


def test_line_that_touches_what_is_drawn_starts_there():
    leg = np.array([(60.0, 240.0), (60.0, 180.0)])
    _, second = in_drawing_order([BODY, leg])
    assert second.tolist() == leg[::-1].tolist()


def test_closed_stroke_stays_closed_and_keeps_its_points():
    (ring,) = in_drawing_order([BODY])
    assert (ring[0] == ring[-1]).all()
    assert {tuple(p) for p in ring} == {tuple(p) for p in BODY}


def test_dots_and_empty_drawings_are_accepted():
    assert in_drawing_order([]) == []
    dots = [np.array([(3.0, 4.0)]), np.array([(30.0, 4.0)])]
    assert as_set(in_drawing_order(dots)) == as_set(dots)
