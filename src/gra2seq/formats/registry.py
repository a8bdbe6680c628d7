"""Which suffix is read and written by which functions; other packages can add formats of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gra2seq.errors import UserError
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write
from gra2seq.system.input_files import Limits

Reader = Callable[[Path, bool, Limits], Iterable[Record]]  # path, whether strokes have part labels, limits
Writer = Callable[[Path, Iterable[Record]], list[Path]]  # returns the files made


@dataclass(frozen=True)
class Format:
    """How files of one suffix are read and written; None where that is not possible."""

    read: Reader | None = None
    write: Writer | None = None
    streamed: bool = False  # read one drawing after the other, so that the size of the file does not matter
    traced: bool = False  # drawn by a program or found in a picture: in units of its own and with very many points
    max_drawings: int | None = None  # that can be written at a time


FORMATS: dict[str, Format] = {}  # by suffix; `files` adds those of the package


def register_format(
    suffix: str,
    *,
    read: Callable[[Path], Iterable[Sketch | Record]] | None = None,
    write: Callable[[Path, Iterable[Record]], None] | None = None,
) -> None:
    """Let `gra2seq.read`, `gra2seq.write` and the commands use files of another format.

    `read(path)` returns or yields sketches, or records with a split; for a file it cannot use it raises `UserError`.
    `write(path, records)` writes one file; `path` is a temporary name which becomes the real one when all went well.
    A later registration of the same suffix replaces an earlier one.

    >>> from pathlib import Path
    >>> import gra2seq
    >>> def read_dots(path):
    ...     lines = path.read_text().splitlines()
    ...     yield gra2seq.Sketch.from_polylines([[tuple(map(float, line.split()))] for line in lines])
    >>> gra2seq.register_format(".dots", read=read_dots)
    >>> _ = Path("three.dots").write_text("0 0\\n10 0\\n5 8\\n")
    >>> gra2seq.read("three.dots")
    [Sketch(?, 3 strokes, 3 points)]
    """
    if not suffix.startswith(".") or len(suffix) < 2 or suffix != suffix.lower():
        raise UserError(f"{suffix!r} is no suffix: it must start with a dot and be in lower case, such as '.dots'")
    if read is None and write is None:
        raise UserError(f"{suffix}: give a function to read or one to write such files")

    def read_records(path: Path, _labels: bool, limits: Limits) -> Iterator[Record]:
        assert read is not None
        limits.check(path.stat().st_size, float("inf"), path)
        for item in read(path):
            yield Record("", item) if isinstance(item, Sketch) else item

    def write_file(path: Path, records: Iterable[Record]) -> list[Path]:
        assert write is not None
        with atomic_write(path) as temporary:
            write(temporary, records)
        return [path]

    FORMATS[suffix] = Format(read_records if read else None, write_file if write else None)


def readable_suffixes() -> tuple[str, ...]:
    """The suffixes that can be read."""
    return tuple(suffix for suffix, known in FORMATS.items() if known.read)


def writable_suffixes() -> tuple[str, ...]:
    """The suffixes that can be written."""
    return tuple(suffix for suffix, known in FORMATS.items() if known.write)


def suffix_of(path: Path, known: Iterable[str]) -> str:
    """The longest of the `known` suffixes that the name ends in, whatever the case of its letters."""
    name = path.name.lower()
    fitting = [suffix for suffix in known if name.endswith(suffix) and name != suffix]
    if fitting:
        return max(fitting, key=len)
    if os.path.isdir(path):  # unlike Path's, not an error where the name is too long
        raise UserError(f"{path} is a folder: name a file in it")
    raise UserError(f"{path}: unknown kind of file; the name must end in one of {', '.join(known)}")
