"""The front door for drawings in files: the format is chosen by how the name ends."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from gra2seq.errors import UserError
from gra2seq.sketch.ndjson import Record, read_json, read_ndjson, write_json, write_ndjson
from gra2seq.sketch.npz import SPLITS, read_npz, write_npz
from gra2seq.sketch.picture import contact_sheet, render, write_png
from gra2seq.sketch.reading import opened
from gra2seq.sketch.simplify import quickdraw_simplify, simplify_in_place
from gra2seq.sketch.strokes import Sketch
from gra2seq.sketch.svg import read_svg, write_svg
from gra2seq.whole import whole_file

__all__ = ["READABLE", "WRITABLE", "Record", "check_target", "read", "write"]

PNG_SIZE = 512  # px of a single drawing
MAX_SHEET = 1000  # drawings on one sheet
MAX_SVGS = 10_000  # files at a time


def read(path: str | Path, *, labels: bool = False, simplify: bool | None = None) -> Iterator[Record]:
    """The drawings of a file, each with its split, one after the other.

    `labels`: the third list of a stroke (.ndjson, .json) is its part. `simplify`: as QuickDraw does, in a box of 255;
    by default SVG gets as few points where it lies, because curves come as very many, and all else stays as it is.
    """
    path = Path(path)
    form = _form(path, READERS)
    with opened(path):  # what cannot be opened is said now, not when the first drawing is asked for
        pass
    records = READERS[form](path, labels)
    if simplify is None and form == ".svg":
        return ((split, simplify_in_place(sketch)) for split, sketch in records)
    return ((split, quickdraw_simplify(sketch)) for split, sketch in records) if simplify else records


def as_published(path: Path, simplify: bool | None) -> bool | None:
    """For a collection of drawings: SVG in QuickDraw's box of 255, unless said otherwise."""
    return True if simplify is None and path.suffix.lower() == ".svg" else simplify


def write(path: str | Path, records: Iterable[Record | Sketch]) -> list[Path]:
    """Write drawings, whole or not at all; returns the files made. Those without a split may come alone.

    Several drawings become one contact sheet as .png, and name-000.svg, name-001.svg, ... as .svg.
    """
    path = Path(path)
    pairs = (("", record) if isinstance(record, Sketch) else record for record in records)
    return WRITERS[_form(path, WRITERS)](path, pairs)


def check_target(path: str | Path) -> None:
    """Say before a long work, rather than after it, that its drawings could not be written to `path`."""
    path = Path(path)
    _form(path, WRITERS)
    if path.is_dir():
        raise UserError(f"{path} is a folder: name a file in it")
    parent = path.absolute().parent
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(f"{path} cannot be written: choose a place you may write to")


def beside(path: str | Path, word: str) -> Path:
    """Where the answer to a file of drawings goes unless said otherwise: cat.svg -> cat-healed.svg."""
    path = Path(path)
    form = _form(path, READERS)
    return path.with_name(f"{path.name[: -len(form)]}-{word}{form}")


def _form(path: Path, known: Iterable[str]) -> str:
    name = path.name.lower()
    for suffix in known:
        if name.endswith(suffix) and name != suffix:
            return suffix
    if path.is_dir():
        raise UserError(f"{path} is a folder: name a file in it")
    raise UserError(f"{path}: unknown kind of file; the name must end in one of {', '.join(known)}")


def _read_npz(path: Path, _labels: bool) -> Iterator[Record]:
    for split, sketches in read_npz(path).items():
        for sketch in sketches:
            yield split, sketch


def _read_svg(path: Path, _labels: bool) -> Iterator[Record]:
    yield "", read_svg(path)


def _write_npz(path: Path, records: Iterable[Record]) -> list[Path]:
    splits: dict[str, list[Sketch]] = {split: [] for split in SPLITS}
    for split, sketch in records:
        splits.setdefault(split or SPLITS[0], []).append(sketch)  # no split: to learn from
    write_npz(path, splits)
    return [path]


def _write_lines(path: Path, records: Iterable[Record]) -> list[Path]:
    write_ndjson(path, records)
    return [path]


def _write_json(path: Path, records: Iterable[Record]) -> list[Path]:
    write_json(path, records)
    return [path]


def _write_svg(path: Path, records: Iterable[Record]) -> list[Path]:
    sketches = _few(records, MAX_SVGS, path)
    paths = [path]
    if len(sketches) > 1:
        digits = max(3, len(str(len(sketches) - 1)))
        paths = [path.with_name(f"{path.stem}-{n:0{digits}d}{path.suffix}") for n in range(len(sketches))]
    with ExitStack() as stack:  # no file gets its name before all are written
        for place, sketch in zip(paths, sketches, strict=True):
            stack.enter_context(whole_file(place)).write_text(write_svg(sketch), encoding="utf-8")
    return paths


def _write_png(path: Path, records: Iterable[Record]) -> list[Path]:
    sketches = _few(records, MAX_SHEET, path)
    if len(sketches) == 1:
        write_png(path, render(sketches[0], PNG_SIZE))
    else:
        columns = math.ceil(math.sqrt(len(sketches)))
        write_png(path, contact_sheet([sketches[n : n + columns] for n in range(0, len(sketches), columns)]))
    return [path]


def _few(records: Iterable[Record], limit: int, path: Path) -> list[Sketch]:
    sketches = [sketch for _, sketch in islice(records, limit + 1)]
    if not sketches:
        raise UserError(f"{path} is not written: there is no drawing to put into it")
    if len(sketches) > limit:
        raise UserError(f"{path}: more than {limit} drawings; choose fewer, or write .ndjson")
    return sketches


READERS: dict[str, Callable[[Path, bool], Iterator[Record]]] = {
    ".ndjson": read_ndjson,
    ".ndjson.gz": read_ndjson,
    ".npz": _read_npz,
    ".svg": _read_svg,
    ".json": read_json,
}
WRITERS: dict[str, Callable[[Path, Iterable[Record]], list[Path]]] = {
    ".ndjson": _write_lines,
    ".ndjson.gz": _write_lines,
    ".npz": _write_npz,
    ".svg": _write_svg,
    ".png": _write_png,
    ".json": _write_json,
}
READABLE, WRITABLE = tuple(READERS), tuple(WRITERS)
