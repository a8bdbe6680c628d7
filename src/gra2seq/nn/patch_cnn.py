"""The patch CNN: convolutions of 2 x 2 with stride 2 and no bias, then 2 x 2 max pooling. A patch becomes a vector.

`forward` takes the distinct blocks of `sketch/quadtree.py` and is exact; `plain` takes pixels and is its slow twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.data.blocks import Blocks, Level
from gra2seq.nn.full_precision import full_precision
from gra2seq.nn.initial_weights import init_he
from gra2seq.sketch.region import Flags
from gra2seq.sketch.strokes import Floats

CHANNELS = (8, 32, 64, 128, 256, 512, 512)  # paper
BLANK, INK = 0.0, 1.0  # pixel values; the released code has -1 and +1 (docs/differences.md)
FEW = 0.2  # share of features above 0 below which a CPU is faster with only these (docs/decisions)
WIDE = 128  # channels from which that pays
FEW_THREADS = 3  # threads up to which it does: finding those features is work for one


class PatchCNN(nn.Module):
    """(blocks of n patches) -> (n, channels[-1]), before any normalisation."""

    def __init__(
        self, channels: Sequence[int] = CHANNELS, blank: float = BLANK, ink: float = INK, bias: bool = False
    ) -> None:
        super().__init__()
        self.blank, self.ink = blank, ink
        sizes = [1, *channels]
        self.weights = nn.ParameterList(
            nn.Parameter(torch.empty(after, before, 2, 2)) for before, after in pairwise(sizes)
        )
        init_he(*self.weights)  # without batch norm between them, nothing else keeps the signal's size
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(after)) for after in channels if bias)
        patterns = (torch.arange(16).unsqueeze(1) >> torch.arange(4)) & 1  # (16, 4) all 2 x 2 blocks
        self.register_buffer("patterns", blank + (ink - blank) * patterns.float(), persistent=False)
        self.patterns: Tensor

    @property
    def skips_blank(self) -> bool:
        """With blank pixels of 0 and no bias a blank block's feature is exactly 0 at every level."""
        return self.blank == 0 and not self.biases

    @property
    def patch(self) -> int:
        """Side of the patches it takes, in pixels: a halving a convolution, and one by pooling."""
        return int(2 ** (len(self.weights) + 1))

    @property
    def dim(self) -> int:
        """Size of a patch's vector v."""
        return int(self.weights[-1].shape[0])

    def forward(self, blocks: Blocks) -> Tensor:
        if len(blocks.levels) + 1 != len(self.weights):
            raise ValueError(f"blocks of {len(blocks.levels) + 1} levels for a CNN of {len(self.weights)} convolutions")
        features = self._first()
        for number, level in enumerate(blocks.levels, 1):
            features = self._next(features, level, number)
        quarters = features.index_select(0, blocks.patches.reshape(-1))
        quarters = quarters.reshape(len(blocks.patches), 4, -1)
        return quarters.max(dim=1).values if torch.is_grad_enabled() else quarters.amax(dim=1)  # which is faster

    def _first(self) -> Tensor:
        """(16, C) of every 2 x 2 block of pixels."""
        first = self.weights[0]
        features = self.patterns @ first.reshape(len(first), 4).T
        return torch.relu(features + self.biases[0] if self.biases else features)

    def _next(self, features: Tensor, level: Level, number: int) -> Tensor:
        """Features of blocks from those of their quarters, by convolution `number`; the last one has no ReLU."""
        relu = number + 1 < len(self.weights)
        if not self.biases:
            return _level(features, self.weights[number], level, relu)
        features = _level(features, self.weights[number], level, False) + self.biases[number]
        return torch.relu(features) if relu else features

    @torch.no_grad()
    def silent_filters(self, blocks: Blocks) -> dict[str, Tensor]:
        """The share of filters of each layer that are 0 for every block: dead ReLUs learn nothing."""
        found = {}
        features = self._first()
        for number, level in enumerate((None, *blocks.levels)):
            if level is not None:
                features = self._next(features, level, number)
            found[f"silent_{number + 1}"] = 1 - (features > 0).any(dim=0).float().mean()
        return found

    def plain(self, patches: Tensor) -> Tensor:
        """The same by ordinary convolutions on (n, side, side) pixels of 0 and 1."""
        x = (self.blank + (self.ink - self.blank) * patches.to(self.weights[0].dtype)).unsqueeze(1)
        for number, weight in enumerate(self.weights):
            x = F.conv2d(x, weight, self.biases[number] if self.biases else None, stride=2)
            if number != len(self.weights) - 1:
                x = torch.relu(x)
        return F.max_pool2d(x, 2).flatten(1)


@full_precision
def _level(features: Tensor, weight: Tensor, level: Level, relu: bool) -> Tensor:
    """Features of blocks from those of their quarters, which are 0 or more."""
    in_use = features.device.type == "cpu" and not torch.is_grad_enabled()
    if in_use and weight.shape[1] >= WIDE and torch.get_num_threads() <= FEW_THREADS:
        there = features.numpy() != 0  # NaN counts as non-zero, so a diverged model is still detected
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
