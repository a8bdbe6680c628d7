"""The console that messages and progress bars are printed on."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from gra2seq.errors import printable


class SafeConsole(Console):
    """Text is escaped line by line, so that no name of a file can control the terminal."""

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*(_safe_lines(one) if isinstance(one, str) else one for one in objects), **how)


def _safe_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
