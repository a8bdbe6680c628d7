"""Mended codes against plain sums, and drawings that have lost nothing."""

import numpy as np
import torch

from gra2seq.nn.code_repair import Mend
from gra2seq.nn.picture_cnn import song_cnn


def mend_and_inputs():
    torch.manual_seed(0)
    mend = Mend(song_cnn(16, channels=2), code=5, hidden=7)
    torch.nn.init.normal_(mend.tell.weight)
    torch.nn.init.normal_(mend.tell.bias)
    mend.norm.mean.normal_()
    mend.norm.variance.uniform_(0.5, 2)
    left, lost = torch.randint(0, 256, (2, 4, 16, 16), dtype=torch.uint8)
    lost[1] = 0
    return mend.eval(), torch.randn(4, 5), left, lost


def test_what_is_missing_is_added_as_the_formula_says():
    mend, code, left, lost = mend_and_inputs()
    mended = mend(code, left, lost).detach().numpy()
    for number in (0, 2, 3):
        seen = mend.see.layers(torch.stack([left[number], lost[number]]).float()[None] / 255).flatten().detach()
        normal = (code[number] - mend.norm.mean) / (mend.norm.variance + 1e-5).sqrt()
        told = np.concatenate([seen.numpy(), normal.numpy()])
        hidden = [max(float(w @ told) + b, 0) for w, b in zip(*numbers(mend.guess), strict=True)]
        missing = [float(w @ np.array(hidden)) + b for w, b in zip(*numbers(mend.tell), strict=True)]
        np.testing.assert_allclose(mended[number], code[number].numpy() + missing, rtol=1e-4, atol=1e-4)


def numbers(layer):
    return layer.weight.detach().numpy(), layer.bias.detach().numpy()


def test_what_has_lost_nothing_stays_to_the_last_bit():
    mend, code, left, lost = mend_and_inputs()
    mended = mend(code, left, lost)
    assert torch.equal(mended[1], code[1])
    assert (mended != code).any(dim=1).tolist() == [True, False, True, True]


def test_it_begins_with_the_codes_as_they_are():
    _, code, left, lost = mend_and_inputs()
    assert torch.equal(Mend(song_cnn(16, channels=2), code=5)(code, left, lost), code)
