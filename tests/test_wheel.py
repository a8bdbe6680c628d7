"""The wheel holds all that a user needs: installed with its dependencies, it heals, trains and evaluates."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><path d="M9 90V9H90V90z"/></svg>'
DATA = {"configs/small.yaml", "judges/open8/model.safetensors", "studio/static/index.html", "py.typed"}
# Drawings that are called as the judge's categories are, so that it can be used: what it says of them does not matter.
WRITE_DRAWINGS = """
import json, pathlib
import gra2seq
from gra2seq.data.doodles import doodles
categories = json.loads((pathlib.Path(gra2seq.__file__).parent / "judges/open8/config.json").read_text())["categories"]
names = [name for name in categories for _ in range(3)]
drawn = doodles(len(names), seed=1)
sketches = [gra2seq.Sketch(one.points, one.lengths, name) for one, name in zip(drawn, names)]
gra2seq.write("drawings.ndjson", sketches)
"""


def run(*words: str | Path, cwd: Path) -> str:
    """Standard output of a command that sees neither the source tree nor an installed gra2seq."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["XDG_CACHE_HOME"] = str(cwd / "cache")
    done = subprocess.run([*map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_wheel_with_its_dependencies_heals_trains_and_evaluates(tmp_path):
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("gra2seq-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    scripts = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    python, gra2seq = scripts / ("python.exe" if os.name == "nt" else "python"), scripts / "gra2seq"
    run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    package = Path(run(python, "-c", "import gra2seq; print(gra2seq.__file__)", cwd=tmp_path).strip()).parent
    assert package.is_relative_to(tmp_path / "env")
    assert {path.relative_to(package).as_posix() for path in package.rglob("*.*")} >= DATA
    assert run(python, "-m", "gra2seq", "--version", cwd=tmp_path) == run(gra2seq, "--version", cwd=tmp_path)

    (tmp_path / "box.svg").write_text(DRAWING)
    run(gra2seq, "heal", "box.svg", "--hole", "60,60,40,40", "-o", "healed.svg", cwd=tmp_path)
    assert (tmp_path / "healed.svg").read_text().count("<path") > 1

    run(gra2seq, "train", "tiny", "run=run", "data=doodles:100", "max_steps=4", "validate_every=2", cwd=tmp_path)
    run(gra2seq, "redraw", "box.svg", "--model", "run", "-o", "redrawn.svg", cwd=tmp_path)

    run(python, "-c", WRITE_DRAWINGS, cwd=tmp_path)
    words = ("--data", "drawings.ndjson", "--split", "train", "--mask", "0.1", "--judge", "open8", "--json")
    assert '"rec": ' in run(gra2seq, "evaluate", "package", *words, cwd=tmp_path)
