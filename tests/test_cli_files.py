"""What the command line says to files it cannot read or write: before the work, and nothing is changed."""

import json
import subprocess
import sys

import pytest

from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodle, doodles
from gra2seq.data.info import convert
from gra2seq.errors import UserError
from gra2seq.formats.files import read, write
from gra2seq.system.atomic_files import _host

DRAWING = {"word": "cat", "drawing": [[[0, 1], [0, 1]]]}


@pytest.fixture
def call_flat(call):
    """`call`, with what it says on one line, however wide the terminal is."""

    def run(*words):
        code, out, err = call(*words)
        return code, out, " ".join(err.split())

    return run


def lines(path, *drawings):
    path.write_text("".join(json.dumps(drawing) + "\n" for drawing in drawings))
    return path


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


LOST = ("--hole", "0,0,1,1")


@pytest.mark.usefixtures("no_model")
def test_what_cannot_be_written_is_said_before_it_is_drawn(call_flat, tmp_path):
    many, odd = lines(tmp_path / "many.ndjson", *[DRAWING] * 334), {**DRAWING, "split": "holdout"}
    held = lines(tmp_path / "held.ndjson", DRAWING, odd)
    (tmp_path / "d").mkdir()
    before = files_in(tmp_path)
    cases = [
        (
            ["heal", many, *LOST, "--samples", 3, "-o", tmp_path / "many.png"],
            "many.png: more than 1000 drawings; choose",
        ),
        (["heal", held, *LOST, "-o", tmp_path / "x.npz"], "x.npz: drawing 1 has the split 'holdout'"),
        (["redraw", held, "-o", tmp_path / "x.npz"], "x.npz: drawing 1 has the split 'holdout'"),
        (["heal", held, *LOST, "-o", tmp_path / "d.svg"], "d exists already"),
        (["heal", held, *LOST, "--limit", 1, "--samples", 3, "-o", tmp_path / "d.svg"], "d exists already"),
        (["heal", held, *LOST, "-o", tmp_path / "held.ndjson" / "y.svg"], "cannot be written"),
    ]
    for words, expected in cases:
        code, _, err = call_flat(*words)
        assert code == 2, words
        assert expected in err
    assert files_in(tmp_path) == before


def test_odd_words_are_counted_and_shown(call_flat, tmp_path):
    words = ["a\ud800", "two\nlines", "日本", "\x1b[31mred"]
    source = lines(tmp_path / "a.ndjson", *({**DRAWING, "word": word} for word in words))
    code, out, err = call_flat("data", "info", source, "--sheet", tmp_path / "sheet.PNG")
    assert (code, err) == (0, "")
    assert all(word in out for word in ("a�", "two lines", "日本", "�[31mred"))
    out.encode()
    assert (tmp_path / "sheet.PNG").read_bytes().startswith(b"\x89PNG")


def test_a_sheet_is_a_png_in_a_place_for_files(call_flat, tmp_path):
    nowhere = tmp_path / "nowhere.ndjson"  # what is wrong with the sheet is said before anything is read
    (tmp_path / "folder.png").mkdir()
    for name, expected in (("s.jpg", "s.jpg: the sheet is a PNG"), ("folder.png", "is a folder"), ("s", "end in .png")):
        code, _, err = call_flat("data", "info", nowhere, "--sheet", tmp_path / name)
        assert code == 2
        assert expected in err
    assert files_in(tmp_path) == ["folder.png"]


@pytest.mark.parametrize("name", ["x.ndjson", "x.ndjson.gz", "x.npz", "x.json", "x.svg", "x.png"])
def test_no_drawing_replaces_no_file(call_flat, tmp_path, name):
    (tmp_path / "blank.ndjson").write_text("\n\n")
    (tmp_path / name).write_text("what was here")
    code, _, err = call_flat("data", "convert", tmp_path / "blank.ndjson", "-o", tmp_path / name, "--force")
    assert code == 2
    assert f"{name} is not written: there is no drawing to put into it" in err
    assert (tmp_path / name).read_text() == "what was here"


def test_nor_do_drawings_of_another_split(tmp_path):
    source = lines(tmp_path / "a.ndjson", DRAWING)
    with pytest.raises(UserError, match="check the files and the split"):
        convert(source, tmp_path / "b.ndjson", split="test")
    assert convert(source, tmp_path / "b.ndjson", split="") == (1, [tmp_path / "b.ndjson"])
    assert len(read(tmp_path / "b.ndjson")) == 1


def test_a_conversion_to_nowhere_reads_nothing(call_flat, tmp_path):
    (tmp_path / "x.npz").mkdir()
    code, _, err = call_flat("data", "convert", tmp_path / "nowhere.ndjson", "-o", tmp_path / "x.npz")
    assert code == 2
    assert "x.npz is a folder" in err


def test_several_sources_are_named_together(tmp_path):
    paths = [tmp_path / f"{name}.ndjson" for name in ("cat", "bus", "fish")]
    for path in paths:
        write(path, [("train", doodle(path.stem, number)) for number in range(3)])
    cache = tmp_path / "cache"
    names = {}
    for some in (paths[0], paths[:1], paths[:2], paths[::2], [str(path) for path in paths]):
        dataset = open_dataset(some, cache=cache)
        names[dataset.name] = dataset.store.path
        assert dataset.store.path.name.startswith("-".join(dataset.name.split("+")) + "-")
    assert list(names) == ["cat", "cat+bus", "cat+fish", "cat+2-more"]
    assert len(set(names.values())) == 4
    assert open_dataset(str(paths[0]), cache=cache).name == "cat", "one source as before"


def test_evaluations_of_other_data_lie_side_by_side(call_flat, tmp_path, tiny_run):
    paths = {name: tmp_path / f"{name}.ndjson" for name in ("cat", "bus", "fish")}
    for name, path in paths.items():
        write(path, [("test", sketch) for sketch in doodles(2, categories=(name,))])
    for other in ("bus", "fish"):
        code, _, err = call_flat(
            "evaluate", tiny_run, "--mask", 0, "--data", paths["cat"], paths[other], "-o", tmp_path / "e"
        )
        assert code == 0, err
    assert {"cat+bus-test.json", "cat+fish-test.json"} <= set(files_in(tmp_path / "e"))


def test_control_characters_of_a_file_name_are_escaped(call_flat, tmp_path):
    code, _, err = call_flat("data", "info", tmp_path / "\x1b[31mred\u202e.ndjson")
    assert code == 2
    assert r"\x1b[31mred\u202e.ndjson does not exist" in err
    assert "\x1b" not in err


def test_hidden_files_in_a_folder_are_not_read(call_flat, tmp_path):
    lines(tmp_path / "cat.ndjson", DRAWING)
    lines(tmp_path / ".cat.x8k2.ndjson", DRAWING)  # left over from a write that was killed
    code, out, err = call_flat("data", "info", tmp_path, "--json")
    assert (code, err) == (0, "")
    assert list(json.loads(out)["files"]) == [str(tmp_path / "cat.ndjson")]


def test_answers_of_several_samples_are_not_overwritten_but_resumed(call, tmp_path, tiny_run):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.svg", doodle("cat", seed=ord(name)))
    words = ["heal", tmp_path / "a.svg", tmp_path / "b.svg", "--out-dir", tmp_path / "out", "--missing-end"]
    words += ["--samples", 2, "--infill", 2, "--model", tiny_run]
    assert call(*words)[0] == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert sorted(before) == ["a-1.svg", "a-2.svg", "b-1.svg", "b-2.svg"]
    (tmp_path / "out" / "a-1.svg").unlink()
    code, _, error = call(*words)
    assert code == 2
    assert "a-2.svg is there already" in " ".join(error.split())
    code, _, error = call(*words, "--resume")
    assert code == 0
    assert "1 of 2 files are answered already" in error
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}


def test_resuming_removes_what_a_kill_left_though_all_is_answered(call, tmp_path):
    write(tmp_path / "a.svg", doodle("cat", seed=0))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.svg").write_bytes((tmp_path / "a.svg").read_bytes())
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / "out" / f".a.svg.{_host()}-{ended.pid}-0123abcd.tmp").mkdir()
    words = ["heal", tmp_path / "a.svg", "--out-dir", tmp_path / "out", "--missing-end", "--resume"]
    assert call(*words)[0] == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.svg"]


def test_limit_on_the_size_of_a_file_is_raised_by_an_option(call, tmp_path, monkeypatch):
    monkeypatch.setenv("GRA2SEQ_MAX_BYTES", "50")  # and what the option sets is gone after the test
    source = tmp_path / "cat.json"
    write(source, doodle("cat", seed=0))
    code, _, error = call("data", "info", source)
    assert code == 2
    assert "gra2seq --max-bytes N" in " ".join(error.split())
    assert call("--max-bytes", 1_000_000, "data", "info", source)[0] == 0
    assert call("--max-bytes", 0, "data", "info", source)[0] == 2


def test_masked_drawings_of_several_files_stay_apart_in_a_folder(call, tmp_path, tiny_run):
    sources = [tmp_path / "a.ndjson", tmp_path / "b.ndjson"]
    for count, path in enumerate(sources, 2):
        write(path, list(doodles(count, seed=count)))
    folder = tmp_path / "out"
    words = ["heal", *sources, "--mask-prob", "0.1", "--model", tiny_run, "--out-dir", folder]
    assert call(*words)[0] == 0
    assert files_in(folder) == ["a.ndjson", "b.ndjson"]
    assert [len(read(folder / path.name)) for path in sources] == [2, 3]


@pytest.mark.parametrize(
    "words", [["find", "-g", "nowhere", "-o"], ["graph", "-o"], ["data", "info", "--sheet"], ["data", "convert", "-o"]]
)
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.usefixtures("no_model")
def test_the_picture_that_is_read_is_never_overwritten(call_flat, tmp_path, words, linked):
    convert(lines(tmp_path / "a.ndjson", {"drawing": [[[0, 9], [0, 5]]]}), tmp_path / "photo.png")
    before = (tmp_path / "photo.png").read_bytes()
    (tmp_path / "link.png").symlink_to("photo.png")
    out = tmp_path / ("link.png" if linked else "photo.png")
    forced = ["--force"] if "convert" in words else []
    code, _, err = call_flat(*words, out, *forced, tmp_path / "photo.png")
    assert code == 2
    assert "is an input" in err
    assert (tmp_path / "photo.png").read_bytes() == before


def test_convert_overwrites_only_with_force(call_flat, tmp_path):
    source = lines(tmp_path / "a.ndjson", DRAWING)
    for name in ("b.json", "b.npz"):
        assert call_flat("data", "convert", source, "-o", tmp_path / name)[0] == 0
        code, _, err = call_flat("data", "convert", source, "-o", tmp_path / name)
        assert (code, "--force" in err) == (2, True)
        assert call_flat("data", "convert", source, "-o", tmp_path / name, "--force")[0] == 0
    code, _, err = call_flat("data", "convert", source, "-o", source, "--force")
    assert (code, "is an input" in err) == (2, True)
