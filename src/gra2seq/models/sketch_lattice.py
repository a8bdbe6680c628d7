"""SketchLattice (Qi et al., ICCV 2021): a graph of the lattice points that meet ink, known by their places only."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch
from gra2seq.data.views import PointInput
from gra2seq.models.sketch_model import Code, Encoding, SketchModel, build_decoder
from gra2seq.nn.adjacency import NORMALISING
from gra2seq.nn.links import Link, Nodes, link_rule
from gra2seq.nn.masked_batch_norm import BatchNorm
from gra2seq.sketch.lattice import LATTICE, VIEW

LAYERS = 2  # graph convolutions


class PointGraph(nn.Module):
    """Lattice points, (B, N, 2) pixels -> (B, D): embeddings of column and row, residual graph convolutions, a sum."""

    def __init__(self, embedding: int, link: Link, normalise: str) -> None:
        super().__init__()
        self.dim = 2 * embedding
        self.column, self.row = nn.Embedding(LATTICE, embedding), nn.Embedding(LATTICE, embedding)
        self.layers = nn.ModuleList(nn.Linear(self.dim, self.dim) for _ in range(LAYERS))
        self.norm = BatchNorm(self.dim)
        self.link, self.normalise = link, NORMALISING[normalise]

    def forward(self, points: Tensor, valid: Tensor) -> Tensor:
        place = (points * LATTICE / VIEW).long().clamp(0, LATTICE - 1)
        nodes = torch.cat([self.column(place[..., 0]), self.row(place[..., 1])], dim=-1)  # (B, N, D)
        adjacency = self.normalise(self.link(Nodes(nodes, valid, points)))
        for layer in self.layers:
            nodes = nodes + torch.relu(layer(adjacency @ nodes))
        return torch.tanh(self.norm((nodes * valid.unsqueeze(-1)).sum(dim=1)))


class FreePoints(nn.Module):
    """Lattice points -> a code without a prior."""

    def __init__(self, graph: PointGraph, code: Code) -> None:
        super().__init__()
        self.graph, self.code = graph, code

    def forward(self, batch: Batch) -> Encoding:
        points: PointInput = batch.views["points"]
        return Encoding(*self.code(self.graph(points.points, points.valid)))


def sketch_lattice(config: ModelConfig) -> SketchModel:
    graph = PointGraph(config.embedding, link_rule(config.links), config.normalise)
    code = Code(graph.dim, config.code, config.start_log_variance)
    return SketchModel(FreePoints(graph, code), build_decoder(config))
