"""A folder of flat arrays that holds millions of drawings and is opened without being read.

Every array is memory-mapped, so that opening costs nothing, worker processes share the pages, and a sketch is
three slices. A block of sketches is verified by its checksums when the first of them is read; `store_format` describes
the files, `store_writer` writes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gra2seq.data import store_format
from gra2seq.data.offset_scale import offset_scale
from gra2seq.data.store_format import AGAIN, BLOCK, BLOCK_BITS, POINTS, SPLITS, UTF8, Arrays, checksum
from gra2seq.errors import UserError, unknown_name
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch

Indices = NDArray[np.int64]


class Store(Sequence[Sketch]):
    """A written store. `Store.open(path)`; then `len(store)`, `store[i]`, `store.indices("train")`."""

    def __init__(self, path: Path, header: dict[str, Any], arrays: Arrays, checksums: NDArray[np.uint32]) -> None:
        self.path = path
        self.header = header
        self.categories: tuple[str, ...] = tuple(header["categories"])
        self.hash: str = header["hash"]  # same drawings in the same order, same hash
        self.scale: float = header["scale"]  # `offset_scale` of train, or of all if train is empty
        self._part_names = ("", *header["parts"])
        self._arrays, self._checksums = arrays, checksums
        self._points, self._lengths, self._offsets = arrays["points"], arrays["lengths"], arrays["offsets"]
        self._category, self._split, self._keys = arrays["category"], arrays["split"], arrays["keys"]
        self._parts = arrays.get("parts")
        self._count = len(self._split)
        self._verified_blocks = bytearray(len(checksums))  # 1: every file of that block is as it was written
        self._verified_columns: set[str] = set()

    @staticmethod
    def open(path: str | Path) -> Store:
        """Map the files of a store. Takes the same time for ten drawings and for ten million."""
        path = Path(path)
        header = store_format.read_header(path)
        try:
            _check_types(header)
            arrays = store_format.map_arrays(path, header)
            store = Store(path, header, arrays, store_format.map_checksums(path, header))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UserError(f"{path / store_format.HEADER} is damaged ({error!r}): {AGAIN}") from error
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
        if not self._verified_blocks[index >> BLOCK_BITS]:
            self._verify_block(index >> BLOCK_BITS)
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
            category=self.categories[self._category[index]],
            key=self._keys[k0:k1].tobytes().decode(*UTF8),
            parts=parts,
        )
        return sketch

    def split(self, index: int) -> str:
        """train, valid, test or nothing"""
        self._verify([index % self._count >> BLOCK_BITS])
        return SPLITS[self._split[index]]

    def records(self) -> Iterator[Record]:
        """Everything in file order, as `write_store` takes it."""
        for index in range(len(self)):
            yield Record(self.split(index), self[index])

    @property
    def category_index(self) -> NDArray[np.uint16]:
        """Index into `categories` of each sketch. (N,)"""
        return self._column("category")

    @cached_property
    def point_counts(self) -> Indices:
        """Points of each sketch. (N,)"""
        return np.diff(self._column("offsets")[:, POINTS])

    def indices(
        self,
        split: str | None = None,
        categories: Sequence[str] | None = None,
        limit_per_category: int | None = None,
    ) -> Indices:
        """Sketches of a split and of categories (None: any), the first n of each category, in file order."""
        if split is not None and split not in SPLITS:
            raise UserError(f"there is no split {split!r}: choose train, valid, test or '' (not assigned)")
        chosen = np.ones(len(self), bool) if split is None else self._column("split") == SPLITS.index(split)
        if categories is not None:
            wanted = np.zeros(len(self.categories), bool)
            wanted[[self._category_number(name) for name in categories]] = True
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
        self._verify(np.unique(np.asarray(indices) >> BLOCK_BITS).tolist())
        return offset_scale(self._points, self._offsets[:, POINTS], indices, box)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())

    def verify_blocks(self) -> None:
        """Compare every block that was not read yet with its checksums."""
        self._verify(range(len(self._checksums)))

    def verify(self) -> None:
        """Read every byte and compare it with the checksums and the content hash."""
        self._verified_blocks = bytearray(len(self._checksums))
        self.verify_blocks()
        if store_format.content_hash(self.path, self.header) != self.hash:
            raise UserError(f"{self.path} does not have the content it was written with: {AGAIN}")

    def _verify(self, blocks: Iterable[int]) -> None:
        for block in blocks:
            if not self._verified_blocks[block]:
                self._verify_block(block)

    def _verify_block(self, block: int) -> None:
        found = np.array(store_format.block_checksums(self._arrays, block), np.uint32)
        differ = found != self._checksums[block]
        if differ.any():
            # Damaged offsets make every file of the block look damaged.
            names = [name for name, other in zip(self._arrays, differ.tolist(), strict=True) if other]
            raise self._damaged("offsets" if "offsets" in names else names[0], block)
        if reason := store_format.impossible(self._arrays, block, self.header):
            raise UserError(f"{self.path} cannot be used ({reason}): {AGAIN}")
        self._verified_blocks[block] = 1

    def _column(self, name: str) -> NDArray[Any]:
        """The whole of offsets, category or split, verified."""
        if name not in self._verified_columns:
            column = list(self._arrays).index(name)
            for block, expected in enumerate(self._checksums[:, column].tolist()):
                if checksum(store_format.block_of_file(self._arrays, name, block)) != expected:
                    raise self._damaged(name, block)
            limit = {"category": len(self.categories), "split": len(SPLITS)}.get(name)
            if limit is not None and (self._arrays[name] >= limit).any():
                raise UserError(f"{self.path} cannot be used (a {name} has no name): {AGAIN}")
            self._verified_columns.add(name)
        return self._arrays[name]

    def _damaged(self, name: str, block: int) -> UserError:
        file = store_format.file_of(self.path, name)
        last = min((block + 1) * BLOCK, self._count) - 1
        return UserError(f"{file} is damaged (at the drawings {block * BLOCK} to {last}): {AGAIN}")

    def _category_number(self, name: str) -> int:
        if name not in self.categories:
            raise unknown_name("category", name, self.categories, f"in {self.path}")
        return self.categories.index(name)

    def __reduce__(self) -> tuple[Callable[[Path, str], Store], tuple[Path, str]]:
        return _reopen, (self.path, self.hash)  # a worker process maps the files itself

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {len(self)} sketches, {len(self.categories)} categories)"


def _check_types(header: dict[str, Any]) -> None:
    for name in ("sketches", "points", "strokes", "key_bytes", "checksum_of_checksums"):
        if type(header[name]) is not int or header[name] < 0:
            raise ValueError(f"{name} is {str(header[name])[:40]}")
    for name in ("categories", "parts"):
        if not isinstance(header[name], list) or not all(isinstance(entry, str) for entry in header[name]):
            raise ValueError(f"{name} is not a list of names")
    if type(header["scale"]) is not float or not 0 < header["scale"] < math.inf:
        raise ValueError(f"scale is {str(header['scale'])[:40]}")
    if not isinstance(header["hash"], str):
        raise ValueError("hash is not text")


def _reopen(path: Path, content_hash: str) -> Store:
    store = Store.open(path)
    if store.hash != content_hash:
        raise UserError(f"{path} was replaced while it was in use: start again")
    return store
