"""Processes that work beside this one, each with a pipe of its own to hear and speak through."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Beside:
    """A process, and what it has said."""

    process: BaseProcess
    said: Connection  # a pipe of its own: one that is killed while it speaks silences no other

    def tell(self, what: Any) -> None:
        """It may be much, and the process may still have to begin: nobody waits until it has heard."""

        def send() -> None:
            with suppress(OSError):  # it is gone: who listens to it will notice
                self.said.send(what)

        Thread(target=send, daemon=True).start()

    def heard(self) -> Iterator[Any]:
        """All that was said up to now."""
        try:
            while self.said.poll():
                yield self.said.recv()
        except (EOFError, OSError):  # its end, perhaps in the middle of a word
            return

    @property
    def ending(self) -> str:
        """How a process that is over came to its end."""
        code = self.process.exitcode or 0
        return f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"


@contextmanager
def ctrl_c_waits() -> Iterator[None]:
    """Until this is over. Processes that are started meanwhile never hear of one: it is for who began them."""
    resource_tracker.ensure_running()  # now: when a process starts it, it lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start(work: Callable[..., None], *told: Any) -> Beside:
    """A process that does `work(*told, pipe)`, where `pipe` is for what it hears and has to say.

    A Ctrl-C is for the command, which hands it on: the process never hears of it, not even while it still imports.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(*told, there))
    try:
        with ctrl_c_waits():
            process.start()
    except BaseException:  # a Ctrl-C that waited
        if process.pid is not None:
            process.kill()
            process.join()
        raise
    there.close()  # it has its own
    return Beside(process, here)


def cores() -> int:
    """That this process may use: as the system says, or less if OMP_NUM_THREADS does."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(there, int(asked)) if asked.isdigit() and int(asked) > 0 else there
