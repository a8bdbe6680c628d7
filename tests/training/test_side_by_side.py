"""Trainings at once: the same weights as alone, one that fails or is killed hurts no other, a stop loses nothing."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from gra2seq.errors import UserError
from gra2seq.options import options
from gra2seq.training.loop import Stopped, train
from gra2seq.training.side_by_side import Planned, side_by_side

TINY = {"preset": "tiny", "data": "doodles:60", "max_steps": 3, "workers": 0, "gallery": 0, "threads": 1}
LONG = {**TINY, "max_steps": 100_000, "validate_every": 100_000}


def plans(folder, **changes):
    models = ("sp-gra2seq", "sketch-rnn")
    return {name: Planned(options({**TINY, **changes, "model": name, "run": str(folder / name)})) for name in models}


def weights(folder, name="model.safetensors"):
    return (folder / name).read_bytes()


def test_they_learn_what_they_learn_alone(tmp_path):
    said = []
    assert side_by_side(plans(tmp_path), 2, lambda name, report: said.append((name, report.step))) == {}
    for name, plan in plans(tmp_path / "alone").items():
        train(plan.options)
        assert weights(tmp_path / name) == weights(tmp_path / "alone" / name)
        assert [step for who, step in said if who == name and step] == [1, 2, 3]


def test_one_that_fails_and_one_that_is_killed_hurt_no_other(tmp_path):
    chosen = plans(tmp_path)
    fails = Planned(options({**TINY, "data": str(tmp_path / "nothing"), "run": str(tmp_path / "fails")}))
    killed = Planned(options({**LONG, "run": str(tmp_path / "killed")}))

    def watch(name, _report):
        if name == "killed":
            for child in multiprocessing.active_children():
                child.kill()

    failed = side_by_side({"fails": fails, "killed": killed, **chosen}, 1, watch)
    assert set(failed) == {"fails", "killed"}
    assert "nothing" in failed["fails"]
    assert failed["killed"] == "its process ended with signal 9 (SIGKILL)"
    assert all((tmp_path / name / "model.safetensors").exists() for name in chosen)


def test_a_stop_reaches_all_and_nothing_is_lost(tmp_path):
    chosen, seen = plans(tmp_path, max_steps=300), set()

    def watch(name, _report):
        seen.add(name)
        if len(seen) == 2:  # both are at it
            seen.add("asked")
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Stopped):
        side_by_side(chosen, 2, watch)
    assert not multiprocessing.active_children()
    for name, plan in chosen.items():
        with pytest.raises(StopIteration):  # it goes on behind the step at which it stopped
            train(plan.options, resume=True, watch=stop_at_first)
        assert (tmp_path / name / "last.safetensors").exists()


def stop_at_first(report):
    assert report.step > 1 or report.note
    if not report.note:
        raise StopIteration


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks Linux which processes live")
def test_trainings_end_with_the_command_that_began_them(tmp_path):
    program = f"""
import multiprocessing
from gra2seq.options import options
from gra2seq.training.side_by_side import Planned, side_by_side

def watch(name, report):
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)

if __name__ == "__main__":
    side_by_side({{"a": Planned(options({LONG!r} | {{"run": {str(tmp_path / "run")!r}}}))}}, 2, watch)
"""
    (tmp_path / "program.py").write_text(program)
    with subprocess.Popen([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    for _ in range(300):
        if not alive(child):
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("it trains on for no one")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_training_of_several_processes_is_refused(tmp_path):
    chosen = {name: replace(plan, options=replace(plan.options, devices=2)) for name, plan in plans(tmp_path).items()}
    with pytest.raises(UserError, match="leave them 1"):
        side_by_side(chosen, 2, lambda *_: None)
