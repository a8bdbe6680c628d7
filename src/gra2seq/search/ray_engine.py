"""Encode on a Ray cluster: one actor for each core, each with the model in memory, that write block files.

The work folder must be on a disk that every node sees. Blocks are handed out one at a time: when an actor or its node
dies, the block it held goes back to the queue and a new actor is asked for. A block file is written atomically and has
the same bytes whoever writes it, so nothing is lost or doubled.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gra2seq.errors import UserError
from gra2seq.search.block_files import BlockTask

CONNECT_SECONDS = 5.0  # until an address that does not answer is given up
MAX_FAILURES = 20  # deaths of actors in a row, without a block between them
POLL_SECONDS = 1.0


class BlockWorker:
    """Runs as an actor: holds the model, encodes one block at a time."""

    def __init__(self, model: str | Path | None, task: BlockTask) -> None:
        import torch

        from gra2seq.folder import load

        torch.set_num_threads(1)
        self.model, self.task = load(model), task

    def encode(self, block: int) -> str:
        """Write the file of a block; returns what a user did wrong, or nothing."""
        try:
            self.task.encode(self.model, block)
        except UserError as error:
            return str(error)
        return ""

    def ready(self) -> None:
        """Answers once the model is loaded."""


@dataclass(frozen=True)
class RayEngine:
    """Encodes on a Ray cluster. Without an address, on one that is started on this machine."""

    model: str | Path | None = None
    address: str | None = None
    jobs: int | None = None  # actors; default: one for each core of the cluster

    def __call__(self, task: BlockTask, blocks: Sequence[int]) -> Iterator[int]:
        with connected(self.address) as ray:
            jobs = self.jobs or int(ray.cluster_resources().get("CPU", 1))
            model = None if self.model is None else Path(self.model).absolute()
            yield from _Pool(ray, model, task, min(jobs, len(blocks)), list(reversed(blocks))).run()


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """The ray module, connected; a connection that a caller has made before is used and left open."""
    check_usable(address)
    import ray

    if ray.is_initialized():
        yield ray
        return
    how: dict[str, Any] = {"include_dashboard": False} if address in (None, "local") else {}
    try:
        ray.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **how)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = address or "on this machine"
        raise UserError(f"no Ray cluster can be used at {where} ({str(error)[:120]}): check --address") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def check_usable(address: str | None) -> None:
    """Raise UserError unless Ray is installed and something listens at the address; for use before long work.

    Ray itself would try for a minute to reach an address that does not answer.
    """
    if find_spec("ray") is None:
        raise UserError("--engine ray needs Ray: pip install 'gra2seq[ray]'")
    if address in (None, "auto", "local"):
        return
    address = str(address)
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise UserError(f"--address {address!r} is not understood: write HOST:PORT, such as 10.0.0.1:6379, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(
            f"no Ray cluster answers at {address} ({reason}): start one with `ray start --head`, or check --address"
        ) from error


@dataclass
class _Pool:
    """Actors, and the blocks that wait for one."""

    ray: Any
    model: Path | None
    task: BlockTask
    jobs: int
    waiting: list[int]  # the next is the last
    pending: dict[Any, tuple[Any, int | None]] = field(default_factory=dict)  # answer -> actor, its block or none
    failures: int = 0

    def run(self) -> Iterator[int]:
        """Yield the blocks in the order in which they are done."""
        remaining = len(self.waiting)
        try:
            for _ in range(self.jobs):
                self._start()
            while remaining:
                answers, _ = self.ray.wait(list(self.pending), num_returns=1, timeout=POLL_SECONDS)
                for answer in answers:
                    block = self._take(answer)
                    if block is not None:
                        remaining -= 1
                        yield block
        finally:
            for actor, _ in self.pending.values():
                self.ray.kill(actor)

    def _start(self) -> None:
        """Ask for an actor. It gets a block when it has answered: one that finds no node holds none back."""
        actor = self.ray.remote(num_cpus=1, max_restarts=0)(BlockWorker).remote(self.model, self.task)
        self.pending[actor.ready.remote()] = (actor, None)

    def _take(self, answer: Any) -> int | None:
        """Take an answer and give its actor the next block, or replace the actor if it died. Returns a done block."""
        actor, block = self.pending.pop(answer)
        try:
            problem = self.ray.get(answer)
        except self.ray.exceptions.RayActorError as error:
            self._replace(block, error)
            return None
        except self.ray.exceptions.RayTaskError as error:
            raise UserError(f"a worker of the Ray cluster failed: {error.cause!r}") from error
        if problem:
            raise UserError(problem)
        if block is not None:
            self.failures = 0
            self._check_shared(block)
        if self.waiting:
            following = self.waiting.pop()
            self.pending[actor.encode.remote(following)] = (actor, following)
        else:
            self.ray.kill(actor)
        return block

    def _replace(self, block: int | None, error: Exception) -> None:
        self.failures += 1
        if self.failures > MAX_FAILURES:
            reason = str(error).strip().splitlines()[-1:] or ["?"]
            raise UserError(f"workers of the Ray cluster die again and again ({reason[0][:150]}): see Ray's logs")
        if block is not None:
            self.waiting.append(block)
        self._start()

    def _check_shared(self, block: int) -> None:
        if not self.task.file(block).exists():
            raise UserError(
                f"a worker of the Ray cluster wrote to {self.task.folder}, but nothing is there: write the codes to a "
                "disk that all nodes share"
            )
