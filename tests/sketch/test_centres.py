"""Where patches lie: the released code's rule against a walk segment by segment, denser strokes, even choices."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_sketches import WHOLE, calm, sketches

from gra2seq.data.doodles import doodle
from gra2seq.errors import UserError
from gra2seq.sketch.centres import SEGMENTS_PER_PATCH, centre_points, densified, evenly
from gra2seq.sketch.strokes import Sketch


def slow_centres(sketch):
    """A centre at the first point of a stroke, then after every 4th segment that another one follows."""
    found = []
    for stroke in sketch.strokes:
        found.append(stroke[0].tolist())
        for segments, (start, _) in enumerate(pairwise(stroke)):  # how many were drawn before this one
            if segments > 0 and segments % 4 == 0:
                found.append(start.tolist())
    return found


@pytest.mark.parametrize("category", ["cat", "bus", "flower"])
def test_centres_follow_the_released_rule_on_doodles(category):
    for seed in range(5):
        sketch = doodle(category, seed)
        assert centre_points(sketch).tolist() == slow_centres(sketch)


@calm
@given(st.lists(st.integers(1, 15), min_size=1, max_size=6))
def test_centres_follow_the_released_rule_for_strokes_of_any_length(lengths):
    points = np.arange(2 * sum(lengths)).reshape(-1, 2)
    sketch = Sketch(points, np.array(lengths))
    assert centre_points(sketch).tolist() == slow_centres(sketch)


@pytest.mark.parametrize(("segments", "centres"), [(0, 1), (1, 1), (3, 1), (4, 1), (5, 2), (8, 2), (9, 3), (12, 3)])
def test_the_last_point_of_a_stroke_has_no_centre_of_its_own(segments, centres):
    assert SEGMENTS_PER_PATCH == 4
    line = Sketch.from_polylines([[[x, 0] for x in range(segments + 1)]])
    assert len(centre_points(line)) == centres


def length(sketch):
    return [float(np.linalg.norm(np.diff(s.astype(float), axis=0), axis=1).sum()) for s in sketch.strokes]


@calm
@given(sketches(WHOLE), st.floats(5, 5000))
def test_densified_strokes_are_the_same_lines_with_short_segments(sketch, longest):
    dense = densified(sketch, longest)
    assert dense.parts == sketch.parts
    assert len(dense.lengths) == len(sketch.lengths)
    for thin, stroke in zip(sketch.strokes, dense.strokes, strict=True):
        moves = np.diff(stroke.astype(float), axis=0)
        assert len(moves) == 0 or np.hypot(*moves.T).max() <= longest * 1.00001 + 1e-3
        # The points of before are there in their order, and the new ones lie evenly between them.
        place = 0
        for start, stop in pairwise(thin.astype(float)):
            parts = max(int(np.ceil(np.hypot(*(stop - start)) / longest - 1e-6)), 1)
            expected = np.linspace(start, stop, parts + 1)
            np.testing.assert_allclose(stroke[place : place + parts + 1], expected, atol=1e-3)
            place += parts
        assert place == len(stroke) - 1
    assert length(dense) == pytest.approx(length(sketch), rel=1e-5, abs=1e-2)


def test_strokes_that_are_dense_already_stay_as_they_are():
    sketch = doodle("cat", 0)
    assert densified(sketch, 1e6) is sketch


def test_a_straight_line_has_patches_along_all_of_it_when_densified():
    line = Sketch.from_polylines([[[0, 0], [100, 0]]])
    assert len(centre_points(line)) == 1
    assert centre_points(densified(line, 10.0))[:, 0].tolist() == [0, 40, 80]


@pytest.mark.parametrize("count", [0, 1, 5, 20, 21, 39, 40, 52, 1000])
def test_evenly_takes_from_the_first_to_the_last(count):
    chosen = evenly(count, 20)
    assert len(chosen) == min(count, 20)
    assert len(set(chosen.tolist())) == len(chosen)
    if count <= 20:
        assert chosen.tolist() == list(range(count))
    else:
        assert (chosen[0], chosen[-1]) == (0, count - 1)
        steps = np.diff(chosen)
        assert steps.max() - steps.min() <= 1


def test_more_points_than_are_read_are_counted_before_they_are_made():
    """A million strokes across the drawing would become ten million points: 0.5 GB for a file of 6 MB."""
    across = np.column_stack([np.arange(400_000) % 250, np.arange(400_000) % 2 * 100])
    with pytest.raises(UserError, match="more than 1,000,000 patches"):
        densified(Sketch(across, np.array([len(across)])), 25.0)
