"""Codes of many drawings on disk: `codes.npy` with `codes.keys` and `codes.json` beside it.

codes.npy   (N, code) float16 or float32, memory-mapped
codes.keys  a line for each code, see `keys`
codes.json  model, sources, shard, and checksums of the other two; renamed to its place last, so that codes without it
            are not taken for complete
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.search.drawings import LostPart, Source
from gra2seq.search.headers import read_header, write_header
from gra2seq.sketch.region import Box

if TYPE_CHECKING:
    from gra2seq.model import Model

VERSION = 1
CHUNK = 1 << 14  # codes that share a checksum
PRECISIONS = ("float16", "float32")
AGAIN = "encode the drawings again"

Codes16Or32 = NDArray[Any]


@dataclass(frozen=True)
class ModelName:
    """Which model made codes. Codes of different models cannot be compared."""

    name: str
    checksum: str  # of its weights

    @staticmethod
    def of(model: Model) -> ModelName:
        """SHA-256 over names, types, shapes and bytes of all weights, and the scale of strokes."""
        content = hashlib.sha256(f"{model.preparation.scale!r}\n".encode())
        for name, tensor in sorted(model.network.state_dict().items()):
            array = tensor.detach().cpu().contiguous().numpy()
            content.update(f"{name} {array.dtype} {array.shape}\n".encode())
            content.update(array.tobytes())
        return ModelName(model.config.model.name, content.hexdigest()[:32])


@dataclass(frozen=True)
class Shard:
    """Part `number` of `of` parts of the drawings, counted from 1."""

    number: int = 1
    of: int = 1

    @staticmethod
    def parse(text: str) -> Shard:
        """From `2/8` of the command line."""
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal() and len(of) < 7 and 1 <= int(number) <= int(of)):
            raise UserError(f"--shard {text!r} is not understood: write i/n with i from 1 to n, such as 2/8")
        return Shard(int(number), int(of))

    def blocks(self, count: int) -> range:
        """The shard's share of `count` blocks."""
        return range(count * (self.number - 1) // self.of, count * self.number // self.of)


@dataclass(frozen=True)
class Header:
    """codes.json. Two jobs with equal headers, checksums aside, make the same codes."""

    model: ModelName
    sources: tuple[Source, ...]
    shard: Shard
    block: int  # drawings that are encoded together
    first: int  # number of the first drawing, over all sources
    rows: int
    code: int  # numbers a code
    dtype: str
    precision: str = "32-true"  # of the encoder's products
    lost: LostPart = field(default_factory=LostPart)  # of every drawing
    chunks: tuple[int, ...] = ()  # CRC-32 of every CHUNK codes
    keys: tuple[int, int] = (0, 0)  # bytes of codes.keys, and their CRC-32

    @property
    def total(self) -> int:
        """Drawings of all shards."""
        return sum(source.drawings for source in self.sources)

    def without_checksums(self) -> Header:
        return replace(self, chunks=(), keys=(0, 0))

    def as_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "model": vars(self.model),
            "sources": [source.as_json() for source in self.sources],
            "shard": [self.shard.number, self.shard.of],
            **{name: getattr(self, name) for name in ("block", "first", "rows", "code", "dtype", "precision")},
            "holes": [list(hole) for hole in self.lost.holes],
            "frame": list(self.lost.frame) if self.lost.frame else None,
            "chunks": list(self.chunks),
            "keys": list(self.keys),
        }

    @staticmethod
    def read(path: Path) -> Header:
        """OSError if there is no such file, UserError if it is damaged or of another version."""
        try:
            return _header(read_header(path, VERSION))
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} is damaged ({error}): {AGAIN}") from error

    def write(self, path: Path) -> None:
        write_header(path, self.as_json())


def _header(value: dict[str, Any]) -> Header:
    numbers = {name: value[name] for name in ("block", "first", "rows", "code")}
    if not all(type(number) is int and number >= 0 for number in numbers.values()):
        raise ValueError("a count is not a whole number")
    if value["dtype"] not in PRECISIONS:
        raise ValueError(f"dtype {value['dtype']!r}")
    model = ModelName(str(value["model"]["name"]), str(value["model"]["checksum"]))
    sources = tuple(Source.from_json(source) for source in value["sources"])
    number, of = map(int, value["shard"])
    size, checksum = map(int, value["keys"])
    chunks = tuple(map(int, value["chunks"]))
    types = {"dtype": value["dtype"], "precision": str(value.get("precision", Header.precision))}
    lost = LostPart(tuple(map(_box, value.get("holes", ()))), _box(value["frame"]) if value.get("frame") else None)
    return Header(
        model, sources, Shard(number, of), **numbers, **types, lost=lost, chunks=chunks, keys=(size, checksum)
    )


def _box(value: Any) -> Box:
    x, y, width, height = map(float, value)
    return x, y, width, height


def companions(path: Path) -> tuple[Path, Path]:
    """The key file and the header of a codes file."""
    return path.with_suffix(".keys"), path.with_suffix(".json")


@dataclass(frozen=True)
class Codes:
    """Complete codes of a source or of one shard of it."""

    path: Path
    header: Header
    array: Codes16Or32  # memory-mapped

    @staticmethod
    def open(path: str | Path) -> Codes:
        """Map a codes file; its type, shape and size and those of its key file must be as its header says."""
        path = Path(path)
        keys, about = companions(path)
        if path.suffix != ".npy":
            raise UserError(f"{path} is not a codes file: name the .npy that `gra2seq encode` wrote")
        try:
            header = Header.read(about)
        except OSError as error:
            raise UserError(f"{path} has no {about.name} beside it: make both with `gra2seq encode`") from error
        array = map_array(path, (header.rows, header.code), header.dtype)
        try:
            size = keys.stat().st_size
        except OSError as error:
            raise UserError(f"cannot read {keys} ({error.strerror}): {AGAIN}") from error
        if size != header.keys[0]:
            raise UserError(f"{keys} has {size} bytes instead of {header.keys[0]}: {AGAIN}")
        return Codes(path, header, array)

    def verify(self) -> None:
        """Compare every byte with the checksums."""
        found = [checksum(self.array[start : start + CHUNK]) for start in range(0, len(self.array), CHUNK)]
        if found != list(self.header.chunks):
            raise UserError(f"{self.path} is damaged (its checksums do not match): {AGAIN}")
        keys, _ = companions(self.path)
        with keys.open("rb") as file:
            if file_checksum(file) != self.header.keys[1]:
                raise UserError(f"{keys} is damaged (its checksum does not match): {AGAIN}")


class CodesWriter:
    """Writes an .npy file row by row, so that memory stays flat, and adds up the checksum of every CHUNK rows."""

    def __init__(self, path: Path, rows: int, code: int, dtype: str) -> None:
        self.rows, self.dtype, self.done = rows, np.dtype(dtype), 0
        self.checksums: list[int] = []
        self._file = path.open("wb")
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": (rows, code)}
        np.lib.format.write_array_header_1_0(self._file, about)

    def __enter__(self) -> CodesWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None and self.done != self.rows:
            raise UserError(f"{self.done} of {self.rows} codes were found: {AGAIN}")

    def append(self, codes: Codes16Or32) -> None:
        """Write the next rows."""
        codes = np.ascontiguousarray(codes, self.dtype)
        start = 0
        while start < len(codes):
            filled = self.done % CHUNK
            part = codes[start : start + CHUNK - filled]
            if not filled:
                self.checksums.append(0)
            self.checksums[-1] = checksum(part, self.checksums[-1])
            self._file.write(part.data)
            start, self.done = start + len(part), self.done + len(part)


def map_array(path: Path, shape: Sequence[int], dtype: str) -> NDArray[Any]:
    """A .npy file, memory-mapped; UserError unless it has this shape and type and is complete.

    Copy on write, because torch takes no read-only arrays: the file never changes.
    """
    try:
        array = np.load(path, mmap_mode="c", allow_pickle=False)
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist: {AGAIN}") from error
    except (OSError, ValueError, EOFError, OverflowError) as error:
        raise UserError(f"{path} is damaged or cut short ({str(error)[:100]}): {AGAIN}") from error
    if array.shape != tuple(shape) or array.dtype != np.dtype(dtype) or not array.flags.c_contiguous:
        raise UserError(
            f"{path} holds {array.dtype} numbers of shape {array.shape}, its .json says {dtype} {tuple(shape)}: {AGAIN}"
        )
    plain: NDArray[Any] = array.view(np.ndarray)
    return plain


def checksum(array: NDArray[Any], before: int = 0) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data, before)


def file_checksum(file: BinaryIO) -> int:
    value = 0
    while part := file.read(1 << 20):
        value = zlib.crc32(part, value)
    return value
