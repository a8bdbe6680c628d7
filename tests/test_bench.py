"""The benchmark's parts on little data: they measure what they say. What they find is a machine's affair."""

import numpy as np
import pytest
import torch
from gra2seq.options import SYSTEMS, options
from torch.utils.flop_counter import FlopCounterMode

from gra2seq import bench
from gra2seq.data.batches import prepare
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodles
from gra2seq.models import build


def test_every_system_is_timed(monkeypatch):
    monkeypatch.setitem(bench.STEPS, "systems", 1)
    dataset = open_dataset("doodles:100")
    found = bench.systems([dataset.store[int(i)] for i in dataset.train], dataset, "tiny")
    assert list(found["sketches_per_second"]) == list(SYSTEMS)
    assert found["ratio"]["sp-gra2seq"] == 1
    rates = found["sketches_per_second"]
    assert found["ratio"]["song"] == pytest.approx(rates["song"] / rates["sp-gra2seq"])


def test_a_gallery_is_searched(monkeypatch):
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


def test_the_work_of_a_step_is_what_torch_counts():
    """No more products than cannot be left out, and no fewer: the share of the peak means something."""

    def of_addmm(_into, a, b, *_, **__):  # torch does not count it by itself
        return 2 * a[0] * a[1] * b[1]

    chosen = options({"preset": "tiny"})
    network = build(chosen).train()
    batch = prepare(list(doodles(32, seed=1)), chosen.recipe(30.0), seeds=[(0, number) for number in range(32)])
    with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.addmm_: of_addmm}) as counted:
        torch.stack(list(network(batch)[0].values())).sum().backward()
    assert counted.get_total_flops() == pytest.approx(bench.step_flops(batch, network), rel=0.05)


def test_healing_is_timed_as_it_is_called():
    found = bench.healing(list(doodles(3)))
    assert found["sketches"] == 3
    assert 0.1 < found["seconds_of_one"] < 60
    assert found["sketches_per_second"] == pytest.approx(3 / found["seconds"])
