"""Drawings of several sources as one numbered sequence that worker processes and later commands can open again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

from gra2seq.data.datasets import is_store, open_store
from gra2seq.data.store import Store
from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Sketch


@dataclass(frozen=True)
class Source:
    """Where drawings came from, as the file beside the codes keeps it."""

    paths: tuple[str, ...]  # absolute: of a store, of drawing files or folders; or `doodles:COUNT`
    hash: str  # of the store they are read through: same drawings in the same order, same hash
    drawings: int

    def as_json(self) -> dict[str, Any]:
        return {"paths": list(self.paths), "hash": self.hash, "drawings": self.drawings}

    @staticmethod
    def from_json(value: Any) -> Source:
        """TypeError, KeyError or ValueError if it is not what `as_json` writes."""
        paths, content, count = value["paths"], value["hash"], value["drawings"]
        if not isinstance(paths, list) or not paths or not all(isinstance(path, str) for path in paths):
            raise TypeError("paths are not a list of names")
        if not isinstance(content, str) or type(count) is not int or count < 1:
            raise TypeError("a source has no hash or no drawings")
        return Source(tuple(paths), content, count)

    def open(self) -> Store:
        """The drawings, if they are still there and still the same."""
        try:
            store = open_store(self.paths[0] if len(self.paths) == 1 else list(self.paths))
        except UserError as error:
            raise UserError(f"the drawings of {self.paths[0]} cannot be read ({error})") from error
        if store.hash != self.hash:
            raise UserError(f"{self.paths[0]} does not hold the drawings that were encoded: it has changed since")
        return store


@dataclass(frozen=True)
class Drawings:
    """The drawings of all sources, one source after the other. Costs no memory; can be sent to other processes."""

    sources: tuple[Source, ...]
    stores: tuple[Store, ...]

    @staticmethod
    def open(sources: Sequence[str | Path]) -> Drawings:
        """Open stores as they are, and what stands between two stores (files, folders, doodles) as one cached store."""
        if not sources:
            raise UserError("no drawings were given: name drawing files, folders or stores")
        found: list[Source] = []
        stores: list[Store] = []
        for alone, group in groupby(map(str, sources), key=lambda name: _is_doodles(name) or is_store(Path(name))):
            names = list(group)
            for own in [[name] for name in names] if alone else [names]:
                store = open_store(own[0] if len(own) == 1 else own)
                if not len(store):
                    raise UserError(f"{own[0]} holds no drawings: leave it out")
                paths = tuple(name if _is_doodles(name) else str(Path(name).absolute()) for name in own)
                found.append(Source(paths, store.hash, len(store)))
                stores.append(store)
        return Drawings(tuple(found), tuple(stores))

    def __len__(self) -> int:
        return sum(map(len, self.stores))

    def __getitem__(self, number: int) -> Sketch:
        source, own = place_of(number, self.sources)
        return self.stores[source][own]


def place_of(number: int, sources: Sequence[Source]) -> tuple[int, int]:
    """The source that holds a drawing, and the drawing's number in it."""
    ends = list(accumulate(source.drawings for source in sources))
    if not ends or not 0 <= number < ends[-1]:
        raise IndexError(f"there is no drawing {number}")
    source = bisect_right(ends, number)
    return source, number - (ends[source] - sources[source].drawings)


def _is_doodles(name: str) -> bool:
    return name.partition(":")[0] == "doodles"
