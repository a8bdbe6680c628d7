"""The distinct blocks of a batch of patches as tensors: what the patch CNN computes with."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from gra2seq.sketch import quadtree


@dataclass(frozen=True)
class Sums:
    rows: Tensor  # (k,) int32
    starts: Tensor  # (n + 1,) int32

    def of(self, table: Tensor) -> Tensor:
        """(rows, D) -> (n, D): bag i is the sum of its rows; an empty bag is 0."""
        return F.embedding_bag(self.rows, table, self.starts, mode="sum", include_last_offset=True)


@dataclass(frozen=True)
class Level:
    children: Tensor
    quarters: tuple[int, int, int, int]
    parent_pairs: Sums
    pair_parents: Sums | None  # for the gradient
    child_pairs: Sums | None


@dataclass(frozen=True)
class Blocks:
    """`quadtree.Blocks` as tensors."""

    levels: tuple[Level, ...]
    patches: Tensor  # (n, 4)

    @staticmethod
    def of(blocks: quadtree.Blocks) -> Blocks:
        def sums(part: quadtree.Sums) -> Sums:
            return Sums(torch.from_numpy(part.rows), torch.from_numpy(part.starts))

        levels = tuple(
            Level(
                torch.from_numpy(level.children),
                level.quarters,
                sums(level.parent_pairs),
                None if level.pair_parents is None else sums(level.pair_parents),
                None if level.child_pairs is None else sums(level.child_pairs),
            )
            for level in blocks.levels
        )
        return Blocks(levels, torch.from_numpy(blocks.patches))

    def to(self, device: torch.device) -> Blocks:
        def sums(part: Sums) -> Sums:
            return Sums(part.rows.to(device), part.starts.to(device))

        levels = tuple(
            Level(
                level.children.to(device),
                level.quarters,
                sums(level.parent_pairs),
                None if level.pair_parents is None else sums(level.pair_parents),
                None if level.child_pairs is None else sums(level.child_pairs),
            )
            for level in self.levels
        )
        return Blocks(levels, self.patches.to(device))
