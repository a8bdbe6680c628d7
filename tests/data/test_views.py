"""What encoders see: patches with ink along the visible strokes, lattice points, pictures and strokes."""

import numpy as np
import pytest
import torch

from gra2seq.data.batches import prepare, prepare_training
from gra2seq.data.doodles import doodle, doodles
from gra2seq.data.views import LostView, PatchView, PictureView, Seen, StrokeView, content_seed, decoder_units
from gra2seq.models.registry import preparation_of
from gra2seq.sketch.canvas import Canvas, draw, grey_view, lost_view, whole_view
from gra2seq.sketch.centres import centre_points
from gra2seq.sketch.damage import Damage, lose
from gra2seq.sketch.masking import mask
from gra2seq.sketch.patches import on_canvas
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import END, UP, Sketch
from options_by_name import tiny

CANVAS = Canvas()
ZIGZAG = Sketch.from_polylines([[[x, x % 2] for x in range(201)], [[0, 9], [5, 9]]])  # 50 centres, and one more


def cut(damage, **how):
    return PatchView(CANVAS, **how).cut(damage, draw(damage, CANVAS))


def test_the_whole_view_and_the_patches_are_cut_from_the_same_canvas():
    damage = Damage.none(doodle("cat", 1))
    pixels = draw(damage, CANVAS)
    views, centres = cut(damage)
    assert (views[0] == whole_view(pixels, CANVAS)).all()
    expected = on_canvas(damage.normalised(centre_points(damage.visible)), CANVAS)[:20]
    assert centres.tolist() == expected.tolist()
    for (x, y), view in zip(centres.tolist(), views[1:], strict=True):
        assert (view == pixels[y - 128 : y + 128, x - 128 : x + 128]).all()


def test_centres_may_be_spread_along_all_strokes():
    every = cut(Damage.none(ZIGZAG), nodes=100)[1]
    spread, first = (cut(Damage.none(ZIGZAG), spread=spread)[1] for spread in (True, False))
    assert len(every) == 51
    assert (first == every[:20]).all()
    assert (spread[[0, -1]] == every[[0, -1]]).all(), "from the first to the last"
    numbers = [int(np.flatnonzero((every == centre).all(axis=1))[0]) for centre in spread]
    assert set(np.diff(numbers)) == {2, 3}, "50 steps in 19"
    few = Damage.none(doodle("cat", 0))
    assert (cut(few, nodes=100, spread=True)[1] == cut(few, nodes=100)[1]).all()


def test_dense_views_have_patches_along_straight_lines():
    box = Damage.none(Sketch.from_polylines([[[0, 0], [100, 0], [100, 100], [0, 100], [0, 0]]]))
    assert len(cut(box)[1]) == 1
    dense = cut(box, dense=True)[1]
    assert len(dense) == 10
    assert np.linalg.norm(np.diff(dense, axis=0), axis=1).max() <= 0.41 * 640 + 2, "no gap is wider than a patch"


def test_patches_along_the_visible_strokes_are_counted_as_if_the_rest_had_never_been_drawn():
    hole = Region.of_boxes([(50, -5, 60, 10)])
    damage = lose(ZIGZAG, hole, ZIGZAG.box)
    alone = Damage(damage.visible, Region(), ZIGZAG.box)
    expected = on_canvas(damage.normalised(centre_points(damage.visible)), CANVAS)[:20]
    assert cut(damage)[1].tolist() == expected.tolist() == cut(alone)[1].tolist()


def test_of_masked_drawings_the_surviving_centres_are_given():
    noise = np.full(20, 0.9)
    noise[[0, 3]] = 0
    damage = mask(ZIGZAG, noise, 0.5)
    pixels = draw(damage, CANVAS)
    rest = np.delete(centre_points(ZIGZAG), [0, 3], axis=0)[:20]
    at = on_canvas(damage.normalised(rest), CANVAS)
    inked = [pixels[y - 128 : y + 128, x - 128 : x + 128].any() for x, y in at.tolist()]
    assert cut(damage)[1].tolist() == at[np.array(inked)].tolist()
    assert 0 < sum(inked) < 20


@pytest.mark.parametrize("how", [{}, {"spread": True}, {"dense": True}, {"cells": 8}])
@pytest.mark.parametrize("probability", [0.1, 0.3])
def test_no_valid_patch_is_blank(how, probability):
    noise = np.random.default_rng(0)
    absent = 0
    for sketch in doodles(20, categories=("bus", "giraffe", "horse"), seed=3):
        damage = mask(sketch, noise.random(20), probability)
        views, centres = cut(damage, **how)
        assert views[1:].any(axis=(1, 2)).all()
        absent += min(len(damage.centres), 20) - len(centres)
    assert absent > 0 or how.get("cells") or how.get("dense")


def test_masks_of_use_leave_no_blank_node_in_a_batch():
    preparation = preparation_of(tiny(), 30.0)
    noise = np.random.default_rng(1).random((30, 20))
    sketches = doodles(30, categories=("bus", "giraffe", "horse"), seed=4)
    damages = [mask(sketch, row, 0.3) for sketch, row in zip(sketches, noise, strict=True)]
    patches = prepare(damages, preparation).views["patches"]
    canvas = preparation.canvas
    for damage, valid, centres in zip(damages, patches.valid, patches.centres, strict=True):
        pixels, half = draw(damage, canvas), canvas.pad
        for x, y in (centres[valid] * canvas.padded).round().long().tolist():
            assert pixels[y - half : y + half, x - half : x + half].any()
    assert (patches.valid.cumsum(dim=1) == patches.valid.sum(dim=1, keepdim=True).clamp(max=1 + torch.arange(8))).all()


def test_places_count_the_views_that_are_there():
    preparation = preparation_of(tiny(), 30.0)
    patches = prepare([Damage.none(sketch) for sketch in doodles(5, seed=6)], preparation).views["patches"]
    expected = [9 * row + node for row in range(5) for node in range(1 + int(patches.valid[row].sum()))]
    assert patches.places.tolist() == expected
    assert len(patches.blocks.patches) == len(expected)
    assert not patches.centres[~patches.valid].any()


def test_pictures_and_lost_regions_are_those_of_the_damage():
    sketch = doodle("cat", 2)
    left, top, width, height = sketch.box
    damage = lose(sketch, Region.of_boxes([(left, top, width / 2, height)]), sketch.box)
    seen = Seen([damage, Damage.none(sketch)])
    pictures, lost = PictureView(24, CANVAS)(seen), LostView(24, CANVAS)(seen)
    assert (pictures[0].numpy() == grey_view(draw(damage, CANVAS), CANVAS, 24)).all()
    assert not pictures[0][:, :11].any()
    assert pictures[1][:, :11].any()
    assert (lost[0].numpy() == lost_view(damage, CANVAS, 24)).all()
    assert lost[0].any()
    assert not lost[1].any()


def test_stroke_views_hold_the_visible_strokes_where_they_lie():
    noise = np.ones(20)
    noise[0] = 0
    sketches = [sketch for sketch in doodles(20, seed=4) if len(centre_points(sketch)) > 8][:6]
    damages = [mask(sketch, noise, 0.5) for sketch in sketches]
    strokes = StrokeView(30.0)(Seen(damages))
    for damage, rows, count in zip(damages, strokes.rows, strokes.count.tolist(), strict=True):
        assert count == 1 + len(damage.visible)
        assert (rows[count:, END] == 1).all()
        assert not rows[:count, END].any()
        assert rows[:, UP].sum() == len(damage.visible.lengths)
        places = rows[1:count, :2].cumsum(dim=0).numpy() * 30
        np.testing.assert_allclose(places, decoder_units(damage, damage.visible.points), atol=1e-2)


def test_the_seed_of_a_drawing_belongs_to_its_visible_strokes():
    sketch = doodle("bus", 1)
    left, top, width, height = sketch.box
    hole = Region.of_boxes([(left, top, width / 3, height)])
    damage = lose(sketch, hole, sketch.box)
    assert content_seed(damage) == content_seed(lose(damage.visible, hole, sketch.box))
    assert content_seed(damage) != content_seed(Damage.none(sketch))


def test_in_training_random_numbers_come_from_the_seeds():
    preparation = preparation_of(tiny(links="random"), 30.0)
    sketches = list(doodles(4, seed=1))
    one, other = (
        prepare_training(sketches, preparation, [(seed, i) for i in range(4)]).views["patches"] for seed in (0, 1)
    )
    assert not torch.equal(one.uniform, other.uniform)
    assert not torch.equal(one.order, other.order)
    measured = prepare_training(sketches, preparation, [(0, i) for i in range(4)], validation=True).views["patches"]
    assert measured.order is None
