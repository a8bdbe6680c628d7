"""What a training reports after every step, for display and logs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from gra2seq.config.training import TrainingConfig
from gra2seq.training.checkpoint import Progress

WINDOW = 50  # steps that the rate is averaged over


@dataclass(frozen=True)
class Report:
    """The state of a training after a step, or a note."""

    step: int
    steps: int
    loss: float
    terms: dict[str, float]
    rate: float  # sketches a second, lately
    left: float  # seconds to the end
    valid: float | None = None
    note: str = ""

    @staticmethod
    def of_note(step: int, steps: int, note: str) -> Report:
        return Report(step, steps, math.nan, {}, math.nan, math.nan, note=note)


StepCallback = Callable[[Report], None]


@dataclass
class Clock:
    """Sketches a second over the last steps."""

    batch: int
    marks: list[float] = field(default_factory=list)

    def tick(self) -> float:
        self.marks = [*self.marks[-WINDOW:], time.perf_counter()]
        if len(self.marks) < 2:
            return math.nan
        return self.batch * (len(self.marks) - 1) / max(self.marks[-1] - self.marks[0], 1e-9)


def is_finished(config: TrainingConfig, state: Progress) -> bool:
    """By these limits: a finished run continues when they are raised."""
    return bool(reached_limit(config, state))


def reached_limit(config: TrainingConfig, state: Progress) -> str:
    """The limit that ended a run, as `name=value`, or an empty text."""
    if state.step >= config.max_steps:
        return f"max_steps={config.max_steps}"
    if config.max_minutes and state.seconds >= 60 * config.max_minutes:
        return f"max_minutes={config.max_minutes:g}"
    if config.patience and state.stale >= config.patience:
        return f"patience={config.patience}"
    return ""


def seconds_left(config: TrainingConfig, state: Progress, speed: float) -> float:
    """To the last step at this speed (sketches a second), or to the end of the time given."""
    steps = (config.max_steps - state.step) * config.batch / speed if speed > 0 else math.nan
    return min(steps, max(60 * config.max_minutes - state.seconds, 0.0)) if config.max_minutes else steps
