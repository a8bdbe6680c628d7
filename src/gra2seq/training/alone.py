"""One training a folder: a second one would write over the first one's logs and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gra2seq.errors import UserError
from gra2seq.whole import readable_os_errors

LOCK = ".lock"
_here: set[Path] = set()  # folders that this process trains in: the system does not lock it out of its own


@contextmanager
def alone(run: Path) -> Iterator[None]:
    """Nobody else trains in this folder meanwhile. The lock goes with the process, however it ends.

    Where the system (Windows) or the place (some network folders) has no such locks, other processes are not locked
    out. A folder that was made for the lock is gone if nothing else came into it.
    """
    folder = run.resolve()
    if folder in _here:  # before the file is opened: to close it once would unlock it
        raise _at_work(run)
    _here.add(folder)
    try:
        with _locked(run):
            yield
    finally:
        _here.remove(folder)


@contextmanager
def _locked(run: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:
        yield
        return
    fresh = not run.exists()
    with readable_os_errors(run):
        run.mkdir(parents=True, exist_ok=True)
        file = (run / LOCK).open("a")
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # its own: worker processes do not inherit it
        except (BlockingIOError, PermissionError) as error:
            raise _at_work(run) from error
        except OSError:  # no locks in this place
            pass
        try:
            yield
        finally:
            if fresh and [path.name for path in run.iterdir()] == [LOCK]:
                with suppress(OSError):
                    (run / LOCK).unlink()
                    run.rmdir()


def _at_work(run: Path) -> UserError:
    return UserError(f"another training is at work in {run}: wait for it, or choose another run=…")
