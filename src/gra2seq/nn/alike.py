"""Sequences of like length go through an LSTM together.

A batch is drawn at random, as batch norm must see it: in batches of one length drawings would tell each other their
length through its statistics, and a model that was told so is lost once it is alone. So a batch is parted inside,
where only padding is at stake.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

LEAST = 8  # sequences that go together; fewer read the weights more often than they save padding
PARTS = 8


def by_parts(count: Tensor, run: Callable[[Tensor, int], Tensor]) -> Tensor:
    """`run(members, longest)` for each part of the batch, its members of like `count`; the answers in their order.

    On a GPU there is one part: many small calls cost more there than padding.
    """
    order = torch.argsort(count, descending=True, stable=True)
    size = max(LEAST, -(-len(order) // PARTS)) if count.device.type == "cpu" else len(order)
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    done = torch.cat([run(part, int(count[part[0]])) for part in parts])
    return done[torch.argsort(order)]
