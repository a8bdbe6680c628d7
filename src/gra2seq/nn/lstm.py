"""LSTMs over sequences of many lengths, all steps at once for training and one at a time for drawing.

A batch is packed as torch packs it: longest first, step by step, so that nothing is computed for padding. On a CPU
torch's own LSTM takes such a batch in many slow pieces; there its steps are written out below.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from gra2seq.nn.full_precision import full_precision

GATES = 4  # enter, forget, new, out
aten = torch.ops.aten


def pack(rows: Tensor, count: Tensor) -> PackedSequence:
    """Of rows (B, T, …) the first `count` (B,) of each sequence."""
    return pack_padded_sequence(rows, count.cpu(), batch_first=True, enforce_sorted=False)


def unpack(packed: PackedSequence, data: Tensor, steps: int) -> Tensor:
    """Data of the packed rows (R, …) -> (B, steps, …), 0 behind the end of each sequence.

    torch's own makes, on the way back, a tensor of this size for every step.
    """
    sizes = packed.batch_sizes.to(data.device)
    when = torch.repeat_interleave(torch.arange(len(sizes), device=data.device), sizes)
    return data.new_zeros(int(sizes[0]), steps, *data.shape[1:]).index_put((members(packed), when), data)


def last_rows(packed: PackedSequence) -> Tensor:
    """(B,) where in the packed data the last row of each sequence is."""
    order, sizes = order_of(packed), packed.batch_sizes
    rank = torch.arange(len(order))  # longest first
    steps = (sizes.unsqueeze(1) > rank).sum(dim=0)
    places = (sizes.cumsum(dim=0) - sizes)[steps - 1] + rank
    return places.to(order.device)[order.argsort()]


class LSTM(nn.LSTM):
    """torch's LSTM. Its gates (B, 4 hidden) are linear in the inputs and the last hidden state, plus a bias."""

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
        """The bias of the gates: torch has two, which are added."""
        return self.all_weights[0][2] + self.all_weights[0][3]

    def run(self, rows: PackedSequence, hidden: Tensor, cell: Tensor, steady: Tensor | None = None) -> Tensor:
        """Packed rows (R, …) and states (B, hidden) -> hidden states after each row (R, hidden).

        `steady` (B, …) are inputs that stay the same at every step of a sequence; they come after the row's own.
        """
        if rows.data.device.type != "cpu":
            return self._by_torch(rows, hidden, cell, steady)
        order, own = order_of(rows), rows.data.shape[1]
        constant = self.added.expand(len(hidden), -1)
        if steady is not None:
            constant = F.linear(steady, self.by_inputs[:, own:], self.added)
        return _run_packed(
            rows.data, self.by_inputs[:, :own], constant[order], hidden[order], cell[order], self.by_hidden,
            rows.batch_sizes.tolist(),
        )  # fmt: skip

    def _by_torch(self, rows: PackedSequence, hidden: Tensor, cell: Tensor, steady: Tensor | None) -> Tensor:
        """The same by torch's LSTM: what a GPU is fast at."""
        if steady is not None:
            rows = rows._replace(data=torch.cat([rows.data, steady[members(rows)]], dim=-1))
        outputs: Tensor = self(rows, (hidden.unsqueeze(0), cell.unsqueeze(0)))[0].data
        return outputs

    def step(self, gate_inputs: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs of the gates (inputs, hidden state and bias added up) and the cell -> hidden, cell. Without gradients.

        `gate_inputs` is overwritten. tanh(x) is 2 sigmoid(2x) - 1 to a rounding of 1, and on a CPU four times as fast.
        """
        enter, forget, new, out = gate_inputs.chunk(GATES, dim=-1)
        new.mul_(2)
        gate_inputs.sigmoid_()
        cell = torch.mul(forget, cell).addcmul_(enter, new, value=2).sub_(enter)
        return torch.mul(cell, 2).sigmoid_().mul_(2).sub_(1).mul_(out), cell


def members(packed: PackedSequence) -> Tensor:
    """Whose each packed row is: (R,) numbers in the batch."""
    order = order_of(packed)
    return torch.cat([order[:size] for size in packed.batch_sizes.tolist()])


def order_of(packed: PackedSequence) -> Tensor:
    """The sequences' numbers in the batch, longest first."""
    order = packed.sorted_indices
    return torch.arange(int(packed.batch_sizes[0]), device=packed.data.device) if order is None else order


@full_precision
def _run_packed(*inputs: Any) -> Tensor:
    outputs: Tensor = _PackedLSTM.apply(*inputs)  # type: ignore[no-untyped-call]
    return outputs


class _PackedLSTM(torch.autograd.Function):
    """An LSTM over packed rows: at step t the first `sizes[t]` sequences go on.

    The weights' gradients are one product over all rows, and every product of a step reads its weights as they lie in
    memory: with few sequences that decides how fast it is.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,  # (R, inputs)
        by_inputs: Tensor,  # (4 hidden, inputs)
        constant: Tensor,  # (B, 4 hidden) to the gates at every step
        hidden: Tensor,  # (B, hidden)
        cell: Tensor,
        by_hidden: Tensor,  # (4 hidden, hidden)
        sizes: list[int],
    ) -> Tensor:
        units = hidden.shape[1]
        gates = rows @ by_inputs.T  # (R, 4 hidden)
        across = by_hidden.T.contiguous()
        cells, read, outputs = (rows.new_empty(len(rows), units) for _ in range(3))
        before, last, start = hidden, cell, 0
        for size in sizes:
            now = slice(start, start + size)
            step = gates[now].add_(constant[:size]).addmm_(before[:size], across)
            step[:, : 2 * units].sigmoid_()
            step[:, 2 * units : 3 * units].tanh_()
            step[:, 3 * units :].sigmoid_()
            enter, forget, new, out = step.chunk(GATES, dim=1)
            last = torch.mul(forget, last[:size], out=cells[now]).addcmul_(enter, new)
            before = torch.mul(out, torch.tanh(last, out=read[now]), out=outputs[now])
            start += size
        ctx.save_for_backward(rows, by_inputs, hidden, cell, by_hidden, gates, cells, read, outputs)
        ctx.sizes = sizes
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rows, by_inputs, hidden, cell, by_hidden, gates, cells, read, outputs = ctx.saved_tensors
        sizes: list[int] = ctx.sizes
        enter, forget, new, out = gates.view(len(rows), GATES, -1).unbind(dim=1)
        # How each gate moves the cell, and the last one the output; then times the gradient of these, step by step.
        slope = torch.empty_like(gates).view(len(rows), GATES, -1)
        aten.sigmoid_backward.grad_input(new, enter, grad_input=slope[:, 0])
        aten.sigmoid_backward.grad_input(_earlier(cell, cells, sizes), forget, grad_input=slope[:, 1])
        aten.tanh_backward.grad_input(enter, new, grad_input=slope[:, 2])
        aten.sigmoid_backward.grad_input(read, out, grad_input=slope[:, 3])
        by_cell = aten.tanh_backward(out, read)
        of_gates = slope.view_as(gates)
        of_outputs = gradient.clone()
        of_constant = hidden.new_zeros(len(hidden), gates.shape[1])
        of_hidden, of_cell = (hidden.new_zeros(0, hidden.shape[1]) for _ in range(2))  # from the step behind
        stop = len(rows)
        for size in reversed(sizes):
            now, later = slice(stop - size, stop), len(of_hidden)
            of_output = of_outputs[now]
            of_output[:later].add_(of_hidden)
            of_read = of_output * by_cell[now]
            of_read[:later].add_(of_cell)
            slope[now, :3].mul_(of_read.unsqueeze(1))
            slope[now, 3].mul_(of_output)
            of_cell = of_read.mul_(forget[now])
            of_hidden = of_gates[now] @ by_hidden
            of_constant[:size].add_(of_gates[now])
            stop -= size
        of_rows, of_by_inputs, *_, of_by_hidden, _ = ctx.needs_input_grad  # what is frozen needs none
        return (
            of_gates @ by_inputs if of_rows else None,
            of_gates.T @ rows if of_by_inputs else None,
            of_constant,
            of_hidden,
            of_cell,
            of_gates.T @ _earlier(hidden, outputs, sizes) if of_by_hidden else None,
            None,
        )


def _earlier(first: Tensor, states: Tensor, sizes: list[int]) -> Tensor:
    """The states before each packed row: `first` (B, …), then those after the step before."""
    steps = torch.split(states, sizes)
    return torch.cat([first, *(before[:size] for before, size in zip(steps, sizes[1:], strict=False))])


def _start(by_inputs: Tensor, by_hidden: Tensor, bias: Tensor) -> None:
    """sketch-rnn's first weights: orthogonal ones within, forget gates open."""
    nn.init.xavier_uniform_(by_inputs)
    for gate in by_hidden.data.chunk(GATES):
        nn.init.orthogonal_(gate)
    nn.init.zeros_(bias)
    bias.data.view(GATES, -1)[1] = 1.0
