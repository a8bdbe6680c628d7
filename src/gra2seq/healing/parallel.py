"""Many sketches healed by several processes: on a CPU faster than one process with all cores.

Between the large products of a drawing lie many small steps that run on one core while the others wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gra2seq.config.extensions import import_modules, imported_modules
from gra2seq.errors import UserError
from gra2seq.healing.model_source import ModelSource
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.memory import keep_freed_memory, tune_garbage_collector
from gra2seq.system.processes import Worker, available_cores, ctrl_c_blocked, start_worker

if TYPE_CHECKING:  # torch is imported when the other processes have been started
    from gra2seq.model import Model

MIN_DRAWINGS = 250  # that a process is worth: it needs seconds to start
MAX_JOBS = 8  # unless more are asked for: each holds the model, and what it encodes
REPORT_EVERY = 0.3  # seconds


def jobs_for(drawings: int) -> int:
    """The number of processes that heal so many drawings soonest."""
    return max(min(available_cores(), MAX_JOBS, drawings // MIN_DRAWINGS), 1)


class ParallelHealer:
    """While it is entered, all parts but the first are healed by worker processes; `heal` heals the first and waits.

    What a sketch becomes does not depend on its part, but for rounding. `options` are arguments of `Model.heal` that
    are the same for all sketches.
    """

    def __init__(self, model: ModelSource | Path | None, sketches: Sequence[Sketch], jobs: int, **options: Any) -> None:
        self.options, self.samples = options, options.get("samples", 1)
        self.jobs = min(jobs, len(sketches))
        self.threads = max(available_cores() // max(self.jobs, 1), 1)
        self.model = model if isinstance(model, ModelSource) else ModelSource(model)
        self.sketches = sketches
        self.workers: list[Worker] = []

    def __enter__(self) -> ParallelHealer:
        if self.jobs <= 1:
            return self
        with ExitStack() as stack:
            stack.push(self)  # if one cannot be started, or a Ctrl-C was delayed, the others are ended
            with ctrl_c_blocked():
                for number in range(1, self.jobs):
                    self._start(number)
            stack.pop_all()
        return self

    def _start(self, number: int) -> None:
        try:
            worker = start_worker(_heal, self.model, self.threads, imported_modules(), self.options)
        except OSError as error:
            raise UserError(f"no process for part {number + 1} of {self.jobs} ({error}): give --jobs 1") from error
        self.workers.append(worker)
        worker.send(self.sketches[number :: self.jobs])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            worker.kill()

    def heal(self, model: Model, progress: Callable[[int, int], None] = lambda *_: None) -> list[Sketch]:
        """All sketches, healed, in their order."""
        if not self.workers:
            return model.heal(self.sketches, progress=progress, **self.options)
        import torch

        total, done = len(self.sketches) * self.samples, [0] * self.jobs
        healed: dict[int, list[Sketch]] = {}

        def report(own: int, _total: int) -> None:
            done[0] = own
            for number, worker in self._running(healed):
                self._receive(number, worker, done, healed)
            progress(sum(done), total)

        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            healed[0] = model.heal(self.sketches[:: self.jobs], progress=report, **self.options)
        finally:
            torch.set_num_threads(before)
        while len(healed) < self.jobs:
            ends = [end for _, one in self._running(healed) for end in (one.connection, one.process.sentinel)]
            wait(ends, REPORT_EVERY)
            report(done[0], total)
        every: list[Sketch] = [healed[0][0]] * total
        for number, part in healed.items():
            for sample in range(self.samples):
                every[number * self.samples + sample :: self.jobs * self.samples] = part[sample :: self.samples]
        return every

    def _running(self, healed: Container[int]) -> list[tuple[int, Worker]]:
        return [(number, worker) for number, worker in enumerate(self.workers, 1) if number not in healed]

    def _receive(self, number: int, worker: Worker, done: list[int], healed: dict[int, list[Sketch]]) -> None:
        """Take a worker's messages: how far it is, its drawings, or an error."""
        ended = not worker.process.is_alive()  # asked before its messages are read, so that the last one is among them
        for message in worker.messages():
            if isinstance(message, UserError):
                raise message
            if isinstance(message, int):
                done[number] = message
            else:
                healed[number], done[number] = message, len(message)
        if ended and number not in healed:
            raise UserError(
                f"the process of part {number + 1} of {self.jobs} ended with {worker.exit_reason}: give --jobs 1, "
                "or fewer, if it lacked memory"
            )


def _heal(
    model: ModelSource, threads: int, modules: Sequence[str], options: dict[str, Any], connection: Connection
) -> None:
    """A worker: receives its sketches, reports how far it is, then sends all it has healed, or what is wrong."""
    keep_freed_memory()
    tune_garbage_collector()
    try:
        sketches = connection.recv()
    except (EOFError, ConnectionError):  # the command has ended
        return
    import torch

    import_modules(modules)
    torch.set_num_threads(threads)
    last = time.monotonic()

    def progress(done: int, _total: int) -> None:
        nonlocal last
        if time.monotonic() - last > REPORT_EVERY:
            last = time.monotonic()
            connection.send(done)

    with suppress(ConnectionError):  # the command has ended
        try:
            connection.send(model.load().heal(sketches, progress=progress, **options))
        except UserError as error:
            connection.send(error)
