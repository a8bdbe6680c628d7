"""The matrix that passes messages: links with the whole view beside them (eq. 3), normalised (eq. 4)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

WHOLE = 0.5  # eq. 3: what each node receives from the whole view, and the whole view from itself


def with_whole_view(adjacency: Tensor, valid: Tensor, corner: float = WHOLE) -> Tensor:
    """Eq. 3: [corner, 0; 0.5, A], (B, N + 1, N + 1). The released code has 1 in the corner."""
    batch, nodes, _ = adjacency.shape
    full = adjacency.new_zeros(batch, nodes + 1, nodes + 1)
    full[:, 0, 0] = corner
    full[:, 1:, 0] = WHOLE * valid.to(adjacency.dtype)
    full[:, 1:, 1:] = adjacency
    return full


def symmetric(adjacency: Tensor) -> Tensor:
    """Eq. 4: D^-1/2 A D^-1/2 with D the row sums; a row without edges stays 0."""
    root = _inverse(adjacency.sum(dim=-1)).sqrt()
    return root.unsqueeze(-1) * adjacency * root.unsqueeze(-2)


def by_row(adjacency: Tensor) -> Tensor:
    """The released code's: each row divided by its sum."""
    return _inverse(adjacency.sum(dim=-1)).unsqueeze(-1) * adjacency


def _inverse(degree: Tensor) -> Tensor:
    linked = degree > 0
    return linked / torch.where(linked, degree, 1)


def unnormalised(adjacency: Tensor) -> Tensor:
    """SketchHealer's release: the adjacency as it is."""
    return adjacency


NORMALISING: dict[str, Callable[[Tensor], Tensor]] = {"symmetric": symmetric, "rows": by_row, "none": unnormalised}
