"""Damage: what stays visible of a drawing, in which frame, and what cannot be healed."""

import numpy as np
import pytest
from some_sketches import assert_same

from gra2seq.data.doodles import doodle, doodles
from gra2seq.errors import UserError
from gra2seq.sketch.centres import centre_points
from gra2seq.sketch.damage import OVERHANG, Damage, guessed_frame, lose, missing_end, one_each, square_hole
from gra2seq.sketch.masking import MASKED_SIDE, mask
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch

SQUARE = Sketch.from_polylines(
    [[[0, 0], [100, 0]], [[0, 50], [100, 50]], [[0, 100], [100, 100]]], category="box", key="7", parts=("a", "b", "c")
)


def test_lines_are_cut_exactly_at_the_border_of_a_hole():
    damage = lose(SQUARE, Region.of_boxes([(40, 40, 20, 70)]))
    assert [stroke.tolist() for stroke in damage.visible.strokes] == [
        [[0, 0], [100, 0]],
        [[0, 50], [40, 50]],
        [[60, 50], [100, 50]],
        [[0, 100], [40, 100]],
        [[60, 100], [100, 100]],
    ]
    assert damage.visible.parts == ("a", "b", "b", "c", "c")
    assert (damage.visible.category, damage.visible.key) == ("box", "7")
    assert damage.centres is None, "patches lie along the visible strokes"


def test_without_a_region_all_of_a_drawing_is_visible():
    damage = lose(SQUARE, Region())
    assert damage.visible is SQUARE
    assert damage.frame == SQUARE.box
    intact = Damage.none(SQUARE)
    assert (intact.visible, intact.frame, bool(intact.lost)) == (SQUARE, SQUARE.box, False)


def test_units_of_the_frame_and_back():
    damage = Damage(SQUARE, Region(), (10, 20, 200, 50))
    points = damage.normalised(np.array([[110.0, 45.0], [10.0, 20.0]]))
    assert points.tolist() == [[0, 0], [-0.5, -0.125]]
    assert damage.denormalised(points).tolist() == [[110, 45], [10, 20]]
    dot = Damage.none(Sketch.from_polylines([[[3, 4]]]))
    assert dot.side == 1.0
    assert dot.normalised(dot.visible.points).tolist() == [[0, 0]]


def test_a_frame_is_guessed_from_the_visible_strokes_and_the_region():
    """It grows a share of the way towards where the region sticks out, on each side by itself."""
    visible = Sketch.from_polylines([[[0, 0], [100, 80]]])
    lost = Region.of_boxes([(-10, 30, 60, 70)])
    left, top, width, height = guessed_frame(visible, lost)
    assert (left, top) == (pytest.approx(-10 * OVERHANG), 0)
    assert left + width == pytest.approx(100)
    assert top + height == pytest.approx(80 + 20 * OVERHANG)
    inside = Region.of_boxes([(10, 10, 5, 5)])
    assert guessed_frame(visible, inside) == visible.box
    assert guessed_frame(visible, Region()) == visible.box


@pytest.mark.parametrize(
    "frame", [(0, 0, 90, 100), (10, 0, 100, 100), (0, 0, 100, 90), (0, 5, 100, 100), (300, 300, 100, 100)]
)
def test_a_frame_that_does_not_contain_the_drawing_is_refused(frame):
    for call in (lose, lambda sketch, _, frame: missing_end(sketch, 0.1, frame)):
        with pytest.raises(UserError, match=r"does not contain the drawing, which lies at 0,0,100,.*give a larger one"):
            call(SQUARE, Region.of_boxes([(40, 40, 20, 20)]), frame)


@pytest.mark.parametrize("frame", [(0, 0, -1, 100), (0, 0, float("nan"), 100), (0, 0, 0, 0), (0, 0, float("inf"), 9)])
def test_an_impossible_frame_is_refused(frame):
    with pytest.raises(UserError, match="needs a finite place and a positive size"):
        lose(SQUARE, Region(), frame)


def test_only_the_visible_part_must_lie_in_a_frame():
    damage = lose(SQUARE, Region.of_boxes([(-1, 60, 200, 50)]), (0, 0, 100, 50))
    assert damage.visible.lengths.tolist() == [2, 2]
    rounded = lose(SQUARE, Region(), (1e-5, 0, 99.99999, 100))
    assert rounded.frame[0] == 1e-5, "rounding is no error"


def test_a_region_over_all_of_a_drawing_is_refused():
    for lost in (Region.of_boxes([(-1, -1, 200, 200)]), Region.of_polygons([[[-50, -50], [500, -50], [-50, 500]]])):
        with pytest.raises(
            UserError, match=r"sketch '7' has no stroke outside of the lost region.*lies at 0,0,100,100"
        ):
            lose(SQUARE, lost)


def test_masks_take_a_square_of_the_masked_centres_and_give_the_others():
    sketch = doodle("bus", 2)
    every = centre_points(sketch)
    noise = np.full(20, 0.9)
    noise[[1, 4]] = 0
    damage = mask(sketch, noise, 0.5)
    half = MASKED_SIDE * max(sketch.box[2:]) / 2
    assert damage.frame == sketch.box, "the paper's protocol keeps scale and place"
    expected = [[*(centre - half), *(centre + half)] for centre in every[[1, 4]].astype(float)]
    np.testing.assert_allclose(damage.lost.boxes, expected)
    rest = np.delete(every, [1, 4], axis=0)
    assert damage.centres.tolist() == rest.tolist()
    assert not damage.lost.contains(damage.visible.points.astype(float) * (1 - 1e-6) + 1e-6).all()
    intact = mask(sketch, noise, 0.0)
    assert_same(intact.visible, sketch)
    assert not intact.lost
    assert intact.centres.tolist() == every.tolist()


def test_masks_are_for_the_first_twenty_centres():
    zigzag = Sketch.from_polylines([[[x, x % 2] for x in range(201)]])
    damage = mask(zigzag, np.zeros(20), 0.5)
    assert len(damage.lost.boxes) == 20
    assert len(damage.centres) == 50 - 20
    assert len(mask(zigzag, np.zeros(8), 0.5).lost.boxes) == 8


def test_masks_that_hide_all_of_a_drawing_are_refused():
    with pytest.raises(UserError, match=r"masks with probability 1\.0 hide all of sketch .*: lower it, or use another"):
        mask(Sketch.from_polylines([[[x, 0] for x in range(18)]], key="x"), np.zeros(20), 1.0)


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.999, 1.0])
def test_a_missing_end_keeps_the_first_points(share):
    for sketch in doodles(6, seed=2):
        damage = missing_end(sketch, share)
        kept = max(round(len(sketch) * (1 - share)), 1)
        assert damage.visible.points.tolist() == sketch.points[:kept].tolist()
        assert damage.visible.lengths.sum() == kept
        assert damage.visible.lengths[:-1].tolist() == sketch.lengths[: len(damage.visible.lengths) - 1].tolist()
        assert damage.visible.parts == sketch.parts[: len(damage.visible.lengths)]
        assert not damage.lost
        assert damage.frame == damage.visible.box
        assert missing_end(sketch, share, sketch.box).frame == sketch.box


def test_the_intact_drawing_in_the_frame_of_the_damage():
    damage = lose(SQUARE, Region.of_boxes([(40, 40, 20, 70)]), (-10, -10, 150, 150))
    whole = damage.of_whole(SQUARE)
    assert whole.visible is SQUARE
    assert whole.frame == damage.frame
    assert not whole.lost


def test_a_square_hole_is_given_in_shares_of_the_drawing():
    sketch = Sketch.from_polylines([[[10, 20], [110, 70]]])
    assert square_hole(sketch, (0.5, 0.5), (0.4, 0.2)) == (40, 35, 40, 20)
    assert square_hole(sketch, (0, 1), (0.1, 0.1)) == (5, 65, 10, 10)


BOX = (0, 0, 9, 9)


def test_holes_and_frames_are_one_for_all_or_one_a_sketch():
    assert one_each([BOX], 2, "holes") == [[BOX], [BOX]]
    assert one_each([[BOX], [], [BOX, BOX]], 3, "holes") == [[BOX], [], [BOX, BOX]]
    assert one_each((), 2, "holes") == [(), ()]
    assert one_each(None, 2, "frame") == [None, None]
    assert one_each(BOX, 2, "frame") == [BOX, BOX]
    assert one_each([BOX, None], 2, "frame") == [BOX, None]


@pytest.mark.parametrize(
    "holes",
    [[[BOX], []], [[(0, 0, 9)], [], []], [(0, 0, 9)], [[BOX], (1, 2, 3, 4), []], (1, 2, 3), [[BOX], [BOX, 3], []]],
)
def test_holes_of_a_wrong_form_are_refused(holes):
    with pytest.raises(UserError, match="or a list of such for each of 3 sketches"):
        one_each(holes, 3, "holes")


@pytest.mark.parametrize("frame", [(1, 2, 3), [BOX], [BOX, BOX, BOX], [(1, 2), BOX]])
def test_frames_of_a_wrong_form_are_refused(frame):
    with pytest.raises(UserError, match=r"frame must be \(x, y, width, height\), or a list of such for each of 2"):
        one_each(frame, 2, "frame")
