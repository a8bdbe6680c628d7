"""RPCL-pix2seq (Zang, Tu, Xu, 2021): a picture in, a code from a mixture of Gaussians that organises itself."""

from __future__ import annotations

from torch import nn

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch
from gra2seq.models.sketch_model import Code, Encoding, Painting, SketchModel, build_decoder
from gra2seq.nn.kl import RisingWeight
from gra2seq.nn.mixture_prior import GaussianMixture
from gra2seq.nn.picture_cnn import PictureCNN, rpcl_cnn

KL_LAG, KL_RATE = 0.999, 0.9999  # the mixture KL's weight rises as 1 - 0.999 x 0.9999^step
PICTURE_WEIGHT = 0.5
ALIVE = 0.1  # a component with less than a tenth of an equal weight is dead


class MixturePicture(nn.Module):
    """A picture of the visible strokes -> a code near one of the Gaussians."""

    def __init__(self, cnn: PictureCNN, code: Code, prior: GaussianMixture) -> None:
        super().__init__()
        self.cnn, self.code, self.prior = cnn, code, prior
        self.rising = RisingWeight(KL_LAG, KL_RATE)

    def forward(self, batch: Batch) -> Encoding:
        mean, log_variance = self.code(self.cnn(batch.views["picture"]))
        weight = self.rising()
        terms = {"kl": weight * mean.shape[-1] * self.prior.kl(mean, log_variance)}
        if self.training:
            self.rising.tick_()
            self.prior.update_(mean.detach(), log_variance.detach().exp())
        alive = (self.prior.weights * len(self.prior.weights) > ALIVE).sum()
        return Encoding(mean, log_variance, terms, {"components": alive.to(mean.dtype)})


def rpcl_pix2seq(config: ModelConfig) -> SketchModel:
    cnn = rpcl_cnn(config.picture)
    encoder = MixturePicture(cnn, Code(cnn.dim, config.code, 0.0), GaussianMixture(config.clusters, config.code))
    return SketchModel(encoder, build_decoder(config), Painting(config.code, config.picture, PICTURE_WEIGHT))
