"""sketch-pix2seq (Chen et al., 2017): a small picture in, a free code (no KL), strokes out."""

from __future__ import annotations

from torch import nn

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch
from gra2seq.models.sketch_model import Code, Encoding, SketchModel, build_decoder
from gra2seq.nn.picture_cnn import PictureCNN, pix2seq_cnn


class FreePicture(nn.Module):
    """A picture of the visible strokes -> a code without a prior."""

    def __init__(self, cnn: PictureCNN, code: Code) -> None:
        super().__init__()
        self.cnn, self.code = cnn, code

    def forward(self, batch: Batch) -> Encoding:
        return Encoding(*self.code(self.cnn(batch.views["picture"])))


def sketch_pix2seq(config: ModelConfig) -> SketchModel:
    cnn = pix2seq_cnn(config.picture)
    return SketchModel(FreePicture(cnn, Code(cnn.dim, config.code, config.start_log_variance)), build_decoder(config))
