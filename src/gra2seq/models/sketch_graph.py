"""A sketch as a graph of patches, as plain numpy arrays: for programs, pictures and pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gra2seq.data.batches import Preparation, prepare
from gra2seq.data.views import PatchView
from gra2seq.errors import UserError
from gra2seq.models.graph_encoder import Graph, GraphEncoder
from gra2seq.nn.links import cosine, link_rule
from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import Doubles, Floats, Ints


@dataclass(frozen=True)
class SketchGraph:
    """N patches of one sketch; places are in the drawing's units."""

    centres: Doubles  # (N, 2)
    boxes: Doubles  # (N, 4) x, y, width, height
    adjacency: Floats  # (N, N) weights of the links (eq. 2), row i: what node i receives
    cosines: Floats  # (N, N) likeness of the patches' vectors (eq. 1)
    clusters: Ints | None  # (N,) number of each patch's cluster, where the model has clusters
    features: Floats  # (N, D) the patches' vectors v

    def __len__(self) -> int:
        return len(self.centres)

    @staticmethod
    def of(
        graph: Graph, damage: Damage, canvas: Canvas, assign: Callable[[Tensor], Tensor] | None = None
    ) -> SketchGraph:
        """The only sketch of a batch, without absent nodes."""
        valid: NDArray[np.bool_] = graph.nodes.valid[0].cpu().numpy()
        features = graph.nodes.features[:1]
        pixels = graph.nodes.centres[0].cpu().numpy()[valid].astype(np.float64) * canvas.padded
        centres = damage.denormalised((pixels - canvas.padded / 2) / canvas.side)
        size = np.full((len(centres), 2), canvas.patch / canvas.side * damage.side)
        both = np.ix_(valid, valid)
        vectors = features[0].cpu()[valid]
        return SketchGraph(
            centres,
            np.concatenate([centres - size / 2, size], axis=1),
            graph.adjacency[0].cpu().numpy()[both],
            cosine(features)[0].cpu().numpy()[both],
            None if assign is None else assign(features[0])[graph.nodes.valid[0]].cpu().numpy(),
            vectors.numpy(),
        )


def graph_owner(network: nn.Module) -> Any:
    """The part of a network that holds its graph encoder."""
    for part in network.modules():
        if isinstance(getattr(part, "graph", None), GraphEncoder):
            return part
    raise UserError("this model links no patches: it has no graph")


@torch.inference_mode()
def patch_graphs(
    network: nn.Module, preparation: Preparation, damages: Sequence[Damage], links: str | None = None
) -> Graph:
    """The graphs of a batch of damaged drawings, linked as trained or by the named link rule."""
    encoder = graph_owner(network).graph
    view = preparation.views["patches"]
    if isinstance(view, PatchView):
        view = replace(view, random_links=view.random_links or links == "random")
    device = next(network.parameters()).device
    batch = prepare(damages, replace(preparation, views={"patches": view})).to(device)
    graph: Graph = encoder(batch.views["patches"], link_rule(links) if links else None)
    return graph
