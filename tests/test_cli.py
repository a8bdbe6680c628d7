"""The command line end to end, and what it says to bad input: one line, exit code 2, nothing half-written."""

import json

import cv2

import gra2seq
from gra2seq.data.doodles import doodles
from gra2seq.formats.files import read, write

CONFIG = "preset: tiny\ndata: doodles:200\nworkers: 0\nthreads: 1\naccelerator: cpu\n"
HOLE = ("--hole", "60,60,60,60")


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


def test_version_is_printed(call):
    assert call("--version")[:2] == (0, f"{gra2seq.__version__}\n")


def test_doctor(call):
    code, out, _ = call("doctor", "--json")
    assert code == 0
    assert json.loads(out)["healthy"] is True


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
