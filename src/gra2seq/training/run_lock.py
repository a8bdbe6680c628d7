"""One training per run folder: a second one would overwrite the logs and checkpoints of the first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from gra2seq.errors import UserError
from gra2seq.system.atomic_files import readable_os_errors

LOCK = ".lock"
_locked_here: set[Path] = set()  # folders locked by this process


@contextmanager
def lock_run(run: Path) -> Iterator[None]:
    """Lock a run folder, or raise UserError if another training holds it. The system unlocks when the process ends.

    Where the file system has no locks (some network folders), other processes are not locked out. A folder created
    for the lock is removed again if nothing else was written to it.
    """
    folder = run.resolve()
    if folder in _locked_here:
        raise _already_running(run)
    _locked_here.add(folder)
    try:
        with _locked(run):
            yield
    finally:
        _locked_here.remove(folder)


@contextmanager
def _locked(run: Path) -> Iterator[None]:
    created = not run.exists()
    with readable_os_errors(run):
        run.mkdir(parents=True, exist_ok=True)
        (run / LOCK).touch()
    lock = FileLock(run / LOCK, fallback_to_soft=False)  # a lock file without a lock would outlive a killed process
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise _already_running(run) from error
    except (OSError, NotImplementedError):  # the file system has no locks
        pass
    try:
        yield
    finally:
        if created and all(path.name == LOCK for path in run.iterdir()):
            with suppress(OSError):
                (run / LOCK).unlink()
                run.rmdir()
        lock.release()


def _already_running(run: Path) -> UserError:
    return UserError(f"another training is at work in {run}: wait for it, or choose another run=…")
