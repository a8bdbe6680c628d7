"""Equal blocks get one number, so that the patch CNN sees each distinct block once.

Every convolution of the patch CNN has a 2 x 2 kernel and stride 2, so the feature of a 2^k x 2^k block depends on
its own pixels only. This file gives the distinct blocks of a batch of patches numbers, level by level (hash-consing):
number 0 is the blank block, and a block is identified by the numbers of its four quarters. `nn/patch_cnn.py` computes
with the result; nothing is approximated.

Two products are shared on top of that. A block's feature is a sum over its quarters q of W_q f(quarter), so the
product is made once for each distinct (quarter position, child) *pair*, and blank quarters, whose feature is
exactly 0 when paper is 0, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.canvas import Pixels

Numbers = NDArray[np.int32]
QUARTERS = 4  # top left, top right, bottom left, bottom right
LEAF = 8  # an 8 x 8 block is one 64-bit word
GATHER_BITS = np.uint64(0x0102040810204080)  # multiplies eight bytes of 0/1 into one byte, first pixel lowest


@dataclass(frozen=True)
class Sums:
    """Rows to be added up: bag i is the sum of rows `rows[starts[i]:starts[i + 1]]`."""

    rows: Numbers
    starts: Numbers


@dataclass(frozen=True)
class Level:
    """How the distinct blocks of one size are made from those of half the size."""

    children: Numbers  # (pairs,) block of half the size, grouped by quarter
    quarters: tuple[int, int, int, int]  # how many pairs each quarter position has
    parent_pairs: Sums  # a block's feature is the sum of these pairs' products
    pair_parents: Sums | None  # the same, read backwards, for the gradient
    child_pairs: Sums | None  # which pairs a child is in, for the gradient


@dataclass(frozen=True)
class Blocks:
    """All distinct blocks of a batch of patches, from 4 x 4 up to half a patch, and which patch has which."""

    levels: tuple[Level, ...]  # 4 x 4, 8 x 8, …
    patches: Numbers  # (n, 4) the four blocks of half its size that make a patch

    def __len__(self) -> int:
        return len(self.patches)


@dataclass(frozen=True)
class Leaves:
    """The non-blank 8 x 8 blocks of some patches: where they are and their 64 pixels."""

    places: NDArray[np.int64]  # patch * blocks per patch + row * blocks per side + column
    words: NDArray[np.uint64]
    patches: int
    side: int  # blocks along a patch's side


def leaves(patches: Pixels) -> Leaves:
    """Cut (n, side, side) patches of 0/1 into 8 x 8 blocks and keep those with ink."""
    count, height, _ = patches.shape
    side = height // LEAF
    rows = patches.reshape(-1).view(np.uint64).reshape(count * side, LEAF, side)
    ink = rows[:, :4] | rows[:, 4:]  # halving is faster than one reduction over a short axis
    ink = ink[:, :2] | ink[:, 2:]
    places = np.flatnonzero(ink[:, 0] | ink[:, 1])
    patch_row, column = np.divmod(places, side)
    words = rows[patch_row, :, column]  # (k, 8) a word is eight pixels
    bytes_ = ((words * GATHER_BITS) >> np.uint64(56)).astype(np.uint8)  # (k, 8) a byte is eight pixels
    return Leaves(places, bytes_.view("<u8")[:, 0].astype(np.uint64), count, side)


def together(parts: list[Leaves]) -> Leaves:
    """The leaves of several sketches as those of one row of patches."""
    side = parts[0].side
    before = np.cumsum([0] + [part.patches for part in parts])
    places = [part.places + start * side * side for part, start in zip(parts, before[:-1], strict=True)]
    return Leaves(np.concatenate(places), np.concatenate([p.words for p in parts]), int(before[-1]), side)


def number_blocks(leaves: Leaves, skip_blank: bool = True, gradient: bool = True) -> Blocks:
    """Number the distinct blocks of every size. `skip_blank`: paper is 0, so a blank block's feature is 0.

    What only a gradient needs is left out where there is none.
    """
    words, numbers = np.unique(leaves.words, return_inverse=True)
    words4 = _quarters_of_words(words)  # (n8, 4) 16-bit words of 4 x 4 pixels
    quarters8, distinct4 = _number_small(words4)
    levels = [_quarters_of_nibbles(distinct4), quarters8]  # children of 4 x 4 blocks are 2 x 2 patterns
    counts = [16, len(distinct4) + 1]

    side, places, current = leaves.side, leaves.places, numbers + 1
    while True:
        table = _by_parent(places, current, side, leaves.patches)
        side //= 2
        if side == 1:
            break  # a patch is the maximum over its four quarters, not one more product
        pairs = table.view(np.int64)
        places = np.flatnonzero(pairs[:, 0] | pairs[:, 1])
        counts.append(len(levels[-1]) + 1)
        level, inverse = _number_rows(table[places])
        levels.append(level)
        current = inverse + 1
    built = tuple(
        _level(np.concatenate([np.zeros((1, QUARTERS), np.int32), level]), count, skip_blank, gradient)
        for level, count in zip(levels, counts, strict=True)
    )
    return Blocks(built, table)


def _by_parent(places: NDArray[np.int64], numbers: NDArray[np.int64], side: int, patches: int) -> Numbers:
    """Lay blocks out by the block of twice the size they belong to: (parents, 4), 0 where a quarter is blank."""
    bits = side.bit_length() - 1  # side is a power of two; rows count on through all patches
    row, column = places >> bits, places & (side - 1)
    parents = ((row >> 1) << (bits - 1)) | (column >> 1)
    table = np.zeros(patches * side * side, np.int32)
    table[parents * QUARTERS + (row & 1) * 2 + (column & 1)] = numbers
    return table.reshape(-1, QUARTERS)


def _quarters_of_words(words: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Split 8 x 8 pixels (a byte a row, first pixel lowest) into four 4 x 4 blocks of 16 bits."""
    rows = words.astype("<u8").view(np.uint8).reshape(-1, LEAF).astype(np.uint16)
    shifts = np.array([0, 4, 8, 12], np.uint16)
    quarters = [
        ((half >> np.uint16(shift)) & np.uint16(15)) << shifts
        for half in (rows[:, :4], rows[:, 4:])
        for shift in (0, 4)
    ]
    return np.stack([np.bitwise_or.reduce(quarter, axis=1) for quarter in quarters], axis=1)


def _number_small(words: NDArray[np.uint16]) -> tuple[Numbers, NDArray[np.int64]]:
    """Number 16-bit words by table; 0 stays 0. Returns the numbers and the distinct non-blank words."""
    seen = np.zeros(1 << 16, np.int32)
    seen[words] = 1
    seen[0] = 0
    distinct = np.flatnonzero(seen)
    seen[distinct] = np.arange(1, len(distinct) + 1)
    return seen[words], distinct


def _quarters_of_nibbles(words: NDArray[np.int64]) -> Numbers:
    """The four 2 x 2 patterns (0 to 15: bit 0 top left, 1 top right, 2 bottom left, 3 bottom right) of 4 x 4 blocks."""
    quarters = []
    for row in (0, 2):
        for column in (0, 2):
            top, bottom = words >> (4 * row + column) & 3, words >> (4 * row + 4 + column) & 3
            quarters.append(top | bottom << 2)
    return np.stack(quarters, axis=1).astype(np.int32)


def _number_rows(rows: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
    """Distinct rows of four numbers, and which of them each row is."""
    bits = np.uint64(max(int(rows.max(initial=0)).bit_length(), 1))
    wide = rows.astype(np.uint64)
    if 4 * int(bits) <= 64:
        keys, inverse = np.unique(_pack(wide, bits), return_inverse=True)
        return _unpack(keys, bits, QUARTERS), inverse
    # Too many numbers for one word: name the pairs first, then the pairs of pairs.
    pairs, pair_numbers = np.unique(_pack(wide.reshape(-1, 2), bits), return_inverse=True)
    halves = pair_numbers.reshape(-1, 2).astype(np.uint64)
    pair_bits = np.uint64(len(pairs).bit_length())
    keys, inverse = np.unique(_pack(halves, pair_bits), return_inverse=True)
    return _unpack(pairs, bits, 2)[_unpack(keys, pair_bits, 2)].reshape(-1, QUARTERS), inverse


def _pack(rows: NDArray[np.uint64], bits: np.uint64) -> NDArray[np.uint64]:
    keys = rows[:, 0].copy()
    for column in range(1, rows.shape[1]):
        keys |= rows[:, column] << (bits * np.uint64(column))
    return keys


def _unpack(keys: NDArray[np.uint64], bits: np.uint64, columns: int) -> Numbers:
    mask = (np.uint64(1) << bits) - np.uint64(1)
    return np.stack([(keys >> (bits * np.uint64(c))) & mask for c in range(columns)], axis=1).astype(np.int32)


def _level(blocks: Numbers, children: int, skip_blank: bool, gradient: bool) -> Level:
    """From each block's four quarters (row 0 is the blank block) to the products and sums the CNN needs."""
    used = np.zeros((QUARTERS, children), bool)
    for quarter in range(QUARTERS):
        used[quarter, blocks[:, quarter]] = True
    real = np.ones(blocks.shape, bool)
    if skip_blank:
        used[:, 0] = False
        real = blocks != 0
    pair = np.cumsum(used.reshape(-1), dtype=np.int32).reshape(used.shape) - np.int32(1)
    offsets = np.arange(QUARTERS, dtype=np.int32) * np.int32(children)
    pair_of = pair.reshape(-1)[(blocks + offsets)[real]]  # in the order of the blocks
    counts = used.sum(axis=1)
    return Level(
        children=np.nonzero(used)[1].astype(np.int32),
        quarters=(int(counts[0]), int(counts[1]), int(counts[2]), int(counts[3])),
        parent_pairs=Sums(pair_of, _starts(_row_sums(real))),
        pair_parents=_backwards(pair_of, real, int(counts.sum())) if gradient else None,
        child_pairs=Sums(np.ascontiguousarray(pair.T[used.T]), _starts(_row_sums(used.T))) if gradient else None,
    )


def _backwards(pair_of: Numbers, real: NDArray[np.bool_], pairs: int) -> Sums:
    """The blocks that each pair is a part of."""
    parent_of = np.flatnonzero(real) >> 2  # four quarters a block
    # Sorting (pair, parent) as one 64-bit number is several times faster than an indirect sort by pair.
    both = np.sort((pair_of.astype(np.int64) << 32) | parent_of)
    return Sums((both & 0xFFFFFFFF).astype(np.int32), _starts(np.bincount(pair_of, minlength=pairs)))


def _row_sums(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Sums over rows of four flags, a column at a time: summing along so short an axis is slow."""
    columns = flags.view(np.uint8)
    return (columns[:, 0] + columns[:, 1] + columns[:, 2] + columns[:, 3]).astype(np.int64)


def _starts(counts: NDArray[np.int64]) -> Numbers:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
