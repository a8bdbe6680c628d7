"""`gra2seq encode`, `index` and `find`: answers, exit codes, and what is left on disk."""

from __future__ import annotations

import json
import socket

import pytest

import gra2seq
from gra2seq.data.doodles import doodles


@pytest.fixture
def drawings(tmp_path):
    gra2seq.write(tmp_path / "some.ndjson", list(doodles(30, seed=2)))
    return tmp_path / "some.ndjson"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_encode_index_find(call, tmp_path, tiny_run, drawings):
    codes, gallery, sheet = tmp_path / "codes.npy", tmp_path / "gallery", tmp_path / "sheet.png"
    code, out, err = call("encode", drawings, "-o", codes, "--model", tiny_run, "--jobs", 1, "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert (answer["drawings"], answer["encoded_now"]) == (30, 30)
    assert "/s" in err or "30/30" in err
    code, out, err = call("index", codes, "-o", gallery, "--json")
    assert code == 0, err
    assert json.loads(out)["method"] == "exact"
    gra2seq.write(tmp_path / "one.ndjson", gra2seq.read(drawings)[11])
    words = ["find", tmp_path / "one.ndjson", "--gallery", gallery, "--model", tiny_run, "-k", 4]
    code, out, err = call(*words, "-o", sheet, "--json")
    assert code == 0, err
    (found,) = json.loads(out)["found"]
    assert found[0]["number"] == 11
    assert found[0]["distance"] < 0.05
    assert len(found) == 4
    assert sheet.read_bytes().startswith(b"\x89PNG")
    code, out, err = call(*words)
    assert code == 0
    assert "drawing 11)" in err
    assert names_in(tmp_path) == [
        "codes.json", "codes.keys", "codes.npy", "gallery", "one.ndjson", "sheet.png", "some.ndjson"
    ]  # fmt: skip


def test_absent_drawings_are_named_and_no_sheet_is_written(call, tmp_path, tiny_run, drawings):
    codes, gallery = tmp_path / "codes.npy", tmp_path / "gallery"
    assert call("encode", drawings, "-o", codes, "--model", tiny_run, "--jobs", 1, "-q")[0] == 0
    assert call("index", codes, "-o", gallery)[0] == 0
    query = drawings.rename(tmp_path / "query.ndjson")
    words = ["find", query, "--limit", 1, "--gallery", gallery, "--model", tiny_run]
    code, _, err = call(*words, "-o", tmp_path / "sheet.png")
    assert code == 2
    assert "some.ndjson cannot be read" in err
    assert not (tmp_path / "sheet.png").exists()
    assert call(*words)[0] == 0


def test_other_model_than_the_gallerys_is_refused(call, tmp_path, tiny_run, drawings):
    codes, gallery = tmp_path / "codes.npy", tmp_path / "gallery"
    assert call("encode", drawings, "-o", codes, "--model", tiny_run, "--jobs", 1, "-q")[0] == 0
    assert call("index", codes, "-o", gallery, "-q")[0] == 0
    code, _, err = call("find", drawings, "--gallery", gallery)
    assert code == 2
    assert "codes of another model" in err


def test_wrong_words_are_refused_before_any_work(call, tmp_path, drawings):
    (tmp_path / "empty").mkdir()
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "codes.npy"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for words, problem in (
        (["encode", tmp_path / "empty", "-o", out], "holds no drawing file"),
        (["encode", drawings, "-o", out, "--shard", "3/2"], "such as 2/8"),
        (["encode", drawings, "-o", out, "--shard", "1/9"], "is empty"),
        (["encode", drawings, "-o", out, "--dtype", "int8"], "dtype"),
        (["encode", drawings, "-o", out, "--engine", "rays"], "did you mean ray"),
        (["encode", drawings, "-o", out, "--address", "auto"], "--engine ray"),
        (["encode", drawings, "-o", out, "--resume", "--force"], "one of them"),
        (["encode", drawings, "-o", out.with_suffix(".npz")], "written as .npy"),
        (["index", out, "-o", tmp_path / "out" / "gallery"], "no codes.json"),
        (["index", drawings, "-o", tmp_path / "out" / "gallery"], "not a codes file"),
        (["find", drawings, "--gallery", tmp_path / "empty"], "not a gallery"),
        (["find", drawings, "--gallery", tmp_path / "empty", "-o", tmp_path / "out" / "sheet.svg"], "as .png"),
    ):
        code, _, err = call(*words)
        assert code == 2, words
        assert problem in err, err
        assert names_in(tmp_path / "out") == []
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'gra2seq[ray]'")
    for address, problem in ((f"127.0.0.1:{port}", "answers"), ("nonsense", "HOST:PORT")):
        code, _, err = call("encode", drawings, "-o", out, "--engine", "ray", "--address", address)
        assert code == 2
        assert problem in err
        assert names_in(tmp_path / "out") == []


def test_files_that_cannot_be_read_are_named_and_left_out_if_asked(call, tmp_path, tiny_run):
    folder, out = tmp_path / "drawings", tmp_path / "codes.npy"
    folder.mkdir()
    for name in ("a", "c"):
        gra2seq.write(folder / f"{name}.svg", next(iter(doodles(1, seed=ord(name)))))
    (folder / "b.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><text>none</text></svg>')
    words = ["encode", folder, "-o", out, "--model", tiny_run, "--jobs", 1]
    code, _, err = call(*words)
    assert (code, "b.svg: nothing is drawn" in " ".join(err.split())) == (2, True)
    assert names_in(tmp_path) == ["drawings"]
    code, answer, err = call(*words, "--skip-unreadable", "--json")
    assert code == 0, err
    assert "left out: " in err
    assert json.loads(answer)["skipped"] == [str(folder / "b.svg")]
    assert json.loads(answer)["drawings"] == 2
    (folder / "a.svg").unlink()
    (folder / "c.svg").unlink()
    code, _, err = call(*words, "--skip-unreadable", "--force")
    assert (code, "none of 1 sources can be read" in err) == (2, True)


def test_a_drawing_that_the_hole_hides_is_named(call, tmp_path, tiny_run, drawings):
    words = ["encode", drawings, "-o", tmp_path / "codes.npy", "--model", tiny_run, "--jobs", 1]
    code, _, err = call(*words, "--hole", "-1000,-1000,5000,5000")
    assert (code, "drawing 1: " in " ".join(err.split())) == (2, True)
    assert names_in(tmp_path) == ["some.ndjson"]
    code, _, err = call(*words, "--hole", "1,2,0,4")
    assert (code, "positive size" in err) == (2, True)


def test_counts_of_one_are_singular(call, tmp_path, tiny_run):
    gra2seq.write(tmp_path / "one.ndjson", list(doodles(1, seed=2)))
    code, _, err = call("encode", tmp_path / "one.ndjson", "-o", tmp_path / "codes.npy", "--model", tiny_run)
    assert code == 0, err
    assert "1 code is in" in err
    code, _, err = call("data", "convert", tmp_path / "one.ndjson", "-o", tmp_path / "two.ndjson")
    assert code == 0, err
    assert "1 sketch is in" in err
