"""Standard output and standard error, whatever they are: an ASCII terminal, a full disk, a closed pipe."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # rich is imported with the first message
    from rich.console import Console


class Messages:
    """Messages to people, on standard error. Text is escaped: the name of a file may hold control characters."""

    @cached_property
    def console(self) -> Console:
        """For what shows progress."""
        from gra2seq.cli.console import SafeConsole

        return SafeConsole(stderr=True, highlight=False, soft_wrap=True, markup=False)  # names may hold brackets

    def print(self, *objects: Any, **how: Any) -> None:
        """Print a message; `how` as of rich's `Console.print`."""
        self.console.print(*objects, **how)


def discard_output() -> None:
    """Standard output is full or closed: what is still buffered goes nowhere, or Python would complain at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def escape_what_cannot_be_encoded() -> None:
    """Let an ASCII terminal show other characters as \\xNN, instead of stopping the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
