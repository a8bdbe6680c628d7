"""sketch-rnn's decoder: an LSTM that gives the distribution of each pen move from a code and the moves before."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.full_precision import single
from gra2seq.nn.lstm import LSTM, pack
from gra2seq.nn.pen_move import PenMove, raw_size
from gra2seq.sketch.strokes import DOWN

State = tuple[Tensor, ...]

MIXTURES = 20  # sketch-rnn


class StrokeDecoder(nn.Module):
    """Code (B, code) and the rows drawn so far -> the distribution of the next row.

    With `position` the input also holds the pen's place: without, the LSTM must add up all moves to know it. With
    `given` it says whether the last row was given (a visible line) or drawn by the decoder itself.
    """

    def __init__(
        self,
        code: int,
        hidden: int,
        mixtures: int = MIXTURES,
        min_log_std: float | None = None,
        position: bool = False,
        given: bool = False,
    ) -> None:
        super().__init__()
        self.min_log_std, self.position, self.given = min_log_std, position, given
        self.start = nn.Linear(code, 2 * hidden)
        self.lstm = LSTM(5 + 2 * position + given + code, hidden)
        self.out = nn.Linear(hidden, raw_size(mixtures))
        self.lstm.start_()

    def first_state(self, code: Tensor) -> State:
        """Hidden, cell, place of the pen, and the code's share in the gates, which is the same at every step."""
        hidden, cell = self._start(code)
        constant = nn.functional.linear(code, self.lstm.by_inputs[:, -code.shape[1] :], self.lstm.added)
        return hidden, cell, code.new_zeros(len(code), 2), constant

    def _start(self, code: Tensor) -> tuple[Tensor, Tensor]:
        hidden, cell = torch.tanh(self.start(code)).chunk(2, dim=-1)
        return hidden.contiguous(), cell.contiguous()

    def forward(self, inputs: Tensor, given: Tensor, code: Tensor, count: Tensor) -> PenMove:
        """Rows (B, T, 5), each the one before, whether they were given (B, T), and codes -> moves (R,).

        They are those of the first `count[b]` rows of each sketch b, in the order of `lstm.pack`.
        """
        parts = [inputs]
        if self.position:
            parts.append(inputs[..., :DOWN].cumsum(dim=1))
        if self.given:
            parts.append(given.unsqueeze(-1))
        raw = self.out(self.lstm.run(pack(torch.cat(parts, dim=-1), count), *self._start(code), steady=code))
        return PenMove(single(raw), self.min_log_std)  # likelihoods in single precision, under autocast too

    @torch.no_grad()
    def step(self, row: Tensor, state: State, given: Tensor | None = None) -> tuple[PenMove, State]:
        """One row further, in use: (B, 5), and which rows (B,) were given -> a move with leading axis (B)."""
        hidden, cell, place, constant = state
        place = place + row[:, :DOWN]
        parts = [row]
        if self.position:
            parts.append(place)
        if self.given:
            parts.append((row.new_zeros(len(row)) if given is None else given.to(row)).unsqueeze(-1))
        last = torch.cat(parts, dim=-1)
        gates = torch.addmm(constant, last, self.lstm.by_inputs[:, : last.shape[1]].T)
        hidden, cell = self.lstm.step(gates.addmm_(hidden, self.lstm.by_hidden.T), cell)
        return PenMove(self.out(hidden), self.min_log_std), (hidden, cell, place, constant)
