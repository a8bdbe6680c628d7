"""sketch-rnn's .npz files, in and out: an object array of stroke-3 arrays for each split.

Sizes are checked before anything is unpacked; the pickle inside is read by `safe_pickle`, which runs nothing, and the
header of an array by a regular expression, because numpy evaluates it as Python source.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.formats.json_strokes import parse_json
from gra2seq.formats.record import Record
from gra2seq.formats.safe_pickle import NumberType, PickledArrays, numbers_from
from gra2seq.sketch.strokes import MAX_POINTS_READ, Sketch
from gra2seq.system.atomic_files import atomic_write
from gra2seq.system.input_files import CHUNK, Limits, open_input

SPLITS = ("train", "valid", "test")
NAMES = "about"  # our own array beside the splits: JSON bytes, {split: [[category, key, parts], ...]}
MAX_HEADER = 10_000  # bytes of an array's header, numpy's own limit
MIN_DRAWING_BYTES, MIN_SLACK = 16, 50_000  # a plain array may have so many drawings, and one more every so many bytes
HEADER = re.compile(
    rb"\s*\{\s*'descr':\s*(?P<type>.{0,200}?),\s*'fortran_order':\s*(?P<fortran>True|False),"
    rb"\s*'shape':\s*\((?P<shape>[0-9L, ]{0,100})\),?\s*\}\s*",
    re.DOTALL,
)
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, LookupError, OverflowError)


def read_npz(path: Path, limits: Limits = Limits()) -> Iterator[Record]:  # noqa: B008
    """The sketches of all splits. Without a category of their own they have the file's name for one."""
    with open_input(path) as file, _readable_errors(path), zipfile.ZipFile(file) as archive:
        yield from _read_splits(archive, path, limits)


def write_npz(path: Path, splits: dict[str, list[Sketch]]) -> None:
    """As sketch-rnn writes it: int16 offsets, or float64 ones where a drawing is not in whole numbers.

    Categories, keys and parts, for which sketch-rnn has no place, go into one more array that it ignores.
    """
    unknown = set(splits) - set(SPLITS)
    if unknown:
        others = ", ".join(map(repr, sorted(unknown)))
        raise UserError(f"{path}: an .npz has the splits {', '.join(SPLITS)}, not {others}: write .ndjson")
    arrays: dict[str, Any] = {}
    for split in SPLITS:
        sketches = splits.get(split, [])
        arrays[split] = np.empty(len(sketches), dtype=object)
        for number, sketch in enumerate(sketches):
            arrays[split][number] = _offsets(sketch)
    names = {split: [[s.category, s.key, s.parts] for s in sketches] for split, sketches in splits.items()}
    arrays[NAMES] = np.frombuffer(json.dumps(names, separators=(",", ":")).encode(), np.uint8)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _offsets(sketch: Sketch) -> NDArray[Any]:
    """Stroke-3 in the smallest type that keeps it."""
    rows = sketch.to_stroke3()
    is_int16 = np.abs(rows).max() <= np.iinfo(np.int16).max and bool((rows == np.rint(rows)).all())
    return rows.astype(np.int16) if is_int16 else rows


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    """Everything that zipfile raises on damaged archives, as a `UserError` that names the file."""
    try:
        yield
    except UserError as error:
        raise UserError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from error
    except DAMAGED as error:
        raise UserError(f"{path} is no .npz file, or cut short or damaged ({error}): fetch it again") from error
    except RuntimeError as error:  # a password, an unknown compression
        raise UserError(f"{path} cannot be unpacked ({error}): save it again with numpy") from error


def _read_splits(archive: zipfile.ZipFile, path: Path, limits: Limits) -> Iterator[Record]:
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    found = [split for split in SPLITS if split in members]
    if not found:
        names = ", ".join(list(members)[:10]) or "nothing"
        raise UserError(f"it has no array named {', '.join(SPLITS)}, but {names}: it is not sketch-rnn's")
    wanted = [members[name] for name in (*found, NAMES) if name in members]
    size, compressed = sum(info.file_size for info in wanted), sum(info.compress_size for info in wanted)
    limits.check(size, min(compressed, path.stat().st_size), path)
    names_of = _read_names(archive, members[NAMES], found) if NAMES in members else {}
    category = path.stem.removeprefix("sketchrnn_").removesuffix(".full")
    for split in found:
        arrays = _read_member(archive, members[split])
        rows_of_names = names_of.get(split, [])
        if names_of and len(rows_of_names) != len(arrays):
            raise UserError("its table of names does not fit its drawings: write it again")
        for number, rows in enumerate(arrays):
            known = _names_of_sketch(rows_of_names[number]) if names_of else {"category": category}
            try:
                yield Record(split, _sketch(rows, known))
            except UserError as error:
                raise UserError(f"{split} {number}: {error}") from error


def _sketch(rows: NDArray[Any], known: dict[str, Any]) -> Sketch:
    if rows.ndim and len(rows) > MAX_POINTS_READ:  # counted before they become float64, eight times as large as int8
        raise UserError(f"the drawing has {len(rows)} points, {MAX_POINTS_READ} are read: simplify it")
    return Sketch.from_stroke3(rows, **known)


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BytesIO:
    """The bytes of a member, no more than its declared size; zipfile compares the checksum at its end."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UserError(f"{info.filename} is packed in a way that numpy does not use: save the file again with numpy")
    stream = BytesIO()
    with archive.open(info) as member:
        while chunk := member.read(CHUNK):  # a single read() would first unpack everything, whatever the size says
            stream.write(chunk)
    stream.seek(0)
    return stream


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> PickledArrays | NDArray[Any]:
    """One array of the archive: the drawings of a split, or the bytes of the names."""
    stream, name = _unpack(archive, info), info.filename
    try:
        kind, fortran, shape = _read_header(stream)
        if kind.code == "O":
            return PickledArrays(stream)
        array = numbers_from(stream.getbuffer()[stream.tell() :], shape, kind, fortran)
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    if array.ndim != (1 if name == f"{NAMES}.npy" else 3):
        raise UserError(f"{name}: shape {shape} is not one stroke-3 array a drawing")
    if array.ndim == 3 and len(array) > array.nbytes // MIN_DRAWING_BYTES + MIN_SLACK:
        raise UserError(f"{name}: it has {len(array):,} drawings of {shape[1]} points each: these are no drawings")
    return array


def _read_header(stream: BytesIO) -> tuple[NumberType, bool, tuple[int, ...]]:
    """Type, order and shape of a .npy array; the stream then stands at its content."""
    magic = stream.read(8)
    length_bytes = {1: 2, 2: 4, 3: 4}.get(magic[6] if len(magic) == 8 else 0)
    if not magic.startswith(b"\x93NUMPY") or length_bytes is None:
        raise UserError("it is no numpy array: fetch the file again")
    length = int.from_bytes(stream.read(length_bytes), "little")
    match = HEADER.fullmatch(stream.read(length)) if length <= MAX_HEADER else None
    if match is None:
        raise UserError("it is no numpy array, its header cannot be read: fetch the file again")
    shape = tuple(int(text.strip().rstrip(b"L")) for text in match["shape"].split(b",") if text.strip())
    description = match["type"].decode("latin1")
    kind = NumberType("")
    if re.fullmatch(r"'[<>|=]?[a-zA-Z]\d{0,2}'", description):
        bare = description.strip("'").lstrip("<>|=")
        kind.code = "O" if bare[0] == "O" else bare  # numpy writes |O, some others |O8
        kind.order = description[1] if description[1] in "<>|=" else "|"
    return kind, match["fortran"] == b"True", shape


def _read_names(archive: zipfile.ZipFile, info: zipfile.ZipInfo, found: list[str]) -> dict[str, list[Any]]:
    """Categories, keys and parts, if the file was written here: a row for every drawing of each split."""
    try:
        table = parse_json(np.asarray(_read_member(archive, info)).tobytes())
    except UserError as error:
        raise UserError(f"its table of names is damaged ({error})") from error
    if not isinstance(table, dict) or not all(isinstance(table.get(split, []), list) for split in found):
        raise UserError("its table of names is damaged: write it again")
    return {split: table.get(split, []) for split in found}


def _names_of_sketch(row: Any) -> dict[str, Any]:
    try:
        category, key, parts = row
        return {"category": str(category), "key": str(key), "parts": tuple(map(str, parts))}
    except (TypeError, ValueError) as error:
        raise UserError(f"its table of names is damaged ({error}): write it again") from error
