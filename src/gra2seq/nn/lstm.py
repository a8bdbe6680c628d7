"""The decoder's LSTM, all steps at once for training and one at a time for drawing: torch's, or one with layer norm."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

GATES = 4  # enter, forget, new, out


class LSTM(nn.LSTM):
    """torch's. Gates (B, 4 hidden) are told by inputs and by the last hidden state, and a bias is added."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden)

    def start_(self) -> None:
        _start(self.by_inputs, self.by_hidden, self.all_weights[0][2])
        nn.init.zeros_(self.all_weights[0][3])

    @property
    def by_inputs(self) -> Tensor:
        return self.all_weights[0][0]

    @property
    def by_hidden(self) -> Tensor:
        return self.all_weights[0][1]

    @property
    def added(self) -> Tensor:
        """To what the gates are told, at every step: torch has two biases."""
        return self.all_weights[0][2] + self.all_weights[0][3]

    def run(self, inputs: Tensor, hidden: Tensor, cell: Tensor) -> Tensor:
        """(T, B, inputs) and a state (B, hidden) -> (T, B, hidden)."""
        outputs: Tensor = self(inputs, (hidden.unsqueeze(0), cell.unsqueeze(0)))[0]
        return outputs

    def step(self, told: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """What the gates are told, all added up, and the cell -> hidden, cell."""
        enter, forget, new, out = told.chunk(GATES, dim=-1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
        return torch.sigmoid(out) * torch.tanh(cell), cell


class LayerNormLSTM(nn.Module):
    """Ba et al., 2016, as sketch-rnn can have it: each gate is normalised over its units, and so is the cell read."""

    added = None  # nothing: the bias comes after the norm

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.by_inputs = nn.Parameter(torch.empty(GATES * hidden, inputs))
        self.by_hidden = nn.Parameter(torch.empty(GATES * hidden, hidden))
        self.gain = nn.Parameter(torch.ones(GATES, hidden))
        self.bias = nn.Parameter(torch.empty(GATES, hidden))
        self.read = nn.LayerNorm(hidden)
        self.start_()

    def start_(self) -> None:
        _start(self.by_inputs, self.by_hidden, self.bias)

    def run(self, inputs: Tensor, hidden: Tensor, cell: Tensor) -> Tensor:
        """(T, B, inputs) and a state (B, hidden) -> (T, B, hidden)."""
        outputs = []
        for told in F.linear(inputs, self.by_inputs):
            hidden, cell = self.step(torch.addmm(told, hidden, self.by_hidden.T), cell)
            outputs.append(hidden)
        return torch.stack(outputs)

    def step(self, told: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """What the gates are told, all added up, and the cell -> hidden, cell."""
        level = F.layer_norm(told.reshape(len(told), *self.gain.shape), self.gain.shape[1:])
        enter, forget, new, out = torch.addcmul(self.bias, level, self.gain).unbind(dim=-2)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
        return torch.sigmoid(out) * torch.tanh(self.read(cell)), cell


def _start(by_inputs: Tensor, by_hidden: Tensor, bias: Tensor) -> None:
    """sketch-rnn's first weights: orthogonal ones within, forget gates open."""
    nn.init.xavier_uniform_(by_inputs)
    for gate in by_hidden.data.chunk(GATES):
        nn.init.orthogonal_(gate)
    nn.init.zeros_(bias)
    bias.data.view(GATES, -1)[1] = 1.0
