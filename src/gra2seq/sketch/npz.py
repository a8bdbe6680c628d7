"""sketch-rnn's .npz files, in and out: an object array of stroke-3 arrays for each split.

Sizes are checked before anything is unpacked, and the pickle inside is read by `pickled`, which runs nothing.
"""

from __future__ import annotations

import io
import json
import struct
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.pickled import NumberType, numbers_from, unpickle_arrays
from gra2seq.sketch.reading import opened
from gra2seq.sketch.strokes import Sketch, from_stroke3, to_stroke3
from gra2seq.system.atomic_files import atomic_write

SPLITS = ("train", "valid", "test")
ABOUT = "about"  # our own array beside the splits: JSON bytes, {split: [[category, key, parts], ...]}
MAX_BYTES = 1_000_000_000  # unpacked; the largest QuickDraw category has about 100 MB
MAX_RATIO = 300  # of packing; drawings reach about 10, deflate itself 1000
MAX_HEADER = 10_000  # characters of an array's header, numpy's own limit


def read_npz(path: str | Path) -> dict[str, list[Sketch]]:
    """The sketches of each split. Without a category of their own they have the file's name for one."""
    path = Path(path)
    with opened(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _read_splits(archive, path.stem.removeprefix("sketchrnn_").removesuffix(".full"))
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, struct.error) as error:
            raise UserError(f"{path} is no .npz file, or cut short or damaged ({error}): fetch it again") from error
        except RuntimeError as error:  # a password, an unknown way of packing
            raise UserError(f"{path} cannot be unpacked ({error}): save it again with numpy") from error


def write_npz(path: str | Path, splits: dict[str, list[Sketch]]) -> None:
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
    about = {split: [[s.category, s.key, s.parts] for s in sketches] for split, sketches in splits.items()}
    arrays[ABOUT] = np.frombuffer(json.dumps(about, separators=(",", ":")).encode(), np.uint8)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _offsets(sketch: Sketch) -> NDArray[Any]:
    """Stroke-3 in the smallest type that keeps it."""
    rows = to_stroke3(sketch).astype(np.float64)
    rows[:, :2] = np.diff(sketch.points.astype(np.float64), axis=0, prepend=np.zeros((1, 2)))  # not rounded
    whole = np.abs(rows).max() <= np.iinfo(np.int16).max and bool((rows == np.rint(rows)).all())
    return rows.astype(np.int16) if whole else rows


def _read_splits(archive: zipfile.ZipFile, category: str) -> dict[str, list[Sketch]]:
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    found = [split for split in SPLITS if split in members]
    if not found:
        names = ", ".join(list(members)[:10]) or "nothing"
        raise UserError(f"it has no array named {', '.join(SPLITS)}, but {names}: it is not sketch-rnn's")
    wanted = [members[name] for name in (*found, ABOUT) if name in members]
    size = sum(info.file_size for info in wanted)
    if size > MAX_BYTES:
        raise UserError(f"it unpacks to {size / 1e6:,.0f} MB, {MAX_BYTES / 1e6:,.0f} MB are read: split it")
    if size > 1_000_000 and size > MAX_RATIO * sum(info.compress_size for info in wanted):
        raise UserError(f"it unpacks to more than {MAX_RATIO} times its size, as no drawings do: fetch it again")
    arrays: dict[str, Any] = {split: _read_member(archive, members[split]) for split in found}
    about = _read_about(archive, members.get(ABOUT), {split: len(rows) for split, rows in arrays.items()})
    sketches: dict[str, list[Sketch]] = {split: [] for split in found}
    for split in found:
        for number, rows in enumerate(arrays[split]):
            known: dict[str, Any] = about[split][number] if about else {"category": category}
            try:
                with np.errstate(over="ignore", invalid="ignore"):  # Sketch refuses what is not finite
                    sketches[split].append(from_stroke3(rows, **known))
            except UserError as error:
                raise UserError(f"{split} {number}: {error}") from error
    return sketches


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> list[NDArray[Any]] | NDArray[Any]:
    """One array of the archive; an object array as a list."""
    name = info.filename
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UserError(f"{name} is packed in a way that numpy does not use: save the file again with numpy")
    data = archive.read(info)  # no more than `info.file_size`, and its checksum is compared
    stream = io.BytesIO(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # numpy's, on a header that Python 2 wrote
            version = npy.read_magic(stream)
            read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read_header(stream, max_header_size=MAX_HEADER)
    except (ValueError, TypeError, SyntaxError, RecursionError, tokenize.TokenError) as error:
        raise UserError(f"{name} is no numpy array ({error}): fetch the file again") from error
    content = data[stream.tell() :]
    try:
        if dtype == np.dtype(object):
            return unpickle_arrays(content)
        kind = NumberType(dtype.str[1:])
        kind.order = dtype.str[0]
        array = numbers_from(content, shape, kind, fortran)
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    if array.ndim != (1 if name == f"{ABOUT}.npy" else 3):
        raise UserError(f"{name}: shape {shape} is not one stroke-3 array a drawing")
    return array


def _read_about(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo | None, counts: dict[str, int]
) -> dict[str, list[dict[str, Any]]] | None:
    """Categories, keys and parts, if the file was written here."""
    if info is None:
        return None
    try:
        table = json.loads(np.asarray(_read_member(archive, info)).tobytes())
        about = {
            split: [
                {"category": str(category), "key": str(key), "parts": tuple(map(str, parts))}
                for category, key, parts in table.get(split, [])
            ]
            for split in counts
        }
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"its table of names is damaged ({error}): write it again") from error
    if any(len(about[split]) != count for split, count in counts.items()):
        raise UserError("its table of names does not fit its drawings: write it again")
    return about
