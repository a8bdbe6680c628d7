"""Repaired codes against plain sums, and drawings that have lost nothing."""

import numpy as np
import torch

from gra2seq.nn.code_repair import CodeRepair
from gra2seq.nn.picture_cnn import song_cnn


def repair_and_inputs():
    torch.manual_seed(0)
    repair = CodeRepair(song_cnn(16, channels=2), code=5, hidden=7)
    torch.nn.init.normal_(repair.project.weight)
    torch.nn.init.normal_(repair.project.bias)
    repair.norm.mean.normal_()
    repair.norm.variance.uniform_(0.5, 2)
    visible, lost = torch.randint(0, 256, (2, 4, 16, 16), dtype=torch.uint8)
    lost[1] = 0
    return repair.eval(), torch.randn(4, 5), visible, lost


def test_the_correction_equals_two_linear_layers_written_out():
    repair, code, visible, lost = repair_and_inputs()
    repaired = repair(code, visible, lost).detach().numpy()
    for number in (0, 2, 3):
        seen = repair.cnn.layers(torch.stack([visible[number], lost[number]]).float()[None] / 255).flatten().detach()
        normal = (code[number] - repair.norm.mean) / (repair.norm.variance + 1e-5).sqrt()
        inputs = np.concatenate([seen.numpy(), normal.numpy()])
        hidden = [max(float(w @ inputs) + b, 0) for w, b in zip(*numbers(repair.hidden), strict=True)]
        missing = [float(w @ np.array(hidden)) + b for w, b in zip(*numbers(repair.project), strict=True)]
        np.testing.assert_allclose(repaired[number], code[number].numpy() + missing, rtol=1e-4, atol=1e-4)


def numbers(layer):
    return layer.weight.detach().numpy(), layer.bias.detach().numpy()


def test_codes_of_intact_drawings_stay_to_the_last_bit():
    repair, code, visible, lost = repair_and_inputs()
    repaired = repair(code, visible, lost)
    assert torch.equal(repaired[1], code[1])
    assert (repaired != code).any(dim=1).tolist() == [True, False, True, True]


def test_before_training_codes_are_unchanged():
    _, code, visible, lost = repair_and_inputs()
    assert torch.equal(CodeRepair(song_cnn(16, channels=2), code=5)(code, visible, lost), code)
