"""Patches of the gallery by cluster: what else the model puts into the cluster of a patch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gra2seq.errors import UserError
from gra2seq.sketch.region import Box, Region, pieces
from gra2seq.sketch.strokes import Doubles, Floats, Ints, Sketch

if TYPE_CHECKING:
    from gra2seq.model import Model
    from gra2seq.models.sketch_graph import SketchGraph

MAX_DRAWINGS = 60  # whose patches are collected: some 1,200 patches
NEAREST = 3  # patches of the same cluster that are shown beside one


@dataclass(frozen=True)
class PatchAtlas:
    """All patches of some drawings."""

    sketches: Sequence[Sketch]
    owners: Ints  # (n,) number of the drawing of each patch
    boxes: Doubles  # (n, 4) x, y, width, height
    features: Floats  # (n, D), of length 1
    clusters: Ints  # (n,)

    @staticmethod
    def of(model: Model, sketches: Sequence[Sketch], closed: threading.Event) -> PatchAtlas | None:
        """The patches of the first drawings; nothing for a model without graph or clusters."""
        graphs: list[SketchGraph] = []
        for sketch in sketches[:MAX_DRAWINGS]:
            if closed.is_set():
                return None
            try:
                graph = model.graph(sketch)
            except UserError:
                return None
            if graph.clusters is None:
                return None
            graphs.append(graph)
        return PatchAtlas(
            sketches,
            np.repeat(np.arange(len(graphs)), [len(graph) for graph in graphs]),
            np.concatenate([graph.boxes for graph in graphs]),
            unit_length(np.concatenate([graph.features for graph in graphs])),
            np.concatenate([graph.clusters for graph in graphs if graph.clusters is not None]),
        )

    def nearest(self, feature: Floats, cluster: int) -> list[dict[str, Any]]:
        """The patches of a cluster that are most like a feature (D,): their lines, box and cosine, the best first."""
        members = np.flatnonzero(self.clusters == cluster)
        cosines = self.features[members] @ unit_length(feature[None])[0]
        best = np.argsort(-cosines, kind="stable")[:NEAREST]
        return [{**self._picture(int(members[n])), "cosine": round(float(cosines[n]), 3)} for n in best]

    def _picture(self, number: int) -> dict[str, Any]:
        x, y, width, height = self.boxes[number].tolist()
        box: Box = (x, y, width, height)
        sketch = self.sketches[int(self.owners[number])]
        lines = [
            np.round(piece.points.astype(np.float64), 1)
            for piece in pieces(sketch, Region.of_boxes([box]), within=True)
        ]
        return {"strokes": [line.tolist() for line in lines], "box": [round(value, 1) for value in box]}


def unit_length(vectors: Floats) -> Floats:
    """(n, D) vectors of length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.maximum(length, 1e-12)
    return unit
