"""sketch-rnn (Ha and Eck, ICLR 2018): strokes in, a Gaussian code, strokes out."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.models.sketch_model import Code, Encoding, SketchModel, decoder_of
from gra2seq.nn.gaussian import RisingWeight, standard_kl
from gra2seq.nn.stroke_encoder import StrokeEncoder
from gra2seq.nn.world import total
from gra2seq.options import Options

KL_WEIGHT = 0.5
KL_FREE = 0.20  # a KL below this costs nothing
KL_RATE = 0.99995  # the weight rises as 1 - rate^step


class KL(nn.Module):
    """The KL term: rising weight, free below a tolerance.

    sketch-rnn averages its reconstruction over `steps` rows, we sum over them: the term is that many times larger, so
    that the balance of the two is sketch-rnn's.
    """

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.rising = RisingWeight(1.0, KL_RATE)

    def forward(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        weight: float = self.rising()
        kl = standard_kl(mean, log_variance)
        if self.training:
            self.rising.tick_()
            kl = total(kl) / total(torch.ones_like(kl))  # of all processes: it is free, or not, for all alike
        return kl.clamp(min=KL_FREE) * (weight * KL_WEIGHT * self.steps)


class GaussianStrokes(nn.Module):
    """What is left of the strokes -> a Gaussian code."""

    def __init__(self, read: StrokeEncoder, code: Code, kl: KL) -> None:
        super().__init__()
        self.read, self.code, self.kl = read, code, kl

    def forward(self, batch: Batch) -> Encoding:
        mean, log_variance = self.code(self.read(batch.strokes, batch.stroke_rows))
        with torch.no_grad():
            watch = {"kl_a_dimension": standard_kl(mean, log_variance)}
        return Encoding(mean, log_variance, {"kl": self.kl(mean, log_variance)}, watch)


def sketch_rnn(options: Options) -> SketchModel:
    read = StrokeEncoder(options.stroke_hidden)
    return SketchModel(
        GaussianStrokes(read, Code(read.dim, options.code, 0.0), KL(options.max_points)), decoder_of(options)
    )
