"""A training whose disk fills up: one line, exit code 2, and its last checkpoint is sound."""

import subprocess

import pytest
from quick_runs import command

from gra2seq.system.tensor_files import read_tensors


@pytest.fixture
def disk(tmp_path):
    """A file system with room for two checkpoints of a tiny model, not for three."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=450k", "tmpfs", place], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a file system needs root")
    yield place
    subprocess.run(["umount", place], check=True)


def test_training_on_a_full_disk_keeps_its_last_checkpoint(disk, config):
    goal = ["max_steps=50", "save_every=1", "validate_every=50"]
    done = subprocess.run(command(config, f"run={disk}/run", *goal), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    last = disk / "run" / "last.safetensors"
    errors = [line for line in done.stderr.splitlines() if not line.startswith("step ")]
    assert len(errors) == 1, done.stderr
    assert errors[0].startswith(f"gra2seq: cannot write {last}: No space left on device.")
    assert read_tensors(last)[1]["step"] == 2
    assert not [path for path in (disk / "run").iterdir() if path.name.endswith(".tmp")]
