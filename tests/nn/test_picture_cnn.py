"""Sizes of the picture networks, and the painter's loss against a double loop."""

import math

import pytest
import torch

from gra2seq.nn.picture_cnn import PicturePainter, pix2seq_cnn, rpcl_cnn, song_cnn


def test_sizes_are_those_of_the_papers():
    pix2seq = pix2seq_cnn(48)
    assert [layer.conv.weight.shape[0] for layer in pix2seq.layers] == [4, 4, 8, 8, 8, 8]
    assert pix2seq.dim == 8 * 6 * 6
    rpcl = rpcl_cnn(48)
    assert [way.dilation[0] for way in rpcl.layers[0].ways] == [1, 2, 5]
    assert rpcl.layers[0](torch.zeros(1, 1, 48, 48)).shape == (1, 96, 24, 24)
    assert rpcl.dim == 256 * 3 * 3
    assert song_cnn(48)(torch.zeros(2, 48, 48, dtype=torch.uint8)).shape == (2, 256 * 3 * 3)


def test_painting_and_its_loss():
    torch.manual_seed(0)
    painter = PicturePainter(5, 16)
    code, pictures = torch.randn(2, 5), torch.randint(0, 256, (2, 16, 16), dtype=torch.uint8)
    logits = painter(code)
    assert logits.shape == (2, 16, 16)
    total = 0.0
    for logit, pixel in zip(logits.flatten().tolist(), pictures.flatten().tolist(), strict=True):
        p, ink = 1 / (1 + math.exp(-logit)), pixel / 255
        total -= ink * math.log(p) + (1 - ink) * math.log(1 - p)
    assert painter.losses(code, pictures).sum().item() == pytest.approx(total, rel=1e-4)
    with pytest.raises(ValueError, match="halved"):
        PicturePainter(5, 40)
