"""Sketch-a-Net: shapes by hand, trained by the same loop, saved with its categories."""

import json

import numpy as np
import pytest
import torch

import gra2seq
from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodle, doodles
from gra2seq.errors import UserError
from gra2seq.judging.judge import load_judge
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.options import options
from gra2seq.sketch.augment import changed, picture
from gra2seq.sketch.strokes import Sketch
from gra2seq.training.loop import read_metrics, train


def test_layers_are_the_papers():
    network = SketchANet(5)
    convolutions = [m for m in network.features if isinstance(m, torch.nn.Conv2d)]
    assert [(c.kernel_size[0], c.stride[0], c.out_channels) for c in convolutions] == [
        (15, 3, 64),
        (5, 1, 128),
        (3, 1, 256),
        (3, 1, 256),
        (3, 1, 256),
    ]
    assert network.features(torch.zeros(1, 1, 225, 225)).shape == (1, 256, 7, 7)
    assert network.eval().logits(torch.zeros(2, 225, 225, dtype=torch.uint8)).shape == (2, 5)
    with pytest.raises(UserError, match="two categories"):
        SketchANet(1)


def test_pictures():
    sketch = doodle("cat", 0)
    plain = picture(sketch, 225)
    assert plain.shape == (225, 225)
    assert plain[0].max() == plain[:, 0].max() == 0, "a margin is free"
    far = sketch.with_points(sketch.points * 7 + 1000)
    assert np.abs(picture(far, 225).astype(int) - plain).mean() < 1
    one, other = (picture(sketch, 225, np.random.default_rng(seed)) for seed in (0, 1))
    assert (one != other).any()
    assert (one == picture(sketch, 225, np.random.default_rng(0))).all()
    assert picture(Sketch.from_strokes([[[3, 3]]]), 225).max() == 255


def test_changes_stay_in_the_box():
    points = np.array([[-0.5, -0.5], [0.5, 0.5], [0.5, -0.5]])
    for seed in range(200):
        moved = changed(points, np.random.default_rng(seed))
        assert np.abs(moved).max() <= 0.5 + 1e-6


def test_labels_count_through_the_categories():
    recipe = options({"model": "sketch-a-net"}).recipe(1.0, ("bus", "cat"))
    batch = prepare([doodle("cat", 0), doodle("bus", 0), doodle("pig", 0)], recipe)
    assert batch.labels.tolist() == [1, 0, -1]
    assert batch.pictures.shape == (3, 225, 225)
    assert len(batch.blocks.patches) == 0


def test_trained_by_the_same_loop_and_saved_with_its_categories(tmp_path):
    write = {"data": "doodles:600", "workers": 0, "dataset": "DS1", "run": str(tmp_path / "judge")}
    steps = {"max_steps": 12, "batch": 8, "validate_every": 6, "save_every": 6, "validate_sketches": 20}
    chosen = options({"model": "sketch-a-net", "preset": "small", "learning_rate": 3e-4, **write, **steps})
    run = train(chosen)
    rows = read_metrics(run)
    assert {"loss", "category", "accuracy"} <= rows[0].keys()
    judge = load_judge(run)
    assert judge.categories == ("bee", "bus", "flower", "giraffe", "pig")
    sketches = list(doodles(6, categories=judge.categories, seed=5))
    found = judge.classify(sketches)
    assert found.shape == (6,)
    assert (found == np.concatenate([judge.classify([s]) for s in sketches])).all()
    about = json.loads((run / "test.json").read_text())
    assert 0 <= about["accuracy"] <= 1
    assert about["sketches"] > 0
    assert about["categories"] == list(judge.categories)
    with pytest.raises(UserError, match="sketch-a-net"):
        gra2seq.load(run)


def test_a_model_that_draws_is_not_a_judge(tiny_run):
    with pytest.raises(UserError, match="not a judge"):
        load_judge(tiny_run)
