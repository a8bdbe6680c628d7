"""Ret@k: the share of redrawn sketches that have the sketch they were drawn from among the k nearest codes.

A query's rank is the number of gallery codes, other than its target, that are as near as the target or nearer: ties
are broken against us. Distances are compared, never listed: blocks of queries meet tiles of the gallery in one matrix
product, so memory stays flat, and only what a product cannot decide because of rounding is computed exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Doubles, Ints

SAMPLE = 1024  # queries on which first looks are tried
BLOCK = 2048  # queries, and gallery codes, of one product: 16 MB
FIRST_LOOKS = (16, 32, 48, 64)  # numbers of leading principal directions that may be compared first
OVERHEAD = 16  # what a first look costs beside its product, in directions of a tile
PAIR_COST = 32  # of a pair that is computed exactly, in the same measure
PAIRS_PER_QUERY = 3  # more of them, and the whole product is cheaper
TIE = 1e-12  # squared distances that differ by less than this share are equal
PAIRS = 1 << 15  # computed exactly at a time: 32 MB of differences at 128 numbers a code
DOUBTS_PER_QUERY = 16  # in a tile, on average; more of them, and the tile is multiplied again in double precision
TINY = float(np.finfo(np.float32).tiny)
SINGLE, DOUBLE = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)


def ranks(
    queries: ArrayLike,
    gallery: ArrayLike,
    targets: ArrayLike | None = None,
    block: int = BLOCK,
    most: int | None = None,
) -> Ints:
    """For each query the number of gallery codes other than its target that are as near as the target or nearer. (n,)

    `targets` are the numbers of the targets in the gallery; without them query i looks for gallery code i. With
    `most` counting stops there: a rank of `most` or more is given as `most`. That saves nearly all the work on
    queries that have lost their target.
    """
    search = _Search.of(_codes(queries, "query"), _codes(gallery, "gallery"), targets)
    limit = int(search.times.sum()) if most is None else most
    count = np.full(len(search.queries), -1, np.int64)  # the target finds itself
    active = np.arange(len(count))
    look_pays, crowded = search.first_look is not None, False
    for number, start in enumerate(range(0, len(search.gallery), block)):
        tile = slice(start, min(start + block, len(search.gallery)))
        active = active[count[active] < limit]
        looking = search.first_look is not None and (look_pays or number % 8 == 0)
        left = 0
        for first in range(0, len(active), block):
            who = active[first : first + block]
            if looking:
                near = search.look_at(who, tile)
                if near.pairs is not None:
                    row, column = near.pairs
                    count[who] += search.exactly(who, row, column + tile.start)
                    continue
                who = who[near.rows]
                left += len(who)
            if len(who):
                more, crowded = search.nearer(who, tile, crowded and first > 0)
                count[who] += more
        if looking:
            look_pays = left < len(active) / 2
    return np.minimum(count, limit)


def exact_squares(queries: Doubles, gallery: Doubles) -> Doubles:
    """Squared distances of rows, in double precision and always in the same order: equal codes, equal distances."""
    way = queries - gallery
    squares: Doubles = np.square(way, out=way).sum(axis=1)
    return squares


@dataclass(frozen=True)
class _Near:
    """Pairs that a first look cannot exclude, by the places of queries in a block and of codes in a tile."""

    rows: Ints  # queries that have such codes
    pairs: tuple[Ints, Ints] | None  # each with its code, if they are few: then the pairs are looked at, not all


@dataclass(frozen=True)
class _Search:
    """Queries and distinct gallery codes, ready to be compared.

    With everything seen from the middle of the gallery, half of d² - |q|² is |g|²/2 - q·g: one product gives it, and
    a code is nearer than the target where it is smaller than the target's, `bar`.
    """

    queries: Doubles  # (n, D) as given, times a power of two
    gallery: Doubles  # (m, D) distinct codes
    times: Ints  # (m,) how often each occurs
    squares: Doubles  # (n,) squared distance of each query to its target
    bar: Doubles  # (n,)
    middle: Doubles  # (D,)
    query_norm: Doubles  # (n,) from the middle
    gallery_norm: Doubles  # (m,)
    query_rows: Tensor  # (n, D + 1) [-q, 1]
    gallery_rows: Tensor  # (m, D + 1) [g, |g|²/2]
    first_look: tuple[Tensor, Tensor] | None  # the same for the leading directions, the rest by its norm: a lower bound

    @staticmethod
    def of(queries: Doubles, gallery: Doubles, targets: ArrayLike | None) -> _Search:
        target = np.arange(len(queries)) if targets is None else np.asarray(targets)
        # Powers of two change no digit, and keep squares far from overflow.
        largest = max(float(np.abs(gallery).max(initial=0)), float(np.abs(queries).max(initial=0)))
        shift = -math.frexp(largest)[1]
        queries, gallery = np.ldexp(queries, shift), np.ldexp(gallery, shift)
        squares = np.empty(len(queries))
        for start in range(0, len(queries), PAIRS):
            part = slice(start, start + PAIRS)
            squares[part] = exact_squares(queries[part], gallery[target[part]])
        gallery, times = _distinct(gallery)
        middle = gallery.mean(axis=0)
        centred = gallery - middle
        directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]  # the widest first
        gallery_norm = np.linalg.norm(centred, axis=1)
        gallery_turned = torch.from_numpy(centred @ directions)
        centred = queries - middle
        query_norm = np.linalg.norm(centred, axis=1)
        query_turned = torch.from_numpy(centred @ directions)
        half = torch.from_numpy(gallery_norm**2 / 2).unsqueeze(1)
        one = torch.ones(len(queries), 1, dtype=torch.float64)
        search = _Search(
            queries,
            gallery,
            times,
            squares,
            (squares - query_norm**2) / 2,
            middle,
            query_norm,
            gallery_norm,
            torch.cat([-query_turned.float(), one.float()], dim=1),
            torch.cat([gallery_turned.float(), half.float()], dim=1),
            None,
        )
        return search._with_cheapest_first_look()

    def _with_cheapest_first_look(self) -> _Search:
        """Few directions are quick to look at, many leave fewer queries for the whole product: tried on a sample."""
        width = len(self.middle)
        best, least = self, float(width)
        if len(self.queries) == 0:
            return best
        who = np.unique(np.linspace(0, len(self.queries) - 1, SAMPLE).astype(np.int64))
        for count in (count for count in FIRST_LOOKS if 2 * count <= width):
            rest = [
                torch.linalg.vector_norm(rows[:, count:width], dim=1, keepdim=True)
                for rows in (self.query_rows, self.gallery_rows)
            ]
            first_look = (
                torch.cat([self.query_rows[:, :count], -rest[0], self.query_rows[:, width:]], dim=1),
                torch.cat([self.gallery_rows[:, :count], rest[1], self.gallery_rows[:, width:]], dim=1),
            )
            near = replace(self, first_look=first_look).look_at(who, slice(0, BLOCK))
            then = width * len(near.rows) if near.pairs is None else PAIR_COST * len(near.pairs[0])
            cost = count + OVERHEAD + then / len(who)
            if cost < least:
                best, least = replace(self, first_look=first_look), cost
        return best

    def look_at(self, who: Ints, tile: slice) -> _Near:
        """Which codes of the tile may be near to these queries. |q·g| of the rest is at most the norms'."""
        assert self.first_look is not None
        values = self.first_look[0][torch.from_numpy(who)] @ self.first_look[1][tile].T
        bar = torch.from_numpy(self.bar[who] + 2 * self._rounding(who, tile, SINGLE)).float().unsqueeze(1)
        rows = torch.nonzero(values.amin(dim=1, keepdim=True) <= bar)[:, 0]  # most have nothing near in most tiles
        near = values[rows] <= bar[rows]
        if int(near.sum()) > PAIRS_PER_QUERY * len(rows):
            return _Near(rows.numpy(), None)
        row, column = torch.nonzero(near, as_tuple=True)
        return _Near(rows.numpy(), (rows[row].numpy(), column.numpy()))

    def exactly(self, who: Ints, row: Ints, column: Ints) -> Ints:
        """How many of these pairs (place in `who`, number in the gallery) are as near as the target, or nearer."""
        count = np.zeros(len(who), np.int64)
        for start in range(0, len(row), PAIRS):
            rows, columns = row[start : start + PAIRS], column[start : start + PAIRS]
            squares = exact_squares(self.queries[who[rows]], self.gallery[columns])
            hit = squares <= self.squares[who[rows]] * (1 + TIE)
            np.add.at(count, rows[hit], self.times[columns[hit]])
        return count

    def nearer(self, who: Ints, tile: slice, crowded: bool) -> tuple[Ints, bool]:
        """How many codes of the tile are as near to each of these queries as its target is, or nearer.

        And whether single precision was of no use, because the codes crowd together, compared to the width of the
        whole gallery: a caller that knows it saves the trial.
        """
        decided = None
        if not crowded:
            values = self.query_rows[torch.from_numpy(who)] @ self.gallery_rows[tile].T  # (n, w)
            decided = self._decide(values, who, tile, SINGLE, most=DOUBTS_PER_QUERY * len(who))
        crowded = decided is None
        if decided is None:
            wide = self.gallery[tile] - self.middle
            values = torch.from_numpy((self.middle - self.queries[who]) @ wide.T)
            values += torch.from_numpy(self.gallery_norm[tile] ** 2 / 2)
            decided = self._decide(values, who, tile, DOUBLE)
            assert decided is not None
        count, (row, column) = decided
        return count + self.exactly(who, row, column + tile.start), crowded

    def _decide(
        self, values: Tensor, who: Ints, tile: slice, eps: float, most: int | None = None
    ) -> tuple[Ints, tuple[Ints, Ints]] | None:
        """Surely nearer codes of each query, and the pairs (row, column) that rounding leaves in doubt.

        None if there are more than `most` such pairs.
        """
        rounding = self._rounding(who, tile, eps)
        low, high = (
            torch.from_numpy(self.bar[who] + sign * rounding).to(values.dtype).unsqueeze(1) for sign in (-1, 1)
        )
        count = np.zeros(len(who), np.int64)
        rows = torch.nonzero(values.amin(dim=1, keepdim=True) <= high)[:, 0]  # most have nothing near in most tiles
        values, low, high = values[rows], low[rows], high[rows]
        sure = values < low
        times = self.times[tile]
        if (times == 1).all():
            count[rows.numpy()] = sure.sum(dim=1).numpy()
        else:
            count[rows.numpy()] = (sure.double() @ torch.from_numpy(times).double()).long().numpy()
        doubt = (values <= high) & ~sure
        if most is not None and int(doubt.sum()) > most:
            return None
        row, column = torch.nonzero(doubt, as_tuple=True)
        return count, (rows[row].numpy(), column.numpy())

    def _rounding(self, who: Ints, tile: slice, eps: float) -> Doubles:
        """More than what rounding can do to a product of D + 2 numbers, to the bar, and to the middle."""
        far = float(self.gallery_norm[tile].max())
        near = self.query_norm[who]
        digits = len(self.middle)
        size = near * far + far**2 + np.abs(self.bar[who])
        # Taking the middle away, and turning, leave an error of the size of the codes themselves (at most 1).
        moved = DOUBLE * digits * 4 * (near + far + DOUBLE * digits)
        bound: Doubles = eps * (digits + 16) * size + moved + DOUBLE * (digits + 16) * near**2 + TINY
        return bound


def _codes(codes: ArrayLike, who: str) -> Doubles:
    array: Doubles = np.asarray(codes, np.float64) + 0.0  # no -0
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(wrong):
        raise UserError(
            f"{len(wrong)} of {len(array)} {who} codes hold NaN or infinite numbers (the first is number {wrong[0]}): "
            "the model has diverged; take an earlier checkpoint or train again with a lower learning rate"
        )
    return array


def _distinct(gallery: Doubles) -> tuple[Doubles, Ints]:
    """Distinct codes, and how often each occurs: a collapsed model gives one code for all.

    In an order that has nothing to do with the codes, so that every tile shows a bit of everything.
    """
    rows = np.ascontiguousarray(gallery).view(np.dtype((np.void, gallery.shape[1] * gallery.itemsize)))[:, 0]
    _, first, times = np.unique(rows, return_index=True, return_counts=True)
    order = np.random.Generator(np.random.PCG64(0)).permutation(len(first))
    return gallery[first[order]], times[order].astype(np.int64)
