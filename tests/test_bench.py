"""The benchmark's parts on little data: they measure what they say. What they find is a machine's affair."""

import numpy as np
import pytest

from gra2seq import bench
from gra2seq.data.datasets import open_dataset
from gra2seq.options import SYSTEMS


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
