"""What an evaluation keeps on disk: the masks of a benchmark, and what was judged."""

import copy
from dataclasses import replace

import pytest
import torch

import gra2seq
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.evaluation import evaluate as judging
from gra2seq.evaluation.protocol import Judged, Originals, evaluate, stored_draws
from gra2seq.model import untrained


def test_masks_are_stored_and_the_same_for_all(data):
    one = stored_draws(data, "test", 20, 8)
    other = stored_draws(data, "test", 20, 8)
    assert (one.numbers == other.numbers).all()
    files = list((data.store.path.parent / f"{data.store.path.name}.masks").iterdir())
    assert files


def test_a_damaged_file_of_masks_is_written_anew_and_the_same(data):
    whole = stored_draws(data, "test", 21, 8)
    folder = data.store.path.parent / f"{data.store.path.name}.masks"
    newest = max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    good = newest.read_bytes()
    for damaged in (b"", b"rubbish", good[: len(good) // 2]):
        newest.write_bytes(damaged)
        again = stored_draws(data, "test", 21, 8)
        assert (again.numbers == whole.numbers).all()
        assert newest.read_bytes() == good


def test_a_folder_called_doodles_is_a_folder(tmp_path, monkeypatch):
    """And its path is not the name of the data: files are called by it."""
    (tmp_path / "doodles").mkdir()
    gra2seq.write(tmp_path / "doodles" / "cat.ndjson", [("test", sketch) for sketch in doodles(3, categories=["cat"])])
    monkeypatch.chdir(tmp_path)
    dataset = open_dataset("doodles/cat.ndjson", cache=tmp_path / "cache")
    assert dataset.name == "cat"
    stored_draws(dataset, "test", 3, 8)
    (kept,) = dataset.store.path.parent.glob("*.masks/*")
    assert kept.is_file()


def test_masks_need_no_place_beside_the_store(data, monkeypatch):
    there = stored_draws(data, "test", 9, 8).numbers

    def refuse(*_):
        raise UserError("cannot write")

    monkeypatch.setattr("gra2seq.sketch.masking.Draws.save", refuse)
    monkeypatch.setattr(judging, "MASK_VERSION", -1)
    assert (stored_draws(data, "test", 9, 8).numbers == there).all()


def test_goes_on_where_it_was_stopped(data, model, tmp_path, monkeypatch):
    whole = evaluate(model, data, name="m", masks=[0.0, 0.3], seeds=[0, 1], folder=tmp_path / "a")
    kept = sorted((tmp_path / "a").glob("mask-*"))
    assert len(kept) == 4
    kept[0].unlink()
    kept[1].write_bytes(b"cut")
    drawn = []
    draw = type(model).draw
    monkeypatch.setattr(type(model), "draw", lambda self, *a, **k: drawn.append(1) or draw(self, *a, **k))
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], seeds=[0, 1], folder=tmp_path / "a") == whole
    assert len(drawn) == 2, "only what was missing or damaged is drawn again"
    assert Judged.load(kept[1]) is not None


def test_what_is_finished_has_its_rows_at_once(data, model, judge, tmp_path, monkeypatch):
    """Neither model nor judge look at anything again; of damaged notes on the originals they do."""
    first = evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, folder=tmp_path)
    looked = []
    encode = type(model).encode
    monkeypatch.setattr(type(model), "encode", lambda self, *a, **k: looked.append(1) or encode(self, *a, **k))
    monkeypatch.setattr(type(judge), "classify", lambda *_: pytest.fail("the judge is asked again"))
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, folder=tmp_path) == first
    assert not looked
    monkeypatch.undo()
    (notes,) = tmp_path.glob("originals-*")
    notes.write_bytes(notes.read_bytes()[:50])
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, folder=tmp_path) == first
    assert Originals.load(notes) is not None


def test_a_model_that_has_diverged_is_refused(data, model, tmp_path):
    for part in ("encoder", "decoder"):
        broken = copy.deepcopy(model)
        with torch.no_grad():
            for parameter in getattr(broken.network, part).parameters():
                parameter.fill_(float("nan"))
        with pytest.raises(UserError, match="NaN"):
            evaluate(broken, data, name="m", masks=[0.0], folder=tmp_path)
    assert not list(tmp_path.glob("mask-*")), "nothing of it is kept"


def test_what_was_judged_with_other_tries_or_another_pen_is_not_taken(data, model, tmp_path):
    others = [untrained(replace(model.options, **how)) for how in ({"tries": 3}, {"steer": 3})]
    rows = [evaluate(m, data, name="m", masks=[0.0], folder=tmp_path)[0] for m in (model, *others)]
    assert [(row["tries"], row["steer"]) for row in rows] == [(1, 1), (3, 1), (1, 3)]
    assert len(list(tmp_path.glob("mask-*"))) == 3
    assert rows[1]["chamfer"] < rows[0]["chamfer"], "of several tries the one that lies best is judged"
    assert rows[2]["chamfer"] != rows[0]["chamfer"], "and the pen saw the ink"


def test_what_was_judged_with_other_options_is_not_taken(data, model, tmp_path):
    """The weights are the same, but what is made of them is not."""
    other = copy.copy(model)
    other.options = replace(model.options, corner=1.0)
    for one in (model, other):
        evaluate(one, data, name="m", masks=[0.0, 1e-7], folder=tmp_path)
    assert len(list(tmp_path.glob("mask-*"))) == 4
    other.options = replace(model.options, threads=1, workers=5, run="moved")  # where it was trained is no matter
    evaluate(other, data, name="m", masks=[0.0, 1e-7], folder=tmp_path)
    assert len(list(tmp_path.glob("mask-*"))) == 4
