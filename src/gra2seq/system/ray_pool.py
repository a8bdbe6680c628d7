"""Work on a Ray cluster: actors that are set up once, take one item after the other and are replaced when they die.

Items are handed out one at a time. When an actor or its node dies, its item goes back to the queue and a new actor is
asked for, so nothing is lost; results come in the order of the items, each once.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from typing import Any, Generic, TypeVar

from gra2seq.errors import UserError

CONNECT_SECONDS = 5.0  # until an address that does not answer is given up
MAX_FAILURES = 20  # deaths of actors in a row, without a result between them
POLL_SECONDS = 1.0
AHEAD = 4  # items a worker that are begun or finished before the first unfinished one: memory stays bounded

Item = TypeVar("Item")
Result = TypeVar("Result")


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


class PoolWorker(Generic[Item, Result]):
    """Runs as an actor: is set up once, then works on one item at a time."""

    def __init__(self, set_up: Callable[..., Callable[[Item], Result]], arguments: Sequence[Any]) -> None:
        self.work = set_up(*arguments)

    def run(self, item: Item) -> tuple[str, Result | None]:
        """What a user did wrong, or nothing, and the result."""
        try:
            return "", self.work(item)
        except UserError as error:
            return str(error), None

    def ready(self) -> None:
        """Answers once the worker is set up."""


@dataclass
class RayPool(Generic[Item, Result]):
    """Maps items to results on a cluster. `set_up(*arguments)` makes the function of an item, once in each actor."""

    ray: Any
    jobs: int | None  # actors; default: one for each core of the cluster
    set_up: Callable[..., Callable[[Item], Result]]
    arguments: Sequence[Any] = ()
    pending: dict[Any, tuple[Any, int | None]] = field(default_factory=dict, init=False)  # answer -> actor, its item
    idle: list[Any] = field(default_factory=list, init=False)  # actors that wait for an item
    begun: dict[int, Item] = field(default_factory=dict, init=False)  # kept until their results are there
    waiting: list[int] = field(default_factory=list, init=False)  # items of `begun` without an actor; the next is last
    failures: int = field(default=0, init=False)

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """The results in the order of the items. Items are taken as they are needed."""
        numbered, done, following = enumerate(items), dict[int, Result](), 0
        most = self.jobs or max(int(self.ray.cluster_resources().get("CPU", 1)), 1)
        arguments = self.ray.put(list(self.arguments))
        try:
            while True:
                for number, item in islice(numbered, max(AHEAD * most - len(self.begun) - len(done), 0)):
                    self.begun[number] = item
                    self.waiting.insert(0, number)
                if not self.begun:
                    return
                while len(self.idle) + len(self.pending) < min(most, len(self.begun)):
                    self._start(arguments)
                while self.idle and self.waiting:
                    self._hand_out(self.idle.pop(), self.waiting.pop())
                answers, _ = self.ray.wait(list(self.pending), num_returns=1, timeout=POLL_SECONDS)
                for answer in answers:
                    self._take(answer, done)
                while following in done:
                    yield done.pop(following)
                    following += 1
        finally:
            for actor in [*self.idle, *(actor for actor, _ in self.pending.values())]:
                self.ray.kill(actor)

    def _start(self, arguments: Any) -> None:
        """Ask for an actor. It gets an item when it has answered: one that finds no node holds none back."""
        actor = self.ray.remote(num_cpus=1, max_restarts=0)(PoolWorker).remote(self.set_up, arguments)
        self.pending[actor.ready.remote()] = (actor, None)

    def _hand_out(self, actor: Any, number: int) -> None:
        self.pending[actor.run.remote(self.begun[number])] = (actor, number)

    def _take(self, answer: Any, done: dict[int, Result]) -> None:
        """Take an answer; the item of an actor that died waits again."""
        actor, number = self.pending.pop(answer)
        try:
            found = self.ray.get(answer)
        except self.ray.exceptions.RayActorError as error:
            self.failures += 1
            if self.failures > MAX_FAILURES:
                reason = str(error).strip().splitlines()[-1:] or ["?"]
                raise UserError(
                    f"workers of the Ray cluster die again and again ({reason[0][:150]}): see Ray's logs"
                ) from error
            if number is not None:
                self.waiting.append(number)
            return
        except self.ray.exceptions.RayTaskError as error:
            raise UserError(f"a worker of the Ray cluster failed: {error.cause!r}") from error
        self.idle.append(actor)
        if number is None:
            return
        problem, result = found
        if problem:
            raise UserError(problem)
        self.failures = 0
        del self.begun[number]
        done[number] = result
