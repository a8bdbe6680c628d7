"""Free sampling: a decoder draws many sketches at once, pen move by pen move, in lanes that are filled again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gra2seq.config.drawing import DrawingConfig
from gra2seq.nn.pen_move import PenMove
from gra2seq.nn.stroke_decoder import State
from gra2seq.nn.temperature import Temperature
from gra2seq.sketch.strokes import DOWN, END, Ints

Step = Callable[[Tensor, State], tuple[PenMove, State]]  # last row, state -> next move, state
Noise = Callable[[Tensor], Tensor]  # numbers of sketches -> (k, max_rows, candidates, 4)
# Numbers of sketches (B,), positions of their pens (B, 2), which are down (B,), candidate moves (B, k, 2) and the
# deviation of the Gaussian that each comes from (B, k) -> moves that are made (B, 2)
Guide = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]

LANES = 1024  # sketches that are drawn at once
IDLE_SHARE = 16  # lanes are filled again, or dropped, once one in so many is idle


def temperature_of(drawing: DrawingConfig) -> Temperature:
    """The temperature that pen moves are sampled at."""
    pen = max(drawing.temperature, drawing.min_pen_temperature)
    return Temperature(drawing.temperature, pen, drawing.sigma_temperature == "linear")


def first_row(count: int, like: Tensor) -> Tensor:
    """The row before the first: no offset, pen down (sketch-rnn's start of sketch)."""
    row = torch.zeros(count, 5, dtype=like.dtype, device=like.device)
    row[:, DOWN] = 1
    return row


def sample_noise(seed: int, numbers: Ints, attempts: Ints, max_rows: int, candidates: int) -> Noise:
    """Two uniforms and two normals a candidate, from (seed, number of the sketch, attempt).

    The first candidate's are the same however many there are, and do not depend on the other sketches.
    """

    def noise(places: Tensor) -> Tensor:
        table = np.empty((len(places), candidates, max_rows, 4), np.float32)
        for blocks, place in zip(table, places.tolist(), strict=True):
            attempt = int(attempts[place])
            seeds = (seed, int(numbers[place]), *([attempt] if attempt else []))
            random = np.random.Generator(np.random.PCG64(seeds))
            for block in blocks:
                block[:, :2] = random.random((max_rows, 2), np.float32)
                block[:, 2:] = random.standard_normal((max_rows, 2), np.float32)
        return torch.from_numpy(table).transpose(1, 2)

    return noise


@dataclass
class Sampler:
    """Draws the sketches whose numbers wait, each until it ends or has `max_rows` rows.

    No more than `lanes` are drawn at once. Where sketches have ended the next ones begin, so that products stay large
    however long a single one goes on. `begin(numbers)` is the state that sketches start from, `noise(numbers)` their
    randomness. `lengths` sets the number of points instead of the pen's END. Of several candidates `guide` makes a
    move; whether the pen is lifted there is the first one's.
    """

    step: Step
    begin: Callable[[Tensor], State]
    waiting: deque[int]
    max_rows: int
    drawing: DrawingConfig
    noise: Noise | None = None
    lengths: Tensor | None = None
    guide: Guide | None = None
    lanes: int = LANES

    @torch.no_grad()
    def run(self) -> Iterator[tuple[int, Tensor]]:
        """Number and rows (n, 5) of each sketch, when it ends; the consumer may add further waiting numbers."""
        self._start(self._next(self.lanes))
        while not self.idle.all():
            self._move()
            yield from self._ended()
            # One at a time would read and write much for little: wait until a part of the lanes is idle.
            if int(self.idle.sum()) * IDLE_SHARE >= len(self.idle):
                self._refill()

    def _next(self, count: int) -> Tensor:
        numbers = [self.waiting.popleft() for _ in range(min(len(self.waiting), count))]
        return torch.tensor(numbers, dtype=torch.long)

    def _start(self, number: Tensor) -> None:
        self.number = number  # of the sketch in each lane
        self.state = self.begin(number)
        like = self.state[0]
        random = self.noise is not None and self.drawing.temperature > 0
        self.randomness = self.noise(number).to(like) if random and self.noise is not None else None
        self.row, self.position = first_row(len(number), like), like.new_zeros(len(number), 2)
        self.drawn = like.new_zeros(len(number), self.max_rows, 5)
        self.done = torch.zeros(len(number), dtype=torch.long)  # rows of each lane
        self.idle = torch.zeros(len(number), dtype=torch.bool)  # lanes whose sketch has ended

    def _move(self) -> None:
        """One pen move of every lane; what an idle lane draws is dropped."""
        lane = torch.arange(len(self.number))
        move, self.state = self.step(self.row, self.state)
        down = (self.row[:, DOWN] > 0) & (self.done > 0).to(self.row.device)  # the first move draws no line
        temperature = temperature_of(self.drawing)
        if self.randomness is None:
            row = move.sample(temperature)
        else:
            noise = self.randomness[lane, self.done]
            candidates, deviation = move.candidates().sample_and_deviation(temperature, noise=noise)
            row = candidates[:, 0]
            if self.guide is not None:
                row[:, :DOWN] = self.guide(self.number, self.position, down, candidates[..., :DOWN], deviation)
        self.position = self.position + row[:, :DOWN]
        if self.lengths is not None:  # the pen may not end the sketch: it stays down instead
            row[:, DOWN] += row[:, END]
            row[:, END] = 0
        self.drawn[lane, self.done] = row
        self.row = row

    def _ended(self) -> Iterator[tuple[int, Tensor]]:
        limit = torch.full_like(self.done, self.max_rows)
        if self.lengths is not None:
            limit = self.lengths[self.number].to(limit).clamp(max=self.max_rows)
        end = torch.where((self.row[:, END] > 0).cpu(), self.done, limit)  # rows that the sketch has, if it ends now
        over = ~self.idle & (end <= self.done + 1)
        for lane in over.nonzero()[:, 0].tolist():
            yield int(self.number[lane]), self.drawn[lane, : int(end[lane])].clone()
        self.idle |= over
        self.done = (self.done + 1).clamp(max=self.max_rows - 1)

    def _refill(self) -> None:
        """Begin waiting sketches in idle lanes, and drop lanes for which no sketch waits."""
        free = self.idle.nonzero()[:, 0][: len(self.waiting)]
        if len(free):
            self.number[free] = self._next(len(free))
            for part, new in zip(self.state, self.begin(self.number[free]), strict=True):
                part.index_copy_(0, free.to(part.device), new)
            self.row[free] = first_row(len(free), self.row)
            self.position[free] = 0
            self.done[free], self.idle[free] = 0, False
            if self.randomness is not None and self.noise is not None:
                self.randomness[free] = self.noise(self.number[free]).to(self.randomness)
        if int(self.idle.sum()) * IDLE_SHARE >= len(self.idle):
            stay = (~self.idle).nonzero()[:, 0]
            self.number, self.done, self.idle = self.number[stay], self.done[stay], self.idle[stay]
            self.state = tuple(part[stay] for part in self.state)
            self.row, self.position, self.drawn = self.row[stay], self.position[stay], self.drawn[stay]
            self.randomness = None if self.randomness is None else self.randomness[stay]
