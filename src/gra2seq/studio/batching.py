"""Requests that arrive together are worked on together, in one thread beside the server's."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gra2seq.errors import UserError
from gra2seq.studio.limits import MAX_SECONDS, MAX_WAITING, BusyError, TooSlowError

WINDOW = 0.006  # seconds that a first request waits for company, and each further one
MAX_WINDOWS = 8  # in a row
MAX_BATCH = 32  # requests that are worked on together
POLL = 0.2  # seconds between two looks at whether the client is still there

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    """One request: jobs with the same key can be worked on together. Answers go to `deliver`, in any number."""

    key: Hashable
    item: Any
    deliver: Callable[[Any], None] = lambda _answer: None
    cancelled: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Failure:
    """The answer to a job that failed."""

    error: Exception


DONE = object()  # the last answer to every job


class Batcher:
    """A thread that takes jobs in their order, with all that wait for the same, and runs them."""

    def __init__(self, run: Callable[[Sequence[Job]], None], name: str) -> None:
        self._run = run
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> None:
        """Put a job into the queue."""
        with self._changed:
            if self._closed or len(self._waiting) >= MAX_WAITING:
                raise BusyError("too many people are drawing: try again in a few seconds")
            self._waiting.append(job)
            self._changed.notify()

    def close(self) -> None:
        """End the thread after the work at hand."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while jobs := self._next():
            try:
                self._run(jobs)
            except Exception as error:  # whatever it is, the thread lives on for the next requests
                self._retry_or_fail(jobs, error)
            for job in jobs:
                job.deliver(DONE)

    def _retry_or_fail(self, jobs: Sequence[Job], error: Exception) -> None:
        """One bad drawing must not spoil the batch: after a failure each job runs on its own."""
        for job in jobs if len(jobs) > 1 else ():
            try:
                self._run([job])
            except Exception as own:  # whatever it is, it is this request's
                _fail(job, own)
        if len(jobs) == 1:
            _fail(jobs[0], error)

    def _next(self) -> list[Job]:
        """The first job and all that can go with it; empty when the batcher is closed."""
        with self._changed:
            while True:
                while self._waiting and self._waiting[0].cancelled.is_set():
                    self._waiting.popleft()
                if self._closed:
                    return []
                if self._waiting:
                    break
                self._changed.wait()
        self._wait_for_company()
        with self._changed:
            waiting = [job for job in self._waiting if not job.cancelled.is_set()]
            jobs = [job for job in waiting if job.key == waiting[0].key][:MAX_BATCH]
            self._waiting = deque(job for job in waiting if job not in jobs)
        return jobs or self._next()

    def _wait_for_company(self) -> None:
        """One window; further ones while requests keep coming, as they do when a batch of many was just answered."""
        before = len(self._waiting)
        for _ in range(MAX_WINDOWS):
            time.sleep(WINDOW)
            with self._changed:
                count = len(self._waiting)
            if count <= before:
                return
            before = count


def _fail(job: Job, error: Exception) -> None:
    if not isinstance(error, UserError):
        log.error("a request failed", exc_info=error)
    job.deliver(Failure(error))


async def answers(
    batcher: Batcher, key: Hashable, item: Any, is_gone: Callable[[], Awaitable[bool]]
) -> AsyncIterator[Any]:
    """The answers to one job, as they come. The job is cancelled when the client has gone or the time is over."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Queue[Any]()

    def deliver(answer: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody listens any more
            loop.call_soon_threadsafe(arrived.put_nowait, answer)

    job = Job(key, item, deliver)
    deadline = loop.time() + MAX_SECONDS
    batcher.submit(job)
    try:
        while True:
            try:
                answer = await asyncio.wait_for(arrived.get(), POLL)
            except TimeoutError:
                if await is_gone():
                    return
                if loop.time() > deadline:
                    raise TooSlowError("this took too long: try a simpler drawing, or try again later") from None
                continue
            if answer is DONE:
                return
            if isinstance(answer, Failure):
                raise answer.error
            yield answer
    finally:
        job.cancelled.set()
