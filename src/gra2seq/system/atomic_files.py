"""Files that are written whole or not at all: a temporary neighbour, then one rename."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gra2seq.errors import UserError


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it replaces `path`, on any failure it is gone.

    >>> with atomic_write("out.svg") as temporary:
    ...     temporary.write_text("<svg/>")
    """
    path = Path(path)
    with readable_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # The suffix stays, because writers such as matplotlib and OpenCV choose the format by it.
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
    temporary = Path(name)
    try:
        with readable_os_errors(path):
            yield temporary
            _flush(temporary)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """As `atomic_write`, for a folder: `path` must not exist yet and appears complete or not at all."""
    path = Path(path)
    if path.exists():
        raise UserError(f"{path} exists already: name another folder or remove it first")
    with readable_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        with readable_os_errors(path):
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    _flush(file)
            temporary.chmod(0o777 & ~_umask())
            temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_folder(path: Path) -> None:
    """Before hours of work: can its files be written to this folder, which may not be there yet?"""
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is a file: name a folder")
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"cannot write to {path}: {there} is not a folder you may write to; choose another place")


@contextmanager
def readable_os_errors(path: Path) -> Iterator[None]:
    """What the system says of a place that cannot be written, as an error a user can read."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror or error}. Nothing was changed; "
            "free some space or choose a place you may write to"
        ) from error


def _flush(path: Path) -> None:
    """Bytes reach the disk before the name does, so that a power cut leaves the old file or the new one."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
