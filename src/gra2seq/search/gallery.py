"""A gallery: codes in a folder, ready to be searched, with what is needed to show the drawings they belong to.

gallery.json  model, sources, method, checksums
codes.npy     (N, code), norms.npy (N,) their squared lengths
codes.keys    as written by `encode`; keys.npy (N + 1,) where each line begins
index.faiss   only for approximate search
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gra2seq.data.store import Store
from gra2seq.errors import UserError
from gra2seq.search import ann, exact
from gra2seq.search.codes import CHUNK, PRECISIONS, ModelName, checksum, map_array
from gra2seq.search.drawings import Source
from gra2seq.search.headers import read_header
from gra2seq.search.keys import Key
from gra2seq.sketch.strokes import Doubles, Floats, Ints, Sketch

if TYPE_CHECKING:
    from gra2seq.model import Model

VERSION = 1
HEADER, CODES, NORMS, KEYS, KEY_STARTS, INDEX = (
    "gallery.json",
    "codes.npy",
    "norms.npy",
    "codes.keys",
    "keys.npy",
    "index.faiss",
)
EXACT, IVF_PQ = "exact", "ivf-pq"
MAX_K = 10_000
AGAIN = "build it again with `gra2seq index`"


@dataclass(frozen=True)
class GalleryHeader:
    """gallery.json"""

    model: ModelName
    sources: tuple[Source, ...]  # what the keys count
    rows: int
    code: int
    dtype: str
    chunks: tuple[int, ...]  # CRC-32 of every CHUNK codes
    norms: int  # CRC-32 of the squared lengths
    key_bytes: int
    method: str = EXACT
    tuning: ann.Tuning | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "model": vars(self.model),
            "sources": [source.as_json() for source in self.sources],
            **{name: getattr(self, name) for name in ("rows", "code", "dtype", "norms", "key_bytes", "method")},
            "chunks": list(self.chunks),
            "tuning": vars(self.tuning) if self.tuning else None,
        }

    @staticmethod
    def read(folder: Path) -> GalleryHeader:
        path = folder / HEADER
        try:
            return _header(read_header(path, VERSION))
        except OSError as error:
            raise UserError(f"{folder} is not a gallery (no {HEADER}): make one with `gra2seq index`") from error
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} is damaged ({error}): {AGAIN}") from error


def _header(value: dict[str, Any]) -> GalleryHeader:
    numbers = {name: value[name] for name in ("rows", "code", "key_bytes")}
    if not all(type(number) is int and number >= 1 for number in numbers.values()):
        raise ValueError("a count is not a whole number")
    if value["dtype"] not in PRECISIONS or value["method"] not in (EXACT, IVF_PQ):
        raise ValueError("unknown type or method")
    tuning = value["tuning"]
    return GalleryHeader(
        ModelName(str(value["model"]["name"]), str(value["model"]["checksum"])),
        tuple(Source.from_json(source) for source in value["sources"]),
        **numbers,
        dtype=value["dtype"],
        chunks=tuple(map(int, value["chunks"])),
        norms=int(value["norms"]),
        method=value["method"],
        tuning=None if tuning is None else ann.Tuning(int(tuning["probes"]), float(tuning["recall"])),
    )


@dataclass(frozen=True)
class Neighbours:
    """What `Gallery.find` has found, the nearest first."""

    numbers: Ints  # (n, k) in the gallery, or (k,) for a single code
    distances: Doubles  # of the codes, as numbers


@dataclass(eq=False)
class Gallery:
    """Codes to search in. `Gallery.open(path).find(codes, 9)`."""

    path: Path
    header: GalleryHeader
    codes: NDArray[Any]  # (N, code), memory-mapped
    norms: Floats
    key_starts: Ints
    _verified: bytearray = field(default_factory=bytearray)  # chunks that are as they were written
    _stores: dict[int, Store] = field(default_factory=dict)
    _index: Any = None

    @staticmethod
    def open(path: str | Path) -> Gallery:
        """Map the files of a gallery. Takes the same time for ten drawings and for ten million."""
        path = Path(path)
        header = GalleryHeader.read(path)
        rows = header.rows
        codes = map_array(path / CODES, (rows, header.code), header.dtype)
        norms = map_array(path / NORMS, (rows,), "float32")
        starts = map_array(path / KEY_STARTS, (rows + 1,), "int64")
        _check_keys(path / KEYS, header.key_bytes)
        return Gallery(path, header, codes, norms, starts, bytearray(len(header.chunks)))

    def __len__(self) -> int:
        return self.header.rows

    def check_model(self, model: Model) -> None:
        """Raise UserError unless the gallery's codes were made by this model."""
        if ModelName.of(model) != self.header.model:
            raise UserError(
                f"{self.path} holds codes of another model (a {self.header.model.name}, checksum "
                f"{self.header.model.checksum[:8]}): find with that one (--model), or encode the drawings again"
            )

    def find(self, codes: ArrayLike, k: int = 9) -> Neighbours:
        """The k drawings whose codes are nearest to each code (n, code), or to a single one (code,)."""
        queries = np.asarray(codes, np.float32)
        single = queries.ndim == 1
        queries = np.atleast_2d(queries)
        if queries.ndim != 2 or queries.shape[1] != self.header.code:
            raise UserError(f"codes must have shape (n, {self.header.code}), got {np.shape(codes)}")
        if not len(queries) or not np.isfinite(queries).all():
            raise UserError("there is no code to look for, or it is not finite: encode the drawing again")
        if not 1 <= k <= MAX_K:
            raise UserError(f"k={k} must be from 1 to {MAX_K:,}")
        numbers, distances = self._nearest(queries, min(k, len(self)))
        return Neighbours(numbers[0], distances[0]) if single else Neighbours(numbers, distances)

    def key(self, number: int) -> Key:
        """Which drawing a code belongs to."""
        start, stop = self.key_starts[number : number + 2].tolist()
        try:
            with (self.path / KEYS).open("rb") as file:
                file.seek(start)
                key = Key.of_line(file.read(stop - start))
            if not 0 <= key.source < len(self.header.sources):
                raise ValueError(f"source {key.source}")
        except (OSError, ValueError) as error:
            raise UserError(f"{self.path / KEYS} is damaged ({error}): {AGAIN}") from error
        return key

    def sketch(self, number: int) -> Sketch:
        """The drawing of a code; UserError if its source is not there any more, or has changed."""
        key = self.key(number)
        if key.source not in self._stores:
            self._stores[key.source] = self.header.sources[key.source].open()
        return self._stores[key.source][key.number]

    def _nearest(self, queries: Floats, k: int) -> tuple[Ints, Doubles]:
        if self.header.method == EXACT:
            return exact.nearest(queries, self.codes, self.norms, k, self._verify)
        if self._index is None:
            self._index = ann.load(self.path / INDEX, len(self), self.header.code)
        probes = self.header.tuning.probes if self.header.tuning else 1
        return ann.nearest(self._index, queries, self.codes, k, probes)

    def _verify(self, rows: slice) -> None:
        """Compare the chunks of these rows with their checksums, when they are first used."""
        if rows.start == 0 and not self._verified[0] and checksum(self.norms) != self.header.norms:
            raise UserError(f"{self.path / NORMS} is damaged (its checksum does not match): {AGAIN}")
        for number in range(rows.start // CHUNK, (rows.stop - 1) // CHUNK + 1):
            if not self._verified[number]:
                part = self.codes[number * CHUNK : (number + 1) * CHUNK]
                if checksum(part) != self.header.chunks[number]:
                    raise UserError(f"{self.path / CODES} is damaged (its checksums do not match): {AGAIN}")
                self._verified[number] = 1


def is_gallery(path: str | Path) -> bool:
    return (Path(path) / HEADER).is_file()


def _check_keys(path: Path, size: int) -> None:
    try:
        found = path.stat().st_size
    except OSError as error:
        raise UserError(f"cannot read {path} ({error.strerror}): {AGAIN}") from error
    if found != size:
        raise UserError(f"{path} has {found} bytes instead of {size}: {AGAIN}")
