"""One training a folder: a second one is refused, whoever starts it, and whatever becomes of the first."""

import errno
import subprocess
import sys
import time

import pytest
from quick_runs import command, run

from gra2seq.errors import UserError
from gra2seq.training import loop, manifest
from gra2seq.training.devices import fabric_of
from gra2seq.training.logs import read_metrics
from gra2seq.training.loop import train
from gra2seq.training.run_lock import lock_run
from options_by_name import quick

AT_WORK = "another training is at work in"
PROBE = """
import sys
from pathlib import Path
from gra2seq.errors import UserError
from gra2seq.training.run_lock import lock_run
try:
    with lock_run(Path(sys.argv[1])):
        print("free")
except UserError as error:
    print(error)
"""


def seen_by_another(folder):
    probe = [sys.executable, "-c", PROBE, str(folder)]
    return subprocess.run(probe, capture_output=True, text=True, check=True, timeout=60).stdout


def test_second_training_is_refused_until_the_first_has_ended(tmp_path, config):
    folder = tmp_path / "run"
    words = command(config, f"run={folder}", "workers=1", "max_steps=100000", "validate_every=100000", "save_every=1")
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as first:
        try:
            deadline = time.monotonic() + 60
            while not (folder / "last.safetensors").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            with pytest.raises(UserError, match=AT_WORK):
                train(quick(run=str(folder), max_steps=100_000), resume=True)
            steps = len((folder / "metrics.jsonl").read_text().splitlines())
            while len((folder / "metrics.jsonl").read_text().splitlines()) <= steps and time.monotonic() < deadline:
                time.sleep(0.05)
            assert first.poll() is None, "it goes on"
            assert [row["step"] for row in read_metrics(folder)[:steps]] == list(range(1, steps + 1)), "no log is cut"
        finally:
            first.kill()
    with lock_run(folder):
        pass  # at once: its worker, which lives on for seconds, holds nothing


def test_a_process_is_not_let_into_its_own_folder_twice(tmp_path):
    with lock_run(tmp_path):
        (tmp_path / "a").mkdir()
        with pytest.raises(UserError, match=AT_WORK), lock_run(tmp_path / "a" / ".."):
            raise AssertionError("two trainings in one folder")
        with lock_run(tmp_path / "other"):
            pass
        assert AT_WORK in seen_by_another(tmp_path), "the first one keeps its lock"
    assert seen_by_another(tmp_path) == "free\n"
    with lock_run(tmp_path):
        pass


def test_after_an_error_the_folder_is_free(tmp_path):
    with pytest.raises(UserError, match="max_points"):
        run(tmp_path / "run", max_points=3)
    assert run(tmp_path / "run", max_steps=1)


def test_a_place_without_locks_can_be_trained_in(tmp_path, monkeypatch):
    def none_left(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", none_left)
    with lock_run(tmp_path / "run"):
        (tmp_path / "run" / "config.json").touch()
    assert (tmp_path / "run").exists()


def test_only_a_folder_that_was_made_for_the_lock_goes_with_it(tmp_path):
    with lock_run(tmp_path / "new"):
        pass
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with lock_run(tmp_path / "old"):
        pass
    assert (tmp_path / "old").exists()
    with lock_run(tmp_path / "used"):
        (tmp_path / "used" / "config.json").touch()
    assert (tmp_path / "used" / "config.json").exists()


@pytest.mark.parametrize(
    ("variables", "sizes", "leads"),
    [
        ({}, {}, True),
        ({}, {"devices": 2}, True),
        ({"LOCAL_RANK": "1", "NODE_RANK": "0"}, {"devices": 2}, False),
        ({"NODE_RANK": "1"}, {"num_nodes": 2}, False),
        ({"SLURM_PROCID": "1", "SLURM_LOCALID": "1", "SLURM_NODEID": "0"}, {"devices": 2}, False),
        ({"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0"}, {"devices": 2}, True),
    ],
    ids=str,
)
def test_one_process_of_several_holds_the_lock_however_they_were_started(monkeypatch, variables, sizes, leads):
    if "SLURM_PROCID" in variables:
        variables = {**variables, "SLURM_NTASKS": "2", "SLURM_NTASKS_PER_NODE": "2", "SLURM_JOB_NAME": "sketches"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    fabric = fabric_of(quick(accelerator="cpu", **sizes))
    assert (fabric.node_rank == 0 and fabric.local_rank == 0) == leads
    assert (manifest.rank() == 0) == leads


def test_a_model_that_came_while_the_data_were_made_ready_is_not_overwritten(tmp_path, monkeypatch):
    made_ready = loop.open_dataset

    def slowly(*words, **more):
        monkeypatch.setattr(loop, "open_dataset", made_ready)
        run(tmp_path / "run", max_steps=1)
        return made_ready(*words, **more)

    monkeypatch.setattr(loop, "open_dataset", slowly)
    with pytest.raises(UserError, match="holds a model already"):
        run(tmp_path / "run", max_steps=2)
    assert len(read_metrics(tmp_path / "run")) == 1
