"""How sketches change in training, and that they change in training only."""

import numpy as np
import pytest
import torch

from gra2seq.data.batches import prepare_training
from gra2seq.data.doodles import doodle, doodles
from gra2seq.errors import UserError
from gra2seq.models.registry import preparation_of
from gra2seq.sketch.augment import Augmentation, changed, picture
from gra2seq.sketch.strokes import Sketch
from options_by_name import tiny


def random(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def test_without_stretch_nothing_changes():
    assert not Augmentation()
    assert Augmentation(stretch=0.1)
    sketch = doodle("cat", 1)
    assert np.allclose(Augmentation()(sketch, random()).points, sketch.points)


def test_each_axis_is_stretched_by_itself_and_within_bounds():
    sketch = doodle("giraffe", 2)
    ratios = np.array(
        [np.array(Augmentation(0.15)(sketch, random(seed)).box[2:]) / sketch.box[2:] for seed in range(40)]
    )
    assert (np.abs(ratios - 1) <= 0.15 + 1e-5).all()
    assert np.abs(ratios - 1).max() > 0.12
    assert abs(np.corrcoef(ratios.T)[0, 1]) < 0.5


def test_it_is_for_training_only_and_follows_the_seed():
    sketches, seeds = list(doodles(4, seed=1)), [(0, i) for i in range(4)]
    stretched, plain = (preparation_of(tiny(**more), 30.0) for more in ({"stretch": 0.2}, {}))
    one, again, other = (prepare_training(sketches, how, seeds).targets for how in (stretched, stretched, plain))
    assert torch.equal(one.rows, again.rows)
    assert not torch.equal(one.rows, other.rows)
    kept, same = (prepare_training(sketches, how, seeds, validation=True).targets for how in (stretched, plain))
    assert torch.equal(kept.rows, same.rows)


def test_impossible_amounts_are_refused():
    with pytest.raises(UserError, match=r"stretch=1\.0 must be less than 1"):
        tiny(stretch=1.0)


def test_pictures_for_a_classifier():
    sketch = doodle("cat", 0)
    plain = picture(sketch, 225)
    assert plain.shape == (225, 225)
    assert plain[0].max() == plain[:, 0].max() == 0, "a margin is free"
    far = sketch.with_points(sketch.points * 7 + 1000)
    assert np.abs(picture(far, 225).astype(int) - plain).mean() < 1
    one, other = (picture(sketch, 225, np.random.default_rng(seed)) for seed in (0, 1))
    assert (one != other).any()
    assert (one == picture(sketch, 225, np.random.default_rng(0))).all()
    assert picture(Sketch.from_polylines([[[3, 3]]]), 225).max() == 255


def test_changed_pictures_stay_in_the_box():
    points = np.array([[-0.5, -0.5], [0.5, 0.5], [0.5, -0.5]])
    for seed in range(200):
        assert np.abs(changed(points, np.random.default_rng(seed))).max() <= 0.5 + 1e-6
