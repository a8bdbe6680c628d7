"""The front door for drawings in files: the format is chosen by how the name ends."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

from gra2seq.errors import UserError
from gra2seq.formats.svg import read_svg, write_svg
from gra2seq.sketch.ndjson import Record, read_json, read_ndjson, write_json, write_ndjson
from gra2seq.sketch.npz import SPLITS, read_npz, write_npz
from gra2seq.sketch.picture import contact_sheet, render, write_png
from gra2seq.sketch.reading import opened
from gra2seq.sketch.simplify import quickdraw_simplify, simplify_in_place
from gra2seq.sketch.strokes import Sketch
from gra2seq.whole import readable_os_errors, whole_file

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


def write(path: str | Path, records: Sketch | Iterable[Record | Sketch]) -> list[Path]:
    """Write drawings, or a single one, whole or not at all; returns the files made. A split need not come along.

    Several drawings become one contact sheet as .png, and name-000.svg, name-001.svg, ... as .svg.
    """
    path = Path(path)
    every = [records] if isinstance(records, Sketch) else records
    pairs = (("", record) if isinstance(record, Sketch) else record for record in every)
    return WRITERS[_form(path, WRITERS)](path, pairs)


def check_target(path: str | Path, count: int | None = None, splits: Sequence[str] = ()) -> None:
    """Say before a long work, rather than after it, that its drawings could not be written to `path`.

    `count`: how many they will be, if that is known; `splits`: those of the drawings they are made from.
    """
    path = Path(path)
    form = _form(path, WRITERS)
    if os.path.isdir(path):
        raise UserError(f"{path} is a folder: name a file in it")
    if count is not None:
        _check_count(path, count)
    if form == ".npz":
        for number, split in enumerate(splits):
            _check_split(path, number, split)
    _check_places(_numbered(path, count) if form == ".svg" and count else [path])


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
    if os.path.isdir(path):  # unlike Path's, not an error where the name is too long
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
    for number, (split, sketch) in enumerate(records):
        _check_split(path, number, split)
        splits[split or SPLITS[0]].append(sketch)  # no split: to learn from
    write_npz(path, splits)
    return [path]


def _write_lines(path: Path, records: Iterable[Record]) -> list[Path]:
    write_ndjson(path, records)
    return [path]


def _write_json(path: Path, records: Iterable[Record]) -> list[Path]:
    write_json(path, records)
    return [path]


def _write_svg(path: Path, records: Iterable[Record]) -> list[Path]:
    sketches = _few(records, path)
    paths = _numbered(path, len(sketches))
    _check_places(paths)
    if len(sketches) > 1:
        _write_svgs(paths, sketches)
    else:
        with whole_file(path) as temporary:
            temporary.write_text(write_svg(sketches[0]), encoding="utf-8")
    return paths


def _write_svgs(paths: Sequence[Path], sketches: Sequence[Sketch]) -> None:
    """All or none: no file gets its name before all are written, and those that have it lose it if another fails."""
    folder = paths[0].parent
    with readable_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        aside = TemporaryDirectory(prefix=".svg.", dir=folder, ignore_cleanup_errors=True)
    with aside as name:
        new, old = ([Path(name, f"{n}.{age}") for n in range(len(paths))] for age in ("new", "old"))
        for place, temporary, sketch in zip(paths, new, sketches, strict=True):
            with readable_os_errors(place), temporary.open("w", encoding="utf-8") as file:
                file.write(write_svg(sketch))
                file.flush()
                os.fsync(file.fileno())
        named = 0
        try:
            for place, temporary, before in zip(paths, new, old, strict=True):
                with readable_os_errors(place):
                    if os.path.lexists(place):
                        shutil.copy2(place, before, follow_symlinks=False)
                    temporary.replace(place)
                named += 1
        except BaseException as error:
            left = [place for place, before in zip(paths[:named], old, strict=False) if not _put_back(place, before)]
            if left:
                which = ", ".join(map(str, left))
                raise UserError(f"not all drawings could be written, only {which}: check the disk") from error
            raise


def _put_back(place: Path, before: Path) -> bool:
    try:
        if os.path.lexists(before):
            before.replace(place)
        else:
            place.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _write_png(path: Path, records: Iterable[Record]) -> list[Path]:
    sketches = _few(records, path)
    if len(sketches) == 1:
        write_png(path, render(sketches[0], PNG_SIZE))
    else:
        columns = math.ceil(math.sqrt(len(sketches)))
        write_png(path, contact_sheet([sketches[n : n + columns] for n in range(0, len(sketches), columns)]))
    return [path]


def _few(records: Iterable[Record], path: Path) -> list[Sketch]:
    sketches = [sketch for _, sketch in islice(records, MOST[_form(path, MOST)] + 1)]
    _check_count(path, len(sketches))
    return sketches


def _numbered(path: Path, count: int) -> list[Path]:
    """Where so many drawings go as .svg."""
    digits = max(3, len(str(count - 1)))
    return [path.with_name(f"{path.stem}-{n:0{digits}d}{path.suffix}") for n in range(count)] if count > 1 else [path]


def _check_count(path: Path, count: int) -> None:
    if not count:
        raise UserError(f"{path} is not written: there is no drawing to put into it")
    limit = MOST.get(_form(path, WRITERS), count)
    if count > limit:
        raise UserError(f"{path}: more than {limit} drawings; choose fewer, or write .ndjson")


def _check_split(path: Path, number: int, split: str) -> None:
    if split and split not in SPLITS:
        known = ", ".join(SPLITS)
        raise UserError(f"{path}: drawing {number} has the split {split!r}, an .npz has only {known}: write .ndjson")


def _check_places(places: Sequence[Path]) -> None:
    """No folder is in the way, and a file of such a name can be made there (or where their folder will be made)."""
    for place in places:
        if os.path.isdir(place):
            raise UserError(f"{place} is a folder: remove it or choose another name")
    last = places[-1]  # its name is the longest
    try:
        there = next(folder for folder in last.absolute().parents if _is_there(folder))
        with NamedTemporaryFile(prefix=f".{last.stem}.", suffix=last.suffix, dir=there):
            pass
    except OSError as error:
        why = error.strerror or error
        raise UserError(f"{last} cannot be written ({why}): choose a place you may write to") from error


def _is_there(path: Path) -> bool:
    """As `exists`, but what can never be there, such as a name that is too long, is an error."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


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
MOST = {".svg": MAX_SVGS, ".png": MAX_SHEET}  # drawings
READABLE, WRITABLE = tuple(READERS), tuple(WRITERS)
