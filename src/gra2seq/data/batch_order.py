"""Which sketches come in which step, and processes that prepare the next steps while this one computes.

All of it is a function of (seed, step), so a resumed run, and several processes, see what one uninterrupted would.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset

from gra2seq.data.batches import Batch, Preparation, generator, prepare_training
from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Ints, Sketch

GRACE = 60  # seconds that a worker lives after it was asked to end


@dataclass(frozen=True)
class Schedule:
    """Which sketches are in which step: shuffled every epoch, all from (seed, epoch).

    Batches are random, whatever the lengths (docs/decisions says why).
    """

    count: int  # sketches of the training split
    batch: int  # of all processes together
    seed: int

    @property
    def steps_per_epoch(self) -> int:
        return max(self.count // self.batch, 1)

    def batch_of(self, step: int) -> Ints:
        """Positions (batch,) in the training split, step counted from 0."""
        epoch, place = divmod(step, self.steps_per_epoch)
        positions: Ints = _epoch(self, epoch)[place]
        return positions


@lru_cache(maxsize=2)
def _epoch(schedule: Schedule, epoch: int) -> Ints:
    """(steps, batch) positions. Sketches that do not fill a batch wait for another epoch's shuffle."""
    count, batch = schedule.count, schedule.batch
    order = generator(schedule.seed, epoch).permutation(count)
    if count < batch:
        order = np.resize(order, batch)  # a data set smaller than a batch is repeated
    return order[: len(order) // batch * batch].reshape(-1, batch)


@dataclass(frozen=True)
class Share:
    """Which rows of the global batch this process prepares."""

    rank: int = 0
    of: int = 1

    def slice(self, batch: int) -> slice:
        if batch % self.of:
            raise UserError(f"a batch of {batch} cannot be shared by {self.of} processes: choose a multiple")
        part = batch // self.of
        return slice(self.rank * part, (self.rank + 1) * part)


class Steps(Dataset[Batch]):
    """The prepared batch of each step; `sketches` is anything with items (a store, a list)."""

    def __init__(
        self, sketches: Sequence[Sketch], indices: Ints, preparation: Preparation, schedule: Schedule, share: Share
    ) -> None:
        self.sketches, self.indices = sketches, indices
        self.preparation, self.schedule, self.share = preparation, schedule, share

    def __getitem__(self, step: int) -> Batch:
        chosen = self.share.slice(self.schedule.batch)
        positions = self.schedule.batch_of(step)[chosen]
        sketches = [self.sketches[int(self.indices[position])] for position in positions]
        seeds = [(self.schedule.seed, step, row) for row in range(chosen.start, chosen.stop)]
        return prepare_training(sketches, self.preparation, seeds)


def _start_worker(_worker: int) -> None:
    """Run on one thread at low priority, and leave Ctrl-C and SIGTERM to the training process.

    It ends its workers itself once its checkpoint is written; a worker that ends earlier stops it within a step.
    """
    if hasattr(os, "nice"):  # not on Windows
        os.nice(10)  # the computing threads wait for each other: a process that takes one core stops all of them
    cv2.setNumThreads(0)  # not 1: that waits for the threads of OpenCV's pool, which a fork does not copy
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGALRM"):  # not on Windows, where a process is ended without a signal
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, lambda *_: signal.alarm(GRACE))


def stream(steps: Steps, start: int, stop: int, workers: int) -> Iterator[Batch]:
    """Batches of steps start … stop - 1; worker processes prepare the next ones while this one computes."""
    loader: DataLoader[Batch] = DataLoader(
        steps,
        batch_size=None,
        sampler=range(start, stop),
        num_workers=workers,
        prefetch_factor=4 if workers else None,
        worker_init_fn=_start_worker,
    )
    return iter(loader)
