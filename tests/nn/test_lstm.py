"""The LSTM against loops over single units, and packed rows against torch's own LSTM."""

import math

import pytest
import torch

from gra2seq.nn.lstm import LSTM, last_rows, members, pack, unpack
from gra2seq.nn.stroke_decoder import StrokeDecoder
from gra2seq.nn.stroke_encoder import StrokeEncoder

BATCH, HIDDEN, INPUTS = 3, 4, 5


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def twin(lstm, inputs, hidden, cell):
    """One sketch, one step, unit by unit."""
    sums = (lstm.by_inputs @ inputs + lstm.by_hidden @ hidden + lstm.added).tolist()
    enter, forget, new, out = (sums[gate * HIDDEN : (gate + 1) * HIDDEN] for gate in range(4))
    cell = [
        sigmoid(f) * c + sigmoid(e) * math.tanh(n) for f, c, e, n in zip(forget, cell.tolist(), enter, new, strict=True)
    ]
    hidden = [sigmoid(o) * math.tanh(c) for o, c in zip(out, cell, strict=True)]
    return torch.tensor(hidden).double(), torch.tensor(cell).double()


def random_lstm(inputs=INPUTS):
    torch.manual_seed(0)
    lstm = LSTM(inputs, HIDDEN).double()
    for parameter in lstm.parameters():
        torch.nn.init.normal_(parameter)
    return lstm


@pytest.mark.parametrize("steady", [0, 2])
@torch.no_grad()
def test_against_a_loop_over_units(steady):
    lstm = random_lstm(INPUTS + steady)
    rows, always = torch.randn(BATCH, 6, INPUTS).double(), torch.randn(BATCH, steady).double()
    first = torch.randn(2, BATCH, HIDDEN).double()
    count = torch.tensor([3, 6, 1])
    packed = pack(rows, count)
    outputs = unpack(packed, lstm.run(packed, *first, steady=always if steady else None), 7)
    assert outputs.shape == (BATCH, 7, HIDDEN)
    for sketch in range(BATCH):
        hidden, cell = first[:, sketch]
        for step in range(count[sketch]):
            hidden, cell = twin(lstm, torch.cat([rows[sketch, step], always[sketch]]), hidden, cell)
            assert torch.allclose(outputs[sketch, step], hidden, atol=1e-6)
        assert not outputs[sketch, count[sketch] :].any()


@pytest.mark.parametrize("counts", [[5], [4, 4, 4], [1, 9, 2, 9, 5, 1, 3]])
@pytest.mark.parametrize("steady", [True, False])
def test_packed_rows_and_their_gradients_equal_torch(counts, steady):
    """With respect to all inputs and weights, in double precision."""
    lstm = random_lstm(INPUTS + 2 * steady)
    size = len(counts)
    given = [torch.randn(size, max(counts), INPUTS), *torch.randn(2, size, HIDDEN), torch.randn(size, 2)]
    given = [tensor.double().requires_grad_() for tensor in given]
    looked_at = torch.randn(sum(counts), HIDDEN).double()
    found = []
    for run in (lstm.run, lstm._by_torch):
        rows, hidden, cell, always = given
        outputs = run(pack(rows, torch.tensor(counts)), hidden, cell, always if steady else None)
        used = [*given[: 3 + steady], *lstm.parameters()]
        found.append([outputs.detach(), *torch.autograd.grad((outputs * looked_at).sum(), used)])
    for ours, theirs in zip(*found, strict=True):
        assert theirs.abs().max() > 0
        assert torch.allclose(ours, theirs, atol=1e-12)


def test_members_are_the_sequences_of_the_packed_rows():
    count = torch.tensor([2, 4, 3])
    rows = torch.arange(3.0).reshape(3, 1, 1).expand(3, 4, 1)
    packed = pack(rows, count)
    assert torch.equal(members(packed), packed.data[:, 0].long())


def test_unpacking_inverts_packing_and_so_do_their_gradients():
    torch.manual_seed(0)
    count = torch.tensor([2, 4, 3, 4, 1])
    rows = torch.randn(5, 6, 2, requires_grad=True)
    packed = pack(rows, count)
    again = unpack(packed, packed.data * 3, 6)
    real = (torch.arange(6) < count.unsqueeze(1)).unsqueeze(-1)
    assert torch.equal(again, torch.where(real, rows * 3, 0))
    (again * torch.arange(60.0).view(5, 6, 2)).sum().backward()
    assert torch.equal(rows.grad, torch.where(real, 3 * torch.arange(60.0).view(5, 6, 2), 0))
    assert torch.equal(packed.data[last_rows(packed)], rows[torch.arange(5), count - 1])


def test_rows_behind_the_end_change_nothing_in_the_decoder():
    torch.manual_seed(0)
    decoder = StrokeDecoder(code=6, hidden=12, mixtures=3, position=True, given=True).double()
    flags = (torch.rand(30, 9) < 0.5).double()
    rows, code = torch.randn(30, 9, 5).double(), torch.randn(30, 6).double()
    count = torch.randint(1, 10, (30,))
    gradients = []
    for taken in (torch.full((30,), 9), count):
        move = decoder(rows, flags, code, taken)
        real = pack((torch.arange(9) < count.unsqueeze(1)).double(), taken).data > 0
        mean, pen = (unpack(pack(rows, taken), part, 9) for part in (move.mean[..., 0], move.pen))
        decoder.zero_grad()
        (move.mean[real].sum() + move.pen[real].square().sum() + move.log_std[real].sum()).backward()
        within = torch.arange(9) < count.unsqueeze(1)
        found = [mean[within].detach(), pen[within].detach()]
        gradients.append([*found, *(p.grad.clone() for p in decoder.parameters())])
    for whole, packed in zip(*gradients, strict=True):
        assert torch.allclose(whole, packed, atol=1e-10)


def test_stroke_encoder_output_does_not_depend_on_the_batch():
    torch.manual_seed(0)
    encoder = StrokeEncoder(7).double()
    rows, count = torch.randn(30, 9, 5).double(), torch.randint(1, 10, (30,))
    together = encoder(rows, count)
    for i in range(30):
        alone = encoder(rows[i : i + 1, : count[i]], count[i : i + 1])
        assert torch.allclose(together[i], alone[0], atol=1e-10)


def test_starts_orthogonal_with_open_forget_gates():
    lstm = LSTM(INPUTS, HIDDEN)
    lstm.start_()
    for gate in lstm.by_hidden.chunk(4):
        assert torch.allclose(gate @ gate.T, torch.eye(HIDDEN), atol=1e-5)
    bias = lstm.added.reshape(4, HIDDEN)
    assert (bias[1] == 1).all()
    assert not bias[[0, 2, 3]].any()
