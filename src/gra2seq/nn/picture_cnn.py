"""Networks that see a sketch as one small picture, and the one that paints it back."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.nn.initial_weights import init_he_layers

PIX2SEQ = ((4, 2), (4, 1), (8, 2), (8, 1), (8, 2), (8, 1))  # channels and stride of sketch-pix2seq's convolutions
DILATIONS = (1, 2, 5)  # of RPCL-pix2seq's parallel convolutions
DILATED = (32, 64)  # channels of each of them, in the first and in the second block
PLAIN = (128, 256)  # and of the convolutions behind them
SONG = (32, 64, 128, 256)  # channels of the picture encoder beside a stroke encoder


def pixels(pictures: Tensor) -> Tensor:
    """(B, side, side) or (B, channels, side, side) of 0 to 255 -> (B, channels, side, side) of 0 to 1."""
    apart = pictures.unsqueeze(1) if pictures.ndim == 3 else pictures
    return apart.to(torch.get_default_dtype()) / 255


class Same(nn.Module):
    """A 2 x 2 convolution that keeps ceil(side / stride) pixels, as TensorFlow's SAME does."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(before, after, 2, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.conv(F.pad(x, (0, 1, 0, 1))))


class Dilated(nn.Module):
    """Parallel 3 x 3 convolutions of several dilations, summed, then a 3 x 3 convolution with stride 2."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.branches = nn.ModuleList(nn.Conv2d(before, after, 3, padding=rate, dilation=rate) for rate in DILATIONS)
        self.halve = nn.Conv2d(after, after, 3, 2, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        summed = torch.stack([branch(x) for branch in self.branches]).sum(dim=0)
        return torch.relu(self.halve(torch.relu(summed)))


class PictureCNN(nn.Module):
    """Pictures (B, side, side), or (B, channels, side, side), of 0 to 255 -> (B, dim): layers, flattened."""

    def __init__(self, layers: nn.Sequential, side: int, channels: int = 1) -> None:
        super().__init__()
        self.layers = layers
        init_he_layers(layers)
        layers.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster on a CPU
        with torch.no_grad():
            self.dim = layers(torch.zeros(1, channels, side, side)).numel()

    def forward(self, pictures: Tensor) -> Tensor:
        features: Tensor = self.layers(pixels(pictures))
        return features.flatten(1)


def pix2seq_cnn(side: int) -> PictureCNN:
    sizes = [1, *(channels for channels, _ in PIX2SEQ)]
    layers = [Same(a, b, stride) for (a, b), (_, stride) in zip(pairwise(sizes), PIX2SEQ, strict=True)]
    return PictureCNN(nn.Sequential(*layers), side)


def rpcl_cnn(side: int) -> PictureCNN:
    first, second = DILATED
    return PictureCNN(nn.Sequential(Dilated(1, first), Dilated(first, second), *_halving((second, *PLAIN))), side)


def song_cnn(side: int, channels: int = 1) -> PictureCNN:
    return PictureCNN(nn.Sequential(*_halving((channels, *SONG))), side, channels)


def _halving(sizes: tuple[int, ...]) -> list[nn.Module]:
    return [
        layer for before, after in pairwise(sizes) for layer in (nn.Conv2d(before, after, 3, 2, padding=1), nn.ReLU())
    ]


class PicturePainter(nn.Module):
    """Code -> logits of a picture: a linear layer, then transposed convolutions, each doubling the side."""

    def __init__(self, code: int, side: int) -> None:
        super().__init__()
        channels = SONG[::-1]
        if side % 2 ** len(channels):
            raise ValueError(f"a picture of {side} pixels cannot be halved {len(channels)} times")
        self.side = side
        self.seed = side >> len(channels)
        self.start = nn.Linear(code, channels[0] * self.seed**2)
        sizes = (*channels, 1)
        self.layers = nn.ModuleList(nn.ConvTranspose2d(a, b, 4, 2, padding=1) for a, b in pairwise(sizes))

    def forward(self, code: Tensor) -> Tensor:
        x: Tensor = self.start(code).reshape(len(code), -1, self.seed, self.seed)
        for layer in self.layers:
            x = layer(torch.relu(x))
        return x.squeeze(1)

    def cross_entropy(self, code: Tensor, pictures: Tensor) -> Tensor:
        """(B,) cross-entropy of the ink, summed over the pixels."""
        each: Tensor = F.binary_cross_entropy_with_logits(self(code), pixels(pictures).squeeze(1), reduction="none")
        return each.sum(dim=(1, 2))

    def squared_error(self, code: Tensor, pictures: Tensor) -> Tensor:
        """(B,) squared error of the ink, summed over the pixels."""
        return (torch.sigmoid(self(code)) - pixels(pictures).squeeze(1)).square().sum(dim=(1, 2))
