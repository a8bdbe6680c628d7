from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_sketches import ANY, calm, sketches

from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.sketch.pace import AIR_SECONDS, PAUSE_SECONDS, SPEED, STROKE_SECONDS, timeline
from gra2seq.sketch.strokes import Sketch


def test_times_by_hand() -> None:
    # The longer side is 100. Two strokes of 1 and 0.5 sides, the pen moves 0.5 sides in the air.
    sketch = Sketch.from_polylines([[(0, 0), (25, 0), (100, 0)], [(100, 50), (50, 50)]])
    first = STROKE_SECONDS + 1 / SPEED
    second = first + PAUSE_SECONDS + AIR_SECONDS * 0.5
    expected = [0, first / 4, first, second, second + STROKE_SECONDS + 0.5 / SPEED]
    assert timeline(sketch).tolist() == pytest.approx(expected)


def test_a_dot_takes_the_shortest_stroke_whether_written_as_one_point_or_several() -> None:
    for dot in ([(0, 0)], [(0, 0)] * 2, [(0, 0)] * 3):
        times = timeline(Sketch.from_polylines([dot, [(0, 0), (0, 10)]]))
        assert times[len(dot)] == pytest.approx(STROKE_SECONDS + PAUSE_SECONDS)
    assert timeline(Sketch.from_polylines([[(5, 5)] * 3])).tolist() == pytest.approx(np.arange(3) * STROKE_SECONDS / 2)


def test_size_and_place_of_the_drawing_do_not_matter() -> None:
    for doodle in doodles(5, seed=1):
        moved = doodle.with_points(doodle.points * 4 + 1000)
        np.testing.assert_allclose(timeline(moved), timeline(doodle), rtol=1e-4)


def test_total_is_the_time_asked_for_and_shares_stay() -> None:
    for doodle in doodles(5, seed=2):
        natural, scaled = timeline(doodle), timeline(doodle, seconds=3.0)
        assert scaled[-1] == 3.0
        np.testing.assert_allclose(scaled / 3.0, natural / natural[-1])


def test_a_single_point_takes_no_time() -> None:
    assert timeline(Sketch.from_polylines([[(3, 4)]]), seconds=5.0).tolist() == [0.0]


@calm
@given(sketches(ANY), st.one_of(st.none(), st.floats(0, 1e6)))
def test_times_start_at_zero_never_decrease_and_are_finite(sketch: Sketch, seconds: float | None) -> None:
    times = timeline(sketch, seconds)
    assert times.shape == (len(sketch),)
    assert times[0] == 0
    assert np.isfinite(times).all()
    assert (np.diff(times) >= 0).all()


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_impossible_durations_are_refused(seconds: float) -> None:
    with pytest.raises(UserError, match="give a number of 0 or more"):
        timeline(Sketch.from_polylines([[(0, 0), (1, 1)]]), seconds)
