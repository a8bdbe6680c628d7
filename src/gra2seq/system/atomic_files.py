"""Files and folders that appear complete or not at all: written beside their place, then renamed.

While it is written, a file lies in a hidden folder `.NAME.HOST-PID-RANDOM.tmp` beside its place, under its own name,
because writers such as matplotlib choose the format by the suffix. No reader looks into such folders. If the process
is killed, its folder stays; the next process that writes to the same place removes it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gra2seq.errors import UserError

TEMPORARY_SUFFIX = ".tmp"
MAX_NAME = 100  # bytes of the final name that a temporary name repeats; file systems allow 255 bytes
FOREIGN_AGE = 7 * 86_400.0  # seconds after which a leftover of another host is removed: its process cannot be looked up
_TEMPORARY_NAME = re.compile(r"\..*\.([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{8}\.tmp", re.DOTALL)
_OS_ERROR_IN_TEXT = re.compile(r"\(os error (\d{1,5})\)")  # how Rust prints an I/O error
_cleaned: set[Path] = set()  # folders whose leftovers this process has removed


@contextmanager
def atomic_write(path: str | Path, backup: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path to write to; on success it replaces `path`, on any failure `path` stays as it was.

    A symbolic link is followed: the file it points to is replaced, not the link. With `backup`, the file that was at
    `path` is kept under that name.

    >>> with atomic_write("out.svg") as temporary:
    ...     temporary.write_text("<svg/>")
    """
    path = Path(path)
    if "\0" in str(path):
        raise _cannot_write(path, "its name holds a null byte")
    with readable_os_errors(path):
        target = Path(os.path.realpath(path))
        _check_replaceable(path, target)
        target.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(target) as scratch, readable_os_errors(path):
        temporary = scratch / target.name
        temporary.touch()
        mode = temporary.stat().st_mode & 0o777  # that of any new file; safetensors writes files of mode 600
        yield temporary
        _flush(temporary)
        temporary.chmod(mode)
        if backup is not None and target.exists():
            _link(target, scratch / "backup")
            (scratch / "backup").replace(backup)
        temporary.replace(target)
        _flush_folder(target.parent)


@contextmanager
def atomic_folder(path: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """As `atomic_write`, for a folder: it appears complete or not at all.

    Without `replace`, `path` must not exist yet. With it, an old folder is called `path.old` for the moment between two
    renames; if the process is killed in that moment, the next call gives it its name back.
    """
    path = Path(path)
    old = path.with_name(f"{path.name}.old")
    with readable_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if replace and old.is_dir() and not path.exists():
            old.rename(path)
    if os.path.lexists(path) and not (replace and path.is_dir() and not path.is_symlink()):
        raise UserError(f"{path} exists already: name another folder or remove it first")
    with scratch_folder(path) as scratch, readable_os_errors(path):
        temporary = scratch / path.name
        temporary.mkdir()
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                _flush(file)
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)
            path.rename(old)
        temporary.rename(path)
        _flush_folder(path.parent)
        if replace:
            shutil.rmtree(old, ignore_errors=True)


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Yield a new hidden folder beside `target`, which no reader takes for data; it is removed at the end."""
    with readable_os_errors(target):
        _remove_leftovers_once(target.parent)
        owner = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
        name = os.fsencode(target.name)[:MAX_NAME].decode(sys.getfilesystemencoding(), "ignore")
        scratch = target.parent / f".{name}.{owner}{TEMPORARY_SUFFIX}"
        scratch.mkdir(mode=0o700)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def remove_leftovers(folder: Path) -> list[Path]:
    """Remove what writes that were killed left in `folder`: only this user's, never those of a running process."""
    try:
        found = [Path(entry.path) for entry in os.scandir(folder) if _is_leftover(entry)]
    except OSError:  # the next write reports it
        return []
    for path in found:
        shutil.rmtree(path, ignore_errors=True)
    return found


def check_folder(path: Path) -> None:
    """Raise UserError unless files can be written to this folder, which may not exist yet; for use before long work."""
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is a file: name a folder")
    existing = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(f"cannot write to {path}: {existing} is not a folder you may write to; choose another place")


@contextmanager
def readable_os_errors(path: Path) -> Iterator[None]:
    """Turn a failed write to `path` into a UserError; also one that a library reports by an error type of its own."""
    try:
        yield
    except UserError:
        raise
    except OSError as error:
        raise _cannot_write(path, error.strerror or str(error)) from error
    except Exception as error:
        if not (number := _OS_ERROR_IN_TEXT.search(str(error))):
            raise
        raise _cannot_write(path, os.strerror(int(number[1]))) from error


def _cannot_write(path: Path, reason: str) -> UserError:
    return UserError(
        f"cannot write {path}: {reason}. Nothing was changed; free some space or choose a place you may write to"
    )


def _check_replaceable(path: Path, target: Path) -> None:
    """Devices, pipes and folders are not replaced by a file."""
    with suppress(FileNotFoundError):
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
            raise UserError(f"cannot write {path}: it is {kind}; name a file")


def _is_leftover(entry: os.DirEntry[str]) -> bool:
    match = _TEMPORARY_NAME.fullmatch(entry.name)
    if not match or not entry.is_dir(follow_symlinks=False):
        return False
    about = entry.stat(follow_symlinks=False)
    if hasattr(os, "getuid") and about.st_uid != os.getuid():
        return False
    if match[1] == _host():
        return not _is_running(int(match[2]))
    return time.time() - about.st_mtime > FOREIGN_AGE


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # there is no harmless signal there: a leftover stays until it is old
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _remove_leftovers_once(folder: Path) -> None:
    """At the first write of this process to a folder; later ones do not search it again."""
    key = folder.absolute()
    if key not in _cleaned:
        _cleaned.add(key)
        remove_leftovers(folder)


def _host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _link(source: Path, link: Path) -> None:
    """A second name for a file; a copy where the file system has no hard links."""
    try:
        os.link(source, link)
    except OSError:
        shutil.copy2(source, link)
        _flush(link)


def _flush(path: Path) -> None:
    """Bytes reach the disk before the name does, so that a power cut leaves the old file or the new one."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _flush_folder(path: Path) -> None:
    """The new name reaches the disk too; Windows cannot open folders, and some file systems cannot flush them."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
