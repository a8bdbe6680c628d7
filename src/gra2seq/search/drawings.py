"""Drawings of several sources as one numbered sequence that worker processes and later commands can open again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

from gra2seq.data.datasets import drawing_files, is_store, open_store
from gra2seq.data.store import Store
from gra2seq.errors import UserError
from gra2seq.formats import files
from gra2seq.sketch.damage import Drawable, lose
from gra2seq.sketch.region import Box, Region
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
class LostPart:
    """What is lost of every drawing, in the drawing's units: holes, and the frame of the whole drawing if known."""

    holes: tuple[Box, ...] = ()
    frame: Box | None = None

    def __bool__(self) -> bool:
        return bool(self.holes) or self.frame is not None

    @cached_property
    def region(self) -> Region:
        return Region.of_boxes(self.holes)


@dataclass(frozen=True)
class Drawings:
    """The drawings of all sources, one source after the other. Costs no memory; can be sent to other processes."""

    sources: tuple[Source, ...]
    stores: tuple[Store, ...]
    lost: LostPart = field(default_factory=LostPart)

    @staticmethod
    def open(sources: Sequence[str | Path], lost: LostPart | None = None) -> Drawings:
        """Open stores as they are, and what stands between two stores (files, folders, doodles) as one cached store.

        With a lost part every SVG and picture is a source of its own, for it is read again without that part.
        """
        if not sources:
            raise UserError("no drawings were given: name drawing files, folders or stores")
        lost = lost or LostPart()
        found: list[Source] = []
        stores: list[Store] = []
        names = list(map(str, sources))
        if lost:
            lost.region  # noqa: B018 (a hole without a size is an error now)
            names = [str(path) for name in names for path in _files_of(name)]
        for alone, group in groupby(names, key=lambda name: _stands_alone(name, bool(lost))):
            together = list(group)
            for own in [[name] for name in together] if alone else [together]:
                store = open_store(own[0] if len(own) == 1 else own)
                if not len(store):
                    raise UserError(f"{own[0]} holds no drawings: leave it out")
                paths = tuple(name if _is_doodles(name) else str(Path(name).absolute()) for name in own)
                found.append(Source(paths, store.hash, len(store)))
                stores.append(store)
        return Drawings(tuple(found), tuple(stores), lost)

    def __len__(self) -> int:
        return sum(map(len, self.stores))

    def __getitem__(self, number: int) -> Sketch:
        source, own = place_of(number, self.sources)
        return self.stores[source][own]

    def damaged(self, number: int) -> Drawable:
        """A drawing without the part that is lost of all of them."""
        if not self.lost:
            return self[number]
        source, own = place_of(number, self.sources)
        path = Path(self.sources[source].paths[0])
        try:
            if len(self.sources[source].paths) == 1 and files.is_traced(path):
                (sketch,) = files.read(path, lost=self.lost.region)
            else:
                sketch = self.stores[source][own]
            return lose(sketch, self.lost.region, self.lost.frame)
        except UserError as error:
            raise UserError(f"{path}, drawing {own + 1}: {error}") from error


def readable(sources: Sequence[str | Path], report: Callable[[str], None]) -> tuple[list[str], list[str]]:
    """The sources without files that cannot be read, and the names of those; `report` receives what is wrong."""
    kept: list[str] = []
    refused: list[str] = []
    for name in (str(own) for source in sources for own in _files_of(str(source))):
        try:
            if not _is_doodles(name) and not is_store(Path(name)):
                for _ in files.read_records(Path(name)):
                    pass
            kept.append(name)
        except UserError as error:
            report(f"left out: {error}")
            refused.append(name)
    if not kept:
        raise UserError(f"none of {len(refused)} sources can be read" if refused else "no drawings were given")
    return kept, refused


def place_of(number: int, sources: Sequence[Source]) -> tuple[int, int]:
    """The source that holds a drawing, and the drawing's number in it."""
    ends = list(accumulate(source.drawings for source in sources))
    if not ends or not 0 <= number < ends[-1]:
        raise IndexError(f"there is no drawing {number}")
    source = bisect_right(ends, number)
    return source, number - (ends[source] - sources[source].drawings)


def _files_of(name: str) -> list[Path] | list[str]:
    """The files of a folder; anything else as it is."""
    path = Path(name)
    return drawing_files([path]) if not _is_doodles(name) and path.is_dir() and not is_store(path) else [name]


def _stands_alone(name: str, damaged: bool) -> bool:
    return _is_doodles(name) or is_store(Path(name)) or (damaged and files.is_traced(Path(name)))


def _is_doodles(name: str) -> bool:
    return name.partition(":")[0] == "doodles"
