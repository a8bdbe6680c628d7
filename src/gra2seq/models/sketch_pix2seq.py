"""sketch-pix2seq (Chen et al., 2017): a small picture in, a free code (no KL), strokes out."""

from __future__ import annotations

from torch import nn

from gra2seq.data.batches import Batch
from gra2seq.models.sketch_model import Code, Encoding, SketchModel, decoder_of
from gra2seq.nn.picture_cnn import PictureCNN, pix2seq_cnn
from gra2seq.options import Options


class FreePicture(nn.Module):
    """A picture of what is left -> a code that nothing pulls at."""

    def __init__(self, see: PictureCNN, code: Code) -> None:
        super().__init__()
        self.see, self.code = see, code

    def forward(self, batch: Batch) -> Encoding:
        return Encoding(*self.code(self.see(batch.pictures)))


def sketch_pix2seq(options: Options) -> SketchModel:
    see = pix2seq_cnn(options.picture)
    return SketchModel(FreePicture(see, Code(see.dim, options.code, options.start_log_variance)), decoder_of(options))
