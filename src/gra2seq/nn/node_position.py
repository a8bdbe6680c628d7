"""Where a patch lies, as a vector: the paper's nodes know what they show, not where it is nor when it was drawn."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

WAVES = (1, 2, 4, 8)  # half waves over the canvas, and over the drawing order
NODES = 20  # numbers of nodes are counted in drawings of so many
WHOLE_VIEW = -1.1  # DC-gra2seq: every channel of the whole view's position


class NodePosition(nn.Module):
    """Sines and cosines of a node's centre, with `order` also of its number, times weights that start at 0.

    So a model with it starts as one without.
    """

    def __init__(self, dim: int, order: bool) -> None:
        super().__init__()
        self.order = order
        self.weight = nn.Parameter(torch.zeros(dim, 2 * len(WAVES) * (2 + order)))

    def forward(self, centres: Tensor, valid: Tensor) -> Tensor:
        """Centres (B, N, 2), 0 to 1 over the canvas -> (B, 1 + N, D). The whole view and absent nodes have none: 0."""
        at = centres.to(self.weight)
        if self.order:
            number = torch.arange(valid.shape[-1], dtype=at.dtype, device=at.device) / NODES
            at = torch.cat([at, number.expand(len(at), -1).unsqueeze(-1)], dim=-1)
        angle = (at.unsqueeze(-1) * (math.pi * at.new_tensor(WAVES))).flatten(start_dim=-2)  # (B, N, 2 or 3 waves)
        waves = torch.cat([angle.sin(), angle.cos()], dim=-1)
        position = nn.functional.linear(waves, self.weight) * valid.unsqueeze(-1)
        return nn.functional.pad(position, (0, 0, 1, 0))


class SinusoidPosition(nn.Module):
    """DC-gra2seq's absolute position: a fixed sinusoid of the node's number, -1.1 for the whole view."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(10_000.0) / dim))
        self.register_buffer("rate", rate, persistent=False)
        self.rate: Tensor  # (dim / 2,)

    def forward(self, centres: Tensor, valid: Tensor) -> Tensor:  # noqa: ARG002  (the place on the canvas is not used)
        """(B, N) valid nodes -> (B, 1 + N, D); absent nodes have 0."""
        angle = torch.arange(valid.shape[1], device=valid.device).unsqueeze(1) * self.rate
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (N, D)
        position = table * valid.unsqueeze(-1)
        return nn.functional.pad(position, (0, 0, 1, 0)).index_fill(1, valid.new_zeros(1, dtype=torch.long), WHOLE_VIEW)
