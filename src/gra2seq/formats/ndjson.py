"""QuickDraw's .ndjson, simplified or raw, plain or gzipped: one JSON object a line, see `json_strokes`."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from gra2seq.errors import UserError
from gra2seq.formats.json_strokes import parse_json, record_from_json, record_to_json
from gra2seq.formats.record import Record
from gra2seq.system.atomic_files import atomic_write
from gra2seq.system.input_files import CHUNK, UNLIMITED, Limits, open_input

MAX_LINE = 64_000_000  # bytes; a million raw points with times have about 40 MB


def read_ndjson(
    path: Path, labels: bool = False, limits: Limits = UNLIMITED, *, simplify: bool = False
) -> Iterator[Record]:
    """One drawing after the other, in the memory of the longest line. Blank lines are skipped; a bad line is named.

    With `labels` the third list of a stroke is its part label and must be there; without, it is ignored. Because the
    file is streamed, its size is only limited if `limits` are given.
    """
    with open_input(path) as file:
        for number, line in _lines(file, path, limits):
            try:
                record = record_from_json(parse_json(line), labels, simplify=simplify)
            except UserError as error:
                raise UserError(f"{path} line {number}: {error}") from error
            yield record


def write_ndjson(path: Path, records: Iterable[Record], gzipped: bool = False) -> None:
    """Written completely or not at all; parts become the third list of a stroke."""
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        if gzipped:
            # Neither name nor time inside: the same drawings always give the same bytes.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
                _write_lines(packed, records)
        else:
            _write_lines(file, records)


def _lines(file: BinaryIO, path: Path, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Number and content of every line that is not blank.

    Blocks are split, because `readline` takes half a microsecond even for an empty line.
    """
    number, size = 1, 0
    begun: list[bytes] = []  # what has been read of line `number`
    stream = gzip.GzipFile(fileobj=file) if _is_gzip(path) else file
    compressed = os.fstat(file.fileno()).st_size if _is_gzip(path) else float("inf")
    try:
        while block := stream.read(CHUNK):
            size += len(block)
            limits.check(size, compressed, path)
            if not begun and block.isspace():
                number += block.count(b"\n")
                continue
            *lines, rest = block.split(b"\n")
            if lines:
                lines[0] = b"".join([*begun, lines[0]])
                begun = []
                for line in lines:
                    if line and not line.isspace():
                        yield number, line
                    number += 1
            if rest:
                begun.append(rest)
            if len(begun) * CHUNK > MAX_LINE:  # all but its first piece are whole blocks
                raise UserError(f"{path} line {number}: it is longer than {MAX_LINE / 1e6:.0f} MB: simplify it")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        where = f"after line {number - 1}" if number > 1 else "at its beginning"
        raise UserError(f"{path} is cut short or damaged {where} ({error}): fetch it again") from error
    line = b"".join(begun)
    if line and not line.isspace():
        yield number, line


def _write_lines(file: BinaryIO | gzip.GzipFile, records: Iterable[Record]) -> None:
    for record in records:
        file.write(record_to_json(record) + b"\n")


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
