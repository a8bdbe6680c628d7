"""A sketch graph as an answer of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gra2seq.studio.atlas import PatchAtlas

if TYPE_CHECKING:
    from gra2seq.models.sketch_graph import SketchGraph


def graph_answer(graph: SketchGraph, atlas: PatchAtlas | None) -> dict[str, Any]:
    """Patches with box, centre, cluster and the nearest patches of that cluster; links [from, to, weight]; cosines."""
    weights = np.maximum(graph.adjacency, graph.adjacency.T)  # a link is drawn once
    starts, stops = np.nonzero(np.triu(weights, 1))
    clusters = [None] * len(graph) if graph.clusters is None else graph.clusters.tolist()
    return {
        "patches": [
            {
                "centre": [round(value, 3) for value in centre],
                "box": [round(value, 3) for value in box],
                "cluster": cluster,
                "alike": [] if atlas is None or cluster is None else atlas.nearest(feature, cluster),
            }
            for centre, box, cluster, feature in zip(
                graph.centres.tolist(), graph.boxes.tolist(), clusters, graph.features, strict=True
            )
        ],
        "links": [
            [int(start), int(stop), round(float(weights[start, stop]), 4)]
            for start, stop in zip(starts, stops, strict=True)
        ],
        "cosines": np.round(graph.cosines.astype(np.float64), 3).tolist(),
    }
