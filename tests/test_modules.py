"""Python modules that a model folder names are imported only if the user says so."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import gra2seq
from gra2seq.config.extensions import import_modules
from gra2seq.config.parse import parse_config
from gra2seq.errors import UserError
from gra2seq.folder import pack
from gra2seq.formats.registry import FORMATS

MODULE = "strangers_module"
CODE = """
import gra2seq, pathlib
pathlib.Path("ran").touch()
gra2seq.register_format(".strangers", read=lambda path: [])
"""


@pytest.fixture
def folder(tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model folder that names a module, which lies in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    monkeypatch.setattr("gra2seq.config.extensions._imported", {})
    monkeypatch.setitem(FORMATS, ".strangers", FORMATS[".json"])  # so that what is registered is removed again
    (tmp_path / f"{MODULE}.py").write_text(CODE)
    folder = tmp_path / "model"
    folder.mkdir()
    shutil.copy(tiny_run / "model.safetensors", folder)
    about = json.loads((tiny_run / "config.json").read_text())
    about["config"]["modules"] = [MODULE]
    (folder / "config.json").write_text(json.dumps(about))
    return folder


def test_module_of_a_stranger_is_not_imported(folder: Path, tmp_path: Path) -> None:
    for use in (gra2seq.load, lambda path: pack(path, tmp_path / "packed")):
        with pytest.raises(UserError, match=rf"{MODULE}.*modules=True.*gra2seq --modules {MODULE} COMMAND"):
            use(folder)
    assert not (tmp_path / "ran").exists()
    assert MODULE not in sys.modules


@pytest.mark.parametrize("name", ["this", "antigravity", "..os", "os; import this", "", "a" * 5000])
def test_any_other_name_is_refused_in_one_sentence(folder: Path, name: str) -> None:
    config = folder / "config.json"
    about = json.loads(config.read_text())
    about["config"]["modules"] = [name]
    config.write_text(json.dumps(about))
    with pytest.raises(UserError):
        gra2seq.load(folder)


def test_module_is_imported_when_the_caller_says_so(folder: Path, tmp_path: Path) -> None:
    assert gra2seq.load(folder, modules=True).config.modules == (MODULE,)
    assert (tmp_path / "ran").exists()


def test_imported_module_is_enough(folder: Path) -> None:
    import_modules([MODULE])
    assert gra2seq.load(folder)


def test_configuration_of_the_user_imports_its_modules(folder: Path, tmp_path: Path) -> None:  # noqa: ARG001
    parse_config({"modules": [MODULE]})
    assert (tmp_path / "ran").exists()


def test_commands_import_what_the_option_names(folder: Path, tmp_path: Path, call) -> None:  # type: ignore[no-untyped-def]
    shutil.copy(Path(__file__).parents[1] / "examples/drawings/cat.svg", tmp_path)
    words = ("redraw", "cat.svg", "--model", folder, "-o", "new.svg")
    code, _, error = call(*words)
    assert (code, (tmp_path / "ran").exists()) == (2, False)
    assert "asks for the Python module" in error
    code, _, error = call("--modules", MODULE, *words)
    assert code == 0, error
    assert (tmp_path / "new.svg").exists()
    assert call("--modules", "no_such_module", *words)[0] == 2
