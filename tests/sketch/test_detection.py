"""Finding an erased box from the ends it leaves, and leaving intact drawings alone."""

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.sketch import erased_box
from gra2seq.sketch.damage import lose
from gra2seq.sketch.detection import find_damage, overlap, to_heal
from gra2seq.sketch.erased_box import candidates, normalised, stroke_ends
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch

RULED = Sketch.from_polylines(
    [[(x, 0), (x + 20, 255)] for x in range(10, 250, 23)] + [[(0, y), (255, y - 15)] for y in range(20, 250, 27)]
)
BOX = (100.0, 60.0, 80.0, 90.0)
CORNERS = (100, 60, 180, 150)


def test_erased_box_is_found_exactly_where_lines_end_on_all_sides():
    found = find_damage(lose(RULED, Region.of_boxes([BOX])).visible)
    assert found is not None
    np.testing.assert_allclose(found.bounds, CORNERS, atol=1e-3)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.01, 5.0), (40.0, -3000.0)])
def test_size_and_place_of_a_drawing_do_not_matter(scale, shift):
    visible = lose(RULED, Region.of_boxes([BOX])).visible
    found = find_damage(visible.with_points(visible.points * scale + shift))
    assert found is not None
    assert overlap(np.array(found.bounds), np.array(CORNERS) * scale + shift) > 0.98


def test_rounded_ends_are_found_as_well():
    visible = lose(RULED, Region.of_boxes([BOX])).visible
    found = find_damage(visible.with_points(np.rint(visible.points)))
    assert found is not None
    assert overlap(np.array(found.bounds), np.array(CORNERS, float)) > 0.9


def test_no_visible_line_lies_in_the_found_region():
    for number, sketch in enumerate(doodles(40, seed=3)):
        left, top, width, height = sketch.box
        visible = lose(sketch, Region.of_boxes([(left + width / 3, top + height / 3, width / 2, height / 2)])).visible
        found = find_damage(visible)
        if found is not None:
            np.testing.assert_array_equal(lose(visible, found).visible.points, visible.points, err_msg=str(number))


def test_intact_drawings_are_rarely_taken_for_damaged():
    assert sum(find_damage(sketch) is not None for sketch in doodles(60, seed=1)) <= 9


@pytest.mark.parametrize(
    "strokes",
    [
        [[(5, 5)]],
        [[(0, 0), (10, 10)]],
        [[(0, 0), (0, 0)]],
        [[(0, 0), (100, 0), (100, 100), (0, 100), (0, 0)]],
        [[(x, y)] for x in range(5) for y in range(5)],
    ],
)
def test_little_drawings_show_no_damage(strokes):
    assert find_damage(Sketch.from_polylines(strokes)) is None


def test_ends_head_where_their_line_would_go_on_and_know_what_they_touch():
    strokes, size = normalised(Sketch.from_polylines([[(0, 0), (50, 0), (100, 0)], [(50, 0), (50, 40)]]))
    ends = stroke_ends(strokes)
    assert size == (1.0, 0.4)
    np.testing.assert_allclose(ends.heading, [(-1, 0), (1, 0), (0, -1), (0, 1)])
    np.testing.assert_allclose(ends.gap, [0.5, 0.5, 0, 0.4], atol=1e-6)


def test_candidates_are_empty_boxes_with_ends_on_their_sides():
    found = candidates(lose(RULED, Region.of_boxes([BOX])).visible)
    assert found is not None
    true = (np.array(CORNERS) - [0, 0, 0, 0]) / 262
    assert overlap(found.boxes, true).max() > 0.95
    assert found.cut.any(axis=1).all()
    assert np.isfinite(found.features).all()


def test_overlap_of_boxes():
    box = np.array([0.0, 0, 2, 2])
    assert overlap(box, box) == 1
    assert overlap(box, np.array([1.0, 0, 3, 2])) == pytest.approx(1 / 3)
    assert overlap(box, np.array([5.0, 5, 6, 6])) == 0


def test_damage_is_given_or_detected_and_the_rest_is_intact():
    given = lose(RULED, Region.of_boxes([BOX]))
    dot = Sketch.from_polylines([[(0, 0)]])
    frames = [None, (-50, -50, 400, 400), None]
    (first, second, third), intact = to_heal([given, given.visible, dot], "detect", frames, True)
    assert first is given
    assert second.lost
    assert second.frame == (-50, -50, 400, 400)
    assert third.visible == dot
    assert intact == [False, False, True]
    with pytest.raises(UserError, match="'everywhere' is not known"):
        to_heal([dot], "everywhere", None, True)


def test_without_holes_nothing_is_healed_unless_every_line_is_drawn_anew():
    holes = [[BOX], []]
    assert to_heal([RULED, RULED], holes, None, True)[1] == [False, True]
    assert to_heal([RULED, RULED], holes, None, False)[1] == [False, False]


@pytest.mark.parametrize(("strokes", "points"), [(200_000, 2), (100, 5000)], ids=["many-ends", "many-points"])
def test_ends_are_counted_before_each_is_compared_with_all_lines(
    monkeypatch: pytest.MonkeyPatch, strokes: int, points: int
) -> None:
    """200,000 short strokes, a file of 4 MB, took hours to heal."""
    monkeypatch.setattr(erased_box, "stroke_ends", lambda _: pytest.fail("ends were compared"))
    places = np.random.default_rng(0).random((strokes * points, 2))
    assert find_damage(Sketch(places, np.full(strokes, points))) is None
