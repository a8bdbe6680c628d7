"""Reading and writing drawings: `read`, `read_records` and `write` choose the format by the suffix of the name."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile

from gra2seq.errors import UserError
from gra2seq.formats.json_strokes import read_json, write_json
from gra2seq.formats.ndjson import read_ndjson, write_ndjson
from gra2seq.formats.npz import SPLITS, read_npz, write_npz
from gra2seq.formats.record import Record
from gra2seq.formats.registry import FORMATS, Format, Reader, readable_suffixes, suffix_of, writable_suffixes
from gra2seq.formats.svg import SvgDocument, read_svg, write_svg
from gra2seq.formats.svg.animation import MAX_CELLS
from gra2seq.sketch.damage import lose
from gra2seq.sketch.region import Region
from gra2seq.sketch.render import contact_sheet, render, write_png
from gra2seq.sketch.simplify import quickdraw_simplify, simplify_in_place
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_folder, atomic_write
from gra2seq.system.input_files import UNLIMITED, Limits, limits_for, open_input

PNG_SIZE = 512  # px of a single drawing
MAX_SHEET = 1000  # drawings on one contact sheet
MAX_SVGS = 10_000  # files in one folder
MAX_LIST_BYTES = 1 << 30  # of memory for the list that `read` returns; more if a larger `max_bytes` is asked for
SKETCH_BYTES, PART_BYTES = 600, 80  # of memory for a sketch without its points, and for a part label


def read(
    path: str | Path,
    *,
    labels: bool = False,
    simplify: bool | None = None,
    max_bytes: int | None = None,
    lost: Region | None = None,
) -> list[Sketch]:
    """The drawings of a file: .svg, .ndjson, .ndjson.gz, .npz, .json, .png, .jpg, or a registered format.

    `labels`: the third list of a stroke (.ndjson, .json) is its part. `simplify`: as QuickDraw does, in a box of 255;
    by default SVG is simplified in its own units, because curves become very many points, and all else is kept as it
    is. `max_bytes`: the size up to which a file is read, after decompression; by default 256 MB (or what the
    environment variable GRA2SEQ_MAX_BYTES says), and at most 200 times the compressed size. `lost`: a region in the
    file's units that is cut away first, so that hidden lines have no part in how curves and pictures become points.

    >>> import gra2seq
    >>> _ = gra2seq.write("cat.ndjson", gra2seq.Sketch.from_polylines([[(0, 0), (3, 4)]], category="cat"))
    >>> gra2seq.read("cat.ndjson")
    [Sketch(cat, 1 stroke, 2 points)]
    """
    path, limits = Path(path), limits_for(max_bytes)
    max_size = max(MAX_LIST_BYTES, 4 * limits.max_bytes)
    sketches: list[Sketch] = []
    size = 0
    for _, sketch in _records(path, labels, simplify, limits, lost):
        size += SKETCH_BYTES + sketch.points.nbytes + sketch.lengths.nbytes + PART_BYTES * len(sketch.parts)
        if size > max_size:
            raise UserError(
                f"{path}: its drawings need more than {max_size / 1e9:.1f} GB of memory: read them one by one "
                "with read_records, or turn the file into a store with `gra2seq data convert`"
            )
        sketches.append(sketch)
    return sketches


def read_records(
    path: str | Path, *, labels: bool = False, simplify: bool | None = None, max_bytes: int | None = None
) -> Iterator[Record]:
    """As `read`, one drawing after the other and each with its split; what cannot be opened is refused at once.

    Formats that are streamed (.ndjson) are read whatever their size, unless `max_bytes` is given.
    """
    path = Path(path)
    streamed = FORMATS[suffix_of(path, readable_suffixes())].streamed
    return _records(path, labels, simplify, UNLIMITED if streamed and max_bytes is None else limits_for(max_bytes))


def for_collection(path: Path, simplify: bool | None) -> bool | None:
    """How a file that becomes part of a collection is simplified: SVG and pictures in QuickDraw's box of 255."""
    return True if simplify is None and is_traced(path) else simplify


def is_traced(path: Path) -> bool:
    """Whether a file is an SVG or a picture: curves or pixels become points only when it is read."""
    return path.name.lower().endswith(tuple(suffix for suffix, known in FORMATS.items() if known.traced))


def write(path: str | Path, records: Sketch | Iterable[Record | Sketch]) -> list[Path]:
    """Write one drawing or several, completely or not at all; returns the files made.

    Several drawings become one contact sheet as .png. As .svg they become a folder: all.svg is written as
    all/all-000.svg, all/all-001.svg, ... The folder is made under a hidden name and renamed once it is complete, so
    that all files are there or none, even if the process is killed; a folder that exists is never written over.
    Through a symbolic link the file it points to is written. A record carries the split of its sketch (see
    `read_records`), which .ndjson, .json and .npz keep.

    >>> import gra2seq
    >>> sketch = gra2seq.Sketch.from_polylines([[(0, 0), (3, 4)]])
    >>> [path.name for path in gra2seq.write("two.svg", [sketch, sketch])]
    ['two-000.svg', 'two-001.svg']
    """
    path = Path(path)
    items = [records] if isinstance(records, Sketch) else records
    pairs = (Record("", item) if isinstance(item, Sketch) else Record(*item) for item in items)
    writer = FORMATS[suffix_of(path, writable_suffixes())].write
    assert writer is not None
    return writer(path, pairs)


def check_target(path: str | Path, count: int | None = None, splits: Sequence[str] = ()) -> None:
    """Raise the error that writing drawings to `path` would meet, before the work that makes them.

    `count`: how many drawings there will be, if that is known; `splits`: those of the drawings they are made from.
    """
    path = Path(path)
    suffix = suffix_of(path, writable_suffixes())
    if os.path.isdir(path):
        raise UserError(f"{path} is a folder: name a file in it")
    if count is not None:
        _check_count(path, count)
    if suffix == ".npz":
        for number, split in enumerate(splits):
            _check_split(path, number, split)
    if suffix == ".svg" and count is not None and count > 1:
        folder = _folder_of_svgs(path)
        if os.path.lexists(folder):
            raise UserError(f"{folder} exists already: name another file or remove it first")
        path = folder / _svg_name(path, count - 1, count)
    _check_place(_real_target(path))


def beside(path: str | Path, word: str) -> Path:
    """Where the answer to a file goes by default: cat.svg -> cat-healed.svg, photo.jpg -> photo-healed.png."""
    path = Path(path)
    suffix = suffix_of(path, readable_suffixes())
    own = suffix if FORMATS[suffix].write else ".png"
    return path.with_name(f"{path.name[: -len(suffix)]}-{word}{own}")


def _records(
    path: Path, labels: bool, simplify: bool | None, limits: Limits, lost: Region | None = None
) -> Iterator[Record]:
    suffix = suffix_of(path, readable_suffixes())
    with open_input(path):  # a missing file is reported now, not when the first drawing is asked for
        pass
    reader = FORMATS[suffix].read
    assert reader is not None
    if lost:
        reader = _visible_reader(reader, lost)
    if simplify and reader in (read_ndjson, read_json):
        return iter(reader(path, labels, limits, simplify=True))
    records = reader(path, labels, limits)
    if simplify is None and suffix == ".svg":
        return (Record(split, simplify_in_place(sketch)) for split, sketch in records)
    if simplify:
        return (Record(split, quickdraw_simplify(sketch)) for split, sketch in records)
    return iter(records)


def _read_npz(path: Path, _labels: bool, limits: Limits) -> Iterator[Record]:
    return read_npz(path, limits)


def _read_svg(path: Path, _labels: bool, limits: Limits, lost: Region | None = None) -> Iterator[Record]:
    limits.check(path.stat().st_size, math.inf, path)
    yield Record("", SvgDocument.read(path).cut(list(lost.rings)).sketch if lost else read_svg(path))


def _read_picture(path: Path, _labels: bool, limits: Limits, lost: Region | None = None) -> Iterator[Record]:
    limits.check(path.stat().st_size, math.inf, path)
    tracing = import_module("gra2seq.formats.tracing")  # only now: tracing lines needs more of OpenCV
    yield Record("", tracing.read_picture(path, lost=lost))


def _visible_reader(reader: Reader, lost: Region) -> Reader:
    """Reads what lies outside of a region; of an SVG or a picture what lies inside is removed before it is read."""
    if reader is _read_svg:
        reader = partial(_read_svg, lost=lost)
    elif reader is _read_picture:
        reader = partial(_read_picture, lost=lost)

    def read_visible(path: Path, labels: bool, limits: Limits) -> Iterator[Record]:
        for split, sketch in reader(path, labels, limits):
            yield Record(split, lose(sketch, lost).visible)

    return read_visible


def _write_npz(path: Path, records: Iterable[Record]) -> list[Path]:
    splits: dict[str, list[Sketch]] = {split: [] for split in SPLITS}
    for number, (split, sketch) in enumerate(records):
        _check_split(path, number, split)
        splits[split or SPLITS[0]].append(sketch)  # without a split it is for training
    write_npz(path, splits)
    return [path]


def _write_lines(path: Path, records: Iterable[Record], gzipped: bool) -> list[Path]:
    write_ndjson(path, records, gzipped)
    return [path]


def _write_json(path: Path, records: Iterable[Record]) -> list[Path]:
    write_json(path, records)
    return [path]


def _write_svg(path: Path, records: Iterable[Record]) -> list[Path]:
    sketches = _few(records, path, MAX_SVGS)
    if len(sketches) == 1:
        with atomic_write(path) as temporary:
            temporary.write_text(write_svg(sketches[0]), encoding="utf-8")
        return [path]
    names = [_svg_name(path, number, len(sketches)) for number in range(len(sketches))]
    with atomic_folder(_folder_of_svgs(path)) as temporary:
        for name, sketch in zip(names, sketches, strict=True):
            (temporary / name).write_text(write_svg(sketch), encoding="utf-8")
    return [_folder_of_svgs(path) / name for name in names]


def _write_png(path: Path, records: Iterable[Record]) -> list[Path]:
    sketches = _few(records, path, MAX_SHEET)
    if len(sketches) == 1:
        write_png(path, render(sketches[0], PNG_SIZE))
    else:
        columns = math.ceil(math.sqrt(len(sketches)))
        rows = [sketches[start : start + columns] for start in range(0, len(sketches), columns)]
        write_png(path, contact_sheet(rows))
    return [path]


def _write_gif(path: Path, records: Iterable[Record]) -> list[Path]:
    motion = import_module("gra2seq.formats.motion")  # only now: it needs Pillow
    sketches = _few(records, path, MAX_CELLS)
    written: list[Path] = motion.write_motion(path, [motion.MotionCell(sketch) for sketch in sketches])
    return written


def _few(records: Iterable[Record], path: Path, limit: int) -> list[Sketch]:
    """All sketches, if they are no more than the format allows."""
    sketches = [sketch for _, sketch in islice(records, limit + 1)]
    _check_count(path, len(sketches))
    return sketches


def _folder_of_svgs(path: Path) -> Path:
    return path.with_name(path.stem)


def _svg_name(path: Path, number: int, count: int) -> str:
    digits = max(3, len(str(count - 1)))
    return f"{path.stem}-{number:0{digits}d}{path.suffix}"


def _check_count(path: Path, count: int) -> None:
    if not count:
        raise UserError(f"{path} is not written: there is no drawing to put into it")
    limit = FORMATS[suffix_of(path, writable_suffixes())].max_drawings
    if limit is not None and count > limit:
        raise UserError(f"{path}: more than {limit} drawings; choose fewer, or write .ndjson")


def _check_split(path: Path, number: int, split: str) -> None:
    if split and split not in SPLITS:
        known = ", ".join(SPLITS)
        raise UserError(f"{path}: drawing {number} has the split {split!r}, an .npz has only {known}: write .ndjson")


def _real_target(path: Path) -> Path:
    """The file that is written, as `atomic_write` finds it: through a symbolic link what it points to."""
    target = Path(os.path.realpath(path)) if os.path.islink(path) else path
    if os.path.islink(target):
        raise UserError(f"{path} is a symbolic link that leads nowhere: remove it or choose another name")
    if os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target):
        raise UserError(f"{path} is a device or a pipe: name a file")
    return target


def _check_place(place: Path) -> None:
    """No folder is in the way, and a file of that name can be made there (or where its folder will be made)."""
    if os.path.isdir(place):
        raise UserError(f"{place} is a folder: remove it or choose another name")
    try:
        there = next(folder for folder in place.absolute().parents if _exists(folder))
        with NamedTemporaryFile(prefix=f".{place.stem}.", suffix=".tmp", dir=there):
            pass
    except OSError as error:
        why = error.strerror or error
        raise UserError(f"{place} cannot be written ({why}): choose a place you may write to") from error


def _exists(path: Path) -> bool:
    """As `Path.exists`, but a path that can never exist, such as a name that is too long, is an error."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


_OWN_FORMATS = {
    ".ndjson": Format(read_ndjson, partial(_write_lines, gzipped=False), streamed=True),
    ".ndjson.gz": Format(read_ndjson, partial(_write_lines, gzipped=True), streamed=True),
    ".npz": Format(_read_npz, _write_npz),
    ".svg": Format(_read_svg, _write_svg, traced=True, max_drawings=MAX_SVGS),
    ".json": Format(read_json, _write_json),
    ".png": Format(_read_picture, _write_png, traced=True, max_drawings=MAX_SHEET),
    ".gif": Format(None, _write_gif, max_drawings=MAX_CELLS),
    ".jpg": Format(_read_picture, traced=True),
    ".jpeg": Format(_read_picture, traced=True),
}
for _suffix, _format in _OWN_FORMATS.items():
    FORMATS.setdefault(_suffix, _format)  # a user may have replaced one before this module was loaded
