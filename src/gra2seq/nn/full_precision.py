"""Parts of a network that compute in single precision where the rest computes in 16 bits (autocast)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

P = ParamSpec("P")
R = TypeVar("R")


def full_precision(function: Callable[P, R]) -> Callable[P, R]:
    """The function with autocast switched off and its 16-bit arguments as single precision; else unchanged.

    For sums over many rows, statistics, likelihoods and products that are written into memory of a given type.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        device = next((one.device.type for one in (*args, *kwargs.values()) if isinstance(one, Tensor)), "cpu")
        if not torch.is_autocast_enabled(device):
            return function(*args, **kwargs)
        inner: Callable[..., R] = function
        with torch.autocast(device, enabled=False):
            return inner(*map(single, args), **{name: single(value) for name, value in kwargs.items()})

    return run


def single(value: Any) -> Any:
    """A 16-bit tensor in single precision; everything else as it is."""
    return value.float() if isinstance(value, Tensor) and value.dtype in (torch.bfloat16, torch.float16) else value
