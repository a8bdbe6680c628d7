"""Sums over all processes of a training: statistics of the global batch, not of a process's share."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, distributed


def is_distributed() -> bool:
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def total(x: Tensor) -> Tensor:
    """The sum of `x` over all processes; gradients pass through it."""
    if not is_distributed():
        return x
    return _Total.apply(x)  # type: ignore[no-untyped-call, no-any-return]


class _Total(torch.autograd.Function):
    """Every process's input is in every process's sum, so the gradient is the sum of all processes' gradients."""

    @staticmethod
    def forward(_ctx: Any, x: Tensor) -> Tensor:
        result = x.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(result)
        return result

    @staticmethod
    def backward(_ctx: Any, grad: Tensor) -> Tensor:
        result = grad.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(result)
        return result


def gather(x: Tensor) -> Tensor:
    """The rows of `x` of all processes, in the order of the processes; no gradient."""
    if not is_distributed():
        return x
    parts = [torch.empty_like(x) for _ in range(distributed.get_world_size())]
    distributed.all_gather(parts, x.contiguous())
    return torch.cat(parts)
