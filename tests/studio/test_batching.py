from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest

from gra2seq.errors import UserError
from gra2seq.studio.batching import DONE, MAX_WINDOWS, Batcher, Failure, Job, answers
from gra2seq.studio.limits import MAX_WAITING, BusyError


class Recorder:
    """Runs batches one after the other, the first only once `go` is set."""

    def __init__(self):
        self.batches, self.go, self.begun = [], threading.Event(), threading.Event()
        self.batcher = Batcher(self.run, "test")

    def run(self, jobs):
        self.begun.set()
        self.go.wait(10)
        self.batches.append([job.item for job in jobs])
        for job in jobs:
            if job.item == "bad":
                raise UserError("bad")
            job.deliver(job.item)


@pytest.fixture
def recorder():
    recorder = Recorder()
    yield recorder
    recorder.go.set()
    recorder.batcher.close()


def submitted(recorder, key, item):
    answers_, done = [], threading.Event()

    def deliver(answer):
        answers_.append(answer)
        if answer is DONE:
            done.set()

    job = Job(key, item, deliver)
    recorder.batcher.submit(job)
    return job, answers_, done


def test_jobs_that_wait_for_the_same_run_together(recorder):
    submitted(recorder, "a", 0)
    recorder.begun.wait(10)
    *_, waiting = [submitted(recorder, key, item) for key, item in [("a", 1), ("b", 2), ("a", 3)]]
    last = submitted(recorder, "b", 4)
    recorder.go.set()
    assert waiting[2].wait(10)
    assert last[2].wait(10)
    assert recorder.batches == [[0], [1, 3], [2, 4]]


def test_one_bad_job_does_not_spoil_its_batch(recorder):
    submitted(recorder, "a", 0)
    recorder.begun.wait(10)
    every = [submitted(recorder, "a", item) for item in (1, "bad", 2)]
    recorder.go.set()
    assert all(done.wait(10) for _, _, done in every)
    assert every[0][1] == [1, 1, DONE] or every[0][1] == [1, DONE]
    assert isinstance(every[1][1][0], Failure)
    assert 2 in every[2][1]


@pytest.mark.parametrize(("coming", "batch"), [(3, [0, 1, 2, 3]), (0, [0]), (99, list(range(1 + MAX_WINDOWS)))])
def test_requests_that_keep_coming_are_waited_for(recorder, monkeypatch, coming, batch):
    """One more request arrives in each window, `coming` times; a request that stays alone waits for one window."""
    windows = []

    def sleep(_seconds):
        windows.append(len(windows) + 1)
        if len(windows) <= coming and not recorder.batches:
            submitted(recorder, "a", len(windows))

    monkeypatch.setattr("gra2seq.studio.batching.time", SimpleNamespace(sleep=sleep))
    _, _, done = submitted(recorder, "a", 0)
    assert recorder.begun.wait(10)
    assert len(windows) == min(coming + 1, MAX_WINDOWS)
    recorder.go.set()
    assert done.wait(10)
    assert recorder.batches[0] == batch


def test_cancelled_jobs_are_not_run(recorder):
    submitted(recorder, "a", 0)
    recorder.begun.wait(10)
    given_up, *_ = submitted(recorder, "a", 1)
    kept = submitted(recorder, "a", 2)
    given_up.cancelled.set()
    recorder.go.set()
    assert kept[2].wait(10)
    assert recorder.batches == [[0], [2]]


def test_a_full_queue_refuses(recorder):
    submitted(recorder, "a", 0)
    recorder.begun.wait(10)
    for item in range(MAX_WAITING):
        submitted(recorder, "a", item)
    with pytest.raises(BusyError):
        submitted(recorder, "a", "one more")


def test_a_client_that_has_gone_cancels_its_job(recorder):
    async def ask():
        async def gone():
            return True

        return [answer async for answer in answers(recorder.batcher, "a", 1, gone)]

    submitted(recorder, "a", 0)
    recorder.begun.wait(10)
    assert asyncio.run(ask()) == []
    last = submitted(recorder, "a", 2)
    recorder.go.set()
    assert last[2].wait(10)
    assert recorder.batches == [[0], [2]]
