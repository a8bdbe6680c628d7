"""Sketch-a-Net: shapes by hand, trained by the same loop, saved with its categories."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import gra2seq
from gra2seq.data.batches import prepare, prepare_training
from gra2seq.data.datasets import NAMED
from gra2seq.data.doodles import doodle, doodles
from gra2seq.errors import UserError
from gra2seq.evaluation.judge import load_judge
from gra2seq.folder import pack
from gra2seq.models.registry import preparation_of
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.sketch.damage import Damage
from gra2seq.training.logs import read_metrics
from gra2seq.training.loop import train
from options_by_name import config_of


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
    assert network.features[:-1](torch.zeros(1, 1, 225, 225)).shape == (1, 256, 7, 7)
    assert network.eval().logits(torch.zeros(2, 225, 225, dtype=torch.uint8)).shape == (2, 5)
    with pytest.raises(UserError, match="two categories"):
        SketchANet(1)


def test_pooling_before_the_relu_gives_the_same():
    """The paper's order, layer by layer, forwards and backwards."""
    torch.manual_seed(0)
    network = SketchANet(3).double()
    pictures = torch.randint(0, 256, (2, 225, 225), dtype=torch.uint8)
    ours = torch.autograd.grad(network.logits(pictures).square().sum(), list(network.parameters()))
    hidden = pictures.double().unsqueeze(1) / 255
    for layer in network.features:
        if isinstance(layer, torch.nn.Conv2d):
            hidden = layer(hidden).clamp(min=0)
        elif isinstance(layer, torch.nn.MaxPool2d):
            hidden = torch.nn.functional.max_pool2d(hidden, 3, 2)
    hidden = network.second(network.first(hidden.flatten(1)).clamp(min=0)).clamp(min=0)
    paper = torch.autograd.grad(network.last(hidden).square().sum(), list(network.parameters()))
    assert all(torch.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(ours, paper, strict=True))


def test_dropout_belongs_to_the_sketch():
    """Half is dropped by the sketch's own numbers, and what is left counts twice; against torch's by hand."""
    torch.manual_seed(0)
    network = SketchANet(3).double()
    pictures = torch.randint(0, 256, (4, 225, 225), dtype=torch.uint8)
    chance = torch.randn(4, 1024, dtype=torch.float64)
    hidden = network.first(network.features(pictures.double().unsqueeze(1) / 255)).clamp(min=0)
    hidden = torch.where(chance[:, :512] > 0, hidden / 0.5, 0.0)
    hidden = torch.where(chance[:, 512:] > 0, network.second(hidden).clamp(min=0) / 0.5, 0.0)
    assert torch.allclose(network.logits(pictures, chance), network.last(hidden), rtol=1e-12, atol=0)
    assert not torch.allclose(network.logits(pictures), network.logits(pictures, chance))


def test_dropout_only_in_training():
    preparation = preparation_of(config_of(model="sketch-a-net"), 1.0, ("bus", "cat"))
    network = SketchANet(2)
    sketches = [doodle("cat", 0), doodle("bus", 0)]
    one, other = (prepare_training(sketches, preparation, [(seed, 0), (seed, 1)]) for seed in (0, 1))
    assert not torch.equal(one.views["picture"], other.views["picture"]), "pictures are changed a little in training"
    other = replace(other, views=one.views)
    assert network(one)[0]["category"] != network(other)[0]["category"]
    assert network(one)[0]["category"] == network(one)[0]["category"]
    network.eval()
    assert network(one)[0]["category"] == network(other)[0]["category"]


def test_resumed_is_uninterrupted(tmp_path):
    common = {"model": "sketch-a-net", "preset": "small", "data": "doodles:200", "workers": 0, "gallery": 0}
    sizes = {"batch": 4, "validate_every": 2, "save_every": 2, "validate_sketches": 4, "lr_schedule": "epochs"}
    runs = []
    for name, stretches in (("whole", [4]), ("parts", [2, 4])):
        for number, steps in enumerate(stretches):
            chosen = config_of(**common, **sizes, run=str(tmp_path / name), max_steps=steps)
            train(chosen, resume=number > 0)
        runs.append([row["loss"] for row in read_metrics(tmp_path / name)])
    assert len(runs[0]) == 4
    assert runs[0] == runs[1]


def test_labels_count_through_the_categories():
    preparation = preparation_of(config_of(model="sketch-a-net"), 1.0, ("bus", "cat"))
    sketches = [doodle("cat", 0), doodle("bus", 0), doodle("pig", 0)]
    batch = prepare_training(sketches, preparation, [(0, i) for i in range(3)])
    assert batch.labels.tolist() == [1, 0, -1]
    assert batch.views["picture"].shape == (3, 225, 225)
    assert set(batch.views) == {"picture"}


@pytest.mark.slow
def test_trained_by_the_same_loop_and_saved_with_its_categories(tmp_path):
    write = {"data": "doodles:600", "workers": 0, "dataset": "DS1", "run": str(tmp_path / "judge")}
    steps = {"max_steps": 12, "batch": 8, "validate_every": 6, "save_every": 6, "validate_sketches": 20}
    chosen = config_of(model="sketch-a-net", preset="small", learning_rate=3e-4, **write, **steps)
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
    given = pack(run, tmp_path / "given")
    pictures = prepare([Damage.none(sketch) for sketch in sketches], judge.preparation).views["picture"]
    with torch.no_grad():
        packed, trained = (one.network.logits(pictures) for one in (load_judge(given), judge))
    assert torch.allclose(packed, trained, atol=0.02)
    assert str(tmp_path).encode() not in (given / "config.json").read_bytes()
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (given, run)]
    assert sizes[0] < 0.6 * sizes[1]
    with pytest.raises(UserError, match="is a judge"):
        gra2seq.load(run)


def test_a_model_that_draws_is_not_a_judge(tiny_run):
    with pytest.raises(UserError, match="not a judge"):
        load_judge(tiny_run)


@pytest.mark.parametrize("broken", [{"config": None}, {"config": [1]}, {"config": "x"}])
def test_a_broken_configuration_is_refused(tmp_path, broken):
    config = {"config": {"model": {"name": "sketch-a-net"}}, "scale": 1.0, "categories": ["bus", "cat"], **broken}
    (tmp_path / "config.json").write_text(json.dumps({k: v for k, v in config.items() if v is not None}))
    with pytest.raises(UserError, match="not a configuration"):
        load_judge(tmp_path)


def test_the_judge_of_open8_is_in_the_package():
    """It recognises doodles, which it has not learnt from."""
    folder = Path(gra2seq.__file__).parent / "judges" / "open8"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 20e6
    judge = load_judge("open8")
    assert judge.categories == NAMED["OPEN8"].categories
    drawn = list(doodles(30, categories=("car", "cat", "horse"), seed=1))
    right = judge.classify(drawn) == [judge.categories.index(sketch.category) for sketch in drawn]
    assert right.mean() > 0.8
