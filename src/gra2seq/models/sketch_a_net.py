"""Sketch-a-Net (Yu et al. 2017): names the category of a 225 x 225 picture of a sketch. The judge behind Rec."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.data.batches import Batch
from gra2seq.errors import UserError
from gra2seq.nn.initial_weights import init_he_layers

HIDDEN = 512  # of its two hidden layers; a random number for each drops it or not
SIDE = 225  # pixels of the pictures it sees


class SketchANet(nn.Module):
    """Batch with pictures and labels -> loss term and accuracy; `logits` for use."""

    def __init__(self, categories: int) -> None:
        super().__init__()
        if categories < 2:
            raise UserError(f"a classifier needs at least two categories, the data set has {categories}")
        self.features = nn.Sequential(
            nn.Conv2d(1, 64, 15, stride=3), nn.MaxPool2d(3, 2), nn.ReLU(inplace=True),  # 225 -> 71 -> 35
            nn.Conv2d(64, 128, 5), nn.MaxPool2d(3, 2), nn.ReLU(inplace=True),  # -> 31 -> 15
            nn.Conv2d(128, 256, 3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, 3, padding=1), nn.MaxPool2d(3, 2), nn.ReLU(inplace=True),  # -> 7
            nn.Flatten(),
        )  # fmt: skip
        self.first = nn.Linear(256 * 7 * 7, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, categories)
        init_he_layers(self)
        # Channels side by side in memory suit a CPU's convolutions, and pooling before ReLU, which is the same, leaves
        # less to do (docs/decisions).
        self.features.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def logits(self, pictures: Tensor, chance: Tensor | None = None) -> Tensor:
        """(B, 225, 225) of 0 to 255 -> (B, categories).

        In training `chance` (B, 2 * HIDDEN) are normal numbers: what has a negative one is dropped. That is dropout of
        a half that belongs to the sketch, so that a resumed run, or one of several processes, drops the same.
        """
        scaled = pictures.to(next(self.parameters()).dtype).unsqueeze(1) / 255
        hidden = F.relu(self.first(self.features(scaled)))
        if chance is not None:
            hidden = 2 * hidden * (chance[:, :HIDDEN] > 0)
        hidden = F.relu(self.second(hidden))
        if chance is not None:
            hidden = 2 * hidden * (chance[:, HIDDEN:] > 0)
        logits: Tensor = self.last(hidden)
        return logits

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        assert batch.labels is not None
        logits = self.logits(batch.views["picture"], batch.noise if self.training else None)
        right = (logits.argmax(dim=-1) == batch.labels).float().mean()
        return {"category": F.cross_entropy(logits, batch.labels)}, {"accuracy": right}
