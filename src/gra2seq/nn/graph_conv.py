"""Message passing: the nodes of a sketch, aggregated along the links, become one feature of the sketch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.batch_norm import BatchNorm


class GraphConv(nn.Module):
    """One aggregation A V (eq. 4), two ReLU layers with a residual around them, a sum over the nodes, norm, tanh."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.first = nn.Linear(dim, dim, bias=False)  # W of eq. 4
        self.second = nn.Linear(dim, dim, bias=False)
        self.norm = BatchNorm(dim)

    def forward(self, nodes: Tensor, adjacency: Tensor, where: Tensor | None = None) -> Tensor:
        """(B, N, D) features and a normalised (B, N, N) adjacency -> (B, D). Rows without edges add nothing.

        `where` (B, N, D) is each node's own: what it has heard stands beside where it is, not where the others are.
        """
        heard = adjacency @ nodes
        if where is not None:
            heard = heard + where
        mixed = heard + torch.relu(self.second(torch.relu(self.first(heard))))
        return torch.tanh(self.norm(mixed.sum(dim=1)))
