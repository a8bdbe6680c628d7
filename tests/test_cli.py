"""The command line end to end, and what it says to bad input: one line, exit code 2, nothing half-written."""

import gzip
import json
import re

import cv2
import numpy as np
import pytest

import gra2seq
from gra2seq.data.doodles import doodle, doodles
from gra2seq.formats.files import read, read_records, write

CONFIG = "preset: tiny\ndata: doodles:200\nworkers: 0\nthreads: 1\naccelerator: cpu\n"
HOLE = ("--hole", "60,60,60,60")


@pytest.fixture
def cat(tmp_path):
    path = tmp_path / "cat.ndjson"
    write(path, [("", doodle("cat", 1))])
    return path


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_package_model_heals_a_drawing(call, tmp_path, cat):
    code, out, err = call("heal", cat, *HOLE, "--infill", 4, "-o", tmp_path / "healed.svg", "--json")
    assert code == 0, err
    assert json.loads(out)["drawn"] == 1
    assert len(read(tmp_path / "healed.svg")) == 1


def test_drawing_options_change_drawings(call, tmp_path, cat):
    for words in (["redraw"], ["heal", "--no-keep-lines", *HOLE]):
        drawn = {}
        for candidates in (1, 8):
            target = tmp_path / f"{words[0]}-{candidates}.json"
            done = call(*words, cat, "--best-of", 1, "--candidates", candidates, "-o", target)
            assert done[0] == 0, done
            drawn[candidates] = target.read_text()
        assert drawn[1] != drawn[8]
    data, judged = ("--data", "doodles:40"), ("-o", tmp_path / "judged")
    code, out, err = call("evaluate", *data, "--mask", 0, "--draw", "code", *judged, "--json")
    assert code == 0, err
    assert [(row["sees"], row["kept"]) for row in json.loads(out)["rows"]] == [("code", False)]
    words = ("--mask", 0, 0.3, "--best-of", 2, "--good-enough", 0.02, "--keep-lines", *judged, "--json")
    code, out, err = call("evaluate", *data, *words)
    assert code == 0, err
    rows = [(row["best_of"], row["good_enough"], row["sees"], row["kept"]) for row in json.loads(out)["rows"]]
    assert rows == [(2, 0.02, "guided", False), (2, 0.02, "guided", True)]
    assert call("heal", cat, *HOLE, "--good-enough", -1)[0] == 2
    for limit, same in ((0, False), (9, True)):  # any first drawing is nearer than nine longer sides
        first, best = (tmp_path / f"{limit}-{count}.json" for count in (1, 3))
        assert call("redraw", cat, "--best-of", 1, "--candidates", 1, "-o", first)[0] == 0
        assert call("redraw", cat, "--best-of", 3, "--candidates", 1, "--good-enough", limit, "-o", best)[0] == 0
        assert (first.read_text() == best.read_text()) == same


def test_a_model_is_packed(call, tmp_path, tiny_run):
    code, out, err = call("pack", tiny_run, "-o", tmp_path / "mine", "best_of=4", "--json")
    assert code == 0, err
    assert json.loads(out)["bytes"] == sum(path.stat().st_size for path in (tmp_path / "mine").iterdir())
    assert gra2seq.load(tmp_path / "mine").drawing.best_of == 4


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
    words = ["--model", tiny_run, *HOLE, "--samples", 3, "-o", tmp_path / "out.ndjson"]
    assert call("heal", cat, dog, *words)[0] == 0
    first = (tmp_path / "out.ndjson").read_bytes()
    assert len(first.splitlines()) == 6
    code, _, err = call("heal", cat, dog, *words)
    assert code == 2
    assert "--force" in err
    assert call("heal", cat, dog, *words, "--force")[0] == 0
    assert (tmp_path / "out.ndjson").read_bytes() == first, "the same seed draws the same"
    assert call("heal", cat, dog, *words, "--seed", 1, "--force", "--no-keep-lines")[0] == 0
    assert (tmp_path / "out.ndjson").read_bytes() != first
    assert call("redraw", cat, "--model", tiny_run, "-o", tmp_path / "again.svg")[0] == 0


def test_hole_and_answer_are_in_the_units_of_the_file(call, tmp_path, tiny_run):
    """Two sizes of one drawing, with the hole at the same place of it: the same answer, each in its own units."""
    near = doodle("cat", 1)
    left, top, width, height = near.box
    answers = []
    for name, size, away in (("near", 1.0, 0.0), ("far", 4.0, 4096.0)):
        write(tmp_path / f"{name}.ndjson", [("", near.with_points(near.points * size + away))])
        hole = ",".join(str(v) for v in (left * size + away, top * size + away, width * size / 2, height * size / 2))
        out = tmp_path / f"{name}-out.ndjson"
        words = ("--model", tiny_run, "--hole", hole, "--seed", 1, "--no-keep-lines", "-o", out)
        assert call("heal", tmp_path / f"{name}.ndjson", *words)[0] == 0
        [drawn] = read(out)
        answers.append((drawn.points - away) / size)
    np.testing.assert_allclose(*answers, atol=0.5)


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
    code, out, _ = call("heal", cat, *HOLE, "--model", tiny_run, "--json")
    assert code == 0
    assert json.loads(out)["files"] == [str(cat.with_name("cat-healed.ndjson"))]
    assert call("redraw", cat, "--model", tiny_run)[0] == 0
    assert cat.with_name("cat-redrawn.ndjson").exists()
    code, _, err = call("heal", cat, cat, *HOLE, "--model", tiny_run)
    assert code == 2
    assert "-o FILE" in err


def test_several_drawings_as_svg_are_numbered_files(call, tmp_path):
    write(tmp_path / "a.ndjson", [("", sketch) for sketch in doodles(3)])
    code, out, _ = call("data", "convert", tmp_path / "a.ndjson", "-o", tmp_path / "b.svg", "--json")
    assert code == 0
    assert [name.rsplit("/", 1)[1] for name in json.loads(out)["files"]] == ["b-000.svg", "b-001.svg", "b-002.svg"]


def test_version_is_printed(call):
    assert call("--version")[:2] == (0, f"{gra2seq.__version__}\n")


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


def test_models_are_listed_with_papers_inputs_and_sizes(call):
    code, out, err = call("models", "--preset", "tiny", "--json")
    assert code == 0, err
    rows = {row["model"]: row for row in json.loads(out)["models"]}
    assert len(rows) == 11
    assert rows["sketch-rnn"]["sees"] == ["strokes"]
    assert all(row["parameters"] > 1000 and row["authors"] for row in rows.values())
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
    (folder / "song" / "config.json").write_text(json.dumps({"config": {"training": {"max_steps": 7}}}))
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
        code, _, err = call("heal", cat, "--model", folder / name, "--mask-prob", 0.3, "-o", tmp_path / f"{name}.svg")
        assert code == 0, err
        code, _, err = call("redraw", cat, "--model", folder / name, "-o", tmp_path / f"{name}-again.svg")
        assert code == 0, err
        code, _, err = call("graph", cat, "--model", folder / name, "-o", tmp_path / "links.png")
        assert code == 2
        assert "no graph" in err


def test_compare_with_an_unknown_system(call, tmp_path):
    config = tmp_path / "tiny.yaml"
    config.write_text(CONFIG)
    code, _, err = call("compare", config, f"run={tmp_path / 'all'}", "--systems", "sketchrnn")
    assert code == 2
    assert "did you mean sketch-rnn" in err
    assert not (tmp_path / "all").exists()


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


def test_splits_survive_healing(call, tmp_path, tiny_run):
    source, target = tmp_path / "mixed.ndjson", tmp_path / "healed.ndjson"
    write(source, [("test", doodle("cat", 1)), ("valid", doodle("bus", 2))])
    code, _, err = call("heal", source, "--mask-prob", 0.1, "--model", tiny_run, "--samples", 2, "-o", target)
    assert code == 0, err
    assert [split for split, _ in read_records(target)] == ["test", "test", "valid", "valid"]


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


def test_healed_svg_keeps_page_elements_and_lines(call, tmp_path, tiny_run):
    cat, healed = tmp_path / "cat.svg", tmp_path / "healed.svg"
    cat.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 120 120" width="6cm">\n'
        '<!-- mine --><text x="3" y="5">Cat</text>\n'
        '<path id="top" d="M0 0 L100 0" stroke="teal" stroke-width="3" fill="none"/>\n'
        '<path id="side" d="M0 20 C 10 30 -10 50 0 60" stroke="red" fill="none"/>\n</svg>\n'
    )
    code, _, err = call("heal", cat, "--hole", "40,-10,20,20", "--model", tiny_run, "-o", healed)
    assert code == 0, err
    before, after = cat.read_text().splitlines(), healed.read_text().splitlines()
    assert after[0] == before[0]
    assert after[1] == before[1]
    assert before[3] in after
    assert any('id="top"' in line and "M0 0" in line and "40" in line for line in after)


def test_missing_end_is_completed_and_morph_is_drawn(call, tmp_path, tiny_run, cat):
    words = ("--model", tiny_run, "--samples", 2, "-o", tmp_path / "more.ndjson", "--json")
    code, out, err = call("complete", cat, *words)
    assert code == 0, err
    assert json.loads(out)["drawn"] == 2
    begun, *_ = read(cat)
    for done in read(tmp_path / "more.ndjson"):
        np.testing.assert_allclose(done.points[: len(begun)], begun.points)
    code, _, err = call("heal", cat, "--missing-end", "--model", tiny_run, "-o", tmp_path / "end.ndjson")
    assert code == 0, err
    code, out, err = call("morph", cat, cat, "--steps", 4, "--model", tiny_run, "-o", tmp_path / "m.png", "--json")
    assert code == 0, err
    assert json.loads(out)["drawn"] == 4


@pytest.mark.parametrize("name", ["m.svg", "m.gif", "m.png"])
def test_morph_writes_one_file(call, tmp_path, tiny_run, cat, name):
    code, out, err = call("morph", cat, cat, "--steps", 3, "--model", tiny_run, "-o", tmp_path / name, "--json")
    assert code == 0, err
    assert json.loads(out)["files"] == [str(tmp_path / name)]
    code, _, err = call("morph", cat, cat, "--steps", 3, "--model", tiny_run, "-o", tmp_path / name)
    assert code == 2
    assert "--force" in err


def test_erased_region_from_a_mask_picture(call, tmp_path, tiny_run):
    drawing, mask = tmp_path / "line.svg", tmp_path / "mask.png"
    drawing.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100"><path d="M10 50H190" stroke="black"/></svg>'
    )
    pixels = np.full((50, 100), 255, np.uint8)
    pixels[:, 40:60] = 0
    cv2.imwrite(str(mask), pixels)
    code, _, err = call("heal", drawing, "--erase", mask, "--model", tiny_run, "-o", tmp_path / "out.svg")
    assert code == 0, err
    first = re.search(r"M10 50[LH]([0-9.]+)", (tmp_path / "out.svg").read_text())
    assert first is not None
    assert abs(float(first.group(1)) - 80) < 3


def test_many_files_keep_their_names_in_a_folder(call, tmp_path, tiny_run):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.svg", [("", doodle("cat", 1))])
    folder = tmp_path / "healed"
    words = (tmp_path / "a.svg", tmp_path / "b.svg", *HOLE, "--model", tiny_run)
    assert call("heal", *words, "--out-dir", folder, "--quiet")[0] == 0
    assert files_in(folder) == ["a.svg", "b.svg"]
    code, _, err = call("heal", *words, "--out-dir", folder)
    assert code == 2
    assert "--force" in err
