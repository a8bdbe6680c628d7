"""The patch CNN: convolutions of 2 x 2 with stride 2 and no bias, then 2 x 2 max pooling. A patch becomes a vector.

`forward` takes the distinct blocks of `sketch/quadtree.py` and is exact; `plain` takes pixels and is its slow twin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.sketch import quadtree
from gra2seq.sketch.masking import Flags
from gra2seq.sketch.strokes import Floats

CHANNELS = (8, 32, 64, 128, 256, 512, 512)  # paper
PAPER, INK = 0.0, 1.0  # pixel values; the released code has -1 and +1 (docs/differences.md)
FEW = 0.2  # share of features above 0 below which a CPU is faster with these alone (docs/decisions.md)
WIDE = 128  # channels from which that pays
ALONE = 3  # threads up to which it does: finding those features is work for one


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


class PatchCNN(nn.Module):
    """(blocks of n patches) -> (n, channels[-1]), before any normalisation."""

    def __init__(self, channels: Sequence[int] = CHANNELS, paper: float = PAPER, ink: float = INK) -> None:
        super().__init__()
        self.paper, self.ink = paper, ink
        sizes = [1, *channels]
        self.weights = nn.ParameterList(
            nn.Parameter(torch.empty(after, before, 2, 2)) for before, after in pairwise(sizes)
        )
        for weight in self.weights:
            bound = 1 / math.sqrt(4 * weight.shape[1])  # torch's own default for a convolution
            nn.init.uniform_(weight, -bound, bound)
        patterns = (torch.arange(16).unsqueeze(1) >> torch.arange(4)) & 1  # (16, 4) all 2 x 2 blocks
        self.register_buffer("patterns", paper + (ink - paper) * patterns.float(), persistent=False)
        self.patterns: Tensor

    @property
    def skips_blank(self) -> bool:
        """With paper 0 and no bias a blank block's feature is exactly 0 at every level."""
        return self.paper == 0

    @property
    def patch(self) -> int:
        """Side of the patches it takes, in pixels: a halving a convolution, and one by pooling."""
        return int(2 ** (len(self.weights) + 1))

    def forward(self, blocks: Blocks) -> Tensor:
        first = self.weights[0]
        features = torch.relu(self.patterns @ first.reshape(len(first), 4).T)  # (16, 8) every 2 x 2 block
        last = len(blocks.levels) - 1
        if last + 2 != len(self.weights):
            raise ValueError(f"blocks of {last + 2} levels for a CNN of {len(self.weights)} convolutions")
        for number, (level, weight) in enumerate(zip(blocks.levels, list(self.weights)[1:], strict=True)):
            features = _level(features, weight, level, number != last)
        quarters = features.index_select(0, blocks.patches.reshape(-1))
        quarters = quarters.reshape(len(blocks.patches), 4, -1)
        return quarters.max(dim=1).values if torch.is_grad_enabled() else quarters.amax(dim=1)  # which is faster

    def plain(self, patches: Tensor) -> Tensor:
        """The same by ordinary convolutions on (n, side, side) pixels of 0 and 1."""
        x = (self.paper + (self.ink - self.paper) * patches.to(self.weights[0].dtype)).unsqueeze(1)
        for number, weight in enumerate(self.weights):
            x = F.conv2d(x, weight, stride=2)
            if number != len(self.weights) - 1:
                x = torch.relu(x)
        return F.max_pool2d(x, 2).flatten(1)


def _level(features: Tensor, weight: Tensor, level: Level, relu: bool) -> Tensor:
    """Features of blocks from those of their quarters, which are 0 or more."""
    in_use = features.device.type == "cpu" and not torch.is_grad_enabled()
    if in_use and weight.shape[1] >= WIDE and torch.get_num_threads() <= ALONE:
        there = features.numpy() != 0  # what is no number stays, and is heard of
        if np.count_nonzero(there) < FEW * there.size:
            result = _of_few(features.numpy(), there, weight, level)
            return result.relu_() if relu else result
    return _Quarters.apply(features, weight, level, relu)  # type: ignore[no-untyped-call, no-any-return]


def _by_quarter(weight: Tensor) -> Tensor:
    """(O, C, 2, 2) -> (4, C, O)"""
    return weight.permute(2, 3, 1, 0).reshape(4, weight.shape[1], weight.shape[0]).contiguous()


def _of_few(features: Floats, there: Flags, weight: Tensor, level: Level) -> Tensor:
    """What `_Quarters` gives before ReLU, without a gradient: a block adds up the weights of the few features of its
    quarters that are `there`, each times its feature.
    """
    place = np.flatnonzero(there)
    channels = features.shape[1]
    before = np.arange(len(features) + 1) * channels
    first = np.searchsorted(place, before)  # of each child, and one behind the last
    value = features.reshape(-1)[place]
    channel = (place - np.repeat(before[:-1], np.diff(first))).astype(np.int32)
    pair = level.parent_pairs.rows.numpy()  # a row for each quarter of each block
    child = level.children.numpy()[pair]
    quarter = np.repeat(np.arange(4, dtype=np.int32), level.quarters)[pair]
    count = first[child + 1] - first[child]
    stop = np.cumsum(count)
    of = np.repeat(first[child] - (stop - count), count) + np.arange(stop[-1] if len(stop) else 0)
    rows = channel[of] + np.repeat(quarter * np.int32(channels), count)
    starts = np.concatenate([[0], stop])[level.parent_pairs.starts.numpy()].astype(np.int32)
    return F.embedding_bag(
        torch.from_numpy(rows),
        _by_quarter(weight).flatten(0, 1),
        torch.from_numpy(starts),
        mode="sum",
        per_sample_weights=torch.from_numpy(value[of]),
        include_last_offset=True,
    )


class _Quarters(torch.autograd.Function):
    """Features of blocks from those of their quarters: one product a distinct pair, then a sum over pairs.

    Written out because every sum has its own fast direction: what autograd would make of a gather is a
    scatter-add, which the CPU does one row at a time.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, level: Level, relu: bool) -> Tensor:
        by_quarter = _by_quarter(weight)
        gathered = features.index_select(0, level.children)  # (pairs, C)
        products = torch.empty(len(gathered), weight.shape[0], dtype=gathered.dtype, device=gathered.device)
        for q, (rows, out) in enumerate(
            zip(gathered.split_with_sizes(level.quarters), products.split_with_sizes(level.quarters), strict=True)
        ):
            torch.mm(rows, by_quarter[q], out=out)
        result = level.parent_pairs.of(products)
        if relu:
            result.relu_()
        ctx.level, ctx.relu = level, relu
        ctx.save_for_backward(gathered, by_quarter, result if relu else torch.empty(0))
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        gathered, by_quarter, result = ctx.saved_tensors
        level: Level = ctx.level
        if level.pair_parents is None or level.child_pairs is None:
            raise ValueError("these blocks were numbered for use, without what a gradient needs")
        if ctx.relu:
            grad = torch.ops.aten.threshold_backward(grad, result, 0)
        products = level.pair_parents.of(grad.contiguous())  # (pairs, O)
        weight = torch.empty_like(by_quarter)
        below = torch.empty_like(gathered)
        for q, (rows, product, out) in enumerate(
            zip(
                gathered.split_with_sizes(level.quarters),
                products.split_with_sizes(level.quarters),
                below.split_with_sizes(level.quarters),
                strict=True,
            )
        ):
            torch.mm(rows.T, product, out=weight[q])
            torch.mm(product, by_quarter[q].T, out=out)
        out_channels = weight.shape[2]
        return (
            level.child_pairs.of(below),
            weight.reshape(2, 2, -1, out_channels).permute(3, 2, 0, 1).contiguous(),
            None,
            None,
        )
