"""Drawings, words and models that commands refuse in one sentence, and odd drawings that they heal."""

import gzip
import json

import numpy as np
import pytest

import gra2seq
from gra2seq.formats.files import read

CONFIG = "preset: tiny\ndata: doodles:200\nworkers: 0\nthreads: 1\naccelerator: cpu\n"
HOLE = ("--hole", "60,60,60,60")


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


LINE = '{"word": "cat", "drawing": %s}\n'
BAD = {
    "empty.ndjson": (LINE % "[]", "empty"),
    "nothing.ndjson": ("", "no sketch"),
    "nan.ndjson": (LINE % "[[[NaN, 1], [0, 1]]]", "line 1"),
    "inf.ndjson": (LINE % "[[[1e999, 1], [0, 1]]]", "line 1"),
    "cut.ndjson": ((LINE % "[[[1, 2], [0, 1]]]") + '{"word": "cat", "dra', "line 2"),
    "cut.ndjson.gz": (gzip.compress((LINE % "[[[1, 2], [0, 1]]]").encode() * 500)[:-30], "cut"),
    "cut.svg": ('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0 L5', "cut short"),
    "blank.svg": ('<svg xmlns="http://www.w3.org/2000/svg"/>', "nothing is drawn"),
    "bomb.svg": (
        '<!DOCTYPE svg [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;">]><svg><text>&b;</text></svg>',
        "document type",
    ),
    "cut.npz": (b"PK\x03\x04half a zip", "npz"),
    "what.txt": ("hello", "must end in one of"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_drawings(call, tmp_path, tiny_run, name):
    content, words = BAD[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = call("heal", path, *HOLE, "--model", tiny_run, "-o", tmp_path / "out.svg")
    assert code == 2
    assert words in " ".join(err.split())
    assert "Traceback" not in err
    assert out == ""
    assert files_in(tmp_path) == [name], "nothing half-written"


GOOD = {
    "a single point": [[[5], [5]]],
    "all points equal": [[[5, 5, 5], [7, 7, 7]]],
    "a stroke of one point": [[[0, 100], [0, 100]], [[50], [20]]],
    "100,000 points": [[list(range(100_000)), [i % 97 for i in range(100_000)]]],
}


@pytest.mark.parametrize("name", GOOD)
def test_odd_drawings_are_healed(call, tmp_path, tiny_run, name):
    path = tmp_path / "odd.ndjson"
    path.write_text(LINE % json.dumps(GOOD[name]))
    code, _, err = call("heal", path, "--model", tiny_run, "--mask-prob", 0.01, "-o", tmp_path / "out.ndjson")
    assert code == 0, err
    (sketch,) = read(tmp_path / "out.ndjson")
    assert np.isfinite(sketch.points).all()


def test_bad_words(call, tmp_path, tiny_run, cat):
    model, out = ["--model", tiny_run], ["-o", tmp_path / "out.svg"]
    cases = [
        (["heal", cat, *HOLE, "--model", tmp_path / "none", *out], "no model at"),
        (["heal", tmp_path / "none.svg", *HOLE, *model, *out], "none.svg"),
        (["heal", cat, *HOLE, *model, "-o", tmp_path / "out.xyz"], "must end in one of"),
        (["heal", cat, *HOLE, *model, "-o", cat], "is an input"),
        (["heal", cat, *HOLE, "--frame", "0,0,1,1", *model, *out], "does not contain the drawing"),
        (["heal", cat, *model, *out, "--hole", "1,2,3"], "x,y,width,height"),
        (["heal", cat, *model, *out, "--hole", "1,2,-3,4"], "hole"),
        (["heal", cat, *model, *out, "--mask-prob", "7"], "between 0 and 1"),
        (["heal", cat, *HOLE, *model, *out, "--mask-prob", "0.1"], "leave out --hole"),
        (["heal", cat, *model, *out, "--mask-prob", "0.1", "--frame", "0,0,900,900"], "leave out --hole"),
        (["heal", cat, *HOLE, *model, *out, "--temperature", "-1"], "temperature"),
        (["graph", cat, *model, "--links", "best", "-o", tmp_path / "g.png"], "synonymous"),
        (["graph", cat, *model, "-o", tmp_path / "g.bmp"], ".png, .svg, .pdf"),
        (["train", tmp_path / "none.yaml"], "does not exist"),
        (["bench", "--only", "everything"], "there is no part"),
        (["data", "download", "DS9"], "DS9"),
    ]
    for words, expected in cases:
        code, _, err = call(*words)
        assert code == 2, words
        assert expected in " ".join(err.split()), err
        assert "Traceback" not in err
    assert not list(tmp_path.glob("out*"))


def test_unknown_category_and_data(call, tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text(CONFIG)
    code, _, err = call("train", config, f"run={tmp_path / 'r'}", "dataset=OPEN8")
    assert code == 2
    assert "bird" in err
    code, _, err = call("train", config, f"run={tmp_path / 'r'}", "data=nowhere.ndjson")
    assert code == 2
    assert not (tmp_path / "r").exists()


def test_a_damaged_model_is_refused(call, tmp_path, cat):
    for name, content in (
        ("config.json", b"{"),
        ("config.json", b"[]"),
        ("config.json", b'{"config": {}}'),
        ("config.json", b'{"config": [1], "scale": 1, "categories": []}'),
        ("config.json", b'{"options": {}, "scale": 1, "categories": []}'),
    ):
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        code, _, err = call("heal", cat, *HOLE, "--model", folder, "-o", tmp_path / "out.svg")
        assert code == 2
        assert "config.json" in err.replace("\n", "") or "gra2seq 0.1" in err


def test_hole_that_hits_nothing_or_everything_is_said(call, tmp_path, tiny_run):
    page = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="400" height="400">'
    square = tmp_path / "square.svg"
    square.write_text(page + '<path d="M10 10H90V90H10z" stroke="black" fill="none"/></svg>')
    words = ["heal", square, "--model", tiny_run, "-o", tmp_path / "out.svg", "--force", "--hole"]
    code, _, err = call(*words, "0,0,100,100")
    assert code == 2, "the hole is in units of the viewBox"
    assert "nothing is visible" in err
    assert "10,10,80,80" in err
    assert not (tmp_path / "out.svg").exists()
    code, _, err = call(*words, "500,500,10,10")
    assert code == 0
    assert "touches no line" in err
    code, _, err = call(*words, "0,0,50,50")
    assert code == 0
    assert "touches" not in err
    drawn, *_ = read(tmp_path / "out.svg")
    assert max(drawn.box[2:]) < 200, "the answer is in those units too"
    assert [sketch.box for sketch in gra2seq.read(square)] == [(10, 10, 80, 80)], "and what the library reads"


def test_brackets_in_names_and_arguments_behind_lists(call, tmp_path, tiny_run, cat):
    target = tmp_path / "a[b].svg"
    code, _, err = call("heal", cat, *HOLE, "--model", tiny_run, "-o", target)
    assert code == 0
    assert "a[b].svg" in err
    code, _, err = call("graph", "--model", tiny_run, "-o", tmp_path / "x.png", "--links", "temporal", cat)
    assert code == 0, err
    code, _, err = call("evaluate", "--mask", 0, "--data", "doodles:40", tiny_run, "-o", tmp_path / "judged")
    assert code == 0, err
    code, _, err = call("compare", tmp_path / "cat.svg", "b.svg")
    assert code == 2
    assert "holds drawings: a configuration is a .yaml file" in err
