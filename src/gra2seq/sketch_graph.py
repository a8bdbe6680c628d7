"""A sketch as a graph of patches, as plain numpy arrays: for programs, pictures and pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import Doubles, Floats, Ints

if TYPE_CHECKING:
    from torch import Tensor

    from gra2seq.models.graph_encoder import Graph


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
        from gra2seq.nn.links import cosine

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
