"""Message passing: the nodes of a sketch, aggregated along the links, become one feature of the sketch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.batch_norm import BatchNorm


class Messages(nn.Module):
    """One aggregation A V (eq. 4), and two ReLU layers with a residual around them."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.first = nn.Linear(dim, dim, bias=False)  # W of eq. 4
        self.second = nn.Linear(dim, dim, bias=False)
        self.norm = BatchNorm(dim)

    def heard(self, nodes: Tensor, adjacency: Tensor, where: Tensor | None = None) -> Tensor:
        """(B, N, D) features and a normalised (B, N, N) adjacency -> (B, N, D). Rows without edges stay 0.

        `where` (B, N, D) is each node's own: what it has heard stands beside where it is, not where the others are.
        """
        heard = adjacency @ nodes
        if where is not None:
            heard = heard + where
        mixed: Tensor = heard + torch.relu(self.second(torch.relu(self.first(heard))))
        return mixed


class GraphRound(Messages):
    """Nodes to nodes, normalised: a round of messages before the last."""

    def forward(self, nodes: Tensor, real: Tensor, adjacency: Tensor, where: Tensor | None = None) -> Tensor:
        normal: Tensor = self.norm(self.heard(nodes, adjacency, where), real)
        return normal


class GraphConv(Messages):
    """Nodes to one feature (B, D) of the sketch: messages, a sum over the nodes, norm, tanh."""

    def forward(self, nodes: Tensor, adjacency: Tensor, where: Tensor | None = None) -> Tensor:
        return torch.tanh(self.norm(self.heard(nodes, adjacency, where).sum(dim=1)))
