"""Encode on a Ray cluster: one actor for each core, each with the model in memory, that write block files.

The work folder must be on a disk that every node sees. A block file is written atomically and has the same bytes
whoever writes it, so that an actor that dies loses and doubles nothing (`system/ray_pool.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gra2seq.errors import UserError
from gra2seq.healing.model_source import ModelSource
from gra2seq.search.block_files import BlockTask
from gra2seq.system.ray_pool import RayPool, connected


@dataclass(frozen=True)
class RayEngine:
    """Encodes on a Ray cluster. Without an address, on one that is started on this machine."""

    model: ModelSource | str | Path | None = None
    address: str | None = None
    jobs: int | None = None  # actors; default: one for each core of the cluster

    def __call__(self, task: BlockTask, blocks: Sequence[int]) -> Iterator[int]:
        source = self.model if isinstance(self.model, ModelSource) else ModelSource(self.model)
        model = source if source.path is None else replace(source, path=Path(source.path).absolute())
        with connected(self.address) as ray:
            pool = RayPool(ray, self.jobs, _encoder, (model, task))
            for block in pool.map(blocks):
                _check_shared(task, block)
                yield block


def _encoder(model: ModelSource, task: BlockTask) -> Callable[[int], int]:
    """In an actor: load the model; the function writes the file of a block."""
    import torch

    torch.set_num_threads(1)
    loaded = model.load()

    def encode(block: int) -> int:
        task.encode(loaded, block)
        return block

    return encode


def _check_shared(task: BlockTask, block: int) -> None:
    if not task.file(block).exists():
        raise UserError(
            f"a worker of the Ray cluster wrote to {task.folder}, but nothing is there: write the codes to a "
            "disk that all nodes share"
        )
