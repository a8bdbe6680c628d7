"""Codes of any number of damaged drawings, encoded in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import torch

from gra2seq.data.batches import Batch, Preparation, prepare
from gra2seq.data.views import StrokeView
from gra2seq.models.sketch_model import SketchModel
from gra2seq.nn.precision import autocast
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import Floats, Ints

MAX_ROWS = 50_000  # of strokes that are read together, padding counted
BATCH = 64  # sketches that are encoded together: memory stays flat and small however many there are

Made = TypeVar("Made")


@torch.inference_mode()
def encode_damages(network: SketchModel, preparation: Preparation, damages: Sequence[Damage], repair: bool) -> Floats:
    """Codes (N, code); with `repair` those of damaged drawings are repaired, if the network has learnt it."""
    codes = np.empty((len(damages), preparation.code), np.float32)
    device = next(network.parameters()).device

    def prepared(part: Ints) -> tuple[Ints, Batch]:
        return part, prepare([damages[i] for i in part], preparation)

    threaded = device.type != "cpu" or torch.get_num_threads() > 1
    for part, batch in _made(prepared, batches_of(damages, preparation), threaded):
        with autocast(network.precision, device):
            found = network.encode(batch.to(device), repair)
        codes[part] = found.float().cpu().numpy()
    return codes


def parts(count: int, most: int = BATCH) -> Iterator[slice]:
    """0 to count, in slices of `most`; the last one may be shorter."""
    for start in range(0, count, most):
        yield slice(start, min(start + most, count))


def batches_of(damages: Sequence[Damage], preparation: Preparation) -> Iterator[Ints]:
    """Numbers of drawings that are encoded together. Strokes are padded to the longest, so similar lengths meet."""
    order = np.arange(len(damages))
    if not any(isinstance(view, StrokeView) for view in preparation.views.values()):
        yield from (order[part] for part in parts(len(order)))
        return
    lengths = np.array([len(damage.visible) for damage in damages], np.int64)
    order = np.argsort(lengths, kind="stable")
    start = 0
    for stop in range(1, len(order) + 1):
        if stop == len(order) or (stop + 1 - start) * lengths[order[stop]] > MAX_ROWS or stop - start == BATCH:
            yield order[start:stop]
            start = stop


def _made(make: Callable[[Ints], Made], numbers: Iterable[Ints], threaded: bool) -> Iterator[Made]:
    """`make` of each item; with `threaded`, the next one is made in a thread while the caller uses the last.

    On one core there is nothing to gain: the two threads would only compete for it.
    """
    if not threaded:
        yield from map(make, numbers)
        return
    with ThreadPoolExecutor(1) as thread:
        waiting: Future[Made] | None = None
        for part in numbers:
            last, waiting = waiting, thread.submit(make, part)
            if last is not None:
                yield last.result()
        if waiting is not None:
            yield waiting.result()
