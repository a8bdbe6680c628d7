"""Song et al. (CVPR 2018): picture and strokes, paired; each is made from each, so four ways share two decoders.

The code in use is the picture's: picture to strokes is the way their paper is about.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch, Targets
from gra2seq.models.sketch_model import (
    Code,
    Encoding,
    SketchModel,
    build_decoder,
    figures_of,
    follow,
    negative_log_likelihood,
    sampled,
)
from gra2seq.models.sketch_rnn import KL, GaussianStrokes
from gra2seq.nn.picture_cnn import PictureCNN, PicturePainter, song_cnn
from gra2seq.nn.stroke_decoder import StrokeDecoder
from gra2seq.nn.stroke_encoder import StrokeEncoder


class GaussianPicture(nn.Module):
    """A picture of the visible strokes -> a Gaussian code."""

    def __init__(self, cnn: PictureCNN, code: Code, kl: KL) -> None:
        super().__init__()
        self.cnn, self.code, self.kl = cnn, code, kl

    def forward(self, batch: Batch) -> Encoding:
        mean, log_variance = self.code(self.cnn(batch.views["picture"]))
        return Encoding(mean, log_variance, {"kl": self.kl(mean, log_variance)})


class Song(SketchModel):
    """Two codes of each sketch, `encoder`'s from its picture and `read`'s from its strokes, and from each of them both
    strokes and picture: the decoders are handed the codes of both kinds at once.
    """

    def __init__(
        self, encoder: GaussianPicture, read: GaussianStrokes, decoder: StrokeDecoder, paint: PicturePainter
    ) -> None:
        super().__init__(encoder, decoder)
        self.read, self.paint = read, paint

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        picture: Encoding = self.encoder(batch)
        strokes: Encoding = self.read(batch)
        codes = torch.cat([sampled(one.mean, one.log_variance, batch.noise) for one in (picture, strokes)])
        assert batch.targets is not None
        assert batch.painted is not None
        targets = Targets(*(_twice(part) for part in vars(batch.targets).values()))
        ways = negative_log_likelihood(*follow(self.decoder, targets, codes))
        ways["picture"] = self.paint.cross_entropy(codes, _twice(batch.painted))
        terms = {"kl": picture.terms["kl"], "strokes_kl": strokes.terms["kl"]}
        for name, each in ways.items():
            terms[name], terms[f"strokes_{name}"] = (half.mean() for half in each.chunk(2))
        return terms, figures_of(picture)


def _twice(rows: Tensor) -> Tensor:
    return torch.cat([rows, rows])


def song(config: ModelConfig) -> Song:
    cnn, read = song_cnn(config.picture), StrokeEncoder(config.stroke_hidden)
    pictures = GaussianPicture(cnn, Code(cnn.dim, config.code, 0.0), KL())
    strokes = GaussianStrokes(read, Code(read.dim, config.code, 0.0), KL())
    return Song(pictures, strokes, build_decoder(config), PicturePainter(config.code, config.picture))
