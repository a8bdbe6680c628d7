"""Both LSTMs against loops over single units."""

import math

import pytest
import torch

from gra2seq.nn.lstm import LSTM, LayerNormLSTM

BATCH, HIDDEN, INPUTS = 3, 4, 5


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def normal(numbers, gain, bias):
    mean = sum(numbers) / len(numbers)
    variance = sum((x - mean) ** 2 for x in numbers) / len(numbers)
    return [(x - mean) / math.sqrt(variance + 1e-5) * g + b for x, g, b in zip(numbers, gain, bias, strict=True)]


def twin(lstm, inputs, hidden, cell):
    """One sketch, one step, unit by unit."""
    told = (lstm.by_inputs @ inputs + lstm.by_hidden @ hidden).tolist()
    gates = [told[gate * HIDDEN : (gate + 1) * HIDDEN] for gate in range(4)]
    if lstm.added is None:
        gates = [
            normal(gate, *numbers) for gate, *numbers in zip(gates, lstm.gain.tolist(), lstm.bias.tolist(), strict=True)
        ]
    else:
        added = lstm.added.tolist()
        gates = [[x + added[gate * HIDDEN + i] for i, x in enumerate(gates[gate])] for gate in range(4)]
    enter, forget, new, out = gates
    cell = [
        sigmoid(f) * c + sigmoid(e) * math.tanh(n) for f, c, e, n in zip(forget, cell.tolist(), enter, new, strict=True)
    ]
    read = cell if lstm.added is not None else normal(cell, lstm.read.weight.tolist(), lstm.read.bias.tolist())
    hidden = [sigmoid(o) * math.tanh(c) for o, c in zip(out, read, strict=True)]
    return torch.tensor(hidden).double(), torch.tensor(cell).double()


@pytest.mark.parametrize("kind", [LSTM, LayerNormLSTM])
@torch.no_grad()
def test_against_a_loop_over_units(kind):
    torch.manual_seed(0)
    lstm = kind(INPUTS, HIDDEN).double()
    for parameter in lstm.parameters():
        torch.nn.init.normal_(parameter)
    inputs = torch.randn(6, BATCH, INPUTS).double()
    first = torch.randn(2, BATCH, HIDDEN).double()
    outputs = lstm.run(inputs, *first)
    for sketch in range(BATCH):
        hidden, cell = first[:, sketch]
        for step in range(6):
            hidden, cell = twin(lstm, inputs[step, sketch], hidden, cell)
            assert torch.allclose(outputs[step, sketch], hidden, atol=1e-6)


@pytest.mark.parametrize("kind", [LSTM, LayerNormLSTM])
def test_it_starts_orthogonal_with_open_forget_gates(kind):
    lstm = kind(INPUTS, HIDDEN)
    lstm.start_()
    for gate in lstm.by_hidden.chunk(4):
        assert torch.allclose(gate @ gate.T, torch.eye(HIDDEN), atol=1e-5)
    bias = (lstm.bias if lstm.added is None else lstm.added).reshape(4, HIDDEN)
    assert (bias[1] == 1).all()
    assert not bias[[0, 2, 3]].any()
