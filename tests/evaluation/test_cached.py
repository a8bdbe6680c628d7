"""What an evaluation keeps on disk: the mask noise of a benchmark, and what was judged."""

import copy
from dataclasses import replace

import pytest
import torch

import gra2seq
from gra2seq.config import as_dict, parse_config
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.evaluation import protocol
from gra2seq.evaluation.cached import Judged, Originals
from gra2seq.evaluation.protocol import evaluate, stored_noise


def test_mask_noise_is_stored_beside_the_data_and_reused(data):
    one, other = stored_noise(data, "test", 20), stored_noise(data, "test", 20)
    assert (one.numbers == other.numbers).all()
    assert list((data.store.path.parent / f"{data.store.path.name}.masks").iterdir())


def test_damaged_noise_file_is_written_again_with_the_same_numbers(data):
    whole = stored_noise(data, "test", 21)
    folder = data.store.path.parent / f"{data.store.path.name}.masks"
    newest = max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    good = newest.read_bytes()
    for damaged in (b"", b"rubbish", good[: len(good) // 2]):
        newest.write_bytes(damaged)
        again = stored_noise(data, "test", 21)
        assert (again.numbers == whole.numbers).all()
        assert newest.read_bytes() == good


def test_noise_of_a_file_in_a_folder_called_doodles_is_stored(tmp_path, monkeypatch):
    """The path of the data is not their name: files are called by it."""
    (tmp_path / "doodles").mkdir()
    gra2seq.write(tmp_path / "doodles" / "cat.ndjson", [("test", sketch) for sketch in doodles(3, categories=["cat"])])
    monkeypatch.chdir(tmp_path)
    dataset = open_dataset("doodles/cat.ndjson", cache=tmp_path / "cache")
    assert dataset.name == "cat"
    stored_noise(dataset, "test", 3)
    (kept,) = dataset.store.path.parent.glob("*.masks/*")
    assert kept.is_file()


def test_noise_is_the_same_where_it_cannot_be_stored(data, monkeypatch):
    there = stored_noise(data, "test", 9).numbers

    def refuse(*_):
        raise UserError("cannot write")

    monkeypatch.setattr("gra2seq.sketch.masking.MaskNoise.save", refuse)
    monkeypatch.setattr(protocol, "MASK_VERSION", -1)
    assert (stored_noise(data, "test", 9).numbers == there).all()


def test_stopped_evaluation_draws_only_what_is_missing(data, model, tmp_path, monkeypatch):
    whole = evaluate(model, data, name="m", masks=[0.0, 0.3], seeds=[0, 1], folder=tmp_path / "a")
    kept = sorted((tmp_path / "a").glob("mask-*"))
    assert len(kept) == 4
    kept[0].unlink()
    kept[1].write_bytes(b"cut")
    drawn = []
    draw = type(model).draw_codes
    monkeypatch.setattr(type(model), "draw_codes", lambda self, *a, **k: drawn.append(1) or draw(self, *a, **k))
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], seeds=[0, 1], folder=tmp_path / "a") == whole
    assert len(drawn) == 2, "only what was missing or damaged is drawn again"
    assert Judged.load(kept[1]) is not None


def test_finished_evaluation_is_read_from_disk(data, model, judge, tmp_path, monkeypatch):
    """Neither model nor judge are asked again, unless the kept file of the originals is damaged."""
    first = evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, folder=tmp_path)
    encoded = []
    encode = type(model).encode
    monkeypatch.setattr(type(model), "encode", lambda self, *a, **k: encoded.append(1) or encode(self, *a, **k))
    monkeypatch.setattr(type(judge), "classify", lambda *_: pytest.fail("the judge is asked again"))
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, folder=tmp_path) == first
    assert not encoded
    monkeypatch.undo()
    (originals,) = tmp_path.glob("originals-*")
    originals.write_bytes(originals.read_bytes()[:50])
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, folder=tmp_path) == first
    assert Originals.load(originals) is not None


def test_diverged_model_is_refused_and_nothing_is_kept(data, model, tmp_path):
    for part in ("encoder", "decoder"):
        broken = copy.deepcopy(model)
        with torch.no_grad():
            for parameter in getattr(broken.network, part).parameters():
                parameter.fill_(float("nan"))
        with pytest.raises(UserError, match="NaN"):
            evaluate(broken, data, name="m", masks=[0.0], folder=tmp_path)
    assert not list(tmp_path.glob("mask-*"))


def test_results_of_another_way_of_drawing_are_not_reused(data, model, tmp_path):
    others = [model.with_drawing(replace(model.drawing, **how)) for how in ({"best_of": 3}, {"candidates": 3})]
    rows = [evaluate(m, data, name="m", masks=[0.0], folder=tmp_path)[0] for m in (model, *others)]
    assert [(row["best_of"], row["candidates"], row["sees"]) for row in rows] == [
        (1, 1, "code"),
        (3, 1, "guided"),
        (1, 3, "guided"),
    ]
    assert len(list(tmp_path.glob("mask-*"))) == 3
    assert rows[1]["chamfer"] < rows[0]["chamfer"], "the nearest of several drawings is judged"
    assert rows[2]["chamfer"] != rows[0]["chamfer"], "guided sampling changes the drawings"


def test_results_of_other_model_options_are_not_reused(data, model, tmp_path):
    """Weights are the same, but what is computed with them is not. Where the model was trained does not matter."""
    other = copy.copy(model)
    other.config = replace(model.config, model=replace(model.config.model, corner=1.0))
    for one in (model, other):
        evaluate(one, data, name="m", masks=[0.0, 1e-7], folder=tmp_path)
    assert len(list(tmp_path.glob("mask-*"))) == 4
    other.config = parse_config({**as_dict(model.config), "threads": 1, "workers": 5, "run": "moved"})
    evaluate(other, data, name="m", masks=[0.0, 1e-7], folder=tmp_path)
    assert len(list(tmp_path.glob("mask-*"))) == 4
