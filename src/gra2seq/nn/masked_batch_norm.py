"""Batch normalisation over real rows only, with the statistics of the global batch.

Absent nodes must not move the statistics (padding changes nothing), and two processes must see what one would;
torch's own SyncBatchNorm does neither on a CPU.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.distributed import total
from gra2seq.nn.full_precision import full_precision

MOMENTUM, EPSILON = 0.1, 1e-5  # torch's


class BatchNorm(nn.Module):
    """Normalises (…, D) over all leading axes; rows where `real` is False come out as 0."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("variance", torch.ones(dim))
        self.mean: Tensor
        self.variance: Tensor

    @full_precision
    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        weights = x.new_ones(x.shape[:-1]) if real is None else real.to(x.dtype)
        weights = weights.unsqueeze(-1)  # (…, 1)
        axes = tuple(range(x.dim() - 1))
        if self.training:
            count = total(weights.sum()).clamp(min=1)
            mean = total((x * weights).sum(axes)) / count
            variance = total(((x - mean).square() * weights).sum(axes)) / count
            with torch.no_grad():
                unbiased = variance * (count / (count - 1).clamp(min=1))
                self.mean.lerp_(mean, MOMENTUM)
                self.variance.lerp_(unbiased, MOMENTUM)
        else:
            mean, variance = self.mean, self.variance
        normal = (x - mean) * torch.rsqrt(variance + EPSILON)
        return (normal * self.weight + self.bias) * weights
