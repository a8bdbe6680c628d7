"""The parts of a drawing command: where its answers go, and what is done to each drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gra2seq.errors import UserError
from gra2seq.healing.drawing_items import Item
from gra2seq.sketch.region import Box, Region


@dataclass(frozen=True)
class Output:
    """Where the answers of a command go, and what it prints."""

    word: str  # of default names: cat-healed.svg
    out: Path | None = None
    out_dir: Path | None = None
    form: str | None = None  # suffix without its dot, where no name gives the format
    force: bool = False
    animate: bool = False
    seconds: float | None = None  # of an animation
    quiet: bool = False
    as_json: bool = False
    preview: Path | None = None

    def __post_init__(self) -> None:
        if self.out and self.out_dir:
            raise UserError("give --out for one file, or --out-dir for many, not both")

    def in_motion(self, target: Path) -> bool:
        """Whether a file is an animation."""
        suffix = target.suffix.lower()
        if self.animate and suffix not in (".gif", ".svg"):
            raise UserError(f"{target}: --animate and --seconds are for .gif and .svg")
        return suffix == ".gif" or self.animate


@dataclass(frozen=True)
class Task:
    """What is done to each drawing of a file."""

    options: dict[str, Any]  # of `DrawingConfig`
    lost: Region | None = field(default_factory=Region)  # None: to be detected
    frame: Box | None = None
    end_missing: bool = False
    samples: int = 1
    curves: bool = True


@dataclass(frozen=True)
class Answer:
    """A file that is worked on: what is drawn for it, and what is done with the drawings."""

    items: Sequence[Item]  # one or more
    finish: Callable[[list[Any]], None]
    drawn: list[list[Any]] = field(default_factory=list)
