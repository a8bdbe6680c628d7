"""Approximate search among many millions of codes by faiss: inverted lists of product-quantised codes (IVF-PQ).

The index proposes candidates; they are compared again by the exact codes on disk. How many lists are searched is chosen
when the index is built, as the fewest that reach the wanted recall on a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.search import exact
from gra2seq.sketch.strokes import Doubles, Floats, Ints

LISTS_PER_ROOT = 4  # lists for each unit of the root of the number of codes, as faiss recommends
TRAINING_PER_LIST = 64  # codes that a list is learnt from; faiss warns below 39
BYTES_PER_CODE = 32  # of a quantised code, at most: one byte for every 4 numbers of 128
CANDIDATES = 30  # for each code wanted
MAX_PROBES = 1024  # lists that are searched at most
RECALL_AT, RECALL_WANTED = 10, 0.95
RECALL_QUERIES = 200  # sampled codes, each looked for among all the others
SEED = 0
ADD_ROWS = 1 << 16  # codes that are added at a time


@dataclass(frozen=True)
class Tuning:
    """How an index is searched, and how good that is."""

    probes: int  # lists
    recall: float  # share of the true `RECALL_AT` nearest that are found


def require_faiss() -> Any:
    """The faiss module, or the error that says how to get it."""
    if find_spec("faiss") is None:
        raise UserError("an approximate index needs faiss: pip install 'gra2seq[search]', or give --method exact")
    import faiss

    return faiss


def build(codes: NDArray[Any], norms: Floats, path: Path) -> Tuning:
    """Write an IVF-PQ index of all codes; returns how to search it."""
    faiss = require_faiss()
    rows, width = codes.shape
    lists = max(1, min(int(LISTS_PER_ROOT * rows**0.5), rows // TRAINING_PER_LIST))
    parts = max(part for part in range(1, BYTES_PER_CODE + 1) if width % part == 0)
    if rows < 1 << 8:
        raise UserError(f"{rows} codes are too few for an approximate index: give --method exact")
    # np: without polysemous training, minutes of sorting centroids for a filter that is not used here
    index = faiss.index_factory(width, f"IVF{lists},PQ{parts}np")
    chosen = np.random.default_rng(SEED).choice(rows, min(rows, TRAINING_PER_LIST * lists), replace=False)
    index.train(codes[np.sort(chosen)].astype(np.float32))
    for start in range(0, rows, ADD_ROWS):
        index.add(codes[start : start + ADD_ROWS].astype(np.float32))
    faiss.write_index(index, str(path))
    return _tuned(index, codes, norms)


def load(path: Path, rows: int, width: int) -> Any:
    """An index from its file, memory-mapped."""
    faiss = require_faiss()
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    except RuntimeError as error:
        raise UserError(f"{path} is damaged or missing: build the gallery again with `gra2seq index`") from error
    if index.ntotal != rows or index.d != width:
        raise UserError(f"{path} is not the index of these codes: build the gallery again with `gra2seq index`")
    return index


def nearest(index: Any, queries: Floats, codes: NDArray[Any], k: int, probes: int) -> tuple[Ints, Doubles]:
    """As `exact.nearest`, of the candidates that the index proposes; if they are few, -1 and infinity follow."""
    faiss = require_faiss()
    wanted = min(k * CANDIDATES, len(codes))
    how = faiss.SearchParametersIVF(nprobe=max(probes, min(index.nlist, k * probes // RECALL_AT)))
    _, proposed = index.search(np.ascontiguousarray(queries, np.float32), wanted, params=how)
    numbers, distances = np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), np.inf)
    for row, own in enumerate(proposed):
        found, far = exact.ranked(queries[row], codes, own[own >= 0], k)
        numbers[row, : len(found)], distances[row, : len(found)] = found, far
    return numbers, distances


def _tuned(index: Any, codes: NDArray[Any], norms: Floats) -> Tuning:
    """The fewest lists, by doubling, that reach the wanted recall on a sample; or the most that are allowed."""
    sample = np.sort(np.random.default_rng(SEED + 1).choice(len(codes), min(len(codes), RECALL_QUERIES), replace=False))
    queries = codes[sample].astype(np.float32)
    k = min(RECALL_AT + 1, len(codes))  # the first is the query itself
    true, _ = exact.nearest(queries, codes, norms, k)
    probes = 1
    while True:
        found, _ = nearest(index, queries, codes, k, probes)
        recall = _recall(true, found, sample)
        if recall >= RECALL_WANTED or probes >= min(MAX_PROBES, index.nlist):
            return Tuning(probes, recall)
        probes = min(2 * probes, MAX_PROBES, index.nlist)


def _recall(true: Ints, found: Ints, own: Ints) -> float:
    """Share of the true nearest that are found, the query itself left out."""
    shares = [
        len((set(one.tolist()) & set(other.tolist())) - {number}) / max(len(set(one.tolist()) - {number}), 1)
        for one, other, number in zip(true, found, own.tolist(), strict=True)
    ]
    return float(np.mean(shares))
