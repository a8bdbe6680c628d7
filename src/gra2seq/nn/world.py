"""Sums over all processes of a training: statistics of the global batch, not of a process's share."""

from __future__ import annotations

import torch
from torch import Tensor, distributed
from torch.distributed.nn.functional import all_reduce


def in_company() -> bool:
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def total(x: Tensor) -> Tensor:
    """The sum of `x` over all processes; gradients pass through it."""
    return all_reduce(x) if in_company() else x  # type: ignore[no-untyped-call]


def gather(x: Tensor) -> Tensor:
    """The rows of `x` of all processes, in the order of the processes; no gradient."""
    if not in_company():
        return x
    parts = [torch.empty_like(x) for _ in range(distributed.get_world_size())]
    distributed.all_gather(parts, x.contiguous())
    return torch.cat(parts)
