"""Opening a file to read: whatever goes wrong is said in words that help."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gra2seq.errors import UserError


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """The file, open for reading; a failure of the system, also a later one, is a `UserError`."""
    path = Path(path)
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder: name a file in it")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist: check the name") from error
    except PermissionError as error:
        raise UserError(f"{path} may not be read: ask for permission or copy it to a place of yours") from error
    except OSError as error:
        too_long = error.errno == errno.ENAMETOOLONG
        what = "check the name" if too_long else "check the disk or fetch the file again"
        raise UserError(f"cannot read {path}: {error.strerror or error}; {what}") from error


def read_bytes(path: str | Path, limit: int) -> bytes:
    """The whole file, unless it is larger than `limit` bytes."""
    with opened(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UserError(f"{path} is larger than {limit / 1e6:.0f} MB: split it or simplify what it holds")
    return data
