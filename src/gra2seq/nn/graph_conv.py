"""Message passing: the nodes of a sketch, aggregated along the links, become one feature of the sketch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.initial_weights import init_he
from gra2seq.nn.masked_batch_norm import BatchNorm


class Messages(nn.Module):
    """One aggregation A V (eq. 4), and two ReLU layers with a residual around them."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.first = nn.Linear(dim, dim, bias=False)  # W of eq. 4
        self.second = nn.Linear(dim, dim, bias=False)
        self.norm = BatchNorm(dim)
        init_he(self.first.weight, self.second.weight)  # with torch's default the residual would drown them

    def aggregate(self, nodes: Tensor, adjacency: Tensor, added: Tensor | None = None) -> Tensor:
        """(B, N, D) features and a normalised (B, N, N) adjacency -> (B, N, D). Rows without edges stay 0.

        `added` (B, N, D) belongs to each node itself, such as its position: it joins after the aggregation.
        """
        messages = adjacency @ nodes
        if added is not None:
            messages = messages + added
        mixed: Tensor = messages + torch.relu(self.second(torch.relu(self.first(messages))))
        return mixed


class GraphRound(Messages):
    """Nodes to nodes, normalised: a round of messages before the last."""

    def forward(self, nodes: Tensor, real: Tensor, adjacency: Tensor, added: Tensor | None = None) -> Tensor:
        normal: Tensor = self.norm(self.aggregate(nodes, adjacency, added), real)
        return normal


class GraphConv(Messages):
    """Nodes to one feature (B, D) of the sketch: messages, a sum over the nodes, norm, tanh."""

    def forward(self, nodes: Tensor, adjacency: Tensor, added: Tensor | None = None) -> Tensor:
        return torch.tanh(self.norm(self.aggregate(nodes, adjacency, added).sum(dim=1)))
