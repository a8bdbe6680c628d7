"""Sketches healed in shares: the same drawings in the same order, and no process outlives what began it."""

import multiprocessing.connection
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import gra2seq
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.formats.files import read, write
from gra2seq.healing import parallel
from gra2seq.healing.parallel import MAX_JOBS, MIN_DRAWINGS, ParallelHealer, jobs_for
from gra2seq.system import processes

SKETCHES = list(doodles(11, seed=4))


def test_shares_are_put_together_in_the_order_of_the_sketches(tiny_run):
    model, how = gra2seq.load(tiny_run), {"mask_prob": 0.4, "seed": 2, "samples": 2, "candidates": 2}
    alone = model.heal(SKETCHES, **how)
    heard, before = [], torch.get_num_threads()
    with ParallelHealer(tiny_run, SKETCHES, 3, **how) as parts:
        assert len(parts.workers) == 2
        together = parts.heal(model, lambda done, total: heard.append((done, total)))
    assert [sketch.key for sketch in together] == [sketch.key for sketch in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.lengths.tolist() == other.lengths.tolist()
        np.testing.assert_allclose(one.points, other.points, atol=0.05)
    assert heard == sorted(heard)
    assert heard[-1] == (22, 22)
    assert torch.get_num_threads() == before
    assert not any(other.process.is_alive() for other in parts.workers)


def test_one_job_starts_no_process(tiny_run, monkeypatch):
    """Neither a process nor the helper that watches over them: one drawing is to be there at once."""
    monkeypatch.setattr(parallel, "start_worker", None)
    monkeypatch.setattr(parallel, "ctrl_c_blocked", None)
    for sketches, jobs in ((SKETCHES, 1), (SKETCHES[:1], 4), ([], 4)):
        with ParallelHealer(tiny_run, sketches, jobs) as parts:
            assert not parts.workers
            assert len(parts.heal(gra2seq.load(tiny_run))) == len(sketches)


def test_few_sketches_have_no_empty_share(tiny_run):
    with ParallelHealer(tiny_run, SKETCHES[:2], 4) as parts:
        assert len(parts.workers) == 1
        assert len(parts.heal(gra2seq.load(tiny_run))) == 2


def test_what_goes_wrong_in_a_process_goes_wrong_here(tiny_run, tmp_path):
    model = gra2seq.load(tiny_run)
    with ParallelHealer(tmp_path / "none", SKETCHES, 2) as parts, pytest.raises(UserError, match="no model at"):
        parts.heal(model)
    with ParallelHealer(tiny_run, SKETCHES, 2) as parts:
        os.kill(parts.workers[0].process.pid, signal.SIGKILL)
        with pytest.raises(UserError, match=r"part 2 of 2 ended with signal 9 \(SIGKILL\).*--jobs 1"):
            parts.heal(model)


def told_after(seconds, pipe):
    time.sleep(seconds)
    pipe.send(["drawn"])


def test_waiting_for_the_last_process_is_no_busy_loop(tiny_run, monkeypatch):
    waited = []

    def wait(ends, seconds):
        waited.append(len(ends))
        return multiprocessing.connection.wait(ends, seconds)

    monkeypatch.setattr(parallel, "wait", wait)
    with ParallelHealer(tiny_run, SKETCHES[:1], 3) as parts:
        parts.sketches, parts.jobs = SKETCHES[:3], 3
        parts.workers = [processes.start_worker(told_after, seconds) for seconds in (0.0, 4.0)]
        assert parts.heal(gra2seq.load(tiny_run))[1:] == ["drawn", "drawn"]
    assert waited[-1] == 2, "of one that is done nothing more is to be heard"
    assert len(waited) < 1000, "it sleeps while it waits: a loop without sleep asks millions of times"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks Linux which processes live")
@pytest.mark.parametrize("delay", [0.0, 0.2, 1.0])
def test_a_ctrl_c_ends_all_of_them_at_once(tmp_path, tiny_run, delay):
    source, out = tmp_path / "many.ndjson", tmp_path / "healed.ndjson"
    write(source, doodles(3000))  # some seconds of work: it must not be done before the Ctrl-C
    begin = [
        sys.executable,
        "-m",
        "gra2seq.cli",
        "heal",
        source,
        "--mask-prob",
        "0.1",
        "-m",
        tiny_run,
        "--limit",
        "3000",
        "--jobs",
        "3",
        "-o",
        out,
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Who tests in the background of a script passes on that a Ctrl-C is not heard: at a terminal it is.
    pipes["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen([str(word) for word in begin], start_new_session=True, **pipes) as command:
        while not (children := spawned(command.pid)):
            assert command.poll() is None
            time.sleep(0.01)
        time.sleep(delay)
        children |= spawned(command.pid)
        os.killpg(command.pid, signal.SIGINT)
        begun = time.monotonic()
        _, err = command.communicate(timeout=60)
    assert time.monotonic() - begun < 15  # a moment; on a busy machine a process needs seconds to end
    assert command.returncode in (130, -signal.SIGINT)  # both are 130 to a shell
    assert "Traceback" not in err
    assert not out.exists()
    assert not any(os.path.exists(f"/proc/{child}") for child in children)


def spawned(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = map(int, file.read().split())
    return {child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()}


def test_workers_end_when_the_caller_leaves_early(tiny_run):
    def give_up(*_):
        raise KeyboardInterrupt

    with ParallelHealer(tiny_run, SKETCHES, 3) as parts, pytest.raises(KeyboardInterrupt):
        parts.heal(gra2seq.load(tiny_run), give_up)
    assert [other.process.is_alive() for other in parts.workers] == [False] * 2


def test_one_that_cannot_be_started_ends_the_others(tiny_run, monkeypatch):
    started = []

    def start(*arguments):
        if started:
            raise BlockingIOError("no more processes")
        started.append(processes.start_worker(*arguments))
        return started[0]

    monkeypatch.setattr(parallel, "start_worker", start)
    with pytest.raises(UserError, match="no process for part 3 of 3"), ParallelHealer(tiny_run, SKETCHES, 3):
        pass
    assert not started[0].process.is_alive()


@pytest.mark.parametrize(
    ("there", "drawings", "jobs"),
    [
        (2, 1, 1),
        (2, 2 * MIN_DRAWINGS - 1, 1),
        (2, 2 * MIN_DRAWINGS, 2),
        (2, 100 * MIN_DRAWINGS, 2),
        (64, 100 * MIN_DRAWINGS, MAX_JOBS),
    ],
)
def test_a_process_must_be_worth_its_beginning(monkeypatch, there, drawings, jobs):
    monkeypatch.setattr(parallel, "available_cores", lambda: there)
    assert jobs_for(drawings) == jobs


def test_cores_are_those_that_may_be_used(monkeypatch):
    monkeypatch.setattr(processes.os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    for asked, there in (("", 6), ("2", 2), ("9", 6), ("many", 6), ("0", 6)):
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert processes.available_cores() == there


def test_the_command_line_draws_in_as_many_processes_as_it_is_asked(call, tmp_path, tiny_run):
    source = tmp_path / "some.ndjson"
    write(source, [("", sketch) for sketch in SKETCHES])
    drawn = {}
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}.ndjson"
        code, _, err = call("heal", source, "--model", tiny_run, "--mask-prob", 0.3, "--jobs", jobs, "-o", out)
        assert code == 0, err
        drawn[jobs] = read(out)
    for one, other in zip(drawn[1], drawn[2], strict=True):
        np.testing.assert_allclose(one.points, other.points, atol=0.05)
    code, _, err = call(
        "heal", source, "--model", tiny_run, "--mask-prob", 7, "--jobs", 2, "-o", tmp_path / "no.ndjson"
    )
    assert code == 2
    assert "between 0 and 1" in err
    assert not (tmp_path / "no.ndjson").exists()
    assert call("redraw", source, "--model", tiny_run, "--jobs", 0, "-o", tmp_path / "no.ndjson")[0] == 2
