"""Runs of seconds, as all tests of the loop use them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gra2seq.training.logs import read_metrics
from gra2seq.training.loop import train
from options_by_name import quick

CONFIG = """
preset: tiny
data: doodles:200
workers: 0
threads: 1
accelerator: cpu
training:
  gallery: 0
  validate_sketches: 20
"""


def run(folder: Path, *, resume: bool = False, **options: Any) -> Path:
    return train(quick(run=str(folder), **options), resume=resume)


def losses(folder: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "sketches_per_second"} for row in read_metrics(folder)]


def command(config: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "gra2seq.cli", "train", str(config), *more]
