"""A folder of flat arrays that holds millions of drawings and is opened without being read.

    store.json     version, counts, names, sizes of the files, content hash, scale; written last
    points.bin     (P, 2) int16 if every coordinate is a whole number that fits, else float32
    lengths.bin    (S,)   points of each stroke
    offsets.bin    (N + 1, 3) where each sketch begins in points, lengths and keys
    category.bin   (N,)   index into store.json's categories
    split.bin      (N,)   index into SPLITS
    keys.bin       UTF-8, end to end
    parts.bin      (S,)   index into store.json's parts, from 1; 0 without label; only if there are labels

Every array is memory-mapped, so that opening costs nothing, worker processes share the pages, and a sketch is
three slices. A store is written beside its place and renamed: a half-written one never bears the name.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_folder

VERSION = 1  # of the layout above, and of what the readers make of a file: raise it when either changes
SPLITS = ("", "train", "valid", "test")
POINTS, STROKES, KEYS = range(3)  # columns of offsets
WHOLE, REAL = "<i2", "<f4"  # the two types points may have
INT16_MAX = 32767
UTF8 = ("utf-8", "surrogatepass")  # JSON may hold half a character; it comes back as it was
BLOCK_SKETCHES, BLOCK_POINTS = 8192, 1_000_000  # held in memory while writing, whichever comes first
MAX_NAMES = 65_535  # categories or part labels, as they are counted in uint16
HISTOGRAM_STEP = 10  # points a bin

Progress = Callable[[int, int | None], None]  # (done, total if known)
Indices = NDArray[np.int64]


class Store(Sequence[Sketch]):
    """A written store. `Store.open(path)`; then `len(store)`, `store[i]`, `store.indices("train")`."""

    def __init__(self, path: Path, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.path = path
        self.about = about
        self.categories: tuple[str, ...] = tuple(about["categories"])
        self.hash: str = about["hash"]  # same drawings in the same order, same hash
        self.scale: float = about["scale"]  # `offset_scale` of train, or of all if train is empty
        self.category_index: NDArray[np.uint16] = arrays["category"]  # (N,) into `categories`
        self._part_names = ("", *about["parts"])
        self._points, self._lengths, self._offsets = arrays["points"], arrays["lengths"], arrays["offsets"]
        self._split, self._keys, self._parts = arrays["split"], arrays["keys"], arrays.get("parts")
        self._count = len(self._split)

    @staticmethod
    def open(path: str | Path) -> Store:
        """Map the files of a store. Takes the same time for ten drawings and for ten million."""
        path = Path(path)
        about = _read_about(path)
        try:
            store = Store(path, about, _arrays(path, about))
            totals = [about["points"], about["strokes"], about["key_bytes"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{path}/store.json is damaged ({error!r}): make the store again") from error
        if store._offsets[-1].tolist() != totals:
            raise UserError(f"{path}/offsets.bin does not agree with store.json: make the store again")
        return store

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Sketch: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sketch]: ...

    def __getitem__(self, index: int | slice) -> Sketch | list[Sketch]:
        if isinstance(index, slice):
            return [self[number] for number in range(self._count)[index]]
        if not -self._count <= index < self._count:
            raise IndexError(f"{self.path} has {self._count} sketches, there is no number {index}")
        index = index % self._count
        (p0, s0, k0), (p1, s1, k1) = self._offsets[index : index + 2].tolist()
        parts: tuple[str, ...] = ()
        if self._parts is not None and self._parts[s0]:
            parts = tuple([self._part_names[code] for code in self._parts[s0:s1].tolist()])
        # `Sketch(...)` would check again what was checked before it was written, at several times the cost of
        # reading it: so its fields are set directly. The arrays are copies, the caller may change them.
        sketch = object.__new__(Sketch)
        sketch.__dict__.update(
            points=self._points[p0:p1].astype(np.float32),
            lengths=self._lengths[s0:s1].astype(np.int64),
            category=self.categories[self.category_index[index]],
            key=self._keys[k0:k1].tobytes().decode(*UTF8),
            parts=parts,
        )
        return sketch

    def split(self, index: int) -> str:
        """train, valid, test or nothing"""
        return SPLITS[self._split[index]]

    def records(self) -> Iterator[Record]:
        """Everything in file order, as `write_store` takes it."""
        for index in range(len(self)):
            yield Record(self.split(index), self[index])

    @cached_property
    def point_counts(self) -> Indices:
        """Points of each sketch. (N,)"""
        return np.diff(self._offsets[:, POINTS])

    def indices(
        self,
        split: str | None = None,
        categories: Sequence[str] | None = None,
        limit_per_category: int | None = None,
    ) -> Indices:
        """Sketches of a split and of categories (None: any), the first n of each category, in file order."""
        if split is not None and split not in SPLITS:
            raise UserError(f"there is no split {split!r}: choose train, valid, test or '' (not assigned)")
        chosen = np.ones(len(self), bool) if split is None else self._split == SPLITS.index(split)
        if categories is not None:
            wanted = np.zeros(len(self.categories), bool)
            wanted[[self._category(name) for name in categories]] = True
            chosen &= wanted[self.category_index]
        found = np.flatnonzero(chosen)
        if limit_per_category is None:
            return found
        category = self.category_index[found]
        order = np.argsort(category, kind="stable")  # a category's sketches side by side, still in file order
        first = np.searchsorted(category[order], category[order])  # where the run of equal categories begins
        rank = np.arange(len(order)) - first
        return np.sort(found[order[rank < limit_per_category]])

    def offset_scale(self, indices: Indices, box: float | None = None) -> float:
        """Standard deviation of these sketches' offsets, see the function of the same name."""
        return offset_scale(self._points, self._offsets[:, POINTS], indices, box)

    def verify(self) -> None:
        """Read every byte and compare with the content hash."""
        if _content_hash(self.path, self.about) != self.hash:
            raise UserError(f"{self.path} was changed or damaged since it was written: make the store again")

    def _category(self, name: str) -> int:
        if name not in self.categories:
            raise unknown_name("category", name, self.categories, f"in {self.path}")
        return self.categories.index(name)

    def __reduce__(self) -> tuple[Callable[[Path, str], Store], tuple[Path, str]]:
        return _reopen, (self.path, self.hash)  # a worker process maps the files itself

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {len(self)} sketches, {len(self.categories)} categories)"


def write_store(path: str | Path, records: Iterable[Record], *, progress: Progress | None = None) -> Store:
    """Write drawings into the new folder `path`, a block at a time; it appears whole or not at all."""
    path = Path(path)
    with atomic_folder(path) as folder:
        with _Writer(folder, progress) as writer:
            for split, sketch in records:
                writer.add(split, sketch)
        if not writer.sketches:
            raise UserError(f"there is no drawing to put into {path}: check the files and the split")
        about = writer.about()
        about["files"] = {name: _file(folder, name).stat().st_size for name in _layout(about)}
        about["hash"] = _content_hash(folder, about)
        store = Store(folder, about, _arrays(folder, about))
        train = store.indices("train")
        about["scale"] = store.offset_scale(train if len(train) else store.indices())
        about["point_histogram"] = {"step": HISTOGRAM_STEP, "counts": dict(sorted(writer.histogram.items()))}
        (folder / "store.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    return Store.open(path)


def offset_scale(points: NDArray[Any], starts: Indices, indices: Indices, box: float | None = None) -> float:
    """sketch-rnn's normaliser: the standard deviation of all offsets, dx and dy in one heap.

    `starts` (N + 1,) says where each sketch begins in `points`. The first row of a sketch is left out:
    it says where the drawing lies on the page, not how it is drawn. With `box`, every sketch is first scaled so
    that its longer side has that length.
    """
    moments = np.zeros(3)  # count, sum, sum of squares
    for block in np.array_split(indices, len(indices) // BLOCK_SKETCHES + 1):
        sizes = starts[block + 1] - starts[block]
        ends = np.cumsum(sizes)
        rows = np.arange(sizes.sum()) + np.repeat(starts[block] - (ends - sizes), sizes)
        heap = points[rows].astype(np.float64)
        if box is not None and len(block):
            reach = np.maximum.reduceat(heap, ends - sizes) - np.minimum.reduceat(heap, ends - sizes)
            longer = reach.max(axis=1)
            heap *= np.repeat(box / np.where(longer > 0, longer, box), sizes)[:, None]
        offsets = np.diff(heap, axis=0)
        inside = np.ones(len(offsets), bool)
        inside[ends[:-1] - 1] = False  # from one sketch's end to the next one's beginning
        offsets = offsets[inside]
        moments += (offsets.size, offsets.sum(), np.square(offsets).sum())
    return scale_of(*moments.tolist())


def scale_of(count: float, total: float, squares: float) -> float:
    """Standard deviation from count, sum and sum of squares; 1.0 if nothing moves."""
    variance = squares / count - (total / count) ** 2 if count else 0.0
    return float(np.sqrt(variance)) if variance > 0 else 1.0


def unknown_name(what: str, name: str, known: Iterable[str], where: str = "") -> UserError:
    """The error for a name that is not among `known`, with the ones it was perhaps meant to be."""
    spelled = {entry.casefold(): entry for entry in known}
    near = [spelled[match] for match in get_close_matches(name.casefold(), spelled, cutoff=0.5)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {_shortened(sorted(spelled.values()))}"
    return UserError(" ".join(filter(None, (f"there is no {what} {name!r}", where))) + f": {hint}")


def _shortened(names: Sequence[str], most: int = 20) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


class _Writer:
    """Gathers blocks and appends them to the files."""

    def __init__(self, folder: Path, progress: Progress | None) -> None:
        self.folder, self.progress = folder, progress
        self.sketches = 0
        self.histogram: Counter[int] = Counter()
        self.dtype = WHOLE
        self.totals = np.zeros(3, np.int64)
        self.categories: dict[str, int] = {}
        self.parts: dict[str, int] = {}
        self.block: list[tuple[str, Sketch]] = []
        self.block_points = 0
        self.files: dict[str, BinaryIO] = {}
        self.stack = ExitStack()

    def __enter__(self) -> _Writer:
        for name in ("points", "lengths", "offsets", "category", "split", "keys", "parts"):
            self.files[name] = self.stack.enter_context(_file(self.folder, name).open("wb"))
        self.files["offsets"].write(self.totals.astype("<i8").tobytes())
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        with self.stack:
            if kind is None:
                self.flush()
        if not self.parts:
            _file(self.folder, "parts").unlink()

    def add(self, split: str, sketch: Sketch) -> None:
        if split not in SPLITS:
            raise UserError(f"sketch {sketch.key!r} has split {split!r}: it must be train, valid, test or ''")
        self.block.append((split, sketch))
        self.block_points += len(sketch)
        if len(self.block) >= BLOCK_SKETCHES or self.block_points >= BLOCK_POINTS:
            self.flush()

    def flush(self) -> None:
        if not self.block:
            return
        sketches = [sketch for _, sketch in self.block]
        keys = [sketch.key.encode(*UTF8) for sketch in sketches]
        points = np.concatenate([sketch.points for sketch in sketches])
        if self.dtype == WHOLE and not _fits_int16(points):
            self.widen()
        sizes = [(len(s.points), len(s.lengths), len(key)) for s, key in zip(sketches, keys, strict=True)]
        offsets = self.totals + np.cumsum(np.array(sizes, np.int64), axis=0)
        parts = [self.part_codes(sketch) for sketch in sketches]
        self.append("points", points, self.dtype)
        self.append("lengths", np.concatenate([sketch.lengths for sketch in sketches]), "<i4")
        self.append("offsets", offsets, "<i8")
        self.append("category", [_code(self.categories, s.category, 0) for s in sketches], "<u2")
        self.append("split", [SPLITS.index(split) for split, _ in self.block], "u1")
        self.append("parts", [code for codes in parts for code in codes], "<u2")
        self.files["keys"].write(b"".join(keys))
        self.totals = offsets[-1]
        self.sketches += len(self.block)
        self.histogram.update(size // HISTOGRAM_STEP * HISTOGRAM_STEP for size, _, _ in sizes)
        self.block, self.block_points = [], 0
        if self.progress:
            self.progress(self.sketches, None)

    def part_codes(self, sketch: Sketch) -> list[int]:
        if not sketch.parts:
            return [0] * len(sketch.lengths)
        return [_code(self.parts, part, 1) for part in sketch.parts]

    def append(self, name: str, values: Any, dtype: str) -> None:
        self.files[name].write(np.asarray(values).astype(dtype).tobytes())

    def widen(self) -> None:
        """A coordinate has come that is no small whole number: rewrite what is there, once."""
        self.dtype = REAL
        old = _file(self.folder, "points")
        new = old.with_suffix(".wide")
        self.files["points"].flush()
        written = self.stack.enter_context(new.open("wb"))
        with old.open("rb") as file:
            while block := file.read(1 << 20):
                written.write(np.frombuffer(block, WHOLE).astype(REAL).tobytes())
        new.replace(old)
        self.files["points"] = written

    def about(self) -> dict[str, Any]:
        points, strokes, key_bytes = self.totals.tolist()
        return {
            "version": VERSION,
            "sketches": self.sketches,
            "points": points,
            "strokes": strokes,
            "key_bytes": key_bytes,
            "dtype": self.dtype,
            "categories": list(self.categories),
            "parts": list(self.parts),
            "scale": 1.0,
        }


def _fits_int16(points: NDArray[np.float32]) -> bool:
    return bool((np.abs(points) <= INT16_MAX).all() and (points == np.rint(points)).all())


def _code(codes: dict[str, int], name: str, first: int) -> int:
    code = codes.setdefault(name, len(codes) + first)
    if code > MAX_NAMES:
        raise UserError(f"more than {code - first} categories or part labels: check where they come from")
    return code


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.bin"


def _layout(about: dict[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape of every file, from the counts in store.json."""
    sketches, strokes = about["sketches"], about["strokes"]
    if about["dtype"] not in (WHOLE, REAL):
        raise ValueError(f"dtype {about['dtype']!r}")
    layout: dict[str, tuple[str, tuple[int, ...]]] = {
        "points": (about["dtype"], (about["points"], 2)),
        "lengths": ("<i4", (strokes,)),
        "offsets": ("<i8", (sketches + 1, 3)),
        "category": ("<u2", (sketches,)),
        "split": ("u1", (sketches,)),
        "keys": ("u1", (about["key_bytes"],)),
    }
    return layout | ({"parts": ("<u2", (strokes,))} if about["parts"] else {})


def _read_about(path: Path) -> dict[str, Any]:
    try:
        about = json.loads((path / "store.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UserError(f"{path} is not a store (no store.json): make one with `gra2seq data convert`") from error
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}/store.json ({error}): make the store again") from error
    version = about.get("version") if isinstance(about, dict) else None
    if version != VERSION:
        raise UserError(f"{path} has version {version}, this program reads {VERSION}: make the store again")
    return dict(about)


def _arrays(folder: Path, about: dict[str, Any]) -> dict[str, NDArray[Any]]:
    return {name: _map(folder, about, name, *kind) for name, kind in _layout(about).items()}


def _map(folder: Path, about: dict[str, Any], name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    path, size = _file(folder, name), about["files"][name]
    try:
        found = path.stat().st_size
    except OSError as error:
        raise UserError(f"the store lacks {path} ({error.strerror}): make the store again") from error
    if found != size or size != prod(shape) * np.dtype(dtype).itemsize:
        raise UserError(f"{path} has {found} bytes instead of {size}: the store is cut short, make it again")
    if not size:
        return np.empty(shape, dtype)  # nothing can be mapped of an empty file
    # Slices of a plain array over the mapping cost a third of slices of np.memmap.
    return np.memmap(path, dtype, "r", shape=shape).view(np.ndarray)


def _content_hash(folder: Path, about: dict[str, Any]) -> str:
    names = {name: about[name] for name in ("version", "dtype", "categories", "parts")}
    content = hashlib.sha256(json.dumps(names, sort_keys=True).encode())
    for name in _layout(about):
        with _file(folder, name).open("rb") as file:
            content.update(hashlib.file_digest(file, "sha256").digest())
    return content.hexdigest()


def _reopen(path: Path, content_hash: str) -> Store:
    store = Store.open(path)
    if store.hash != content_hash:
        raise UserError(f"{path} was replaced while it was in use: start again")
    return store
