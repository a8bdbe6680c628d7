"""Counts of the drawings in files, and their conversion to other formats: `gra2seq data info|convert`."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.data.datasets import drawing_files, is_store, open_store
from gra2seq.data.offset_scale import scale_of
from gra2seq.data.splits import with_splits
from gra2seq.data.store import Store
from gra2seq.data.store_format import SPLITS
from gra2seq.data.store_writer import Progress, write_store
from gra2seq.errors import UserError
from gra2seq.formats import files
from gra2seq.formats.record import Record
from gra2seq.sketch import render
from gra2seq.sketch.render import printable
from gra2seq.sketch.simplify import quickdraw_simplify
from gra2seq.sketch.strokes import Sketch

LONG = 250  # points: what the paper's decoder takes at most
SHEET_COLUMNS, SHEET_ROWS = 10, 40  # of the contact sheet: drawings a category, categories
UNSPLIT = "none"  # how a drawing without a split is counted
REPORT_EVERY = 5000  # drawings


def describe(
    paths: str | Path | Sequence[str | Path],
    contact_sheet: str | Path | None = None,
    *,
    labels: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Counts of the drawings in files, folders or stores; the sheet (.png) shows the first of each category."""
    if contact_sheet is not None:
        if Path(contact_sheet).suffix.lower() != ".png":
            raise UserError(f"{contact_sheet}: the sheet is a PNG picture, its name must end in .png")
        files.check_target(contact_sheet)
    facts = _Facts()
    for path in _sources(paths):
        for number, (split, sketch) in enumerate(records_of(path, labels=labels), 1):
            facts.add(str(path), split, sketch)
            if progress and number % REPORT_EVERY == 0:
                progress(facts.sketches, None)
    if not facts.sketches:
        raise UserError("there is no drawing in what was given")
    if contact_sheet is not None:
        rows = sorted(facts.first.items())
        sheet = render.contact_sheet([row for _, row in rows], labels=[name or "?" for name, _ in rows])
        render.write_png(Path(contact_sheet), sheet)
    return facts.summary()


def in_words(found: dict[str, Any]) -> str:
    """What `describe` found, for people."""

    def row(name: str, counts: dict[str, int]) -> str:
        cells = [counts["total"], *(counts.get(split, 0) for split in columns)]
        return f"{printable(name) or '?':>30} " + "".join(f"{cell:>10,}" for cell in cells)

    columns = [*SPLITS[1:], UNSPLIT] if UNSPLIT in found["splits"] else list(SPLITS[1:])
    lines = [" " * 31 + "".join(f"{title:>10}" for title in ("drawings", *columns))]
    lines += [row(Path(path).name, counts) for path, counts in found["files"].items()]
    if len(found["categories"]) > 1 or len(found["files"]) > 1:
        lines += ["", *(row(name, counts) for name, counts in found["categories"].items())]
        lines += ["", row("together", {"total": found["sketches"], **found["splits"]})]
    lines.append("")
    for name in ("points", "strokes"):
        spread = ", ".join(f"{which} {value:.4g}" for which, value in found[name].items())
        lines.append(f"{name + ' a drawing':>30}  {spread}")
    lines.append(f"{f'more than {LONG} points':>30}  {found['over_250_points']:,}")
    lines.append(f"{'drawn twice':>30}  {found['duplicates']:,}")
    lines.append(f"{'scale of the offsets':>30}  {found['scale']:.4g}")
    lines.append(f"{'with part labels':>30}  {found['labelled']:,}")
    for category, parts in found["parts"].items():
        counted = ", ".join(f"{printable(part)} {many:,}" for part, many in parts.items())
        lines.append(f"{printable(category):>30}  {counted}")
    return "\n".join(lines)


def convert(
    sources: str | Path | Sequence[str | Path],
    target: str | Path,
    *,
    simplify: bool | None = None,
    split: str | None = None,
    labels: bool = False,
    progress: Progress | None = None,
) -> tuple[int, list[Path]]:
    """Write the drawings of `sources` as `target`; returns how many they are and the files or store made.

    The suffix of the target is its format; `.store` or none at all means a store, in which drawings without a split
    get one (see `open_dataset`). With `split`, only the drawings of that split are taken.
    """
    target = Path(target)
    if split is not None and split not in SPLITS:
        raise UserError(f"there is no split {split!r}: choose train, valid, test or '' (not assigned)")
    to_store = target.suffix in (".store", "")
    count = 0

    def records() -> Iterator[Record]:
        nonlocal count
        for path in _sources(sources):
            found = records_of(path, labels=labels, simplify=files.for_collection(path, simplify))
            for record in with_splits(found) if to_store else found:
                if split is None or split == record.split:
                    count += 1
                    yield record
                    if progress and count % REPORT_EVERY == 0:
                        progress(count, None)

    if to_store:
        write_store(target, records())
        return count, [target]
    files.check_target(target)
    found = records()
    first = list(islice(found, 1))
    if not first:
        raise UserError(f"{target} is not written: there is no drawing to put into it; check the files and the split")
    written = files.write(target, chain(first, found))
    return count, written


def labelled(sources: str | Sequence[str], limit: int) -> list[Sketch]:
    """Drawings with part labels, at most `limit` of each source: files whose third list is the label, or doodles."""
    sketches: list[Sketch] = []
    for source in [sources] if isinstance(sources, str) else sources:
        if source.split(":")[0] == "doodles":
            store = open_store(source)
            sketches += [store[i] for i in store.indices("test")[:limit].tolist()]
        else:
            for path in _sources(source):
                sketches += [sketch for _, sketch in islice(records_of(path, labels=True), limit)]
    return sketches


def _sources(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    every = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    if not every:
        raise UserError("no file was given: name at least one")
    return [file for path in every for file in ([path] if is_store(path) else drawing_files([path]))]


def records_of(path: Path, *, labels: bool = False, simplify: bool | None = None) -> Iterable[Record]:
    """The drawings of a file or of a store, each with its split."""
    if not is_store(path):
        return files.read_records(path, labels=labels, simplify=simplify)
    records = Store.open(path).records()
    return (Record(split, quickdraw_simplify(sketch)) for split, sketch in records) if simplify else records


@dataclass
class _Facts:
    """Running counts; memory grows by 8 bytes a drawing (the hashes that find duplicates)."""

    sketches: int = 0
    files: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    categories: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    splits: Counter[str] = field(default_factory=Counter)
    points: Counter[int] = field(default_factory=Counter)
    strokes: Counter[int] = field(default_factory=Counter)
    parts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    labelled: int = 0
    hashes: array[int] = field(default_factory=lambda: array("q"))
    moments: dict[str, NDArray[np.float64]] = field(default_factory=lambda: defaultdict(lambda: np.zeros(3)))
    first: dict[str, list[Sketch]] = field(default_factory=lambda: defaultdict(list))

    def add(self, path: str, split: str, sketch: Sketch) -> None:
        split = split or UNSPLIT
        self.sketches += 1
        self.files[path][split] += 1
        self.categories[sketch.category][split] += 1
        self.splits[split] += 1
        self.points[len(sketch)] += 1
        self.strokes[len(sketch.lengths)] += 1
        if sketch.parts:
            self.labelled += 1
            self.parts[sketch.category].update(sketch.parts)
        content = hashlib.blake2b(sketch.points.tobytes(), digest_size=8)
        content.update(sketch.lengths.tobytes())
        self.hashes.append(int.from_bytes(content.digest(), "big", signed=True))
        offsets = np.diff(sketch.points, axis=0).astype(np.float64).ravel()
        self.moments[split] += (offsets.size, offsets.sum(), np.square(offsets).sum())
        row = self.first[sketch.category] if len(self.first) < SHEET_ROWS else self.first.get(sketch.category)
        if row is not None and len(row) < SHEET_COLUMNS:
            row.append(sketch)

    def summary(self) -> dict[str, Any]:
        return {
            "sketches": self.sketches,
            "files": {path: _counts(splits) for path, splits in self.files.items()},
            "categories": {name: _counts(splits) for name, splits in sorted(self.categories.items())},
            "splits": dict(self.splits),
            "points": _spread(self.points),
            "strokes": _spread(self.strokes),
            "over_250_points": sum(many for points, many in self.points.items() if points > LONG),
            "duplicates": self.sketches - len(np.unique(np.frombuffer(self.hashes, np.int64))),
            "scale": self.scale(),
            "labelled": self.labelled,
            "parts": {name: dict(parts.most_common()) for name, parts in sorted(self.parts.items())},
        }

    def scale(self) -> float:
        """As `store.offset_scale`: of the train drawings, or of all if there are none."""
        chosen = [self.moments["train"]] if "train" in self.moments else list(self.moments.values())
        return scale_of(*np.sum(chosen, axis=0).tolist())


def _counts(splits: Counter[str]) -> dict[str, int]:
    return {"total": splits.total(), **splits}


def _spread(counts: Counter[int]) -> dict[str, float]:
    """Of a histogram: ends, mean, and two quantiles (the least value with that share at or below it)."""
    values = np.array(sorted(counts))
    many = np.array([counts[value] for value in values.tolist()])
    below = np.cumsum(many) / many.sum()
    return {
        "min": int(values[0]),
        "mean": float((values * many).sum() / many.sum()),
        "median": int(values[np.searchsorted(below, 0.5)]),
        "p95": int(values[np.searchsorted(below, 0.95)]),
        "max": int(values[-1]),
    }
