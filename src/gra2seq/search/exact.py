"""The nearest codes by comparing with all of them: one pass over memory-mapped codes, block by block.

With |g|² known, the distance of query q and code g needs only the product q·g. A block is turned into single precision
in the processor's cache and multiplied there. The best candidates are compared again in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gra2seq.sketch.strokes import Doubles, Floats, Ints

ROWS = 8192  # codes of a block: 4 MB in single precision at 128 numbers a code; four times as many take 5 times as long
QUERIES = 256  # queries of a block
SPARE = 32  # candidates beyond k: what rounding may have put behind the k-th

Check = Callable[[slice], None]


def squared_norms(codes: NDArray[Any]) -> Floats:
    """|g|² of each code, (N,)."""
    norms = np.empty(len(codes), np.float32)
    for start in range(0, len(codes), ROWS):
        part = torch.from_numpy(codes[start : start + ROWS]).double()
        norms[start : start + ROWS] = part.square().sum(dim=1).numpy()
    return norms


def nearest(
    queries: Floats, codes: NDArray[Any], norms: Floats, k: int, check: Check = lambda _: None
) -> tuple[Ints, Doubles]:
    """Numbers and distances (n, k) of the codes nearest to each query, the nearest first, then by number.

    `check` is called with the rows of each block before they are used.
    """
    found = [
        _nearest(queries[start : start + QUERIES], codes, norms, k, check) for start in range(0, len(queries), QUERIES)
    ]
    return np.concatenate([numbers for numbers, _ in found]), np.concatenate([distances for _, distances in found])


def ranked(query: Floats, codes: NDArray[Any], numbers: Ints, k: int) -> tuple[Ints, Doubles]:
    """The k nearest of some codes, by distances in double precision; equal ones by number."""
    rows = codes[np.sort(numbers)].astype(np.float64)
    distances: Doubles = np.linalg.norm(rows - query, axis=1)
    order = np.argsort(distances, kind="stable")[:k]
    return np.sort(numbers)[order], distances[order]


def _nearest(queries: Floats, codes: NDArray[Any], norms: Floats, k: int, check: Check) -> tuple[Ints, Doubles]:
    count = min(k + SPARE, len(codes))
    factors = torch.from_numpy(-2 * queries)  # (n, D)
    buffer = torch.empty(ROWS, codes.shape[1])
    best = torch.full((len(queries), count), torch.inf)
    numbers = torch.zeros(len(queries), count, dtype=torch.int64)
    for start in range(0, len(codes), ROWS):
        rows = slice(start, min(start + ROWS, len(codes)))
        check(rows)
        half = torch.from_numpy(codes[rows])
        block = buffer[: len(half)].copy_(half)
        scores = _scores(factors, block, torch.from_numpy(norms[rows]))
        best, numbers = _merged(best, numbers, scores, start)
    pairs = [ranked(query, codes, own.numpy(), k) for query, own in zip(queries, numbers, strict=True)]
    return np.stack([found for found, _ in pairs]), np.stack([distances for _, distances in pairs])


def _scores(factors: Tensor, block: Tensor, norms: Tensor) -> Tensor:
    """|g|² - 2 q·g, which orders as the distance does. (n, rows)"""
    if len(factors) == 1:  # a product of matrix and vector takes half the time of one of matrices
        return torch.addmv(norms, block, factors[0]).unsqueeze(0)
    return torch.addmm(norms, factors, block.T)


def _merged(best: Tensor, numbers: Tensor, scores: Tensor, start: int) -> tuple[Tensor, Tensor]:
    """The best of those so far and of a block; most blocks have nothing better for most queries."""
    rows = torch.nonzero(scores.amin(dim=1) < best[:, -1])[:, 0]
    if not len(rows):
        return best, numbers
    count = best.shape[1]
    own, places = torch.topk(scores[rows], min(count, scores.shape[1]), largest=False)
    both = torch.cat([best[rows], own], dim=1)
    order = torch.argsort(both, dim=1, stable=True)[:, :count]
    best[rows] = both.gather(1, order)
    numbers[rows] = torch.cat([numbers[rows], places + start], dim=1).gather(1, order)
    return best, numbers
