"""Ink prediction: where the ink of the whole drawing lies, from its code and what is visible (beyond the paper).

A code says what a drawing looks like, the visible strokes say where its lines are cut: together they say where lost
ink most likely was, which no single sample of the decoder does.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.nn.initial_weights import init_he_layers
from gra2seq.nn.masked_batch_norm import BatchNorm
from gra2seq.nn.picture_cnn import pixels

SIDE = 64  # pixels of the pictures: a line of the canvas is one and a half of them wide
CHANNELS = (32, 64, 128, 256)  # on the way down; each layer halves the side
LAST = 16  # channels before the last layer


class PredictedInk(NamedTuple):
    """Of each pixel of B pictures: the logit of ink, and the expected distance to ink in units of `canvas.FARTHEST`."""

    logits: Tensor  # (B, SIDE, SIDE)
    distance: Tensor  # (B, SIDE, SIDE)


class InkPredictor(nn.Module):
    """A small U-Net; the code enters where the picture is smallest.

    Codes (B, code), pictures (B, SIDE, SIDE) of 0 to 255 of the visible strokes and of the lost region -> ink of the
    whole drawing.
    """

    def __init__(self, code: int) -> None:
        super().__init__()
        self.norm = BatchNorm(code)
        sizes = (2, *CHANNELS)
        self.down = nn.ModuleList(nn.Conv2d(a, b, 4, 2, padding=1) for a, b in pairwise(sizes))
        self.seed = SIDE >> len(CHANNELS)
        self.from_code = nn.Linear(code, CHANNELS[-1] * self.seed**2)
        self.middle = nn.Conv2d(CHANNELS[-1], CHANNELS[-1], 3, padding=1)
        joined = (CHANNELS[-1], *(2 * channels for channels in reversed(CHANNELS[:-1])))  # with what came down
        after = (*reversed(CHANNELS[:-1]), LAST)
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 4, 2, padding=1) for a, b in zip(joined, after, strict=True))
        self.last = nn.Conv2d(LAST + 2, 2, 3, padding=1)
        init_he_layers(self)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster on a CPU

    def forward(self, code: Tensor, visible: Tensor, lost: Tensor) -> PredictedInk:
        x = pixels(torch.stack([visible, lost], dim=1)).contiguous(memory_format=torch.channels_last)
        passed = [x]
        for down in self.down:
            passed.append(torch.relu(down(passed[-1])))
        start = self.from_code(self.norm(code)).reshape(len(code), -1, self.seed, self.seed)
        x = torch.relu(passed.pop() + start)
        x = x + torch.relu(self.middle(x))
        for up in self.up:
            x = torch.cat([torch.relu(up(x)), passed.pop()], dim=1)
        logits, distance = self.last(x).unbind(dim=1)
        return PredictedInk(logits, distance)


def ink_losses(predicted: PredictedInk, ink: Tensor, distance: Tensor) -> dict[str, Tensor]:
    """(B,) each: cross-entropy of the ink, given as 0 to 255, and squared error of the distance, summed over pixels."""
    entropy = F.binary_cross_entropy_with_logits(predicted.logits, pixels(ink).squeeze(1), reduction="none")
    error = (predicted.distance - distance).square()
    return {"ink": entropy.sum(dim=(1, 2)), "distance": error.sum(dim=(1, 2))}
