"""The reader of strokes against a sketch-by-sketch twin."""

import torch

from gra2seq.nn.stroke_encoder import StrokeEncoder


def test_padding_is_not_read_and_backwards_is_backwards():
    torch.manual_seed(0)
    encoder = StrokeEncoder(6).double()
    rows, count = torch.randn(3, 9, 5, dtype=torch.float64), torch.tensor([9, 1, 4])
    together = encoder(rows, count)
    for sketch in range(3):
        real = rows[sketch, : count[sketch]].unsqueeze(1)
        forwards = encoder.forwards(real)[1][0][0, 0]
        backwards = encoder.backwards(real.flip(0))[1][0][0, 0]
        assert torch.allclose(together[sketch], torch.cat([forwards, backwards]), atol=1e-12)
