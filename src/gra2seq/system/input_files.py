"""Opening files that may be damaged or hostile: readable errors, and limits on their size.

A compressed file of a few kB can unpack to gigabytes. `Limits` bounds what a reader unpacks; readers that build
everything in memory enforce it, readers that stream need it only where the caller collects what they yield.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gra2seq.errors import UserError

MAX_BYTES = 256_000_000  # of a file after decompression
MAX_BYTES_VARIABLE = "GRA2SEQ_MAX_BYTES"  # environment variable that replaces `MAX_BYTES`
RAISE_LIMIT = f"raise the limit (gra2seq --max-bytes N, max_bytes=N or {MAX_BYTES_VARIABLE}=N)"
MAX_RATIO = 200  # of decompressed to compressed size; drawings reach about 10, deflate itself 1000
CHUNK = 1 << 20  # bytes read at a time
RATIO_FREE = 1_000_000  # bytes that may be unpacked before the ratio counts: small files may be very regular


@dataclass(frozen=True)
class Limits:
    """How much a file may unpack to."""

    max_bytes: float = MAX_BYTES
    max_ratio: float = MAX_RATIO

    def check(self, size: int, compressed: float, path: Path) -> None:
        """Refuse `size` bytes unpacked from `compressed` ones."""
        if size > self.max_bytes:
            raise UserError(
                f"{path} holds more than {self.max_bytes / 1e6:,.0f} MB: split it, or if you trust it {RAISE_LIMIT}"
            )
        if size > max(RATIO_FREE, self.max_ratio * compressed):
            raise UserError(
                f"{path} unpacks to more than {self.max_ratio:.0f} times its size, as drawings never do: fetch it "
                f"again, or if you trust it {RAISE_LIMIT}"
            )


UNLIMITED = Limits(float("inf"), float("inf"))


def limits_for(max_bytes: int | None) -> Limits:
    """The limits a caller asks for. Whoever names a size, here or in the environment, trusts the file: no ratio."""
    if max_bytes is None and (text := os.environ.get(MAX_BYTES_VARIABLE)):
        try:
            max_bytes = int(text)
        except ValueError:
            raise UserError(f"{MAX_BYTES_VARIABLE}={text!r} is not a number of bytes, such as 1000000000") from None
    if max_bytes is None:
        return Limits()
    if max_bytes < 1:
        raise UserError(f"max_bytes is {max_bytes}: it must be at least 1")
    return Limits(max_bytes, float("inf"))


@contextmanager
def open_input(path: str | Path) -> Iterator[BinaryIO]:
    """The file, open for reading; a failure of the system, also a later one, is a `UserError`."""
    path = Path(path)
    if "\0" in str(path):
        raise UserError(f"cannot read {path}: its name holds a null byte; check the name")
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder: name a file in it")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist: check the name") from error
    except PermissionError as error:
        raise UserError(f"{path} may not be read: ask for permission, or copy it to a folder of yours") from error
    except OSError as error:
        too_long = error.errno == errno.ENAMETOOLONG
        advice = "check the name" if too_long else "check the disk or fetch the file again"
        raise UserError(f"cannot read {path}: {error.strerror or error}; {advice}") from error


def read_bytes(path: str | Path, limit: float, advice: str = "split it or simplify what it holds") -> bytes:
    """The whole file, unless it is larger than `limit` bytes; the error then gives the `advice`."""
    chunks, size = [], 0
    with open_input(path) as file:
        while chunk := file.read(CHUNK):  # not in one go: a device or pipe does not say its size
            size += len(chunk)
            if size > limit:
                most = f"{limit / 1e6:,.0f} MB" if limit >= 1e6 else f"{limit / 1e3:,.0f} kB"
                raise UserError(f"{path} is larger than {most}: {advice}")
            chunks.append(chunk)
    return b"".join(chunks)
