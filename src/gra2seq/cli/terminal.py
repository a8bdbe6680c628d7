"""Standard output and standard error, whatever they are: an ASCII terminal, a full disk, a closed pipe."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

from rich.console import Console

from gra2seq.errors import printable


class Messages(Console):
    """Messages to people. Text is escaped line by line: the name of a file may hold control characters."""

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*(_safe_lines(one) if isinstance(one, str) else one for one in objects), **how)


def discard_output() -> None:
    """Standard output is full or closed: what is still buffered goes nowhere, or Python would complain at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def escape_what_cannot_be_encoded() -> None:
    """Let an ASCII terminal show other characters as \\xNN, instead of stopping the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _safe_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
