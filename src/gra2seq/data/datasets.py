"""Named sets of drawings, and one function that opens any source as train, valid and test.

A source is a store, a drawing file, several, a folder of `<category>.ndjson.gz` or `<category>.npz` files, or
`doodles[:COUNT[:SEED]]`. Everything but a store is turned into one once and kept in the cache folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gra2seq.data import doodles
from gra2seq.data.cache import cached_store, default_cache
from gra2seq.data.splits import with_splits
from gra2seq.data.store import Indices, Store
from gra2seq.data.store_format import HEADER
from gra2seq.data.store_writer import Progress
from gra2seq.errors import UserError, unknown_name
from gra2seq.formats import files
from gra2seq.formats.record import Record
from gra2seq.formats.registry import readable_suffixes
from gra2seq.sketch.strokes import BOX

DOODLES = 10_000  # train doodles if no count is given
PICTURES = (".png", ".jpg", ".jpeg")
WANTED = "name a drawing file, a folder of them, a store, or doodles:1000"


@dataclass(frozen=True)
class Selection:
    """Which part of a source a named set is: the first drawings of each category, in file order."""

    categories: tuple[str, ...] | None  # None: every category there is
    train_limit: int | None = None  # a category
    test_limit: int | None = None


_DS1 = ("bee", "bus", "flower", "giraffe", "pig")
_CHINA = "The Great Wall of China"
_DS2 = ("airplane", "angel", "apple", "butterfly", "bus", "cake", "fish", "spider", _CHINA, "umbrella")
_DS3 = (*_DS1, "car", "cat", "horse")
_OPEN8 = ("bird", "car", "cat", "dog", "duck", "elephant", "flamingo", "horse")

# DS1 to DS3 are the paper's: all of sketch-rnn's files, 70,000 / 2,500 / 2,500 drawings a category.
# The small ones have the same categories in collections of a few hundred drawings each.
NAMED = {
    "DS1": Selection(_DS1),
    "DS2": Selection(_DS2),
    "DS3": Selection(_DS3),
    "DS1-small": Selection(_DS1, test_limit=100),
    "DS2-small": Selection(_DS2, test_limit=100),
    "DS3-small": Selection(_DS3, test_limit=100),
    "OPEN8": Selection(_OPEN8, train_limit=2000, test_limit=250),
    "ALL": Selection(None),
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Drawings for training and judging: a store, and which of its sketches serve for what."""

    name: str
    store: Store
    train: Indices
    valid: Indices
    test: Indices
    unit: float | None = None  # a scale that is not its own: of a model that learns on from another

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Those that occur, in the store's order."""
        codes = np.unique(self.store.category_index[self._every])
        return tuple(self.store.categories[code] for code in codes)

    @cached_property
    def scale(self) -> float:
        """What offsets are divided by: their standard deviation in train (in all, if train is empty).

        Of sketches as they are drawn, longer side `BOX`: whatever units a file has, a model sees the same.
        """
        if self.unit is not None:
            return self.unit
        return self.store.offset_scale(self.train if len(self.train) else self._every, BOX)

    def describe(self) -> dict[str, Any]:
        """What a run's manifest keeps of it."""
        return {
            "name": self.name,
            "store": self.store.hash,
            "categories": list(self.categories),
            "train": len(self.train),
            "valid": len(self.valid),
            "test": len(self.test),
            "scale": self.scale,
        }

    @property
    def _every(self) -> Indices:
        return np.concatenate([self.train, self.valid, self.test])


def selection(name: str) -> Selection:
    """The named set, in any case of letters."""
    return NAMED[proper_name(name)]


def proper_name(name: str) -> str:
    """ds1 is DS1."""
    for known in NAMED:
        if known.casefold() == name.casefold():
            return known
    raise unknown_name("data set", name, NAMED)


def open_dataset(  # noqa: PLR0913 - public: each is an independent choice of the user
    source: str | Path | Sequence[str | Path],
    *,
    name: str | None = None,
    categories: Sequence[str] | None = None,
    train_limit: int | None = None,
    valid_limit: int | None = None,
    test_limit: int | None = None,
    labels: bool = False,
    simplify: bool | None = None,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Open drawings as train, valid and test.

    `name` is one of `NAMED`, or choose `categories` yourself; limits are drawings a category. `labels` and
    `simplify` are those of `gra2seq.read`. Drawings that come without a split get one by a hash of their
    category and key (of their points, if there is no key): 90 % train, 5 % valid, 5 % test, always the same.
    """
    if name is not None and categories is not None:
        raise UserError("give the name of a set or categories, not both")
    if categories is not None and not categories:
        raise UserError("the list of categories is empty: name at least one")
    chosen = selection(name) if name is not None else Selection(tuple(categories) if categories else None)
    if train_limit is None:
        train_limit = chosen.train_limit
    if test_limit is None:
        test_limit = chosen.test_limit
    store = open_store(
        source, categories=chosen.categories, labels=labels, simplify=simplify, cache=cache, progress=progress
    )
    dataset = Dataset(
        name=proper_name(name) if name else _title(source),
        store=store,
        train=store.indices("train", chosen.categories, train_limit),
        valid=store.indices("valid", chosen.categories, valid_limit),
        test=store.indices("test", chosen.categories, test_limit),
    )
    if not any(map(len, (dataset.train, dataset.valid, dataset.test))):
        raise UserError(f"{dataset.name}: no drawing of the chosen categories is in train, valid or test")
    return dataset


def open_store(
    source: str | Path | Sequence[str | Path],
    *,
    categories: Sequence[str] | None = None,
    labels: bool = False,
    simplify: bool | None = None,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> Store:
    """The store of a source, made in the cache if need be.

    In a folder with one file a category, only the files of `categories` are read.
    """
    cache = Path(cache) if cache is not None else default_cache()
    if isinstance(source, str) and source.partition(":")[0] == "doodles":
        return _doodle_store(source, categories or doodles.CATEGORIES, cache, progress)
    sources = [Path(one) for one in ([source] if isinstance(source, str | Path) else source)]
    if len(sources) == 1 and is_store(sources[0]):
        return Store.open(sources[0])
    paths = drawing_files(sources, categories)
    key = ["files", labels, simplify, [_fingerprint(path) for path in paths]]

    def records() -> Iterator[Record]:
        for path in paths:
            yield from files.read_records(path, labels=labels, simplify=files.for_collection(path, simplify))

    return cached_store(cache, _title(source), key, lambda: with_splits(records()), progress)


def is_store(path: Path) -> bool:
    return path.suffix == ".store" or (path / HEADER).is_file()


def drawing_files(sources: Iterable[Path], categories: Sequence[str] | None = None) -> list[Path]:
    """The files named, and those in the folders named, sorted by name."""
    paths: list[Path] = []
    for source in sources:
        if not source.exists():
            raise UserError(f"{source} does not exist: {WANTED}")
        if is_store(source):
            raise UserError(f"{source} is a store: it cannot be opened together with other sources")
        paths += _files_in(source, categories) if source.is_dir() else [source]
    if not paths:
        raise UserError(f"no source was given: {WANTED}")
    return paths


def _files_in(folder: Path, categories: Sequence[str] | None) -> list[Path]:
    """The drawing files of a folder. Hidden files are skipped: they may be left from a write that was killed.

    Pictures are taken only where there is nothing else, because beside drawings they are most likely previews.
    """
    suffixes = readable_suffixes()
    shown = [path for path in folder.iterdir() if not path.name.startswith(".")]
    paths = sorted(path for path in shown if path.name.lower().endswith(suffixes) and path.is_file())
    paths = [path for path in paths if not path.name.lower().endswith(PICTURES)] or paths
    if not paths:
        raise UserError(f"{folder} holds no drawing file ({', '.join(suffixes)})")
    by_category: dict[str, list[Path]] = {}
    for path in paths:
        by_category.setdefault(_stem(path), []).append(path)
    if categories is None or not any(name in by_category for name in categories):
        return paths  # not sorted by category: each file may hold several
    for name in categories:
        if name not in by_category:
            raise unknown_name("category", name, by_category, f"in {folder}")
    return [path for name in sorted(set(categories)) for path in by_category[name]]


def _doodle_store(source: str, categories: Sequence[str], cache: Path, progress: Progress | None) -> Store:
    match = re.fullmatch(r"doodles(?::(\d{1,9}))?(?::(\d{1,9}))?", source)
    count, seed = (int(match[1] or DOODLES), int(match[2] or 0)) if match else (0, 0)
    if not count:
        raise UserError(f"{source!r} is not understood: write doodles, doodles:COUNT or doodles:COUNT:SEED")
    for name in categories:
        if name not in doodles.CATEGORIES:
            raise unknown_name("category", name, doodles.CATEGORIES, "among the doodles")
    few = max(count // 10, len(categories))  # at least one of each
    counts = {"train": count, "valid": few, "test": few}

    def records() -> Iterator[Record]:
        for number, (split, many) in enumerate(counts.items()):
            own_seed = len(counts) * seed + number
            for sketch in doodles.doodles(many, categories=categories, seed=own_seed):
                yield Record(split, sketch)

    total = sum(counts.values())
    report = (lambda done, _: progress(done, total)) if progress else None
    rules = hashlib.sha256()  # other rules draw other doodles
    for path in sorted(Path(doodles.__file__).parent.glob("*.py")):
        rules.update(path.read_bytes())
    key = ["doodles", count, seed, list(categories), rules.hexdigest()]
    return cached_store(cache, f"doodles-{count}", key, records, report)


def _fingerprint(path: Path) -> tuple[str, int, int]:
    try:
        about = path.stat()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    return str(path.resolve()), about.st_size, about.st_mtime_ns


def _title(source: str | Path | Sequence[str | Path]) -> str:
    """What the data are called, also in names of files: cat, cat+car, cat+2-more."""
    if isinstance(source, str) and source.partition(":")[0] == "doodles":
        return source
    every = [source] if isinstance(source, str | Path) else list(source)
    first, *more = (_stem(Path(one).absolute()) for one in every or ["none"])
    return first if not more else f"{first}+{more[0]}" if len(more) == 1 else f"{first}+{len(more)}-more"


def _stem(path: Path) -> str:
    """File name without its suffixes; dots inside a category's name stay."""
    for suffix in sorted(readable_suffixes(), key=len, reverse=True):
        if path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return path.stem if path.suffix == ".store" else path.name
