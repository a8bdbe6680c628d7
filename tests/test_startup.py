"""What people wait for: commands must not import what they do not use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gra2seq import write
from gra2seq.data.doodles import doodle

RUN = """
import sys
from gra2seq.cli import main
sys.argv = ["gra2seq", *sys.argv[1:]]
try:
    main()
except SystemExit as exit:
    assert not exit.code, exit.code
print("modules", *sys.modules)
"""
HEAVY = {"lightning_fabric", "tensorboard", "matplotlib", "scipy", "pandas", "skimage", "fastapi", "uvicorn", "sklearn"}


def imported(*arguments: str) -> set[str]:
    """The top-level modules that a command has imported when it ends."""
    done = subprocess.run([sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("modules "))
    return {name.partition(".")[0] for name in line.split()[1:]}


@pytest.mark.parametrize("arguments", [["--help"], ["heal", "--help"], ["--version"]])
def test_help_imports_nothing_slow(arguments):
    assert not imported(*arguments) & (HEAVY | {"torch", "numpy", "cv2", "PIL", "rich"})


def test_the_studio_serves_its_page_before_torch_is_imported():
    check = "import sys, gra2seq.studio.server, gra2seq.studio.app; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_heal_imports_neither_training_nor_figures(tmp_path):
    drawing = tmp_path / "cat.svg"
    write(drawing, [doodle("cat", 1)])
    modules = imported("heal", str(drawing), "--hole", "10,80,60,60")
    assert "torch" in modules
    assert (tmp_path / "cat-healed.svg").exists()
    assert not modules & HEAVY
