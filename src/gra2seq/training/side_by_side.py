"""Several trainings at once, each a process on its share of the cores: on a CPU faster than one after the other."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path

import torch

from gra2seq.config.extensions import import_modules
from gra2seq.config.run import RunConfig
from gra2seq.errors import UserError
from gra2seq.system.atomic_files import atomic_write
from gra2seq.system.processes import Worker, start_worker
from gra2seq.training.loop import Stopped, train
from gra2seq.training.report import Report
from gra2seq.training.stopping import Stopping

POLL_SECONDS = 0.2  # seconds
FAILED = "failed.txt"  # in the folder of a run that did, for no fault of the user

NamedStepCallback = Callable[[str, Report], None]
ShowAll = Callable[[], AbstractContextManager[NamedStepCallback]]


def show_nothing() -> AbstractContextManager[NamedStepCallback]:
    return nullcontext(lambda _name, _report: None)


@dataclass(frozen=True)
class Planned:
    """A training to start or to resume."""

    config: RunConfig
    resume: bool = False


def side_by_side(plans: Mapping[str, Planned], jobs: int, on_step: NamedStepCallback) -> dict[str, str]:
    """Train all, `jobs` at a time; returns what went wrong, by name. The others go on when one fails.

    The first Ctrl-C (or SIGTERM) is passed on: every training writes its checkpoint before `Stopped` is raised.
    """
    if jobs < 1:
        raise UserError(f"jobs={jobs} must be at least 1")
    for plan in plans.values():
        if plan.config.devices * plan.config.num_nodes > 1:
            raise UserError("devices and num_nodes spread one training over processes already: leave them 1, or jobs 1")
    threads = max(torch.get_num_threads() // max(min(jobs, len(plans)), 1), 1)
    waiting = list(plans)
    running: dict[str, Worker] = {}
    failed: dict[str, str] = {}
    signalled = False

    def fail(name: str, why: str) -> None:
        failed[name] = why
        on_step(name, Report.of_note(0, plans[name].config.training.max_steps, f"failed: {why}"))

    try:
        with Stopping() as stopping:
            while waiting or running:
                while waiting and len(running) < jobs:
                    name = waiting.pop(0)
                    try:
                        running[name] = _start(plans[name], threads)
                    except OSError as error:
                        fail(name, f"no process for it: {error}")
                wait([end for one in running.values() for end in (one.connection, one.process.sentinel)], POLL_SECONDS)
                for name, one in list(running.items()):
                    ended = not one.process.is_alive()  # before reading, so that its last message is read
                    for message in one.messages():
                        if isinstance(message, Report):
                            on_step(name, message)
                        elif not signalled:
                            fail(name, message)
                    if ended:
                        del running[name]
                        if one.process.exitcode and name not in failed and not signalled:
                            fail(name, f"its process ended with {one.exit_reason}")
                if stopping.requested and not signalled:
                    signalled = True
                    waiting.clear()
                    for one in running.values():
                        one.process.terminate()
            if stopping.requested:
                raise Stopped("stopped; what has begun keeps its checkpoint")
    except KeyboardInterrupt:  # a second Ctrl-C: at once
        for one in running.values():
            one.process.kill()
        raise
    finally:
        for one in running.values():
            one.process.terminate()  # a training answers with its checkpoint
            one.process.join()
    return failed


def _start(plan: Planned, threads: int) -> Worker:
    return start_worker(_train, replace(plan.config, threads=plan.config.threads or threads), plan.resume)


def why_failed(error: Exception, run: Path) -> str:
    """The message of a UserError; of any other error its type and message, and the file with its traceback."""
    if isinstance(error, UserError):
        return str(error)
    with suppress(OSError, UserError), atomic_write(run / FAILED) as temporary:
        temporary.write_text("".join(traceback.format_exception(error)))
    return f"{type(error).__name__}: {error} (the rest is in {run / FAILED})"


def _train(config: RunConfig, resume: bool, connection: Connection) -> None:
    """A worker: sends every report of its training and, if it fails, the error."""

    def on_step(report: Report) -> None:
        try:
            connection.send(report)
        except OSError:  # the command that began this training is gone: save, and end
            signal.raise_signal(signal.SIGTERM)

    try:
        import_modules(config.modules)
        train(config, resume=resume, on_step=on_step)
        return
    except Stopped:
        why = "it was stopped by a signal; its checkpoint is written"
    except Exception as error:  # whatever it is, it is this training's
        why = why_failed(error, Path(config.run))
    with suppress(OSError):
        connection.send(why)
