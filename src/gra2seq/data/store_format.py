"""The files of a store, their types and shapes, and the checksums by which damage is found.

store.json     version, counts, names, sizes of the files, content hash, scale, checksums; written last
points.bin     (P, 2) int16 if every coordinate is a whole number that fits, else float32
lengths.bin    (S,)   points of each stroke
offsets.bin    (N + 1, 3) where each sketch begins in points, lengths and keys
category.bin   (N,)   index into store.json's categories
split.bin      (N,)   index into SPLITS
keys.bin       UTF-8, end to end
parts.bin      (S,)   index into store.json's parts, from 1; 0 without label; only if there are labels
checksums.bin  (B, F) CRC-32 of each block of BLOCK sketches in each of the F files above, in that order
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.system.json_files import read_json_object

VERSION = 2  # of the layout above
CONTENT_VERSION = 1  # of what the readers make of a drawing file: raise it when that changes, caches are then rebuilt
HEADER, CHECKSUMS = "store.json", "checksums"
MAX_HEADER = 64_000_000  # bytes of store.json, which may hold 2 x 65,535 names
SPLITS = ("", "train", "valid", "test")
POINTS, STROKES, KEYS = range(3)  # columns of offsets
INT16, FLOAT32 = "<i2", "<f4"  # the two types points may have
UTF8 = ("utf-8", "surrogatepass")  # JSON may hold half a surrogate pair; it comes back as it was
BLOCK_BITS = 10
BLOCK = 1 << BLOCK_BITS  # sketches that share a checksum: what is verified when one of them is first read
AGAIN = "restore it from a copy, or make it again with `gra2seq data convert`"

Arrays = dict[str, NDArray[Any]]


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.bin"


def layout(header: Mapping[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape of every data file, from the counts in the header."""
    sketches, strokes = header["sketches"], header["strokes"]
    if header["dtype"] not in (INT16, FLOAT32):
        raise ValueError(f"dtype {header['dtype']!r}")
    files: dict[str, tuple[str, tuple[int, ...]]] = {
        "points": (header["dtype"], (header["points"], 2)),
        "lengths": ("<i4", (strokes,)),
        "offsets": ("<i8", (sketches + 1, 3)),
        "category": ("<u2", (sketches,)),
        "split": ("u1", (sketches,)),
        "keys": ("u1", (header["key_bytes"],)),
    }
    return files | ({"parts": ("<u2", (strokes,))} if header["parts"] else {})


def read_header(path: Path) -> dict[str, Any]:
    """store.json, with its own checksum verified."""
    file = path / HEADER
    try:
        header = read_json_object(file, MAX_HEADER)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UserError(f"{path} is not a store (no {HEADER}): make one with `gra2seq data convert`") from error
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{file} is damaged ({error}): {AGAIN}") from error
    version = header.get("version")
    if version != VERSION:
        old = " It has no checksums." if version == 1 else ""
        raise UserError(
            f"{path} is a store of version {version!r}, this program reads {VERSION}.{old} "
            "Make it again from its drawings: `gra2seq data convert FILES -o NEW.store`"
        )
    if header.pop("checksum", None) != header_checksum(header):
        raise UserError(f"{file} is damaged (its checksum does not match): {AGAIN}")
    return header


def write_header(path: Path, header: dict[str, Any]) -> None:
    text = json.dumps({**header, "checksum": header_checksum(header)}, indent=1)
    (path / HEADER).write_text(text, encoding="utf-8")


def header_checksum(header: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(header, sort_keys=True, separators=(",", ":")).encode())


def map_arrays(folder: Path, header: Mapping[str, Any]) -> Arrays:
    """Memory-map every data file; each must have the size that the header says."""
    return {name: _map(folder, name, *kind) for name, kind in layout(header).items()}


def map_checksums(folder: Path, header: Mapping[str, Any]) -> NDArray[np.uint32]:
    """The table of checksums (B, F), itself verified."""
    shape = (block_count(header["sketches"]), len(layout(header)))
    table = _map(folder, CHECKSUMS, "<u4", shape)
    if checksum(table) != header["checksum_of_checksums"]:
        raise UserError(f"{file_of(folder, CHECKSUMS)} is damaged (its checksum does not match): {AGAIN}")
    return table


def _map(folder: Path, name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    path, size = file_of(folder, name), prod(shape) * np.dtype(dtype).itemsize
    try:
        found = path.stat().st_size
        if found != size:
            raise UserError(f"{path} has {found} bytes instead of {size}: {AGAIN}")
        if not size:
            return np.empty(shape, dtype)  # an empty file cannot be mapped
        # Slices of a plain array over the mapping cost a third of slices of np.memmap.
        return np.memmap(path, dtype, "r", shape=shape).view(np.ndarray)
    except OSError as error:
        raise UserError(f"cannot read {path} ({error.strerror or error}): {AGAIN}") from error


def checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(array.data)


def block_count(sketches: int) -> int:
    return -(-sketches // BLOCK)


def block_of_file(arrays: Arrays, name: str, block: int) -> NDArray[Any]:
    """What a block of sketches has in a file; with damaged offsets any part of it, but never an exception."""
    first, last = block * BLOCK, min((block + 1) * BLOCK, len(arrays["split"]))
    if name == "offsets":
        return arrays[name][first : last + 1]
    if name in ("category", "split"):
        return arrays[name][first:last]
    column = {"points": POINTS, "lengths": STROKES, "parts": STROKES, "keys": KEYS}[name]
    start, end = arrays["offsets"][[first, last], column].tolist()
    return arrays[name][max(start, 0) : max(end, 0)]


def block_checksums(arrays: Arrays, block: int) -> list[int]:
    """One row of the table."""
    return [checksum(block_of_file(arrays, name, block)) for name in arrays]


def impossible(arrays: Arrays, block: int, header: Mapping[str, Any]) -> str:
    """Why the content of a block cannot be drawings, or nothing; checksums do not protect from a forged store."""
    offsets = block_of_file(arrays, "offsets", block)
    sizes = np.diff(offsets, axis=0)
    totals = [header["points"], header["strokes"], header["key_bytes"]]
    if (offsets[0] < 0).any() or (offsets[-1] > totals).any() or (sizes < (1, 1, 0)).any():
        return "offsets do not ascend"
    lengths = block_of_file(arrays, "lengths", block)
    strokes = np.add.reduceat(lengths, offsets[:-1, STROKES] - offsets[0, STROKES], dtype=np.int64)
    if (lengths < 1).any() or (strokes != sizes[:, POINTS]).any():
        return "strokes do not have the points of their drawing"
    if block_of_file(arrays, "category", block).max() >= len(header["categories"]):
        return "a category has no name"
    if block_of_file(arrays, "split", block).max() >= len(SPLITS):
        return "a split has no name"
    if "parts" in arrays and block_of_file(arrays, "parts", block).max() > len(header["parts"]):
        return "a part label has no name"
    if not _are_texts(block_of_file(arrays, "keys", block), offsets[:-1, KEYS] - offsets[0, KEYS]):
        return "a key is not UTF-8"
    if not np.isfinite(block_of_file(arrays, "points", block)).all():
        return "a coordinate is not finite"
    return ""


def _are_texts(keys: NDArray[np.uint8], starts: NDArray[np.int64]) -> bool:
    """Is every key UTF-8? All of them together are, and none begins inside a character."""
    try:
        keys.tobytes().decode(*UTF8)
    except UnicodeDecodeError:
        return False
    return not (keys[starts[starts < len(keys)]] & 0xC0 == 0x80).any()


def content_hash(folder: Path, header: Mapping[str, Any]) -> str:
    """Same drawings in the same order, same hash; it does not depend on the version of the layout."""
    names = {"version": CONTENT_VERSION, **{name: header[name] for name in ("dtype", "categories", "parts")}}
    content = hashlib.sha256(json.dumps(names, sort_keys=True).encode())
    for name in layout(header):
        with file_of(folder, name).open("rb") as file:
            content.update(hashlib.file_digest(file, "sha256").digest())
    return content.hexdigest()
