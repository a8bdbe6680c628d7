from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.data.info import convert, describe, in_words
from gra2seq.data.store import Store
from gra2seq.data.store_writer import write_store
from gra2seq.errors import UserError
from gra2seq.formats import files
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch


def some(count: int = 30) -> list[Record]:
    splits = ("train", "valid", "test")
    return [(splits[n % 3], sketch) for n, sketch in enumerate(doodles(count, categories=("cat", "bus"), seed=1))]


def line(points: int, category: str = "cat") -> Sketch:
    return Sketch(np.column_stack([np.arange(points), np.zeros(points)]), np.array([points]), category)


def test_counts(tmp_path: Path) -> None:
    records = some()
    files.write(tmp_path / "a.ndjson", records[:20])
    files.write(tmp_path / "b.ndjson.gz", records[20:])
    found = describe([tmp_path / "a.ndjson", tmp_path / "b.ndjson.gz"])
    assert found["sketches"] == 30
    assert found["files"][str(tmp_path / "a.ndjson")] == {"total": 20, "train": 7, "valid": 7, "test": 6}
    assert found["categories"]["bus"] == {"total": 15, "train": 5, "valid": 5, "test": 5}
    assert found["splits"] == {"train": 10, "valid": 10, "test": 10}
    points = [len(sketch) for _, sketch in records]
    assert found["points"]["min"] == min(points)
    assert found["points"]["max"] == max(points)
    assert found["points"]["mean"] == pytest.approx(np.mean(points))
    assert found["points"]["median"] == np.quantile(points, 0.5, method="inverted_cdf")
    assert found["points"]["p95"] == np.quantile(points, 0.95, method="inverted_cdf")
    assert found["strokes"]["mean"] == pytest.approx(np.mean([len(sketch.lengths) for _, sketch in records]))
    assert found["duplicates"] == 0
    offsets = [sketch.to_stroke3()[1:, :2].ravel() for split, sketch in records if split == "train"]
    assert found["scale"] == pytest.approx(np.concatenate(offsets).std(), rel=1e-5)
    json.dumps(found)
    words = in_words(found)
    assert "b.ndjson.gz" in words
    assert re.search(r"together +30 +10 +10 +10\n", words)
    assert "none" not in words


def test_a_store_and_a_folder_are_described_alike(tmp_path: Path) -> None:
    files.write(tmp_path / "in" / "cat.ndjson", some())
    write_store(tmp_path / "a.store", some())
    of_store, of_folder = describe(tmp_path / "a.store"), describe(str(tmp_path / "in"))
    assert list(of_store["files"]) == [str(tmp_path / "a.store")]
    for name in ("sketches", "categories", "splits", "points", "strokes", "duplicates"):
        assert of_store[name] == of_folder[name]
    assert of_store["scale"] == pytest.approx(Store.open(tmp_path / "a.store").scale)
    assert of_store["labelled"] == 30
    assert of_store["parts"]["bus"]["wheel"] >= 15


def test_long_double_and_unassigned_drawings(tmp_path: Path) -> None:
    sketches = [line(250), line(251), line(251), line(1)]
    files.write(tmp_path / "a.ndjson", [("", sketch) for sketch in sketches])
    told: list[int] = []
    found = describe(tmp_path / "a.ndjson", progress=lambda done, _: told.append(done))
    assert found["over_250_points"] == 2
    assert found["duplicates"] == 1
    assert found["splits"] == {"none": 4}
    assert found["scale"] == pytest.approx(0.5)  # half the numbers are 1, half are 0
    assert found["labelled"] == 0
    assert re.search(r"a.ndjson +4 +0 +0 +0 +4\n", in_words(found))


def test_contact_sheet(tmp_path: Path) -> None:
    files.write(tmp_path / "a.ndjson", some(5))
    describe(tmp_path / "a.ndjson", tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("form", ["a.ndjson", "a.ndjson.gz", "a.npz", "a.store", "a"])
def test_there_and_back(tmp_path: Path, form: str) -> None:
    write_store(tmp_path / "start.store", some())
    assert convert(tmp_path / "start.store", tmp_path / form)[0] == 30
    assert convert([str(tmp_path / form)], tmp_path / "end.store")[0] == 30
    start, end = Store.open(tmp_path / "start.store"), Store.open(tmp_path / "end.store")
    ordered = sorted(range(30), key=lambda n: start.split(n))  # an .npz is sorted by split
    back = sorted(range(30), key=lambda n: end.split(n))
    for ours, theirs in zip(ordered, back, strict=True):
        assert start.split(ours) == end.split(theirs)
        np.testing.assert_allclose(start[ours].points, end[theirs].points, atol=1e-3)
        np.testing.assert_array_equal(start[ours].lengths, end[theirs].lengths)


def test_one_split_only(tmp_path: Path) -> None:
    write_store(tmp_path / "a.store", some())
    assert convert(tmp_path / "a.store", tmp_path / "test.ndjson", split="test")[0] == 10
    assert describe(tmp_path / "test.ndjson")["splits"] == {"test": 10}


def test_a_store_assigns_splits_and_other_forms_do_not(tmp_path: Path) -> None:
    files.write(tmp_path / "a.ndjson", [("", sketch) for _, sketch in some()])
    convert(tmp_path / "a.ndjson", tmp_path / "b.ndjson")
    convert(tmp_path / "a.ndjson", tmp_path / "b.store")
    assert describe(tmp_path / "b.ndjson")["splits"] == {"none": 30}
    assert "none" not in describe(tmp_path / "b.store")["splits"]


def test_simplify_while_converting(tmp_path: Path) -> None:
    files.write(tmp_path / "a.ndjson", [("train", line(100))])
    convert(tmp_path / "a.ndjson", tmp_path / "b.ndjson", simplify=True)
    [simple] = files.read(tmp_path / "b.ndjson")
    assert len(simple) == 2
    write_store(tmp_path / "c.store", [("train", line(100))])
    convert(tmp_path / "c.store", tmp_path / "d.store", simplify=True)
    assert len(Store.open(tmp_path / "d.store")[0]) == 2


def test_what_a_user_may_do_wrong(tmp_path: Path) -> None:
    store = write_store(tmp_path / "a.store", some(3)).path
    with pytest.raises(UserError, match="does not exist"):
        describe(tmp_path / "nowhere.ndjson")
    with pytest.raises(UserError, match="no file was given"):
        describe([])
    with pytest.raises(UserError, match="no split 'dev'"):
        convert(store, tmp_path / "b.store", split="dev")
    with pytest.raises(UserError, match="no drawing"):
        convert(store, tmp_path / "b.store", split="")
    with pytest.raises(UserError, match="exists already"):
        convert(store, store)
    with pytest.raises(UserError):
        convert(store, tmp_path / "a.docx")
    assert [path.name for path in tmp_path.iterdir()] == ["a.store"]
