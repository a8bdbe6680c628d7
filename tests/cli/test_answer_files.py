"""Names and number of the files that commands write."""

import json

import pytest

from gra2seq.data.doodles import doodle, doodles
from gra2seq.formats.files import read_records, write

HOLE = ("--hole", "60,60,60,60")


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


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


def test_splits_survive_healing(call, tmp_path, tiny_run):
    source, target = tmp_path / "mixed.ndjson", tmp_path / "healed.ndjson"
    write(source, [("test", doodle("cat", 1)), ("valid", doodle("bus", 2))])
    code, _, err = call("heal", source, "--mask-prob", 0.1, "--model", tiny_run, "--samples", 2, "-o", target)
    assert code == 0, err
    assert [split for split, _ in read_records(target)] == ["test", "test", "valid", "valid"]


@pytest.mark.parametrize("name", ["m.svg", "m.gif", "m.png"])
def test_morph_writes_one_file(call, tmp_path, tiny_run, cat, name):
    code, out, err = call("morph", cat, cat, "--steps", 3, "--model", tiny_run, "-o", tmp_path / name, "--json")
    assert code == 0, err
    assert json.loads(out)["files"] == [str(tmp_path / name)]
    code, _, err = call("morph", cat, cat, "--steps", 3, "--model", tiny_run, "-o", tmp_path / name)
    assert code == 2
    assert "--force" in err


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
