"""The graph encoder that the patch systems share: embed the views, link them, pass messages along the links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from gra2seq.data.views import PatchInput
from gra2seq.nn.adjacency import with_whole_view
from gra2seq.nn.graph_conv import GraphConv, GraphRound
from gra2seq.nn.initial_weights import init_he
from gra2seq.nn.links import Link, Nodes, cosine
from gra2seq.nn.masked_batch_norm import BatchNorm
from gra2seq.nn.node_position import NODES
from gra2seq.nn.patch_cnn import PatchCNN


@dataclass(frozen=True)
class Graph:
    """A batch of sketches as graphs: what figures show and losses pull at."""

    nodes: Nodes
    adjacency: Tensor  # (B, N, N) eq. 2, before the whole view joins and before normalising
    feature: Tensor  # (B, D)

    def figures(self) -> dict[str, Tensor]:
        """What is worth watching in training: size and likeness of the patches' vectors v."""
        valid = self.nodes.valid
        similarity = cosine(self.nodes.features.detach())
        itself = torch.eye(valid.shape[1], dtype=torch.bool, device=valid.device)
        pairs = valid.unsqueeze(-1) & valid.unsqueeze(-2) & ~itself
        norm = torch.linalg.vector_norm(self.nodes.features.detach(), dim=-1)
        return {
            "norm": _mean(norm, valid),
            "cosine_linked": _mean(similarity, pairs & (self.adjacency.detach() != 0)),
            "cosine_any": _mean(similarity, pairs),
        }


class GraphEncoder(nn.Module):
    """Parts are passed in: which CNN, which links, which normalising. `PatchInput` -> `Graph`.

    `position` gives each node what it knows of its place, `relative` what it knows of its neighbours' places; both
    join after the aggregation. `before` are further rounds of messages.
    """

    def __init__(
        self,
        embed: PatchCNN,
        link: Link,
        mix: nn.Module,
        normalise: Callable[[Tensor], Tensor],
        corner: float,
        *,
        position: nn.Module | None = None,
        relative: nn.Module | None = None,
        before: Sequence[GraphRound] = (),
    ) -> None:
        super().__init__()
        self.embed, self.mix, self.position, self.relative = embed, mix, position, relative
        self.before = nn.ModuleList(before)
        self.norm = BatchNorm(embed.dim)
        self.link, self.normalise, self.corner = link, normalise, corner

    def forward(self, patches: PatchInput, link: Link | None = None) -> Graph:
        """`link` replaces the model's own link rule for this call."""
        link = link or self.link

        # patches and the whole view, which comes first, to vectors; those that are absent stay 0
        batch_size, count = patches.valid.shape
        seen = self.embed(patches.blocks)  # (n, D)
        table = seen.new_zeros(batch_size * (1 + count), seen.shape[-1])
        v = table.index_copy(0, patches.places, seen).reshape(batch_size, 1 + count, -1)  # (B, 1 + N, D)

        # links between the patches, from the vectors as they are
        nodes = Nodes(v[:, 1:], patches.valid, patches.centres, patches.uniform)
        adjacency = link(nodes)  # (B, N, N)

        # messages along the links
        real = torch.cat([patches.valid.new_ones(batch_size, 1), patches.valid], dim=1)  # (B, 1 + N)
        x, links = self.norm(torch.relu(v), real), adjacency
        added = self._added(x, links, patches)
        for exchange in self.before:
            x = exchange(x, real, self._with_whole_view(links, patches), added)
            links, added = link(replace(nodes, features=x[:, 1:])), None  # positions are in the features by now
        feature = self.mix(x, self._with_whole_view(links, patches), added)  # (B, D)
        return Graph(nodes, adjacency, feature)

    def figures(self, graph: Graph, patches: PatchInput) -> dict[str, Tensor]:
        """What is worth watching; in validation also the silent filters of each layer."""
        return graph.figures() | ({} if self.training else self.embed.silent_filters(patches.blocks))

    def _with_whole_view(self, adjacency: Tensor, patches: PatchInput) -> Tensor:
        """Eq. 3 and 4: with the whole view, normalised."""
        return self.normalise(with_whole_view(adjacency, patches.valid, self.corner))

    def _added(self, x: Tensor, adjacency: Tensor, patches: PatchInput) -> Tensor | None:
        """(B, 1 + N, D) what joins the messages of each node: absolute and relative positions."""
        parts = [] if self.position is None else [self.position(patches.centres, patches.valid)]
        if self.relative is not None:
            parts.append(self.relative(x, self._with_whole_view(adjacency, patches)))
        return torch.stack(parts).sum(dim=0) if parts else None


class RelativeEdges(nn.Module):
    """DC-gra2seq's relative position: a scalar of each edge, tanh(x_i . E[|i - j|]) times the link's weight.

    Summed over a node's neighbours it is added to all of the node's channels. E starts small.
    """

    def __init__(self, dim: int, farthest: int = NODES) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(farthest, dim) / dim**0.5)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Features (B, 1 + N, D) and normalised adjacency (B, 1 + N, 1 + N) -> (B, 1 + N, 1)."""
        number = torch.arange(x.shape[1] - 1, device=x.device)
        apart = (number.unsqueeze(0) - number.unsqueeze(1)).abs().clamp(max=len(self.table) - 1)
        likeness = x[:, 1:] @ self.table.T  # (B, N, nodes)
        edge = torch.tanh(likeness.gather(2, apart.expand(len(x), -1, -1)))  # (B, N, N)
        summed = (adjacency[:, 1:, 1:] * edge).sum(dim=-1, keepdim=True)
        return nn.functional.pad(summed, (0, 0, 1, 0)).expand_as(x)


class SingleProduct(nn.Module):
    """SketchHealer's messages: one product A X W, summed over the nodes, normalised, tanh. (B, N, D) -> (B, D)"""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Linear(dim, dim, bias=False)
        self.norm = BatchNorm(dim)
        init_he(self.weight.weight)

    def forward(self, nodes: Tensor, adjacency: Tensor, added: Tensor | None = None) -> Tensor:
        messages = adjacency @ nodes if added is None else adjacency @ nodes + added
        return torch.tanh(self.norm(self.weight(messages).sum(dim=1)))


def graph_rounds(dim: int, rounds: int) -> tuple[list[GraphRound], GraphConv]:
    """Rounds of messages: all but the last give nodes, the last one gives the feature of the sketch."""
    return [GraphRound(dim) for _ in range(rounds - 1)], GraphConv(dim)


def _mean(values: Tensor, where: Tensor) -> Tensor:
    return (values * where).sum() / where.sum().clamp(min=1)
