"""sketch-rnn's decoder: an LSTM that says, pen move by pen move, how the sketch of a code is drawn."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gra2seq.nn.alike import by_parts
from gra2seq.nn.mixture import PenMove, raw_size
from gra2seq.sketch.strokes import DOWN, END

State = tuple[Tensor, ...]
Step = Callable[[Tensor, State], tuple[PenMove, State]]  # last row, state -> next move, state

MIXTURES = 20  # sketch-rnn


class StrokeDecoder(nn.Module):
    """Code (B, code) and the rows drawn so far -> the distribution of the next row.

    With `position` it is also told where the pen is: without, it must add up all moves to know.
    """

    def __init__(
        self,
        code: int,
        hidden: int,
        mixtures: int = MIXTURES,
        least_log_std: float | None = None,
        position: bool = False,
    ) -> None:
        super().__init__()
        self.least_log_std, self.position = least_log_std, position
        self.start = nn.Linear(code, 2 * hidden)
        self.lstm = nn.LSTM(5 + 2 * position + code, hidden, batch_first=False)
        self.out = nn.Linear(hidden, raw_size(mixtures))
        inputs, recurrent, bias, second_bias = self.lstm.all_weights[0]
        nn.init.xavier_uniform_(inputs)
        for gate in recurrent.data.chunk(4):  # sketch-rnn: orthogonal, forget gates open at the start
            nn.init.orthogonal_(gate)
        nn.init.zeros_(bias)
        nn.init.zeros_(second_bias)
        bias.data[hidden : 2 * hidden] = 1.0

    def first_state(self, code: Tensor) -> State:
        """Hidden, cell, place of the pen, and the code's share in the gates, which is the same at every step."""
        hidden, cell = self._start(code)
        inputs, _, bias, second_bias = self.lstm.all_weights[0]
        told = nn.functional.linear(code, inputs[:, -code.shape[1] :], bias + second_bias)
        return hidden, cell, code.new_zeros(len(code), 2), told

    def _start(self, code: Tensor) -> tuple[Tensor, Tensor]:
        hidden, cell = torch.tanh(self.start(code)).chunk(2, dim=-1)
        return hidden.contiguous(), cell.contiguous()

    def forward(self, rows: Tensor, code: Tensor, count: Tensor | None = None) -> PenMove:
        """Rows (B, T, 5), each the one drawn before, and codes -> moves with leading axes (B, T).

        Of the moves of sketch b only the first `count[b]` matter; those behind may be anything.
        """
        if count is None:
            return PenMove.of(self._run(rows, code), self.least_log_std)
        steps = rows.shape[1]

        def part(members: Tensor, longest: int) -> Tensor:
            raw = self._run(rows[members, :longest], code[members])
            return nn.functional.pad(raw, (0, 0, 0, steps - longest))

        return PenMove.of(by_parts(count, part), self.least_log_std)

    def _run(self, rows: Tensor, code: Tensor) -> Tensor:
        hidden, cell = self._start(code)
        place = [rows[..., :DOWN].cumsum(dim=1).transpose(0, 1)] if self.position else []
        told = code.expand(rows.shape[1], *code.shape)
        inputs = torch.cat([rows.transpose(0, 1), *place, told], dim=-1)  # (T, B, …)
        outputs, _ = self.lstm(inputs, (hidden.unsqueeze(0), cell.unsqueeze(0)))
        raw: Tensor = self.out(outputs)
        return raw.transpose(0, 1)

    def step(self, row: Tensor, state: State) -> tuple[PenMove, State]:
        """One row further: (B, 5) -> a move with leading axis (B). The LSTM written out, for one step at a time."""
        hidden, cell, place, told = state
        place = place + row[:, :DOWN]
        last = torch.cat([row, place], dim=-1) if self.position else row
        inputs, recurrent, _, _ = self.lstm.all_weights[0]
        gates = torch.addmm(torch.addmm(told, last, inputs[:, : last.shape[1]].T), hidden, recurrent.T)
        enter, forget, new, out = gates.chunk(4, dim=-1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
        hidden = torch.sigmoid(out) * torch.tanh(cell)
        return PenMove.of(self.out(hidden), self.least_log_std), (hidden, cell, place, told)


def first_row(count: int, like: Tensor) -> Tensor:
    """The row before the first: no offset, pen down (sketch-rnn's start of sketch)."""
    row = torch.zeros(count, 5, dtype=like.dtype, device=like.device)
    row[:, DOWN] = 1
    return row


@torch.no_grad()
def draw_rows(
    step: Step,
    state: State,
    *,
    most: int,
    temperature: float,
    pen_temperature: float | None = None,
    noise: Callable[[int], Tensor] | None = None,
    lengths: Tensor | None = None,
) -> list[Tensor]:
    """Draw the sketches of a state until they end, or `most` rows; finished ones leave the batch. Lists of (n, 5).

    `noise(t)` gives the randomness (B, 4) of step t (`mixture.make_noise`) for *all* sketches, so that what one sketch
    gets does not depend on the others; temperature 0 needs none. `lengths` sets the number of points instead of the
    pen's END.
    """
    like = state[0]
    count = len(like)
    row = first_row(count, like)
    drawn = like.new_zeros(most, count, 5)
    ends = torch.full((count,), most, dtype=torch.long)  # rows before END
    if lengths is not None:
        ends = lengths.to(torch.long).clamp(max=most)
    done = torch.zeros(count, dtype=torch.bool, device=like.device)
    active = torch.arange(count, device=like.device)
    for t in range(most):
        move, state = step(row, state)
        randomness = None if noise is None or temperature == 0 else noise(t).to(like)[active]
        row = move.sample(temperature, noise=randomness, pen_temperature=pen_temperature)
        if lengths is not None:  # the pen may not end the sketch: it stays down instead
            row[:, DOWN] += row[:, END]
            row[:, END] = 0
        drawn[t, active] = row
        if lengths is None:
            # A sketch that has ended may still be in the batch: only its first END counts.
            first = active[(row[:, END] > 0) & ~done[active]]
            ends[first.cpu()] = t
            done[first] = True
        else:
            done = (ends <= t + 1).to(like.device)
        stay = torch.nonzero(~done[active])[:, 0]
        if len(stay) == 0:
            break
        # Leaving one by one would copy the state at every step: wait until an eighth can go.
        if len(stay) <= len(active) * 7 // 8:
            active, row = active[stay], row[stay]
            state = tuple(part[stay] for part in state)
    return [drawn[: int(end), i] for i, end in enumerate(ends.tolist())]
