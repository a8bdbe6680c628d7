"""The wheel holds all that a user needs: installed alone, it heals a drawing."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><path d="M9 90V9H90V90z"/></svg>'


def run(*words: str | Path, cwd: Path) -> str:
    """Standard output of a command that sees neither the source tree nor an installed gra2seq."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([*map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_wheel_in_an_empty_environment_heals_a_drawing(tmp_path):
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("gra2seq-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    scripts = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    run(python, "-m", "pip", "install", "--no-deps", wheel, cwd=tmp_path)
    # Dependencies are taken from this environment: torch alone would be gigabytes to copy. A path in a .pth file adds
    # no .pth files of that folder, so an editable gra2seq there stays invisible.
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    found = run(python, "-c", "import gra2seq; print(gra2seq.__file__)", cwd=tmp_path).strip()
    assert Path(found).is_relative_to(site)
    (tmp_path / "box.svg").write_text(DRAWING)
    run(scripts / "gra2seq", "heal", "box.svg", "--hole", "60,60,40,40", "-o", "healed.svg", cwd=tmp_path)
    healed = (tmp_path / "healed.svg").read_text()
    assert "<path" in healed
    assert healed != DRAWING
    data = {path.relative_to(Path(found).parent).as_posix() for path in Path(found).parent.rglob("*.*")}
    assert {"configs/small.yaml", "judges/open8/model.safetensors", "studio/static/index.html", "py.typed"} <= data
