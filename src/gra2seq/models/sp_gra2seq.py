"""SP-gra2seq (Zang, Tu, Xu, AAAI 2023): patches linked by synonymous proximity, clustered over all sketches."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch
from gra2seq.data.views import PatchInput
from gra2seq.models.graph_encoder import Graph, GraphEncoder, graph_rounds
from gra2seq.models.sketch_model import Code, Encoding, SketchModel, build_decoder
from gra2seq.nn.adjacency import NORMALISING
from gra2seq.nn.centroids import Centroids
from gra2seq.nn.links import link_rule
from gra2seq.nn.patch_cnn import PatchCNN


class SynonymEncoder(nn.Module):
    """A graph encoder, its code, and the clusters that keep synonymous patches together."""

    def __init__(
        self, graph: GraphEncoder, code: Code, centroids: Centroids | None, cluster_weight: float, cluster_form: str
    ) -> None:
        super().__init__()
        self.graph, self.code, self.centroids = graph, code, centroids
        self.cluster_weight, self.cluster_form = cluster_weight, cluster_form

    def forward(self, batch: Batch) -> Encoding:
        patches: PatchInput = batch.views["patches"]
        graph: Graph = self.graph(patches)
        mean, log_variance = self.code(graph.feature)
        figures = self.graph.figures(graph, patches)
        if self.centroids is None:
            return Encoding(mean, log_variance, {}, figures)
        pull, clustering = self._cluster(self.centroids, graph.nodes.features[patches.valid], patches, len(batch))
        return Encoding(mean, log_variance, {"cluster": self.cluster_weight * pull}, figures | clustering)

    def _cluster(
        self, centroids: Centroids, vectors: Tensor, patches: PatchInput, drawings: int
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The pull of the patches' vectors (n, D) to their centroids, which follow them in training, and figures."""
        fixed = vectors.detach()
        if self.training and not bool(centroids.started) and patches.order is not None:
            centroids.start_(fixed, patches.order[patches.valid])
        cluster = centroids.assign(fixed)
        if self.training:
            centroids.update_(fixed, cluster)
        places = centroids.places
        figures = {
            "cosine_centroid": F.cosine_similarity(fixed, places[cluster], dim=-1).mean(),
            "living_clusters": torch.zeros_like(places[:, 0]).index_fill(0, cluster, 1).sum(),
        }
        return centroids.pull(vectors, cluster, drawings, self.cluster_form), figures


def synonym_encoder(config: ModelConfig, graph: GraphEncoder) -> SynonymEncoder:
    """The code and the clusters around a graph encoder."""
    dim = graph.embed.dim
    centroids = Centroids(config.clusters, dim, config.cluster_rate) if config.clusters else None
    code = Code(dim, config.code, config.start_log_variance)
    return SynonymEncoder(graph, code, centroids, config.cluster_weight, config.cluster_form)


def synonym_graph(
    config: ModelConfig, position: nn.Module | None = None, relative: nn.Module | None = None
) -> GraphEncoder:
    """Eq. 1 to 4, with the link rule and the normalising of the configuration."""
    before, last = graph_rounds(config.channels[-1], config.rounds)
    return GraphEncoder(
        PatchCNN(config.channels, config.blank_value, config.ink_value),
        link_rule(config.links),
        last,
        NORMALISING[config.normalise],
        config.corner,
        position=position,
        relative=relative,
        before=before,
    )


def sp_gra2seq(config: ModelConfig) -> SketchModel:
    return SketchModel(synonym_encoder(config, synonym_graph(config)), build_decoder(config))
