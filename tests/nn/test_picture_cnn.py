"""Sizes of the picture networks, and the painter's losses against a double loop."""

import math

import pytest
import torch

from gra2seq.nn.picture_cnn import PicturePainter, pix2seq_cnn, rpcl_cnn, song_cnn


def test_sizes_are_those_of_the_papers():
    pix2seq = pix2seq_cnn(48)
    assert [layer.conv.weight.shape[0] for layer in pix2seq.layers] == [4, 4, 8, 8, 8, 8]
    assert pix2seq.dim == 8 * 6 * 6
    rpcl = rpcl_cnn(48)
    assert [branch.dilation[0] for branch in rpcl.layers[0].branches] == [1, 2, 5]
    assert rpcl.layers[0](torch.zeros(1, 1, 48, 48)).shape == (1, 32, 24, 24)
    assert rpcl.layers[1](torch.zeros(1, 32, 24, 24)).shape == (1, 64, 12, 12)
    assert rpcl.dim == 256 * 3 * 3
    assert song_cnn(48)(torch.zeros(2, 48, 48, dtype=torch.uint8)).shape == (2, 256 * 3 * 3)


def test_dilated_branches_are_summed_before_a_strided_convolution():
    torch.manual_seed(0)
    block = rpcl_cnn(48).layers[0]
    picture = torch.rand(2, 1, 48, 48)
    summed = sum(
        torch.nn.functional.conv2d(picture, branch.weight, branch.bias, padding=rate, dilation=rate)
        for branch, rate in zip(block.branches, (1, 2, 5), strict=True)
    )
    halved = torch.nn.functional.conv2d(summed.clamp(min=0), block.halve.weight, block.halve.bias, stride=2, padding=1)
    assert torch.allclose(block(picture), halved.clamp(min=0), atol=1e-5)


def test_painting_has_a_cross_entropy_and_a_squared_error():
    torch.manual_seed(0)
    painter = PicturePainter(5, 16)
    code, pictures = torch.randn(2, 5), torch.randint(0, 256, (2, 16, 16), dtype=torch.uint8)
    logits = painter(code)
    assert logits.shape == (2, 16, 16)
    total, squares = 0.0, 0.0
    for logit, pixel in zip(logits.flatten().tolist(), pictures.flatten().tolist(), strict=True):
        p, ink = 1 / (1 + math.exp(-logit)), pixel / 255
        total -= ink * math.log(p) + (1 - ink) * math.log(1 - p)
        squares += (p - ink) ** 2
    assert painter.cross_entropy(code, pictures).sum().item() == pytest.approx(total, rel=1e-4)
    assert painter.squared_error(code, pictures).sum().item() == pytest.approx(squares, rel=1e-4)
    with pytest.raises(ValueError, match="halved"):
        PicturePainter(5, 40)
