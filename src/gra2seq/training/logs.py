"""What a run writes down: a JSON line a step, the same to TensorBoard, a JSON line a validation."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from torch.utils.tensorboard import SummaryWriter

from gra2seq.system.atomic_files import atomic_write, readable_os_errors
from gra2seq.system.json_files import read_json_lines

METRICS, VALID = "metrics.jsonl", "valid.jsonl"
TENSORBOARD_EVERY = 10  # steps


class Logs:
    """Appends; on resume what lies behind the checkpoint is cut off first, so every step stands there once."""

    def __init__(self, run: Path, step: int, *, writing: bool) -> None:
        self.run, self.writing = run, writing
        self.files: dict[str, IO[str]] = {}
        if writing:
            for name in (METRICS, VALID):
                _keep_up_to(run / name, step)
                self.files[name] = (run / name).open("a")
            self.board: Any = SummaryWriter(str(run / "tensorboard"), purge_step=step + 1)

    def step(self, step: int, values: dict[str, float]) -> None:
        if self.writing:
            self._line(METRICS, step, values)
            if step % TENSORBOARD_EVERY == 0:
                self._board("train", step, values)

    def valid(self, step: int, values: dict[str, float]) -> None:
        if self.writing:
            self._line(VALID, step, values)
            self._board("valid", step, values)

    def _line(self, name: str, step: int, values: dict[str, float]) -> None:
        row = {"step": step, **{key: _rounded(value) for key, value in values.items()}}
        with readable_os_errors(self.run / name):
            self.files[name].write(json.dumps(row) + "\n")
            self.files[name].flush()

    def _board(self, group: str, step: int, values: dict[str, float]) -> None:
        with readable_os_errors(self.run / "tensorboard"):
            for key, value in values.items():
                self.board.add_scalar(f"{group}/{key}", value, step)

    def __enter__(self) -> Logs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError) if kind else contextlib.nullcontext():  # the first error is the one to report
            for file in self.files.values():
                file.close()
            if self.writing:
                self.board.close()


def _rounded(value: float) -> float | None:
    """Seven digits, as the numbers have; JSON knows no NaN."""
    return float(f"{value:.7g}") if value == value and abs(value) != float("inf") else None


def _keep_up_to(path: Path, step: int) -> None:
    """Drop lines of steps that the checkpoint does not know, and lines that are broken, as by a kill."""
    if not path.exists():
        return
    rows = [row for row in read_json_lines(path) if type(row.get("step")) is int and row["step"] <= step]
    with atomic_write(path) as temporary:
        temporary.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_metrics(run: Path, name: str = METRICS) -> list[dict[str, Any]]:
    """The lines of a run's metrics.jsonl, or of another of its logs."""
    return read_json_lines(run / name)
