"""The protocol on a tiny model: against a slow twin, resumed, and with every wrong pairing refused."""

import json
import sys

import numpy as np
import pytest
import torch

import gra2seq
from gra2seq.cli import _spread, main
from gra2seq.data.datasets import open_dataset
from gra2seq.errors import UserError
from gra2seq.judging import evaluate as judging
from gra2seq.judging.chamfer import chamfer
from gra2seq.judging.evaluate import Judged, evaluate, stored_draws
from gra2seq.judging.judge import Judge
from gra2seq.model import untrained
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.options import options
from gra2seq.sketch.strokes import Sketch


@pytest.fixture(scope="module")
def data():
    return open_dataset("doodles:400", name="DS1")


@pytest.fixture(scope="module")
def model():
    return untrained(options({"preset": "tiny", "max_points": 25}))


@pytest.fixture(scope="module")
def judge(data):
    torch.manual_seed(0)
    return Judge(SketchANet(5), options({"model": "sketch-a-net"}).recipe(1.0, tuple(reversed(data.categories))))


def test_rows_against_a_slow_twin(data, model, judge, monkeypatch):
    monkeypatch.setattr(judging, "BATCH", 7)
    (row,) = evaluate(model, data, name="m", masks=[0.3], seeds=[4], judge=judge)
    sketches = [data.store[int(i)] for i in data.test]
    draws = stored_draws(data, "test", len(sketches), model.recipe.nodes).numbers
    drawn = model.draw(model.encode(sketches, draws=draws, mask_prob=0.3), seed=4)
    gallery, queries = model.encode(sketches), model.encode(drawn)
    hits = {1: 0, 10: 0, 50: 0}
    for i, query in enumerate(queries.astype(float)):
        distance = np.sqrt(((gallery.astype(float) - query) ** 2).sum(axis=1))
        rank = sum(d <= distance[i] for j, d in enumerate(distance) if j != i)
        for k in hits:
            hits[k] += rank < k and max(drawn[i].box[2:]) > 0
    count = len(sketches)
    assert row["ret"] == pytest.approx({str(k): hit / count for k, hit in hits.items()}, abs=1.5 / count)
    names = [judge.categories[n] for n in judge.classify(drawn)]
    rec = np.mean([n == s.category and max(d.box[2:]) > 0 for n, s, d in zip(names, sketches, drawn, strict=True)])
    assert row["rec"] == pytest.approx(rec, abs=1.5 / count)
    ceiling = np.mean(
        [judge.categories[n] == s.category for n, s in zip(judge.classify(sketches), sketches, strict=True)]
    )
    assert row["ceiling"] == pytest.approx(ceiling)
    assert row["chamfer"] == pytest.approx(chamfer(drawn, sketches).mean(), rel=1e-3)
    assert (row["sketches"], row["gallery"], row["mask"], row["seed"]) == (count, count, 0.3, 4)
    assert row["categories"] == list(data.categories)


def test_a_perfect_model_is_found_at_once(data, model, monkeypatch):
    """Drawings equal to the originals: Ret 1, Chamfer 0, in both directions."""
    sketches = [data.store[int(i)] for i in data.test]
    monkeypatch.setattr(type(model), "draw", lambda _, codes, first, **__: sketches[first : first + len(codes)])
    for direction in ("redrawn", "original"):
        (row,) = evaluate(model, data, name="m", masks=[0.0], direction=direction)
        assert row["ret"]["1"] == pytest.approx(1.0, abs=2.5 / len(sketches))  # equal doodles may be confused
        assert row["chamfer"] == 0
        assert row["rec"] is None


def test_empty_drawings_are_misses(data, model, judge, monkeypatch):
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    monkeypatch.setattr(type(model), "draw", lambda _, codes, **__: [dot] * len(codes))
    (row,) = evaluate(model, data, name="m", masks=[0.0], judge=judge)
    assert row["ret"] == {"1": 0.0, "10": 0.0, "50": 0.0}
    assert row["rec"] == 0.0
    assert row["empty"] == row["sketches"]


def test_masks_are_stored_and_the_same_for_all(data):
    one = stored_draws(data, "test", 20, 8)
    other = stored_draws(data, "test", 20, 8)
    assert (one.numbers == other.numbers).all()
    files = list((data.store.path.parent / f"{data.store.path.name}.masks").iterdir())
    assert files


def test_goes_on_where_it_was_stopped(data, model, tmp_path, monkeypatch):
    whole = evaluate(model, data, name="m", masks=[0.0, 0.3], seeds=[0, 1], keep=tmp_path / "a")
    kept = sorted((tmp_path / "a").iterdir())
    assert len(kept) == 4
    kept[0].unlink()
    kept[1].write_bytes(b"cut")
    drawn = []
    draw = type(model).draw
    monkeypatch.setattr(type(model), "draw", lambda self, *a, **k: drawn.append(1) or draw(self, *a, **k))
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], seeds=[0, 1], keep=tmp_path / "a") == whole
    assert len(drawn) == 2, "only what was missing or damaged is drawn again"
    assert Judged.load(kept[1]) is not None


def test_wrong_pairings_are_refused(data, model, judge, tiny_run):
    other = open_dataset("doodles:400", categories=["cat", "bus"])
    with pytest.raises(UserError, match="train a judge on the same categories"):
        evaluate(model, other, name="m", judge=judge)
    learnt = gra2seq.load(tiny_run)
    learnt.categories = ("bee", "bus")
    with pytest.raises(UserError, match="own categories"):
        evaluate(learnt, data, name="m")
    with pytest.raises(UserError, match="split"):
        evaluate(model, data, name="m", split="exam")
    with pytest.raises(UserError, match="probability"):
        evaluate(model, data, name="m", masks=[2.0])
    with pytest.raises(UserError, match="direction"):
        evaluate(model, data, name="m", direction="both")
    with pytest.raises(UserError, match="two or more"):
        evaluate(model, type(data)("none", data.store, data.train, data.valid, data.test[:1]), name="m")


def test_several_values_behind_one_option():
    words = ["evaluate", "r", "--data", "a", "b", "--mask", "0", "0.1", "-o", "x", "--json"]
    assert _spread(words) == [
        *("evaluate", "r", "--data", "a", "--data", "b", "--mask", "0", "--mask", "0.1", "-o", "x", "--json")
    ]


def run(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["gra2seq", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    captured = capsys.readouterr()
    return end.value.code or 0, captured.out, captured.err


def test_the_command_line(monkeypatch, capsys, tiny_run, tmp_path):
    out = tmp_path / "tables"
    words = ["evaluate", tiny_run, "--data", "doodles:200", "--mask", 0, 0.3, "-o", out, "--seeds", 2, "--json"]
    code, text, err = run(monkeypatch, capsys, *words)
    assert code == 0, err
    rows = json.loads(text)["rows"]
    assert [(row["mask"], row["seed"]) for row in rows] == [(0.0, 0), (0.0, 1), (0.3, 0), (0.3, 1)]
    assert {path.suffix for path in out.iterdir() if path.is_file()} == {".csv", ".json", ".md", ".tex"}
    code, text, err = run(monkeypatch, capsys, "evaluate", "--preset", "tiny", "--data", "doodles:100", "--mask", 0)
    assert code == 0, err
    assert "untrained tiny" in text
    code, text, err = run(monkeypatch, capsys, "synonyms", tiny_run, "--data", "doodles:30", "--json")
    assert code == 0, err
    rows = json.loads(text)["rows"]
    assert {"links", "rate", "rate_far", "chance", "edges", "category"} <= rows[0].keys()
    assert {row["links"] for row in rows} == {"synonymous", "temporal", "spatial", "random"}
    assert run(monkeypatch, capsys, "evaluate", tiny_run)[0] == 2
