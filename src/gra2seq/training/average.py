"""A running mean of the weights: smoother than the last ones, so a run can be judged and ended at any time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """The running mean of a network's weights and statistics. Inside `used` the network has the mean."""

    def __init__(self, network: nn.Module, keep: float) -> None:
        self.network = network
        self.keep = keep  # of the mean a step; 0.999 looks back over about a thousand steps
        self.mean = {name: tensor.clone() for name, tensor in self._current().items()}

    def _current(self) -> dict[str, Tensor]:
        """The network's own tensors, wherever they are by now."""
        return {name: tensor for name, tensor in self.network.state_dict().items() if tensor.is_floating_point()}

    @torch.no_grad()
    def update_(self, step: int) -> None:
        """After step `step`, counted from 1: early on the mean looks back over fewer steps."""
        current = self._current()
        self.mean = {name: mean.to(current[name].device) for name, mean in self.mean.items()}
        keep = min(self.keep, step / (step + 10))
        torch._foreach_lerp_(list(self.mean.values()), list(current.values()), 1 - keep)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Within, the network has the mean weights."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for name, current in self._current().items():
            kept = self.mean[name].clone()
            self.mean[name].copy_(current)
            current.copy_(kept)

    def load_(self, tensors: dict[str, Tensor]) -> None:
        for name, mean in self.mean.items():
            mean.copy_(tensors[name])
