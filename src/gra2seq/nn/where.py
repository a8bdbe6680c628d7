"""Where a patch lies, as a vector: the paper's nodes know what they show, not where it is nor when it was drawn."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

WAVES = (1, 2, 4, 8)  # half waves over the canvas, and over the pen's way


class Where(nn.Module):
    """Sines and cosines of a node's centre, with `order` also of its number, times weights that start at 0.

    So a model with it starts as one without. `side` is that of the padded canvas, `nodes` the usual number of nodes.
    """

    def __init__(self, dim: int, side: int, nodes: int, order: bool) -> None:
        super().__init__()
        self.side, self.nodes, self.order = side, nodes, order
        self.weight = nn.Parameter(torch.zeros(dim, 2 * len(WAVES) * (2 + order)))

    def forward(self, centres: Tensor, valid: Tensor) -> Tensor:
        """Centres (B, N, 2) in pixels -> (B, 1 + N, D). The whole view and absent nodes lie nowhere: 0."""
        at = centres.to(self.weight) / self.side
        if self.order:
            number = torch.arange(valid.shape[-1], dtype=at.dtype, device=at.device) / self.nodes
            at = torch.cat([at, number.expand(len(at), -1).unsqueeze(-1)], dim=-1)
        angle = (at.unsqueeze(-1) * (math.pi * at.new_tensor(WAVES))).flatten(start_dim=-2)  # (B, N, 2 or 3 waves)
        told = nn.functional.linear(torch.cat([angle.sin(), angle.cos()], dim=-1), self.weight) * valid.unsqueeze(-1)
        return nn.functional.pad(told, (0, 0, 1, 0))
