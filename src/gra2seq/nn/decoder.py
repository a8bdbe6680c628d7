"""sketch-rnn's decoder: an LSTM that says, pen move by pen move, how the sketch of a code is drawn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from gra2seq.nn.lstm import LSTM, LayerNormLSTM, pack
from gra2seq.nn.mixture import PenMove, raw_size
from gra2seq.nn.steering import Steer
from gra2seq.sketch.strokes import DOWN, END

State = tuple[Tensor, ...]
Step = Callable[[Tensor, State], tuple[PenMove, State]]  # last row, state -> next move, state

MIXTURES = 20  # sketch-rnn
LANES = 1024  # sketches that are drawn at once
IDLE_SHARE = 16  # lanes are filled again, or left, once one in so many is idle


class StrokeDecoder(nn.Module):
    """Code (B, code) and the rows drawn so far -> the distribution of the next row.

    With `position` it is also told where the pen is: without, it must add up all moves to know. With `layer_norm` its
    LSTM is normalised at every step.
    """

    def __init__(
        self,
        code: int,
        hidden: int,
        mixtures: int = MIXTURES,
        least_log_std: float | None = None,
        position: bool = False,
        layer_norm: bool = False,
    ) -> None:
        super().__init__()
        self.least_log_std, self.position = least_log_std, position
        self.start = nn.Linear(code, 2 * hidden)
        self.lstm = (LayerNormLSTM if layer_norm else LSTM)(5 + 2 * position + code, hidden)
        self.out = nn.Linear(hidden, raw_size(mixtures))
        self.lstm.start_()

    def first_state(self, code: Tensor) -> State:
        """Hidden, cell, place of the pen, and the code's share in the gates, which is the same at every step."""
        hidden, cell = self._start(code)
        told = nn.functional.linear(code, self.lstm.by_inputs[:, -code.shape[1] :], self.lstm.added)
        return hidden, cell, code.new_zeros(len(code), 2), told

    def _start(self, code: Tensor) -> tuple[Tensor, Tensor]:
        hidden, cell = torch.tanh(self.start(code)).chunk(2, dim=-1)
        return hidden.contiguous(), cell.contiguous()

    def forward(self, rows: Tensor, code: Tensor, count: Tensor) -> PenMove:
        """Rows (B, T, 5), each the one drawn before, and codes -> moves with leading axis (R,).

        They are those of the first `count[b]` rows of each sketch b, in the order of `lstm.pack`.
        """
        if self.position:
            rows = torch.cat([rows, rows[..., :DOWN].cumsum(dim=1)], dim=-1)
        raw = self.out(self.lstm.run(pack(rows, count), *self._start(code), steady=code))
        return PenMove(raw, self.least_log_std)

    @torch.no_grad()
    def step(self, row: Tensor, state: State) -> tuple[PenMove, State]:
        """One row further, in use: (B, 5) -> a move with leading axis (B)."""
        hidden, cell, place, told = state
        place = place + row[:, :DOWN]
        last = torch.cat([row, place], dim=-1) if self.position else row
        gates = torch.addmm(told, last, self.lstm.by_inputs[:, : last.shape[1]].T).addmm_(hidden, self.lstm.by_hidden.T)
        hidden, cell = self.lstm.step(gates, cell)
        return PenMove(self.out(hidden), self.least_log_std), (hidden, cell, place, told)


def first_row(count: int, like: Tensor) -> Tensor:
    """The row before the first: no offset, pen down (sketch-rnn's start of sketch)."""
    row = torch.zeros(count, 5, dtype=like.dtype, device=like.device)
    row[:, DOWN] = 1
    return row


@torch.no_grad()
def draw_rows(
    step: Step,
    begin: Callable[[Tensor], State],
    waiting: deque[int],
    *,
    most: int,
    temperature: float,
    pen_temperature: float | None = None,
    noise: Callable[[Tensor], Tensor] | None = None,
    lengths: Tensor | None = None,
    steer: Steer | None = None,
    lanes: int = LANES,
) -> Iterator[tuple[int, Tensor]]:
    """Draw the sketches whose numbers wait, each until it ends or has `most` rows: number and rows (n, 5) when it has.

    No more than `lanes` are drawn at once. Where sketches have ended the next ones begin, so that products stay large
    however long a single one goes on; whoever hears of an end may let further numbers wait. `begin(numbers)` is the
    state that sketches start from, `noise(numbers)` their randomness (k, most, offers, 4) (`mixture.make_noise`): what
    one gets does not depend on the others. Temperature 0 needs none. `lengths` sets the number of points instead of the
    pen's END. Of several offers `steer` makes a move; whether the pen is lifted there is the first one's.
    """
    number = _next(waiting, lanes)  # of the sketch in each lane
    state = begin(number)
    like = state[0]
    luck = None if noise is None or temperature == 0 else noise(number).to(like)
    row = first_row(len(number), like)
    at = like.new_zeros(len(number), 2)  # where the pen is
    drawn = like.new_zeros(len(number), most, 5)
    done = torch.zeros(len(number), dtype=torch.long)  # rows of each lane
    idle = torch.zeros(len(number), dtype=torch.bool)  # lanes whose sketch has ended
    while not idle.all():
        lane = torch.arange(len(number))
        move, state = step(row, state)
        down = (row[:, DOWN] > 0) & (done > 0).to(row.device)  # the first move draws no line
        if luck is None:
            row = move.sample(temperature, pen_temperature=pen_temperature)
        else:
            offers, doubt = move.offered().sample_and_doubt(
                temperature, noise=luck[lane, done], pen_temperature=pen_temperature
            )
            row = offers[:, 0]
            if steer is not None:
                row[:, :DOWN] = steer(number, at, down, offers[..., :DOWN], doubt)
        at = at + row[:, :DOWN]
        if lengths is not None:  # the pen may not end the sketch: it stays down instead
            row[:, DOWN] += row[:, END]
            row[:, END] = 0
        drawn[lane, done] = row
        last = torch.full_like(done, most) if lengths is None else lengths[number].to(done).clamp(max=most)
        end = torch.where((row[:, END] > 0).cpu(), done, last)  # rows that the sketch has, if it ends now
        over = ~idle & (end <= done + 1)
        for place in over.nonzero()[:, 0].tolist():
            yield int(number[place]), drawn[place, : int(end[place])].clone()
        idle |= over
        done = (done + 1).clamp(max=most - 1)  # what an idle lane draws is nobody's
        # One at a time would read and write much for little: wait until a part of the lanes is idle.
        free = idle.nonzero()[:, 0]
        if len(free) * IDLE_SHARE < len(idle):
            continue
        if waiting:
            free = free[: len(waiting)]
            number[free] = _next(waiting, len(free))
            fresh = begin(number[free])
            for part, new in zip(state, fresh, strict=True):
                part.index_copy_(0, free.to(part.device), new)
            row[free] = first_row(len(free), like)
            at[free] = 0
            done[free], idle[free] = 0, False
            if luck is not None and noise is not None:
                luck[free] = noise(number[free]).to(like)
        if int(idle.sum()) * IDLE_SHARE >= len(idle):  # nobody waits for them: they are left
            stay = (~idle).nonzero()[:, 0]
            number, done, idle = number[stay], done[stay], idle[stay]
            state = tuple(part[stay] for part in state)
            row, at, drawn = row[stay], at[stay], drawn[stay]
            luck = None if luck is None else luck[stay]


def _next(waiting: deque[int], most: int) -> Tensor:
    return torch.tensor([waiting.popleft() for _ in range(min(len(waiting), most))], dtype=torch.long)
