"""The command line end to end, and what it says to bad input: one line, exit code 2, nothing half-written."""

import gzip
import json

import cv2
import numpy as np
import pytest

import gra2seq
from gra2seq.data.doodles import doodle, doodles
from gra2seq.formats.files import read, read_records, write
from gra2seq.sketch.strokes import Sketch

CONFIG = "preset: tiny\ndata: doodles:200\nworkers: 0\nthreads: 1\naccelerator: cpu\n"


@pytest.fixture
def cat(tmp_path):
    path = tmp_path / "cat.ndjson"
    write(path, [("", doodle("cat", 1))])
    return path


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_drawing_is_healed_by_the_model_in_the_package(call, tmp_path, cat):
    code, out, err = call("heal", cat, "--tries", 2, "--steer", 3, "-o", tmp_path / "healed.svg", "--json")
    assert code == 0, err
    assert json.loads(out)["drawn"] == 1
    assert len(read(tmp_path / "healed.svg")) == 1


def test_a_steered_pen_draws_otherwise(call, tmp_path, cat):
    """Drawn, healed and judged."""
    for command in ("redraw", "heal"):
        drawn = {}
        for steer in (1, 8):
            target = tmp_path / f"{command}-{steer}.json"
            assert call(command, cat, "--tries", 1, "--steer", steer, "-o", target)[0] == 0
            drawn[steer] = target.read_text()
        assert drawn[1] != drawn[8]
    data, judged = ("--data", "doodles:40"), ("-o", tmp_path / "judged")
    code, out, err = call("evaluate", *data, "--mask", 0, "--tries", 1, "--steer", 3, *judged, "--json")
    assert code == 0, err
    assert [row["steer"] for row in json.loads(out)["rows"]] == [3]
    words = ("--mask", 0, 0.3, "--tries", 2, "--well", 0.02, "--keep", *judged, "--json")
    code, out, err = call("evaluate", *data, *words)
    assert code == 0, err
    assert [(row["tries"], row["well"], row["keep"]) for row in json.loads(out)["rows"]] == [
        (2, 0.02, False),
        (2, 0.02, True),
    ]
    assert call("heal", cat, "--well", -1)[0] == 2
    for far, same in ((0, False), (9, True)):  # any first drawing lies within nine longer sides
        first, best = (tmp_path / f"{far}-{tries}.json" for tries in (1, 3))
        assert call("redraw", cat, "--tries", 1, "--steer", 1, "-o", first)[0] == 0
        assert call("redraw", cat, "--tries", 3, "--steer", 1, "--well", far, "-o", best, "--seed", 0)[0] == 0
        assert (first.read_text() == best.read_text()) == same


def test_a_model_is_packed(call, tmp_path, tiny_run):
    code, out, err = call("pack", tiny_run, "-o", tmp_path / "mine", "tries=4", "--json")
    assert code == 0, err
    assert json.loads(out)["bytes"] == sum(path.stat().st_size for path in (tmp_path / "mine").iterdir())
    assert gra2seq.load(tmp_path / "mine").options.tries == 4


def test_from_training_to_a_healed_drawing(call, tmp_path, cat):
    config, run = tmp_path / "tiny.yaml", tmp_path / "run"
    config.write_text(CONFIG)
    code, out, err = call("train", config, f"run={run}", "max_steps=4", "seed=2", "gallery=2", "--json")
    assert code == 0, err
    assert json.loads(out) == {"run": str(run)}
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    assert all({"loss", "offset", "pen", "cluster"} <= row.keys() for row in rows)
    assert "sketches/s" in err
    assert "left" in err

    code, out, err = call("train", config, f"run={run}", "max_steps=6", "seed=2", "gallery=2", "--resume")
    assert code == 0, err
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 6

    for name in ("healed.svg", "healed.png", "healed.ndjson"):
        target = tmp_path / name
        code, out, err = call("heal", cat, "--model", run, "--mask-prob", 0.3, "--seed", 1, "-o", target, "--json")
        assert code == 0, err
        assert json.loads(out) == {"sketches": 1, "drawn": 1, "files": [str(target)]}
        assert target.stat().st_size > 50
    (healed,) = read(tmp_path / "healed.ndjson")
    assert healed.category == "cat"
    assert cv2.imread(str(tmp_path / "healed.png")).min() < 100, "there is ink"

    code, _, err = call("graph", cat, "--model", run, "--links", "synonymous", "-o", tmp_path / "links.png")
    assert code == 0, err
    assert cv2.imread(str(tmp_path / "links.png")) is not None


def test_heal_with_a_hole_samples_and_several_files(call, tmp_path, tiny_run, cat):
    dog = tmp_path / "fish.svg"
    write(dog, [("", doodle("fish", 1))])
    words = ["--model", tiny_run, "--hole", "0,0,100,100", "--samples", 3, "-o", tmp_path / "out.ndjson"]
    assert call("heal", cat, dog, *words)[0] == 0
    first = (tmp_path / "out.ndjson").read_bytes()
    assert len(first.splitlines()) == 6
    assert call("heal", cat, dog, *words)[0] == 0
    assert (tmp_path / "out.ndjson").read_bytes() == first, "the same seed draws the same"
    assert call("heal", cat, dog, *words, "--seed", 1)[0] == 0
    assert (tmp_path / "out.ndjson").read_bytes() != first
    assert call("redraw", cat, "--model", tiny_run, "-o", tmp_path / "again.svg")[0] == 0


def test_a_hole_is_in_the_units_of_the_file(call, tmp_path, tiny_run):
    """Two sizes of one drawing, with the hole at the same place of it: the same answer, each in its own units."""
    near = doodle("cat", 1)
    answers = {}
    for name, size, away in (("near", 1.0, 0.0), ("far", 4.0, 3000.0)):
        write(tmp_path / f"{name}.svg", [("", near.with_points(near.points * size + away))])
        left, top, width, _ = near.box
        hole = ",".join(str(v) for v in (left * size + away, top * size + away, width * size / 2, 4000))
        for holes in ([], ["--hole", hole]):
            out = tmp_path / "out.ndjson"
            assert call("heal", tmp_path / f"{name}.svg", "--model", tiny_run, *holes, "--seed", 1, "-o", out)[0] == 0
            [drawn] = read(out)
            answers[name, bool(holes)] = (drawn.points - away) / size
    rubbed_out = np.abs(answers["near", True] - answers["near", False]).max()
    assert rubbed_out > 0.1, "what is rubbed out changes the drawing"
    for holes in (False, True):
        assert np.abs(answers["near", holes] - answers["far", holes]).max() < rubbed_out / 4


def test_redrawing_lies_where_the_original_lies(tiny_run):
    """In the drawer's own units and place, not in the model's."""
    model = gra2seq.load(tiny_run)
    sketch = doodle("bus", 0)
    far = sketch.with_points(sketch.points * 10 + 5000)
    near, moved = model.redraw([sketch])[0], model.redraw([far])[0]
    assert np.allclose(near.points * 10 + 5000, moved.points, rtol=1e-4, atol=0.5)


def test_data_info_and_convert(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("some.ndjson.gz", [("train", sketch) for sketch in doodles(30)])
    code, out, err = call("data", "info", "some.ndjson.gz", "--json", "--sheet", "sheet.png")
    assert code == 0, err
    assert json.loads(out)["sketches"] == 30
    assert cv2.imread("sheet.png") is not None
    assert "30" in call("data", "info", "some.ndjson.gz")[1]
    for target in ("some.npz", "some.json", "some.store", "again.ndjson"):
        code, out, err = call("data", "convert", "some.ndjson.gz", "-o", target, "--json")
        assert code == 0, err
        assert json.loads(out) == {"sketches": 30, "out": target, "files": [target]}
        assert json.loads(call("data", "info", target, "--json")[1])["sketches"] == 30


def test_a_store_is_read_where_a_file_is(call, tmp_path, tiny_run, cat):
    assert call("data", "convert", cat, "-o", tmp_path / "cat.store")[0] == 0
    code, _, err = call("redraw", tmp_path / "cat.store", "--model", tiny_run, "-o", tmp_path / "again.svg")
    assert code == 0, err


def test_without_out_the_answer_lies_beside_the_file(call, tiny_run, cat):
    code, out, _ = call("heal", cat, "--model", tiny_run, "--json")
    assert code == 0
    assert json.loads(out)["files"] == [str(cat.with_name("cat-healed.ndjson"))]
    assert call("redraw", cat, "--model", tiny_run)[0] == 0
    assert cat.with_name("cat-redrawn.ndjson").exists()
    code, _, err = call("heal", cat, cat, "--model", tiny_run)
    assert code == 2
    assert "-o FILE" in err


def test_several_drawings_as_svg_are_numbered_files(call, tmp_path):
    write(tmp_path / "a.ndjson", [("", sketch) for sketch in doodles(3)])
    code, out, _ = call("data", "convert", tmp_path / "a.ndjson", "-o", tmp_path / "b.svg", "--json")
    assert code == 0
    assert [name.rsplit("/", 1)[1] for name in json.loads(out)["files"]] == ["b-000.svg", "b-001.svg", "b-002.svg"]


def test_doctor(call):
    code, out, _ = call("doctor", "--json")
    assert code == 0
    assert json.loads(out)["healthy"] is True


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
    code, out, err = call("heal", path, "--model", tiny_run, "-o", tmp_path / "out.svg")
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
    code, _, err = call("heal", path, "--model", tiny_run, "--mask-prob", 0.5, "-o", tmp_path / "out.ndjson")
    assert code == 0, err
    (sketch,) = read(tmp_path / "out.ndjson")
    assert np.isfinite(sketch.points).all()


def test_bad_words(call, tmp_path, tiny_run, cat):
    model, out = ["--model", tiny_run], ["-o", tmp_path / "out.svg"]
    cases = [
        (["heal", cat, "--model", tmp_path / "none", *out], "no model at"),
        (["heal", tmp_path / "none.svg", *model, *out], "none.svg"),
        (["heal", cat, *model, "-o", tmp_path / "out.xyz"], "must end in one of"),
        (["heal", cat, *model, *out, "--hole", "1,2,3"], "x,y,width,height"),
        (["heal", cat, *model, *out, "--hole", "1,2,-3,4"], "hole"),
        (["heal", cat, *model, *out, "--mask-prob", "7"], "between 0 and 1"),
        (["heal", cat, *model, *out, "--temperature", "-1"], "temperature"),
        (["graph", cat, *model, "--links", "best", "-o", tmp_path / "g.png"], "synonymous"),
        (["graph", cat, *model, "-o", tmp_path / "g.bmp"], ".png, .svg, .pdf"),
        (["train", tmp_path / "none.yaml"], "cannot read"),
        (["bench", "--only", "everything"], "unknown part"),
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
        ("config.json", b'{"options": {}}'),
        ("config.json", b'{"options": [1], "scale": 1, "categories": []}'),
    ):
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        code, _, err = call("heal", cat, "--model", folder, "-o", tmp_path / "out.svg")
        assert code == 2
        assert "config.json" in err.replace("\n", "")


def test_models_are_listed_with_papers_inputs_and_sizes(call):
    code, out, err = call("models", "--preset", "tiny", "--json")
    assert code == 0, err
    rows = {row["model"]: row for row in json.loads(out)["models"]}
    assert len(rows) == 9
    assert rows["sketch-rnn"]["sees"] == ["strokes"]
    assert all(row["parameters"] > 1000 and row["made_by"] for row in rows.values())
    code, out, _ = call("models", "--preset", "tiny")
    assert code == 0
    assert "sketch-lattice+" in out


def test_compare_then_use_what_it_trained(call, tmp_path, cat):
    config, folder = tmp_path / "tiny.yaml", tmp_path / "all"
    config.write_text(CONFIG)
    words = ["compare", config, f"run={folder}", "max_steps=3", "gallery=0", "--mask", 0, 0.3, "--systems"]
    code, out, err = call(*words, "sketch-rnn", "sketch-lattice", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert [(row["model"], row["mask"]) for row in found["rows"]] == [
        (name, mask) for name in ("sketch-rnn", "sketch-lattice") for mask in (0.0, 0.3)
    ]
    assert [one["sketches_seen"] for one in found["systems"]] == [48, 48]
    assert {f"comparison.{form}" for form in ("md", "json", "csv", "tex")} <= set(files_in(folder))
    assert {"healed.png", "healed.svg", "curves.png", "curves.svg"} <= set(files_in(folder))
    (folder / "song").mkdir()
    (folder / "song" / "config.json").write_text(json.dumps({"options": {"max_steps": 7}}))
    code, _, err = call(*words, "song", "sketch-pix2seq")
    assert code == 2, "another budget is said before hours of training"
    assert "max_steps=7" in err
    (folder / "song" / "config.json").write_text("{}")  # damaged: its own failure
    code, out, err = call(*words, "song", "sketch-pix2seq")
    assert code == 1, "one of them failed"
    assert "song failed" in err
    for name in ("sketch-rnn", "sketch-pix2seq", "sketch-lattice"):  # of this command and of the one before
        assert out.count(f"| {name} |") == 3
        assert f"\n| {name} |" in (folder / "comparison.md").read_text()
    for name in ("sketch-rnn", "sketch-lattice"):
        code, _, err = call("heal", cat, "--model", folder / name, "--mask-prob", 0.3, "-o", tmp_path / "healed.svg")
        assert code == 0, err
        code, _, err = call("redraw", cat, "--model", folder / name, "-o", tmp_path / "again.svg")
        assert code == 0, err
        code, _, err = call("graph", cat, "--model", folder / name, "-o", tmp_path / "links.png")
        assert code == 2
        assert "no graph" in err


def test_compare_with_an_unknown_system(call, tmp_path):
    config = tmp_path / "tiny.yaml"
    config.write_text(CONFIG)
    code, _, err = call("compare", config, f"run={tmp_path / 'all'}", "--systems", "sketchrnn")
    assert code == 2
    assert "one of sketch-rnn" in err
    assert not (tmp_path / "all").exists()


def test_a_hole_that_hits_nothing_or_everything_is_said(call, tmp_path, tiny_run):
    page = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="400" height="400">'
    square = tmp_path / "square.svg"
    square.write_text(page + '<path d="M10 10H90V90H10z" stroke="black" fill="none"/></svg>')
    words = ["heal", square, "--model", tiny_run, "-o", tmp_path / "out.svg", "--hole"]
    code, _, err = call(*words, "0,0,100,100")
    assert code == 2, "the hole is in units of the viewBox"
    assert "leaves nothing to heal from: the drawing lies at 10,10,80,80" in err
    assert not (tmp_path / "out.svg").exists()
    code, _, err = call(*words, "500,500,10,10")
    assert code == 0
    assert "touches no line in 1 of 1 drawings" in err
    code, _, err = call(*words, "0,0,50,50")
    assert code == 0
    assert "--hole" not in err
    drawn, *_ = read(tmp_path / "out.svg")
    assert max(drawn.box[2:]) < 200, "the answer is in those units too"
    assert [sketch.box for sketch in gra2seq.read(square)] == [(10, 10, 80, 80)], "and what the library reads"


def test_splits_survive_healing(call, tmp_path, tiny_run):
    source, target = tmp_path / "mixed.ndjson", tmp_path / "healed.ndjson"
    write(source, [("test", doodle("cat", 1)), ("valid", doodle("bus", 2))])
    code, _, err = call("heal", source, "--model", tiny_run, "--samples", 2, "-o", target)
    assert code == 0, err
    assert [split for split, _ in read_records(target)] == ["test", "test", "valid", "valid"]


def test_brackets_in_names_and_arguments_behind_lists(call, tmp_path, tiny_run, cat):
    target = tmp_path / "a[b].svg"
    code, _, err = call("heal", cat, "--model", tiny_run, "-o", target)
    assert code == 0
    assert "a[b].svg" in err
    code, _, err = call("graph", "--model", tiny_run, "-o", tmp_path / "x.png", "--links", "temporal", cat)
    assert code == 0, err
    code, _, err = call("evaluate", "--mask", 0, "--data", "doodles:40", tiny_run, "-o", tmp_path / "judged")
    assert code == 0, err
    code, _, err = call("compare", tmp_path / "cat.svg", "b.svg")
    assert code == 2
    assert "holds drawings: a configuration is a .yaml file" in err


def test_healing_can_keep_the_lines_that_are_left(tiny_run, tmp_path, call):
    cat, healed = tmp_path / "cat.svg", tmp_path / "healed.svg"
    strokes = ([[0, 0], [100, 0]], [[0, 100], [100, 100]], [[0, 20], [0, 60]])
    write(cat, [("", Sketch(np.concatenate(strokes).astype(np.float32), np.array([2, 2, 2])))])
    words = ("--model", tiny_run, "-o", healed)
    assert call("heal", cat, "--hole", "40,-10,20,120", "--keep", *words)[0] == 0
    [sketch] = read(healed)
    kept = np.split(sketch.points, np.cumsum(sketch.lengths)[:-1])[:5]
    ends = [[[0, 0], [40, 0]], [[60, 0], [100, 0]], [[0, 100], [40, 100]], [[60, 100], [100, 100]], [[0, 20], [0, 60]]]
    np.testing.assert_allclose(kept, ends, atol=100 / 80)  # a hole is rubbed out in whole pixels, here of 80
    code, _, err = call("heal", cat, "--keep", *words)
    assert code == 2
    assert "say what is lost" in err
