"""The check of an installation finds an encoder that computes something else."""

import torch

from gra2seq import doctor
from gra2seq.nn.patch_cnn import PatchCNN


def test_fast_encoder_equals_plain_convolutions():
    torch.manual_seed(0)
    assert 0 < doctor.encoder_difference() < doctor.TOLERANCE


def test_wrong_encoder_is_found(monkeypatch):
    forward = PatchCNN.forward
    monkeypatch.setattr(PatchCNN, "forward", lambda self, blocks: forward(self, blocks) * 1.001)
    assert doctor.encoder_difference() > doctor.TOLERANCE
