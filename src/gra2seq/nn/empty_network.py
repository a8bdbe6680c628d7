"""Build a network whose weights are read from a file: without random numbers, in no more memory than they fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from torch.overrides import TorchFunctionMode

RANDOM = {"normal_", "uniform_", "trunc_normal_", "kaiming_normal_", "kaiming_uniform_", "xavier_normal_",
          "xavier_uniform_", "orthogonal_"}  # fmt: skip
SIZED = {"empty", "zeros", "ones", "full", "rand", "randn", "eye"}  # functions whose first arguments are a size


class TooLarge(ValueError):
    """The network would have more numbers than the file with its weights."""


class EmptyNetwork(TorchFunctionMode):
    """Inside this context random initialisers do nothing, and tensors of over `limit` numbers altogether are refused.

    A configuration from a stranger can so ask for no more memory than its weights fill. (The meta device would show
    all shapes without memory, but torch imports its compiler for it, which takes seconds.)
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.left = limit

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        if name in RANDOM:
            return args[0] if args else kwargs["tensor"]
        if name in SIZED:
            self.left -= _numbers(args, kwargs)
        elif name == "arange":
            self.left -= int(max((abs(value) for value in args if isinstance(value, int | float)), default=0))
        if self.left < 0:
            raise TooLarge("it would be larger than its weights")
        return func(*args, **kwargs)


def _numbers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    size = kwargs.get("size", args)
    if len(size) and isinstance(size[0], Sequence):
        size = size[0]
    return prod(max(length, 0) for length in size if isinstance(length, int))
