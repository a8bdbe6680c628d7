"""The graph encoder that the patch systems share: embed the views, link them, pass messages along the links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.nn.batch_norm import BatchNorm
from gra2seq.nn.graph_conv import GraphConv, GraphRound
from gra2seq.nn.patch_cnn import PatchCNN
from gra2seq.nn.proximity import LINKS, NORMALISING, Link, Nodes, with_whole_view
from gra2seq.nn.where import Where
from gra2seq.options import Options
from gra2seq.sketch.canvas import Canvas


@dataclass(frozen=True)
class Graph:
    """A batch of sketches as graphs: what figures show and losses pull at."""

    nodes: Nodes
    adjacency: Tensor  # (B, N, N) eq. 2, before the whole view joins and before normalising
    feature: Tensor  # (B, D)


class GraphEncoder(nn.Module):
    """Parts are passed in: which CNN, which links, which normalising. Batch -> Graph."""

    def __init__(
        self,
        embed: PatchCNN,
        link: Link,
        mix: GraphConv,
        normalise: Callable[[Tensor], Tensor],
        corner: float,
        dim: int,
        where: Where | None = None,
        before: Sequence[GraphRound] = (),
    ) -> None:
        super().__init__()
        self.embed, self.mix, self.where = embed, mix, where
        self.before = nn.ModuleList(before)
        self.norm = BatchNorm(dim)
        self.link, self.normalise, self.corner = link, normalise, corner

    def forward(self, batch: Batch) -> Graph:
        batch_size, count = batch.valid.shape
        seen = self.embed(batch.blocks)  # (n, D) only the views that are there
        table = seen.new_zeros(batch_size * (1 + count), seen.shape[-1])
        v = table.index_copy(0, batch.places, seen).reshape(batch_size, 1 + count, -1)  # (B, 1 + N, D)
        nodes = Nodes(v[:, 1:], batch.valid, batch.centres, batch.links)
        adjacency = self.link(nodes)
        real = torch.cat([batch.valid.new_ones(batch_size, 1), batch.valid], dim=1)
        where = None if self.where is None else self.where(batch.centres, batch.valid)
        x, links = self.norm(torch.relu(v), real), adjacency
        for talk in self.before:
            x = talk(x, real, self._whole(links, batch), where)
            links, where = self.link(replace(nodes, features=x[:, 1:])), None  # they know by now where they are
        return Graph(nodes, adjacency, self.mix(x, self._whole(links, batch), where))

    def _whole(self, adjacency: Tensor, batch: Batch) -> Tensor:
        """Eq. 3 and 4: with the whole view, normalised."""
        return self.normalise(with_whole_view(adjacency, batch.valid, self.corner))


def graph_encoder_of(options: Options) -> GraphEncoder:
    """The patch systems differ in their CNN, in where their patches are cut, and in what links them."""
    dim = options.channels[-1]
    side = Canvas(options.side, options.pen, options.patch).padded
    where = Where(dim, side, options.nodes, options.where == "canvas-and-order") if options.where != "untold" else None
    return GraphEncoder(
        embed=PatchCNN(options.channels, options.paper, options.ink),
        link=LINKS[options.links],
        mix=GraphConv(dim),
        normalise=NORMALISING[options.normalise],
        corner=options.corner,
        dim=dim,
        where=where,
        before=[GraphRound(dim) for _ in range(options.rounds - 1)],
    )
