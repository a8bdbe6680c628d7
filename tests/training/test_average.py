"""The running mean of the weights: judged, kept, resumed."""

import pytest
import torch
from quick_runs import run
from safetensors.torch import load_file

from gra2seq.errors import UserError
from gra2seq.models.model_files import read_progress
from gra2seq.training.average import Average
from gra2seq.training.loop import train
from options_by_name import quick


def test_the_mean_of_the_weights_is_judged_kept_and_resumed(tmp_path):
    goal = {"average": 0.5, "max_steps": 24, "validate_every": 12, "save_every": 12, "learning_rate": 3e-3}
    whole = run(tmp_path / "whole", **goal)
    run(tmp_path / "parts", **{**goal, "max_steps": 12})
    train(quick(**goal, run=str(tmp_path / "parts")), resume=True)
    mean, again = (load_file(folder / "model.safetensors") for folder in (whole, tmp_path / "parts"))
    assert all(torch.equal(mean[name], again[name]) for name in mean)
    last = load_file(whole / "last.safetensors")
    weight = "decoder.out.weight"
    assert read_progress(whole / "model.safetensors")["step"] == 24
    assert torch.equal(last[f"average.{weight}"], mean[weight])
    assert not torch.equal(last[f"model.{weight}"], mean[weight])
    plain = run(tmp_path / "plain", **{**goal, "average": 0.0})
    assert torch.equal(load_file(plain / "last.safetensors")[f"model.{weight}"], last[f"model.{weight}"])
    with pytest.raises(UserError, match="average"):
        train(quick(**{**goal, "max_steps": 30}, run=str(plain)), resume=True)


def test_the_mean_against_a_slow_twin():
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    average, expected = Average(network, 0.8), network[0].weight.detach().clone()
    for step in range(1, 60):
        with torch.no_grad():
            network[0].weight += torch.randn(2, 2)
        average.update_(step)
        keep = min(0.8, step / (step + 10))
        expected = keep * expected + (1 - keep) * network[0].weight.detach()
    assert torch.allclose(average.mean["0.weight"], expected, atol=1e-5)
    before = network[0].weight.detach().clone()
    with average.used():
        assert torch.allclose(network[0].weight, expected, atol=1e-5)
    assert torch.equal(network[0].weight, before)
