"""Song et al. (CVPR 2018): picture and strokes, paired; each is made from each, so four ways share two decoders.

The code in use is the picture's: picture to strokes is the way their paper is about.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.models.sketch_model import (
    Code,
    Encoding,
    SketchModel,
    decoder_of,
    follow,
    sampled,
    unlikely,
    watched,
)
from gra2seq.models.sketch_rnn import KL, GaussianStrokes
from gra2seq.nn.decoder import StrokeDecoder
from gra2seq.nn.picture_cnn import PictureCNN, PicturePainter, song_cnn
from gra2seq.nn.stroke_encoder import StrokeEncoder
from gra2seq.options import Options


class GaussianPicture(nn.Module):
    """A picture of what is left -> a Gaussian code."""

    def __init__(self, see: PictureCNN, code: Code, kl: KL) -> None:
        super().__init__()
        self.see, self.code, self.kl = see, code, kl

    def forward(self, batch: Batch) -> Encoding:
        mean, log_variance = self.code(self.see(batch.pictures))
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
        ways = unlikely(*follow(self.decoder, _twice(batch.rows), codes))
        ways["picture"] = self.paint.losses(codes, _twice(batch.painted))
        terms = {"kl": picture.terms["kl"], "strokes_kl": strokes.terms["kl"]}
        for name, each in ways.items():
            terms[name], terms[f"strokes_{name}"] = (half.mean() for half in each.chunk(2))
        return terms, watched(picture)


def _twice(rows: Tensor) -> Tensor:
    return torch.cat([rows, rows])


def song(options: Options) -> Song:
    see, read = song_cnn(options.picture), StrokeEncoder(options.stroke_hidden)
    pictures = GaussianPicture(see, Code(see.dim, options.code, 0.0), KL(options.max_points))
    strokes = GaussianStrokes(read, Code(read.dim, options.code, 0.0), KL(options.max_points))
    return Song(pictures, strokes, decoder_of(options), PicturePainter(options.code, options.picture))
