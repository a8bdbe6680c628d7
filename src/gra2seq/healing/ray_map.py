"""Any function of a model mapped over items on a Ray cluster, for healing and for evaluation.

The function, with its model, travels to each actor once and the items one at a time, so that the nodes need no shared
disk. Each actor computes on one thread: with the same items, the results are those of one process on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from gra2seq.config.extensions import import_modules, imported_modules
from gra2seq.system.ray_pool import RayPool, connected

Item = TypeVar("Item")
Result = TypeVar("Result")


class Map(Protocol):
    """Results of a function in the order of the items, wherever they are computed."""

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]: ...


def local_map(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """In this process, one after the other."""
    yield from map(function, items)


@dataclass(frozen=True)
class RayMap:
    """On a Ray cluster. Without an address, on one that is started on this machine."""

    address: str | None = None
    jobs: int | None = None  # actors; default: one for each core of the cluster

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        with connected(self.address) as ray:
            pool: RayPool[Item, Result] = RayPool(ray, self.jobs, _set_up, (imported_modules(), ray.put(function)))
            yield from pool.map(items)


def mapping(engine: str, address: str | None = None) -> Map:
    """By the name of an engine: local or ray."""
    return RayMap(address) if engine == "ray" else local_map


def _set_up(modules: tuple[str, ...], function: Any) -> Callable[[Any], Any]:
    """In an actor: the modules that register parts of the model are imported before it is fetched."""
    import ray
    import torch

    torch.set_num_threads(1)
    import_modules(modules)
    fetched: Callable[[Any], Any] = ray.get(function)
    return fetched
