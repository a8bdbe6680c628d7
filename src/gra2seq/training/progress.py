"""Progress for people: a bar with rate, time left and every loss term; plain lines where there is no terminal."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

if TYPE_CHECKING:  # drawing shows progress too, and must not import what training needs
    from gra2seq.config.run import RunConfig
    from gra2seq.training.report import Report, StepCallback
    from gra2seq.training.side_by_side import NamedStepCallback

LINE_EVERY = 10.0  # seconds between plain lines


@contextmanager
def show(console: Console, config: RunConfig) -> Iterator[StepCallback]:
    """A watcher for `train`: a live bar on a terminal, a line now and then elsewhere."""
    if not console.is_terminal:
        yield _lines(console)
        return
    with _training_bars(console) as bar:
        yield _bar(console, bar, "training", config.training.max_steps)


@contextmanager
def show_all(console: Console) -> Iterator[NamedStepCallback]:
    """The same for `side_by_side`: a bar, or lines, for each training that has begun."""
    callbacks: dict[str, StepCallback] = {}
    with _training_bars(console) if console.is_terminal else nullcontext() as bar:

        def on_step(name: str, report: Report) -> None:
            if name not in callbacks:
                start = f"{name}: "
                callbacks[name] = _bar(console, bar, name, report.steps, start) if bar else _lines(console, start)
            callbacks[name](report)

        yield on_step


def _training_bars(console: Console) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[words]}"),
    )
    return Progress(*columns, console=console, refresh_per_second=4)


def _bar(console: Console, bar: Progress, description: str, steps: int, start: str = "") -> StepCallback:
    task = bar.add_task(description, total=steps, words="")

    def on_step(report: Report) -> None:
        if report.note:
            console.print(start + report.note, markup=False)
            return
        if report.valid is not None:
            console.print(f"{start}step {report.step}: validation loss {report.valid:.3f}", markup=False)
        bar.update(task, completed=report.step, words=words(report))

    return on_step


def words(report: Report) -> str:
    """Loss, its terms, speed and time left; the first step has no speed yet."""
    terms = " ".join(f"{name} {value:.2f}" for name, value in report.terms.items())
    speed = f" · {report.rate:.0f} sketches/s · {duration(report.left)} left" if math.isfinite(report.rate) else ""
    return f"loss {report.loss:.2f} ({terms}){speed}"


def duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "?"
    hours, rest = divmod(int(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _lines(console: Console, start: str = "") -> StepCallback:
    last = -math.inf

    def on_step(report: Report) -> None:
        nonlocal last
        if report.note:
            console.print(start + report.note, markup=False)
        elif report.valid is not None or report.step == report.steps or time.monotonic() - last > LINE_EVERY:
            last = time.monotonic()
            valid = f" · valid {report.valid:.3f}" if report.valid is not None else ""
            console.print(f"{start}step {report.step}/{report.steps} · {words(report)}{valid}", markup=False)

    return on_step


@contextmanager
def bytes_bar(console: Console) -> Iterator[Callable[[str, int, int | None], None]]:
    """For downloads: a bar a file."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console) as bar:
        tasks = {}

        def progress(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        yield progress


class _RateColumn(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.0f}/s" if task.speed else "", style="progress.data.speed")


@contextmanager
def counting(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """For evaluations and drawing: a bar for each thing that is counted through, or a line now and then."""
    if not console.is_terminal:
        yield _counted_lines(console)
        return
    rate, left = _RateColumn(), TimeRemainingColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate, left)
    with Progress(*columns, console=console) as bar:
        tasks = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        yield progress


def _counted_lines(console: Console) -> Callable[[str, int, int], None]:
    began: dict[str, tuple[float, int]] = {}  # when work was first reported, and how much of it was done
    last = time.monotonic()

    def progress(what: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        since, before = began.setdefault(what, (now, done))
        if done == total or now - last > LINE_EVERY:
            last = now
            rate = (done - before) / (now - since) if now > since else 0.0
            speed = f" · {rate:.0f}/s · {duration((total - done) / rate)} left" if rate > 0 else ""
            console.print(f"{what} {done}/{total}{speed}", markup=False)

    return progress
