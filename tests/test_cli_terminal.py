"""The command line on odd terminals: ASCII, a full device, names with control characters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gra2seq.data.doodles import doodle
from gra2seq.errors import MAX_MESSAGE, printable
from gra2seq.formats.files import write


def gra2seq(*words, **how):
    command = [sys.executable, "-m", "gra2seq.cli", *map(str, words)]
    environment = {**os.environ, **how.pop("env", {})}
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=120, check=False, env=environment, **how)


@pytest.fixture
def drawing(tmp_path):
    path = tmp_path / "Kätzchen-猫.ndjson"
    write(path, [("", doodle("cat", seed=0))])
    return path


def test_ascii_terminal_shows_other_characters_escaped(drawing):
    done = gra2seq("data", "info", drawing, stdout=subprocess.PIPE, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert rb"K\xe4tzchen-\u732b.ndjson" in done.stdout
    target = drawing.with_name("Größe.svg")
    done = gra2seq("data", "convert", drawing, "-o", target, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert rb"Gr\xf6\xdfe.svg" in done.stderr
    assert target.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are always Unicode")
def test_names_can_be_written_where_the_file_system_is_ascii(drawing):
    """A temporary name repeats that of the file; as text it could not be encoded."""
    target = drawing.with_name("Größe.svg")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = gra2seq("data", "convert", drawing, "-o", target, env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert target.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["--json"], []], ids=["json", "words"])
def test_full_standard_output_is_one_line(drawing, words):
    with Path("/dev/full").open("w") as full:
        done = gra2seq("data", "info", drawing, *words, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"gra2seq: cannot write to standard output: No space left on device\n"


def test_control_characters_of_names_are_not_printed(call, tmp_path):
    source = tmp_path / "a\x1b[31m\u202ered\n.ndjson"
    code, _, err = call("data", "info", source)
    assert code == 2
    assert "a\\x1b[31m\\u202ered\\n.ndjson" in "".join(err.split("\n"))
    write(source, [("", doodle("cat", seed=0))])
    code, _, err = call("data", "convert", source, "-o", tmp_path / "b\x07.svg")
    assert code == 0
    assert "b\\x07.svg" in "".join(err.split("\n"))


def test_long_errors_are_shortened(call, tmp_path):
    code, _, err = call("data", "download", "x" * 9000, "-o", tmp_path)
    assert code == 2
    assert len(err) < MAX_MESSAGE + 200
    assert err.lstrip().startswith("gra2seq: there is no set or category 'xxx")


def test_printable_keeps_what_is_harmless():
    assert printable("Käse 🐱 日本 👩\u200d👧") == "Käse 🐱 日本 👩\u200d👧"
    assert printable("a\tb\r\x00\x9b\ud800\u2028") == r"a\tb\r\x00\x9b\ud800\u2028"
    assert printable("abcdefghij" * 10, 12) == "abc … efghij"
