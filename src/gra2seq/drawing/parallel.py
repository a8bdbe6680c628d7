"""Many sketches healed in shares, each by a process of its own: on a CPU faster than one process with all cores.

Between the large products of a drawing lie many small steps that one core does alone, while the others wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.memory import keep_freed_memory, tune_garbage_collector
from gra2seq.system.processes import Worker, available_cores, ctrl_c_blocked, start_worker

if TYPE_CHECKING:  # torch comes in when the other processes are on their way
    from gra2seq.model import Model

LEAST = 250  # drawings that a process is worth: it needs seconds to begin
MOST_JOBS = 8  # unless more are asked for: each holds the model, and what it encodes
TELL_EVERY = 0.3  # seconds


def jobs_for(drawings: int) -> int:
    """How many processes heal so many drawings soonest."""
    return max(min(available_cores(), MOST_JOBS, drawings // LEAST), 1)


class Shares:
    """While it is entered, all shares but the first are healed by processes; `heal` heals the first and waits.

    What a sketch becomes does not depend on its share, but for what `Model.draw` says of roundings. `how` are arguments
    of `Model.heal` that are the same for all sketches: no `draws`, no holes of each one's own.
    """

    def __init__(self, model: Path | None, sketches: Sequence[Sketch], jobs: int, **how: Any) -> None:
        self.how, self.samples = how, how.get("samples", 1)
        self.jobs = min(jobs, len(sketches))
        self.threads = max(available_cores() // max(self.jobs, 1), 1)
        self.model, self.sketches = model, sketches
        self.others: list[Worker] = []

    def __enter__(self) -> Shares:
        if self.jobs <= 1:  # nobody is begun, and nothing is paid for it
            return self
        with ExitStack() as stack:
            stack.push(self)  # if one cannot be started, or a Ctrl-C has waited, the others end
            with ctrl_c_blocked():
                for number in range(1, self.jobs):
                    self._begin(number)
            stack.pop_all()
        return self

    def _begin(self, number: int) -> None:
        try:
            other = start_worker(_heal, self.model, self.threads, self.how)
        except OSError as error:
            raise UserError(f"no process for share {number + 1} of {self.jobs} ({error}): give --jobs 1") from error
        self.others.append(other)
        other.send(self.sketches[number :: self.jobs])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for other in self.others:
            other.process.kill()
            other.process.join()
            other.connection.close()

    def heal(self, model: Model, progress: Callable[[int, int], None] = lambda *_: None) -> list[Sketch]:
        """All sketches, healed, in their order."""
        if not self.others:
            return model.heal(self.sketches, progress=progress, **self.how)
        import torch

        total, done = len(self.sketches) * self.samples, [0] * self.jobs
        healed: dict[int, list[Sketch]] = {}

        def listen(own: int, _of: int) -> None:
            done[0] = own
            for number, other in self._at_work(healed):
                self._hear(number, other, done, healed)
            progress(sum(done), total)

        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            healed[0] = model.heal(self.sketches[:: self.jobs], progress=listen, **self.how)
        finally:
            torch.set_num_threads(before)
        while len(healed) < self.jobs:
            wait(
                [end for _, one in self._at_work(healed) for end in (one.connection, one.process.sentinel)], TELL_EVERY
            )
            listen(done[0], total)
        every: list[Sketch] = [healed[0][0]] * total
        for number, part in healed.items():
            for sample in range(self.samples):
                every[number * self.samples + sample :: self.jobs * self.samples] = part[sample :: self.samples]
        return every

    def _at_work(self, healed: Container[int]) -> list[tuple[int, Worker]]:
        return [(number, other) for number, other in enumerate(self.others, 1) if number not in healed]

    def _hear(self, number: int, other: Worker, done: list[int], healed: dict[int, list[Sketch]]) -> None:
        """How far a share is, or all of it. What went wrong there goes wrong here."""
        over = not other.process.is_alive()  # asked before it is heard, so that its last word is
        for said in other.messages():
            if isinstance(said, UserError):
                raise said
            if isinstance(said, int):
                done[number] = said
            else:
                healed[number], done[number] = said, len(said)
        if over and number not in healed:
            raise UserError(
                f"the process that heals share {number + 1} of {self.jobs} ended with {other.exit_reason}: "
                "give --jobs 1, or fewer, if it lacked memory"
            )


def _heal(model: Path | None, threads: int, how: dict[str, Any], told: Connection) -> None:
    """What a process does: it hears its share, tells how far it is, then all it has healed, or what is wrong."""
    keep_freed_memory()
    tune_garbage_collector()
    try:
        sketches = told.recv()
    except (EOFError, ConnectionError):  # the command is gone
        return
    import torch

    from gra2seq.folder import load

    torch.set_num_threads(threads)
    last = time.monotonic()

    def progress(done: int, _of: int) -> None:
        nonlocal last
        if time.monotonic() - last > TELL_EVERY:
            last = time.monotonic()
            told.send(done)

    with suppress(ConnectionError):  # the command is gone: nobody waits for it
        try:
            told.send(load(model).heal(sketches, progress=progress, **how))
        except UserError as error:
            told.send(error)
