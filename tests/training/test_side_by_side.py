"""Trainings at once: the same weights as alone, one that fails or is killed hurts no other, a stop loses nothing."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gra2seq.errors import UserError
from gra2seq.models.model_files import read_progress
from gra2seq.training.loop import train
from gra2seq.training.side_by_side import Planned, side_by_side
from options_by_name import by_section, config_of

TINY = {"preset": "tiny", "data": "doodles:60", "max_steps": 3, "workers": 0, "gallery": 0, "threads": 1}
LONG = {**TINY, "max_steps": 100_000, "validate_every": 100_000, "save_every": 100_000}


def plans(folder, **changes):
    models = ("sp-gra2seq", "sketch-rnn")
    return {
        name: Planned(config_of(**{**TINY, **changes, "model": name, "run": str(folder / name)})) for name in models
    }


def weights(folder, name="model.safetensors"):
    return (folder / name).read_bytes()


@pytest.mark.slow
def test_parallel_trainings_equal_separate_ones(tmp_path):
    said = []
    assert side_by_side(plans(tmp_path), 2, lambda name, report: said.append((name, report.step))) == {}
    for name, plan in plans(tmp_path / "alone").items():
        train(plan.config)
        assert weights(tmp_path / name) == weights(tmp_path / "alone" / name)
        assert [step for who, step in said if who == name and step] == [1, 2, 3]


@pytest.mark.slow
def test_one_that_fails_and_one_that_is_killed_hurt_no_other(tmp_path):
    chosen, notes = plans(tmp_path), []
    fails = Planned(config_of(**{**TINY, "data": str(tmp_path / "nothing"), "run": str(tmp_path / "fails")}))
    killed = Planned(config_of(**{**LONG, "workers": 1, "run": str(tmp_path / "killed")}))

    def on_step(name, report):
        if report.note:
            notes.append((name, report.note))
        if name == "killed":
            for child in multiprocessing.active_children():
                child.kill()

    failed = side_by_side({"fails": fails, "killed": killed, **chosen}, 1, on_step)
    assert set(failed) == {"fails", "killed"}
    assert "nothing" in failed["fails"]
    assert failed["killed"] == "its process ended with signal 9 (SIGKILL)"
    assert [("fails", f"failed: {failed['fails']}"), ("killed", f"failed: {failed['killed']}")] == notes[:2]
    assert all((tmp_path / name / "model.safetensors").exists() for name in chosen)


def test_single_stopped_training_is_reported_as_stopped(tmp_path):
    ended = []

    def on_step(_name, report):
        if not report.note and not ended:  # once: what comes after its checkpoint ends it at once
            ended.extend(multiprocessing.active_children())
            ended[0].terminate()

    plan = Planned(config_of(**LONG, run=str(tmp_path / "run")))
    assert "stopped" in side_by_side({"one": plan}, 1, on_step)["one"]
    assert (tmp_path / "run" / "last.safetensors").exists()


PROGRAM = """
import multiprocessing
from gra2seq.config import parse_config
from gra2seq.training.loop import Stopped
from gra2seq.training.side_by_side import Planned, side_by_side

def on_step(name, report):
    print(name, *(child.pid for child in multiprocessing.active_children()), flush=True)

def plan(name):
    return Planned(parse_config({values} | {{"run": {folder!r} + name}}))

if __name__ == "__main__":
    try:
        side_by_side({{name: plan(name) for name in "ab"}}, 2, on_step)
    except Stopped:
        print("stopped", flush=True)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks Linux which processes live")
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        signal.SIGTERM,
        pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_they_save_and_end_with_the_command_that_began_them(tmp_path, number):
    """A Ctrl-C goes to all of a terminal's processes, a scheduler's SIGTERM too, a kill -9 to the command alone."""
    (tmp_path / "program.py").write_text(PROGRAM.format(values=by_section(**LONG), folder=f"{tmp_path}/"))
    begin = [sys.executable, tmp_path / "program.py"]
    with subprocess.Popen(begin, stdout=subprocess.PIPE, text=True, start_new_session=True) as command:
        children, speaking = set(), set()
        while len(speaking) < 2:
            name, *pids = command.stdout.readline().split()
            speaking.add(name)
            children.update(map(int, pids))
        if number == signal.SIGKILL:
            command.kill()
        else:
            os.killpg(command.pid, number)
        if number == signal.SIGTERM:
            for child in children:
                os.kill(child, number)
        rest = command.stdout.read()
    assert rest.endswith("stopped\n") == (number != signal.SIGKILL)
    for child in children:
        ended(child)
    for name in "ab":
        assert read_progress(tmp_path / name / "last.safetensors")["step"] > 0


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks Linux which processes live")
@pytest.mark.parametrize(
    "delay", [pytest.param(0.1, marks=pytest.mark.slow), 0.5, pytest.param(1.0, marks=pytest.mark.slow)]
)
def test_a_ctrl_c_while_they_begin_is_answered_in_peace(tmp_path, delay):
    (tmp_path / "program.py").write_text(PROGRAM.format(values=by_section(**LONG), folder=f"{tmp_path}/"))
    begin = [sys.executable, tmp_path / "program.py"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(begin, start_new_session=True, **pipes) as command:
        while not (children := trainings_of(command.pid)):
            assert command.poll() is None
            time.sleep(0.02)
        time.sleep(delay)  # it imports now
        os.killpg(command.pid, signal.SIGINT)
        out, err = command.communicate(timeout=60)
    assert out.endswith("stopped\n")
    assert "Traceback" not in err
    for child in children:
        ended(child)


def trainings_of(pid):
    """Its processes that were spawned to train."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def ended(pid):
    """Within half a minute."""
    for _ in range(300):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("it trains on for no one")


def test_what_cannot_work_is_refused(tmp_path):
    chosen = {name: replace(plan, config=replace(plan.config, devices=2)) for name, plan in plans(tmp_path).items()}
    with pytest.raises(UserError, match="leave them 1"):
        side_by_side(chosen, 2, lambda *_: None)
    with pytest.raises(UserError, match="at least 1"):
        side_by_side(plans(tmp_path), 0, lambda *_: None)
