"""Symmetric drawings are completed by what is visible on the other side of the axis."""

import numpy as np
import pytest

from gra2seq.data.doodles import doodle
from gra2seq.drawing.symmetry import NORMALS, OFFSETS, Mirror, complete_by_symmetry, find_mirror
from gra2seq.sketch.damage import lose
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch


def ring(x, y, radius):
    turn = np.linspace(0, 2 * np.pi, 33)
    return np.c_[x + radius * np.cos(turn), y + radius * np.sin(turn)]


FACE = Sketch.from_polylines([ring(50, 50, 50), ring(30, 40, 6), ring(70, 40, 6), [(35, 70), (50, 76), (65, 70)]])


def test_an_eye_that_is_wholly_lost_comes_back_from_the_other_side():
    damage = lose(FACE, Region.of_boxes([(60, 28, 22, 22)]))
    found = complete_by_symmetry(damage)
    assert found is not None
    assert found.rest is None
    points = damage.denormalised(np.concatenate(found.lines))
    np.testing.assert_allclose(np.hypot(*(points - (70, 40)).T), 6, atol=0.7)


def test_what_the_axis_runs_through_stays_lost():
    damage = lose(FACE, Region.of_boxes([(40, 60, 35, 25)]))
    found = complete_by_symmetry(damage)
    assert found is not None
    assert found.rest is not None
    left, top, right, bottom = found.rest.lost.bounds
    assert (left, right) == pytest.approx((40, 60), abs=1)
    assert (top, bottom) == pytest.approx((60, 85), abs=1)
    points = found.rest.visible.points.astype(np.float64)
    within = points[found.rest.lost.contains(points)]
    assert (found.rest.lost.distance(within) < 0.1).all(), "new lines reach its border and no farther"


@pytest.mark.parametrize("turned", [False, True])
def test_lines_begin_at_the_open_ends_around_the_region(turned):
    strokes = [[(50, 100), (0, 60), (0, 0), (50, 20), (100, 0), (100, 60), (50, 100)]]
    shield = Sketch.from_polylines([[(y, x) for x, y in stroke] for stroke in strokes] if turned else strokes)
    box = (-10, 75, 40, 40) if turned else (75, -10, 40, 40)
    damage = lose(shield, Region.of_boxes([box]), frame=shield.box)
    found = complete_by_symmetry(damage)
    assert found is not None
    (line,) = found.lines
    visible = damage.normalised(damage.visible.points)
    for end in line[[0, -1]]:
        assert np.abs(visible - end).max(axis=1).min() < 1e-6
    corner = damage.normalised(np.array([[0, 100]] if turned else [[100, 0]]))
    assert np.hypot(*(line - corner).T).min() < 0.01


def test_a_drawing_without_symmetry_is_left_to_the_decoder():
    spiral = np.linspace(0, 12, 80)[:, None] * np.c_[np.cos(np.linspace(0, 12, 80)), np.sin(np.linspace(0, 12, 80))]
    assert complete_by_symmetry(lose(Sketch.from_polylines([spiral]), Region.of_boxes([(4, -4, 6, 6)]))) is None


def test_symmetric_lines_that_miss_the_open_ends_are_not_taken():
    """Both sides of the face agree, but two lines lead into the hole that the other side does not have."""
    extra = [[(61, 29), (62, 60)], [(81, 29), (78, 60)], [(66, 20), (66, 40)]]
    damage = lose(Sketch.from_polylines([*FACE.strokes, *extra]), Region.of_boxes([(60, 28, 22, 22)]))
    assert complete_by_symmetry(damage) is None


def test_no_mirror_is_ruled_out_that_a_look_at_all_points_would_find(monkeypatch):
    damages = [lose(FACE, Region.of_boxes([(60 + shift, 28, 22, 22)])) for shift in range(0, 12, 3)]
    damages += [lose(doodle("apple", seed), Region.of_boxes([(150, 100, 60, 60)])) for seed in range(4)]
    scenes = [([one.normalised(line) for line in one.visible.strokes], one.lost_normalised) for one in damages]

    def every(*_):
        yield from (Mirror(normal, float(offset)) for normal in NORMALS for offset in OFFSETS)

    found = [find_mirror(*scene) for scene in scenes]
    monkeypatch.setattr("gra2seq.drawing.symmetry._possible", every)
    slow = [find_mirror(*scene) for scene in scenes]
    assert any(mirror is not None for mirror in slow)
    for one, other in zip(found, slow, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert (one.offset, one.normal.tolist()) == (other.offset, other.normal.tolist())
