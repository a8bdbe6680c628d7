"""Sketch-a-Net (Yu et al. 2017): tells the category of a 225 x 225 picture of a sketch. The judge behind Rec."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.data.batches import Batch
from gra2seq.errors import UserError

HIDDEN = 512
DROPOUT = 0.5


class SketchANet(nn.Module):
    """Batch with pictures and labels -> loss term and accuracy; `logits` for use."""

    def __init__(self, categories: int) -> None:
        super().__init__()
        if categories < 2:
            raise UserError(f"a classifier needs at least two categories, the data set has {categories}")
        self.features = nn.Sequential(
            *_convolution(1, 64, 15, stride=3), nn.MaxPool2d(3, 2),  # 225 -> 71 -> 35
            *_convolution(64, 128, 5), nn.MaxPool2d(3, 2),  # -> 31 -> 15
            *_convolution(128, 256, 3, padding=1),
            *_convolution(256, 256, 3, padding=1),
            *_convolution(256, 256, 3, padding=1), nn.MaxPool2d(3, 2),  # -> 7
        )  # fmt: skip
        self.classify = nn.Sequential(
            nn.Flatten(),
            nn.Linear(256 * 7 * 7, HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT),
            nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT),
            nn.Linear(HIDDEN, categories),
        )  # fmt: skip

    def logits(self, pictures: Tensor) -> Tensor:
        """(B, 225, 225) of 0 to 255 -> (B, categories)"""
        scaled = pictures.to(next(self.parameters()).dtype).unsqueeze(1) / 255
        logits: Tensor = self.classify(self.features(scaled))
        return logits

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        logits = self.logits(batch.pictures)
        right = (logits.argmax(dim=-1) == batch.labels).float().mean()
        return {"category": F.cross_entropy(logits, batch.labels)}, {"accuracy": right}


def _convolution(inputs: int, outputs: int, side: int, stride: int = 1, padding: int = 0) -> list[nn.Module]:
    """With batch norm, which Sketch-a-Net (2015) has not: a judge is to be had in an hour (docs/decisions.md)."""
    weights = nn.Conv2d(inputs, outputs, side, stride=stride, padding=padding, bias=False)
    return [weights, nn.BatchNorm2d(outputs), nn.ReLU()]
