"""One training a folder: a second one would write over the first one's logs and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gra2seq.errors import UserError
from gra2seq.whole import readable_os_errors

LOCK = ".lock"


@contextmanager
def alone(run: Path) -> Iterator[None]:
    """Nobody else trains in this folder meanwhile. The lock goes with the process, however it ends.

    Where the system has no such locks (Windows) nothing is locked.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with readable_os_errors(run):
        run.mkdir(parents=True, exist_ok=True)
        file = (run / LOCK).open("a")
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # its own: worker processes do not inherit it
        except OSError as error:
            raise UserError(f"another training is at work in {run}: wait for it, or choose another run=…") from error
        yield
