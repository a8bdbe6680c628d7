"""Build a gallery from codes files: all shards of one encoding, or of several by the same model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gra2seq.errors import UserError, unknown_name
from gra2seq.search import ann, exact
from gra2seq.search.codes import CHUNK, Codes, CodesWriter, checksum, companions
from gra2seq.search.drawings import Source
from gra2seq.search.gallery import CODES, EXACT, HEADER, INDEX, IVF_PQ, KEY_STARTS, KEYS, NORMS, Gallery, GalleryHeader
from gra2seq.search.headers import write_header
from gra2seq.search.keys import Key
from gra2seq.system.atomic_files import atomic_folder

AUTO = "auto"
METHODS = (AUTO, EXACT, IVF_PQ)
MAX_EXACT = 1_000_000  # codes up to which `auto` searches exactly: some 60 ms a query

Report = Callable[[str], None]


@dataclass(frozen=True)
class _Group:
    """The codes of the same drawings, all shards in order."""

    sources: tuple[Source, ...]
    parts: tuple[Codes, ...]


def build_gallery(
    paths: Sequence[str | Path],
    out: str | Path,
    method: str = AUTO,
    *,
    replace: bool = False,
    report: Report = lambda _: None,
) -> Gallery:
    """Write the gallery of some codes files to the folder `out`, completely or not at all.

    `auto` searches exactly up to a million codes, and by IVF-PQ beyond. Every byte of the codes is verified.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if not paths:
        raise UserError("no codes were given: name the .npy files that `gra2seq encode` wrote")
    groups = _complete_groups([Codes.open(path) for path in paths])
    parts = [part for group in groups for part in group.parts]
    rows = sum(part.header.rows for part in parts)
    if method == AUTO:
        method = EXACT if rows <= MAX_EXACT else IVF_PQ
    if method == IVF_PQ:
        ann.require_faiss()
    for part in parts:
        part.verify()
    with atomic_folder(out, replace=replace) as folder:
        chunks = _write_codes(folder, parts, rows)
        key_bytes = _write_keys(folder, groups, rows)
        codes = np.load(folder / CODES, mmap_mode="c", allow_pickle=False).view(np.ndarray)
        norms = exact.squared_norms(codes)
        np.save(folder / NORMS, norms)
        tuning = None
        if method == IVF_PQ:
            report(f"building an IVF-PQ index of {rows:,} codes")
            tuning = ann.build(codes, norms, folder / INDEX)
            report(f"recall@{ann.RECALL_AT} against exact search: {tuning.recall:.3f}, {tuning.probes} lists searched")
        header = GalleryHeader(
            parts[0].header.model,
            tuple(source for group in groups for source in group.sources),
            rows,
            parts[0].header.code,
            parts[0].header.dtype,
            chunks,
            checksum(norms),
            key_bytes,
            method,
            tuning,
        )
        write_header(folder / HEADER, header.as_json())
    return Gallery.open(out)


def _complete_groups(parts: Sequence[Codes]) -> list[_Group]:
    """Sort codes files by what they were made of; every shard must be there, and none twice."""
    first = parts[0]
    groups: dict[tuple[Source, ...], list[Codes]] = {}
    for part in parts:
        if part.header.model != first.header.model:
            raise UserError(f"{first.path} and {part.path} are codes of different models: encode both with the same")
        if (part.header.code, part.header.dtype) != (first.header.code, first.header.dtype):
            raise UserError(f"{first.path} and {part.path} differ in --precision: encode both with the same")
        if part.header.lost != first.header.lost:
            raise UserError(f"{first.path} and {part.path} differ in --hole or --frame: encode both with the same")
        groups.setdefault(part.header.sources, []).append(part)
    return [_Group(sources, _all_shards(found)) for sources, found in groups.items()]


def _all_shards(parts: Sequence[Codes]) -> tuple[Codes, ...]:
    ordered = sorted(parts, key=lambda part: part.header.first)
    total, of, start = ordered[0].header.total, ordered[0].header.shard.of, 0
    for before, part in zip([None, *ordered], ordered, strict=False):
        if before is not None and part.header.first == before.header.first:
            raise UserError(f"{before.path} and {part.path} hold the same drawings: name each shard once")
        if part.header.shard.of != of or part.header.block != ordered[0].header.block:
            raise UserError(f"{ordered[0].path} and {part.path} are not shards of the same division: name one division")
    present = {part.header.shard.number for part in ordered}
    missing = sorted(set(range(1, of + 1)) - present)
    if missing:
        names = ", ".join(f"{number}/{of}" for number in missing[:5]) + (" …" if len(missing) > 5 else "")
        raise UserError(f"shard {names} of {ordered[0].path} is missing: encode it (--shard) and name it too")
    for part in ordered:
        if part.header.first != start:
            raise UserError(f"{part.path} begins with drawing {part.header.first} instead of {start}: encode it again")
        start += part.header.rows
    if start != total:
        raise UserError(f"{ordered[0].path}: {start} of {total} drawings are encoded: encode them again")
    return tuple(ordered)


def _write_codes(folder: Path, parts: Sequence[Codes], rows: int) -> tuple[int, ...]:
    header = parts[0].header
    with CodesWriter(folder / CODES, rows, header.code, header.dtype) as writer:
        for part in parts:
            for start in range(0, len(part.array), CHUNK):
                writer.append(part.array[start : start + CHUNK])
    return tuple(writer.checksums)


def _write_keys(folder: Path, groups: Sequence[_Group], rows: int) -> int:
    """Join the key files, with sources counted over all groups; returns the bytes written."""
    starts = np.zeros(rows + 1, np.int64)
    row, shift = 0, 0
    with (folder / KEYS).open("wb") as out:
        for group in groups:
            for part in group.parts:
                keys, _ = companions(part.path)
                with keys.open("rb") as lines:
                    for line in lines:
                        own = line if not shift else _shifted(line, shift, keys)
                        out.write(own)
                        row += 1
                        if row > rows:
                            break
                        starts[row] = starts[row - 1] + len(own)
            shift += len(group.sources)
    if row != rows:
        raise UserError(f"the key files have {row} lines for {rows} codes: encode the drawings again")
    np.save(folder / KEY_STARTS, starts)
    return int(starts[-1])


def _shifted(line: bytes, shift: int, path: Path) -> bytes:
    try:
        key = Key.of_line(line)
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}): encode the drawings again") from error
    return Key(key.source + shift, key.number, key.category, key.key).line()
