"""Worker processes, each connected to this one by a pipe of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Thread, current_thread, main_thread
from typing import Any


@dataclass(frozen=True)
class Worker:
    """A started process and the pipe to it."""

    process: BaseProcess
    connection: Connection  # one pipe a worker: a worker that is killed while it sends blocks no other
    sending: list[Thread] = field(default_factory=list, compare=False)

    def send(self, message: Any) -> None:
        """Send in a background thread, so that a large message never blocks on a worker that is still starting."""

        def send() -> None:
            with suppress(OSError):  # the worker has ended: whoever waits for its answer notices
                self.connection.send(message)

        thread = Thread(target=send, daemon=True)
        thread.start()
        self.sending[:] = [one for one in self.sending if one.is_alive()] + [thread]

    def kill(self) -> None:
        """End the process at once and close the pipe, once what was being sent has failed."""
        self.process.kill()
        self.process.join()
        for thread in self.sending:
            thread.join()
        self.connection.close()

    def messages(self) -> Iterator[Any]:
        """Yield the messages that have arrived so far."""
        try:
            while self.connection.poll():
                yield self.connection.recv()
        except (EOFError, OSError):  # the worker has ended, perhaps in the middle of a message
            return

    @property
    def exit_reason(self) -> str:
        """How an ended process ended: its exit code, or the signal that killed it."""
        code = self.process.exitcode or 0
        return f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"


@contextmanager
def ctrl_c_kept() -> Iterator[None]:
    """A Ctrl-C ends the block with a KeyboardInterrupt, whatever the code in it catches.

    For imports: some libraries catch everything while they are imported, and go on with half of their parts. Where
    Ctrl-C is ignored, or handled otherwise, it stays so.
    """
    pressed: list[int] = []

    def interrupt(number: int, _: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    usual = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except BaseException:
        if pressed:
            raise KeyboardInterrupt from None
        raise
    finally:
        if usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def ctrl_c_blocked() -> Iterator[None]:
    """Delay Ctrl-C until the block ends; processes started inside inherit the mask and never receive one.

    The mask alone would not do: another thread of this process, without the mask, may receive the signal, and Python
    would interrupt the main thread all the same. Windows has no masks: there processes that are started ignore Ctrl-C
    by themselves (`_run`).
    """
    delayed: list[int] = []
    main = current_thread() is main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: delayed.append(number)) if main else None
    try:
        with _ctrl_c_masked():
            yield
    finally:
        if main:
            signal.signal(signal.SIGINT, handler or signal.SIG_DFL)
        if delayed:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _ctrl_c_masked() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # first: starting it as a side effect would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_worker(work: Callable[..., None], *arguments: Any) -> Worker:
    """Start a process that runs `work(*arguments, connection)`; `connection` is the pipe to this process.

    Ctrl-C is handled by this process only: the worker never receives it, not even while it imports.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(work, *arguments, there))
    try:
        with ctrl_c_blocked():
            process.start()
    except BaseException:  # a delayed Ctrl-C
        if process.pid is not None:
            process.kill()
            process.join()
        raise
    there.close()  # the worker has its own copy
    return Worker(process, here)


def _run(work: Callable[..., None], *arguments: Any) -> None:
    """The work of a process; Ctrl-C is left to the process that started it, also where signals cannot be masked."""
    if not hasattr(signal, "pthread_sigmask"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    work(*arguments)


@cache
def make_forks_safe() -> None:
    """Let processes that are forked from this one compute on one thread; `Model` calls it, once is enough.

    A fork copies the calling thread only. OpenMP and OpenCV do not notice that their pools are gone: the first
    parallel operation of the child would wait for them forever.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_use_one_thread)


def _use_one_thread() -> None:
    import cv2
    import torch

    torch.set_num_threads(1)
    cv2.setNumThreads(0)  # not 1: that waits for the lost threads, to end them


def available_cores() -> int:
    """Cores that this process may use: its CPU affinity, or fewer if OMP_NUM_THREADS says so."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(allowed, int(asked)) if asked.isdigit() and int(asked) > 0 else allowed
