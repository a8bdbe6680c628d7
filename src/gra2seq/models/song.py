"""Song et al. (CVPR 2018): picture and strokes, paired; each is made from each, so four ways share two decoders.

The code in use is the picture's: picture to strokes is the way their paper is about.
"""

from __future__ import annotations

from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.models.sketch_model import (
    Code,
    Drawn,
    Encoding,
    SketchModel,
    decoder_of,
    drawing_terms,
    rows_that_count,
    sampled,
)
from gra2seq.models.sketch_rnn import KL, GaussianStrokes
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


class OtherWays(nn.Module):
    """Besides picture to strokes: strokes to strokes, strokes to picture, picture to picture."""

    def __init__(self, read: GaussianStrokes, paint: PicturePainter) -> None:
        super().__init__()
        self.read, self.paint = read, paint

    def forward(self, drawn: Drawn) -> dict[str, Tensor]:
        batch = drawn.batch
        strokes: Encoding = self.read(batch)
        stroke_code = sampled(strokes.mean, strokes.log_variance, batch.noise)
        rows, targets = batch.rows[:, :-1], batch.rows[:, 1:]
        moves = drawn.decoder(rows, stroke_code, rows_that_count(targets))
        return {
            "strokes_kl": strokes.terms["kl"],
            **drawing_terms(moves, targets, "strokes_"),
            "picture": self.paint.loss(drawn.code, batch.painted),
            "strokes_picture": self.paint.loss(stroke_code, batch.painted),
        }


def song(options: Options) -> SketchModel:
    see, read = song_cnn(options.picture), StrokeEncoder(options.stroke_hidden)
    pictures = GaussianPicture(see, Code(see.dim, options.code, 0.0), KL(options.max_points))
    strokes = GaussianStrokes(read, Code(read.dim, options.code, 0.0), KL(options.max_points))
    return SketchModel(pictures, decoder_of(options), OtherWays(strokes, PicturePainter(options.code, options.picture)))
