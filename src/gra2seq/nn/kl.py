"""The pull of a code towards a standard Gaussian, and weights that rise while a model learns."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def standard_kl(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, variance) || N(0, 1)) a dimension, averaged over dimensions and batch, as sketch-rnn counts it."""
    return -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).mean()


class RisingWeight(nn.Module):
    """1 - lag x rate^step: small at first, 1 in the end. Counts its own training steps; in use it is 1."""

    def __init__(self, lag: float, rate: float) -> None:
        super().__init__()
        self.lag, self.rate = lag, rate
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))
        self.step: Tensor

    def forward(self) -> float:
        return 1 - self.lag * self.rate ** int(self.step) if self.training else 1.0

    def tick_(self) -> None:
        self.step += 1
