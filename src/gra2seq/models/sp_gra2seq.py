"""SP-gra2seq (Zang, Tu, Xu, AAAI 2023): patches linked by synonymous proximity, clustered over all sketches."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.data.batches import Batch
from gra2seq.models.graph_encoder import Graph, GraphEncoder, graph_encoder_of
from gra2seq.models.sketch_model import Code, Encoding, Painting, SketchModel, decoder_of
from gra2seq.nn.centroids import Centroids
from gra2seq.nn.mending import Mend
from gra2seq.nn.picture_cnn import PictureCNN, song_cnn
from gra2seq.options import Options


class Glance(nn.Module):
    """The whole drawing as one small picture -> what that adds to the code: nothing, before it has learnt."""

    def __init__(self, see: PictureCNN, code: int) -> None:
        super().__init__()
        self.see, self.tell = see, nn.Linear(see.dim, code)
        nn.init.zeros_(self.tell.weight)
        nn.init.zeros_(self.tell.bias)

    def forward(self, pictures: Tensor) -> Tensor:
        told: Tensor = self.tell(self.see(pictures))
        return told


class SynonymEncoder(nn.Module):
    """A graph encoder, its code, and the clusters that keep synonymous patches together; perhaps a glance besides."""

    def __init__(
        self,
        graph: GraphEncoder,
        code: Code,
        centroids: Centroids | None,
        weight: float,
        form: str,
        glance: Glance | None = None,
    ) -> None:
        super().__init__()
        self.graph, self.code, self.centroids, self.glance = graph, code, centroids, glance
        self.weight, self.form = weight, form

    def forward(self, batch: Batch) -> Encoding:
        graph: Graph = self.graph(batch)
        mean, log_variance = self.code(graph.feature)
        if self.glance is not None:
            mean = mean + self.glance(batch.pictures)
        patches = graph.nodes.features[batch.valid]  # (n, D)
        watch = {"norm": torch.linalg.vector_norm(patches.detach(), dim=-1).mean()}
        if self.centroids is None:
            return Encoding(mean, log_variance, {}, watch)
        if self.training and not bool(self.centroids.started):
            self.centroids.start_(patches.detach(), batch.uniform[batch.valid])
        cluster = self.centroids.assign(patches.detach())
        if self.training:
            self.centroids.update_(patches.detach(), cluster)
        pull = self.centroids.pull(patches, cluster, len(batch), self.form)
        with torch.no_grad():
            watch["cosine"] = F.cosine_similarity(patches, self.centroids.places[cluster], dim=-1).mean()
            watch["clusters"] = torch.zeros_like(self.centroids.places[:, 0]).index_fill(0, cluster, 1).sum()
        return Encoding(mean, log_variance, {"cluster": self.weight * pull}, watch)


def sp_gra2seq(options: Options) -> SketchModel:
    dim = options.channels[-1]
    centroids = Centroids(options.clusters, dim, options.cluster_rate) if options.clusters else None
    encoder = SynonymEncoder(
        graph_encoder_of(options),
        Code(dim, options.code, options.start_log_variance),
        centroids,
        options.cluster_weight,
        options.cluster_form,
        Glance(song_cnn(options.picture), options.code) if options.glance else None,
    )
    extra = Painting(options.code, options.picture, options.paint) if options.paint else None
    mend = Mend(song_cnn(options.picture, channels=2), options.code) if options.mend else None
    return SketchModel(encoder, decoder_of(options), extra, mend, options.polish)
