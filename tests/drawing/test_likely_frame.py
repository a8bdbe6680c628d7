"""The frame of a begun drawing is predicted from its visible strokes, and from nothing else."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import gra2seq
from gra2seq.data.batches import prepare_training
from gra2seq.data.doodles import doodles
from gra2seq.data.views import ExtentView, Seen
from gra2seq.drawing import infill_choice
from gra2seq.drawing.from_codes import infill_each
from gra2seq.drawing.infill import InfillResult
from gra2seq.drawing.likely_frame import is_begun, with_likely_frames
from gra2seq.models.registry import preparation_of
from gra2seq.nn.frame_predictor import EXTENT, FramePredictor
from gra2seq.sketch.damage import Damage, lose, missing_end, missing_end_of
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch
from options_by_name import tiny

SKETCHES = list(doodles(8, seed=4))
GROWTH = torch.tensor([0.5, 0.0, 0.25, 1.0])  # left, top, right, bottom


@pytest.fixture
def growing():
    """A model that expects every begun drawing to grow by GROWTH."""
    model = gra2seq.load()
    model.network.frame = FramePredictor(128).eval()
    with torch.no_grad():
        model.network.frame.project.bias.copy_(torch.log1p(GROWTH))
    return model


def begun():
    return [missing_end(sketch, 0.5) for sketch in SKETCHES]


def framed(model, damages):
    return with_likely_frames(model.network, model.preparation, damages, repair=True)


def test_each_side_of_the_frame_grows_by_its_own_share_of_the_longer_side(growing):
    for before, after in zip(begun(), framed(growing, begun()), strict=True):
        x, y, width, height = before.visible.box
        left, top, right, bottom = (GROWTH.double() * max(width, height)).tolist()
        expected = (x - left, y - top, width + left + right, height + top + bottom)
        np.testing.assert_allclose(after.frame, expected, rtol=1e-5, atol=1e-3)
        assert after.visible == before.visible


def test_the_frame_does_not_grow_beyond_the_page(growing):
    damage = begun()[0]
    x, y, width, height = damage.visible.box
    page = (x - 3, y, width + 5, height + 10_000)  # room of 3 at the left, 2 at the right, enough below
    (grown,) = framed(growing, [replace(damage, page=page)])
    expected = (x - 3, y, width + 5, height + max(width, height))
    np.testing.assert_allclose(grown.frame, expected, rtol=1e-5, atol=1e-3)
    (outside,) = framed(growing, [replace(damage, page=(x + 5, y + 5, width - 10, height - 10))])
    assert outside.frame == damage.frame


def test_frames_that_are_known_and_lost_regions_stay_as_they_are(growing):
    sketch = SKETCHES[0]
    x, y, width, height = sketch.box
    known = [
        missing_end(sketch, 0.5, frame=(x - 5, y - 5, width + 10, height + 10)),
        missing_end_of(sketch, frame=sketch.box),
        lose(sketch, Region.of_boxes([(x, y, width / 2, height / 2)])),
        missing_end_of(Sketch(np.array([[3.0, 4.0]], np.float32), np.array([1]))),
    ]
    assert [is_begun(damage) for damage in known] == [False] * 4
    assert framed(growing, known) == known


def test_a_model_without_frame_prediction_keeps_the_visible_box(tiny_run):
    model = gra2seq.load(tiny_run)
    assert model.network.frame is None
    damages = begun()
    assert framed(model, damages) == damages


def test_the_frame_moves_and_grows_with_the_drawing():
    model = gra2seq.load()
    torch.manual_seed(1)
    model.network.frame = FramePredictor(128).eval()
    torch.nn.init.normal_(model.network.frame.project.weight, std=0.3)
    for damage in begun():
        moved = missing_end_of(damage.visible.with_points(damage.visible.points * 2 + 64))
        (one,), (other,) = framed(model, [damage]), framed(model, [moved])
        np.testing.assert_allclose(np.array(one.frame) * 2 + [64, 64, 0, 0], other.frame, rtol=1e-3, atol=0.5)


def test_new_lines_come_back_in_the_units_of_the_damage_handed_in(growing, monkeypatch):
    monkeypatch.setattr(infill_choice, "LONGEST", 1.0)  # where the frame is known, all samples are chosen from
    damages, (drawing,) = begun()[:3], [replace(growing.drawing, infill=4)]
    limit = growing.config.preparation.max_points
    results = infill_each(growing.network, growing.preparation, damages, [2] * 3, [drawing] * 3, limit)
    again = infill_each(growing.network, growing.preparation, framed(growing, damages), [2] * 3, [drawing] * 3, limit)
    for damage, large, own, other in zip(damages, framed(growing, damages), results, again, strict=True):
        for one, same in zip(own, other, strict=True):
            for line, expected in zip(one.lines, same.lines, strict=True):
                np.testing.assert_allclose(damage.denormalised(line), large.denormalised(expected), atol=1e-2)


def test_reframed_lines_lie_where_they_lay():
    sketch = SKETCHES[0]
    small, large = Damage.none(sketch), Damage(sketch, Region(), (-100.0, -100.0, 900.0, 700.0))
    line = np.array([[0.1, -0.2], [0.3, 0.4]])
    moved = InfillResult((line,), 0).reframed(small, large)
    np.testing.assert_allclose(large.denormalised(moved.lines[0]), small.denormalised(line), atol=1e-9)


def test_extent_is_that_of_the_visible_strokes():
    square = Sketch.from_polylines([np.array([[0, 0], [10, 0], [10, 20]]), np.array([[0, 20], [5, 20]])])
    found = ExtentView()(Seen([Damage.none(square)]))
    assert found.shape == (1, EXTENT)
    expected = [0.5, 1, np.log(5), np.log(2), np.log1p(35 / 20), 0.25, 1]
    np.testing.assert_allclose(found[0].numpy(), expected, rtol=1e-6)


def test_growth_of_training_is_how_far_the_intact_drawing_sticks_out():
    options = {"objective": "predict-frame", "frame_prediction": True, "start": "package", "stretch": 0.0}
    config = tiny("gra2seq-plus", **options, end=1.0, end_to=0.9, true_frame=0.0)
    preparation = preparation_of(config, 30.0)
    batch = prepare_training(SKETCHES, preparation, [(0, i) for i in range(8)])
    for number, (sketch, growth) in enumerate(zip(SKETCHES, batch.growth.tolist(), strict=True)):
        width, height = batch.views["extent"][number, :2].tolist()
        side = max(sketch.box[2:]) / max(width + growth[0] + growth[2], height + growth[1] + growth[3])
        for size, low, high, true in zip((width, height), growth[:2], growth[2:], sketch.box[2:], strict=True):
            assert (size + low + high) * side == pytest.approx(true, rel=1e-4, abs=1e-2)
        assert min(growth) >= 0
