"""Parted by length or all at once: the same moves, features and gradients."""

from itertools import pairwise

import pytest
import torch

from gra2seq.nn.alike import LEAST, PARTS, by_parts
from gra2seq.nn.decoder import StrokeDecoder
from gra2seq.nn.stroke_encoder import StrokeEncoder


@pytest.mark.parametrize("size", [1, LEAST, LEAST + 1, 3 * LEAST, 100])
def test_everyone_is_in_one_part_with_its_like_and_comes_back_in_its_place(size):
    torch.manual_seed(0)
    count = torch.randint(1, 50, (size,))
    parts = []

    def run(members, longest):
        parts.append(members)
        assert longest == int(count[members].max())
        return members * 10 + longest * 0

    assert by_parts(count, run).tolist() == [10 * i for i in range(size)]
    assert len(parts) <= PARTS
    assert all(len(part) >= LEAST for part in parts[:-1])
    for longer, shorter in pairwise(parts):
        assert count[longer].min() >= count[shorter].max()


def test_the_decoder_in_parts_equals_the_decoder_at_once():
    torch.manual_seed(0)
    decoder = StrokeDecoder(code=6, hidden=12, mixtures=3, position=True).double()
    rows, code = torch.randn(30, 9, 5).double(), torch.randn(30, 6).double()
    count = torch.randint(1, 10, (30,))
    real = torch.arange(9) < count.unsqueeze(1)
    gradients = []
    for given in (None, count):
        move = decoder(rows, code, given)
        decoder.zero_grad()
        (move.mean[real].sum() + move.pen[real].square().sum() + move.log_std[real].sum()).backward()
        gradients.append([move.mean[real].detach(), *(p.grad.clone() for p in decoder.parameters())])
    for whole, parted in zip(*gradients, strict=True):
        assert torch.allclose(whole, parted, atol=1e-10)
    assert torch.isfinite(decoder(rows, code, count).log_prob(rows)[0]).all(), "what does not matter is finite"


def test_the_stroke_encoder_takes_each_sketch_as_if_alone():
    torch.manual_seed(0)
    encoder = StrokeEncoder(7).double()
    rows, count = torch.randn(30, 9, 5).double(), torch.randint(1, 10, (30,))
    together = encoder(rows, count)
    for i in range(30):
        alone = encoder(rows[i : i + 1, : count[i]], count[i : i + 1])
        assert torch.allclose(together[i], alone[0], atol=1e-10)
