"""sketch-rnn's encoder: one LSTM reads the strokes forwards, one backwards; their last states are the feature."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.lstm import LSTM, last_rows, pack


class StrokeEncoder(nn.Module):
    """Rows (B, S, 5), of which the first `count` (B,) are real -> (B, 2 x hidden)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.dim = 2 * hidden
        self.forwards, self.backwards = LSTM(5, hidden), LSTM(5, hidden)

    def forward(self, rows: Tensor, count: Tensor) -> Tensor:
        # Each sketch is turned round within its own rows, so that both LSTMs come last to its end, or to its start.
        place = torch.arange(rows.shape[1], device=rows.device).unsqueeze(0)  # (1, S)
        turned = torch.where(place < count.unsqueeze(1), count.unsqueeze(1) - 1 - place, place)
        backwards = rows.gather(1, turned.unsqueeze(-1).expand_as(rows))
        ends = [_last(lstm, part, count) for lstm, part in ((self.forwards, rows), (self.backwards, backwards))]
        return torch.cat(ends, dim=-1)


def _last(lstm: LSTM, rows: Tensor, count: Tensor) -> Tensor:
    """The hidden state after the last real row of each sequence."""
    packed, still = pack(rows, count), rows.new_zeros(len(rows), lstm.hidden_size)
    return lstm.run(packed, still, still)[last_rows(packed)]
