"""Parts of the benchmark on little data: they measure what they name, whatever the machine."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from gra2seq import bench
from gra2seq.bench import search
from gra2seq.config import parse_config
from gra2seq.config.systems import SYSTEMS
from gra2seq.data.batches import prepare_training
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.models.registry import build, preparation_of
from gra2seq.models.sketch_model import SketchModel
from gra2seq.nn.patch_cnn import PatchCNN


def test_every_system_is_timed(monkeypatch):
    monkeypatch.setitem(bench.STEPS, "systems", 1)
    dataset = open_dataset("doodles:100")
    found = bench.systems([dataset.store[int(i)] for i in dataset.train], dataset, "tiny")
    assert list(found["sketches_per_second"]) == list(SYSTEMS)
    assert found["ratio"]["sp-gra2seq"] == 1
    rates = found["sketches_per_second"]
    assert found["ratio"]["song"] == pytest.approx(rates["song"] / rates["sp-gra2seq"])


@pytest.mark.parametrize("method", ["exact", "ivf-pq"])
def test_search_among_synthetic_codes_finds_the_nearest(method):
    found = search.run(method, 10_000)
    assert found["codes"] == 10_000
    assert 0 < found["ms"] < 10_000
    assert found["rss_mb"] > 10
    if method == "ivf-pq":
        assert found["recall_at_10"] >= 0.9


def test_retrieval_searches_noisy_codes_in_their_gallery(monkeypatch):
    asked = []
    monkeypatch.setattr(bench, "CODES", 300)
    monkeypatch.setattr(bench, "ranks", lambda queries, gallery, most: asked.append((queries, gallery, most)))
    found = bench._retrieve()
    [(queries, gallery, most)] = asked
    assert queries.shape == gallery.shape == (300, 128)
    assert np.abs(queries - gallery).mean() > 0.1
    assert most == 50
    assert found["codes"] == 300
    assert found["rss_mb"] > 10


def test_flops_of_a_step_are_those_that_torch_counts():

    def of_addmm(_into, a, b, *_, **__):  # torch does not count it by itself
        return 2 * a[0] * a[1] * b[1]

    config = parse_config({"preset": "tiny"})
    network = build(config.model).train()
    seeds = [(0, number) for number in range(32)]
    batch = prepare_training(list(doodles(32, seed=1)), preparation_of(config, 30.0), seeds)
    with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.addmm_: of_addmm}) as counted:
        torch.stack(list(network(batch)[0].values())).sum().backward()
    assert counted.get_total_flops() == pytest.approx(bench.step_flops(batch, network), rel=0.05)


@pytest.mark.slow
def test_healing_is_timed_by_the_command():
    found = bench.healing(list(doodles(3)))
    assert found["sketches"] == 3
    assert 0.1 < found["seconds_of_one"] < 60
    assert found["sketches_per_second"] == pytest.approx(3 / found["seconds"])


def test_encoder_difference_is_that_of_rounding():
    """A wrong weight gives a difference of the size of the features; rounding gives a millionth of it."""
    torch.manual_seed(0)
    cnn, sketches = PatchCNN(), list(doodles(2))
    assert all(0 < bench.encoder_difference(cnn, sketches, fast=fast) < 1e-4 for fast in (True, False))


def test_chosen_parts_are_measured(monkeypatch):
    monkeypatch.setattr(bench, "peak_gflops", lambda: 1.0)
    messages = []
    found = bench.measure("doodles:200", only=("preparation",), report=messages.append)
    assert found["preparation"]["sketches_per_second"] > 0
    assert not {"encoder", "training", "growth"} & found.keys()
    assert any(text.startswith("preparation: ") for text in messages)
    with pytest.raises(UserError, match="there is no part 'speed'"):
        bench.measure("doodles:200", only=("speed",), report=messages.append)


def test_growth_prepares_and_encodes_all_sketches(monkeypatch):
    encoded = []
    real = SketchModel.encode
    monkeypatch.setattr(
        SketchModel, "encode", lambda self, batch, *more: encoded.append(len(batch)) or real(self, batch, *more)
    )
    found = bench._grow("130")
    assert found["sketches"] == 130
    assert sum(encoded) == 32 + 128, "the warm-up, and two full batches of 64"
