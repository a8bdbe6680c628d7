"""Write a store, a block of drawings at a time: it appears complete or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gra2seq.data import store_format
from gra2seq.data.store import Store
from gra2seq.data.store_format import CHECKSUMS, FLOAT32, INT16, SPLITS, UTF8, file_of
from gra2seq.errors import UserError
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_folder

INT16_MAX = 32767
BUFFER_SKETCHES, BUFFER_POINTS = 8192, 1_000_000  # held in memory while writing, whichever comes first
MAX_NAMES = 65_535  # categories or part labels, as they are counted in uint16
HISTOGRAM_STEP = 10  # points a bin

Progress = Callable[[int, int | None], None]  # (done, total if known)


def write_store(path: str | Path, records: Iterable[Record], *, progress: Progress | None = None) -> Store:
    """Write drawings into the new folder `path` and open it."""
    path = Path(path)
    with atomic_folder(path) as folder:
        with _Writer(folder, progress) as writer:
            for split, sketch in records:
                writer.add(split, sketch)
        if not writer.sketches:
            raise UserError(f"there is no drawing to put into {path}: check the files and the split")
        _write_header(folder, writer)
    return Store.open(path)


def _write_header(folder: Path, writer: _Writer) -> None:
    """Checksums, content hash and scale, of the files as they are on the disk."""
    header = writer.header()
    arrays = store_format.map_arrays(folder, header)
    blocks = range(store_format.block_count(writer.sketches))
    checksums = np.array([store_format.block_checksums(arrays, block) for block in blocks], "<u4")
    file_of(folder, CHECKSUMS).write_bytes(checksums.tobytes())
    header["checksum_of_checksums"] = store_format.checksum(checksums)
    header["hash"] = store_format.content_hash(folder, header)
    store = Store(folder, header, arrays, checksums)
    train = store.indices("train")
    header["scale"] = store.offset_scale(train if len(train) else store.indices())
    store_format.write_header(folder, header)


class _Writer:
    """Gathers drawings and appends them to the files."""

    def __init__(self, folder: Path, progress: Progress | None) -> None:
        self.folder, self.progress = folder, progress
        self.sketches = 0
        self.histogram: Counter[int] = Counter()
        self.dtype = INT16
        self.totals = np.zeros(3, np.int64)
        self.categories: dict[str, int] = {}
        self.parts: dict[str, int] = {}
        self.buffer: list[tuple[str, Sketch]] = []
        self.buffer_points = 0
        self.files: dict[str, BinaryIO] = {}
        self.stack = ExitStack()

    def __enter__(self) -> _Writer:
        for name in ("points", "lengths", "offsets", "category", "split", "keys", "parts"):
            self.files[name] = self.stack.enter_context(file_of(self.folder, name).open("wb"))
        self.files["offsets"].write(self.totals.astype("<i8").tobytes())
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        with self.stack:
            if kind is None:
                self.flush()
        if not self.parts:
            file_of(self.folder, "parts").unlink()

    def add(self, split: str, sketch: Sketch) -> None:
        if split not in SPLITS:
            raise UserError(f"sketch {sketch.key!r} has split {split!r}: it must be train, valid, test or ''")
        self.buffer.append((split, sketch))
        self.buffer_points += len(sketch)
        if len(self.buffer) >= BUFFER_SKETCHES or self.buffer_points >= BUFFER_POINTS:
            self.flush()

    def flush(self) -> None:
        if not self.buffer:
            return
        sketches = [sketch for _, sketch in self.buffer]
        keys = [sketch.key.encode(*UTF8) for sketch in sketches]
        points = np.concatenate([sketch.points for sketch in sketches])
        if self.dtype == INT16 and not _fits_int16(points):
            self.widen()
        sizes = [(len(s.points), len(s.lengths), len(key)) for s, key in zip(sketches, keys, strict=True)]
        offsets = self.totals + np.cumsum(np.array(sizes, np.int64), axis=0)
        parts = [self.part_codes(sketch) for sketch in sketches]
        self.append("points", points, self.dtype)
        self.append("lengths", np.concatenate([sketch.lengths for sketch in sketches]), "<i4")
        self.append("offsets", offsets, "<i8")
        self.append("category", [_code(self.categories, s.category, 0) for s in sketches], "<u2")
        self.append("split", [SPLITS.index(split) for split, _ in self.buffer], "u1")
        self.append("parts", [code for codes in parts for code in codes], "<u2")
        self.files["keys"].write(b"".join(keys))
        self.totals = offsets[-1]
        self.sketches += len(self.buffer)
        self.histogram.update(size // HISTOGRAM_STEP * HISTOGRAM_STEP for size, _, _ in sizes)
        self.buffer, self.buffer_points = [], 0
        if self.progress:
            self.progress(self.sketches, None)

    def part_codes(self, sketch: Sketch) -> list[int]:
        if not sketch.parts:
            return [0] * len(sketch.lengths)
        return [_code(self.parts, part, 1) for part in sketch.parts]

    def append(self, name: str, values: Any, dtype: str) -> None:
        self.files[name].write(np.asarray(values).astype(dtype).tobytes())

    def widen(self) -> None:
        """A coordinate does not fit into 16 bits: rewrite the points written so far as float32, once."""
        self.dtype = FLOAT32
        old = file_of(self.folder, "points")
        new = old.with_suffix(".wide")
        self.files["points"].flush()
        written = self.stack.enter_context(new.open("wb"))
        with old.open("rb") as file:
            while block := file.read(1 << 20):
                written.write(np.frombuffer(block, INT16).astype(FLOAT32).tobytes())
        new.replace(old)
        self.files["points"] = written

    def header(self) -> dict[str, Any]:
        points, strokes, key_bytes = self.totals.tolist()
        counts = {str(points): count for points, count in sorted(self.histogram.items())}
        return {
            "version": store_format.VERSION,
            "sketches": self.sketches,
            "points": points,
            "strokes": strokes,
            "key_bytes": key_bytes,
            "dtype": self.dtype,
            "categories": list(self.categories),
            "parts": list(self.parts),
            "scale": 1.0,
            "hash": "",
            "point_histogram": {"step": HISTOGRAM_STEP, "counts": counts},
        }


def _fits_int16(points: NDArray[np.float32]) -> bool:
    return bool((np.abs(points) <= INT16_MAX).all() and (points == np.rint(points)).all())


def _code(codes: dict[str, int], name: str, first: int) -> int:
    code = codes.setdefault(name, len(codes) + first)
    if code > MAX_NAMES:
        raise UserError(f"more than {code - first} categories or part labels: check where they come from")
    return code
