"""sketch-rnn (Ha and Eck, ICLR 2018): strokes in, a Gaussian code, strokes out."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch
from gra2seq.data.views import StrokeInput
from gra2seq.models.sketch_model import Code, Encoding, SketchModel, build_decoder
from gra2seq.nn.distributed import total
from gra2seq.nn.kl import RisingWeight, standard_kl
from gra2seq.nn.stroke_encoder import StrokeEncoder

KL_WEIGHT = 0.5
KL_FREE = 0.20  # a KL below this costs nothing
KL_LAG = 0.98  # the weight starts at 0.01 (Magenta)
KL_RATE = 0.99995  # and rises as 1 - lag x rate^step
MAX_ROWS = 250  # rows that sketch-rnn averages its reconstruction over


class KL(nn.Module):
    """The KL term: rising weight, free below a tolerance.

    sketch-rnn averages its reconstruction over 250 rows, we sum over them: the term is that many times larger, so
    that the balance of the two is sketch-rnn's.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rising = RisingWeight(KL_LAG, KL_RATE)

    def forward(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        weight: float = self.rising()
        kl = standard_kl(mean, log_variance)
        if self.training:
            self.rising.tick_()
            kl = total(kl) / total(torch.ones_like(kl))  # of all processes: it is free, or not, for all alike
        return kl.clamp(min=KL_FREE) * (weight * KL_WEIGHT * MAX_ROWS)


class GaussianStrokes(nn.Module):
    """The visible strokes -> a Gaussian code."""

    def __init__(self, read: StrokeEncoder, code: Code, kl: KL) -> None:
        super().__init__()
        self.read, self.code, self.kl = read, code, kl

    def forward(self, batch: Batch) -> Encoding:
        strokes: StrokeInput = batch.views["strokes"]
        mean, log_variance = self.code(self.read(strokes.rows, strokes.count))
        with torch.no_grad():
            figures = {"kl_a_dimension": standard_kl(mean, log_variance)}
        return Encoding(mean, log_variance, {"kl": self.kl(mean, log_variance)}, figures)


def sketch_rnn(config: ModelConfig) -> SketchModel:
    read = StrokeEncoder(config.stroke_hidden)
    return SketchModel(GaussianStrokes(read, Code(read.dim, config.code, 0.0), KL()), build_decoder(config))
