"""Guided sampling: candidate moves are scored by their distance to the visible ink (beyond the paper).

At every step the move is made whose line lies on visible ink and that ends nearest to ink not drawn yet. Then its end
is pulled towards that ink by how uncertain the decoder is: the product of a round Gaussian around the move, as wide as
the one it was sampled from, and a much narrower one around the ink. Inside the lost region nothing guides the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gra2seq.drawing.ink_map import FINE, REACH, SIDE, InkMap
from gra2seq.sketch.strokes import Doubles

SAMPLES = 4  # places along a line where its distance to the ink is looked up
POINTS = 128  # of the visible ink at most, evenly along its lines
FARTHEST = 0.15  # longer sides: ink farther off than this does not count
PROGRESS = 0.5  # weight of the distance to ink not drawn yet, beside the distance of the line to any ink
DRAWN = 0.03  # longer sides: ink is drawn when a line passes this near; a little more than the pen's thickness
SHARP = 0.003  # longer sides: deviation of the Gaussian around the ink
SURPRISE = 4.0  # deviations of the decoder: ink farther from its move than this is not what it draws
STEP = 2 * REACH / SIDE / FINE  # longer sides: unit of the maps
AWAY = 1e3  # longer sides: place of ink that is drawn already


class Guidance:
    """Chooses among candidate moves (`sampler.Guide`); remembers what each number has drawn.

    Numbers count sketches times `repeats`. `unit` is how many longer sides of the frame a move of 1 has.
    """

    def __init__(self, inks: Sequence[InkMap], unit: float, repeats: int, device: torch.device) -> None:
        self.unit, self.repeats = unit, repeats
        self.maps = torch.from_numpy(np.stack([one.distances for one in inks])).to(device).reshape(-1)
        self.lost = torch.from_numpy(np.stack([one.unknown for one in inks])).to(device).reshape(-1)
        self.ink = torch.from_numpy(np.stack([_some_points(one.points) for one in inks])).to(device)  # (n, 2, POINTS)
        self.to_draw = self.ink.repeat_interleave(repeats, dim=0)
        self.share = torch.linspace(0, 1, SAMPLES + 1, device=device)[1:]

    def __call__(self, numbers: Tensor, at: Tensor, down: Tensor, moves: Tensor, deviation: Tensor) -> Tensor:
        """The move of each number. A pen that is up draws no line: only where it comes down counts."""
        numbers = numbers.to(self.ink.device)
        sketch = numbers // self.repeats
        at, moves = at.float() * self.unit, moves.float() * self.unit
        ends = at[:, None] + moves  # (B, k, 2)
        to_draw = self.to_draw.index_select(0, numbers)  # (B, 2, POINTS)
        squares = _squares(ends, to_draw)  # (B, k, POINTS)
        off = squares.amin(dim=-1).sqrt().clamp(max=FARTHEST)  # (B, k)
        samples = at[:, None, None] + moves[:, :, None] * self.share[:, None]  # (B, k, SAMPLES, 2)
        cells = _cells(sketch[:, None, None], samples)
        line = self.maps.index_select(0, cells.view(-1)).view_as(cells).sum(dim=-1) * (STEP / SAMPLES)
        in_lost = self.lost[cells[..., -1]]  # (B, k)
        cost = torch.where(down[:, None], line + PROGRESS * off, off).masked_fill(in_lost, torch.inf)
        chosen = torch.where(in_lost[:, 0], 0, cost.argmin(dim=-1))
        place = chosen + torch.arange(0, in_lost.numel(), in_lost.shape[1], device=chosen.device)
        move, end, near, deviation, in_lost = (
            each.flatten(0, 1).index_select(0, place) for each in (moves, ends, squares, deviation.float(), in_lost)
        )
        move = move + self._pull(sketch, end, to_draw, near, deviation * self.unit, in_lost)
        self._mark_drawn(numbers, to_draw, torch.where(down[:, None], at, at + move), at + move)
        return move / self.unit

    def _pull(
        self, sketch: Tensor, end: Tensor, to_draw: Tensor, squares: Tensor, deviation: Tensor, in_lost: Tensor
    ) -> Tensor:
        """(B, 2) from where moves end towards ink not drawn yet or, where none is near, to any ink."""
        variance = deviation.square()
        limit = (SURPRISE**2 * variance).clamp(max=FARTHEST**2)
        ink = self.ink.index_select(0, sketch)
        (near, which), (near_any, which_any) = squares.min(dim=-1), _squares(end[:, None], ink)[:, 0].min(dim=-1)
        fresh = near < limit
        goal = torch.where(fresh[:, None], _pick(to_draw, which), _pick(ink, which_any))
        found = (fresh | (near_any < limit)) & ~in_lost
        return torch.where(found[:, None], (goal - end) * (variance / (variance + SHARP**2))[:, None], 0)

    def _mark_drawn(self, numbers: Tensor, to_draw: Tensor, start: Tensor, end: Tensor) -> None:
        """Ink along the lines (B, 2) to (B, 2) is drawn now."""
        way = end - start
        length = way.square().sum(dim=1, keepdim=True).clamp(min=1e-12)
        way_x, way_y = way[:, :1], way[:, 1:]
        x, y = (to_draw - start.unsqueeze(-1)).unbind(dim=1)  # (B, POINTS)
        share = (x * way_x).addcmul_(y, way_y).div_(length).clamp_(0, 1)
        beside = (x - share * way_x).square_().add_((y - share * way_y).square_()) < DRAWN**2
        self.to_draw.index_copy_(0, numbers, to_draw.masked_fill_(beside.unsqueeze(1), AWAY))


def _some_points(some: Doubles) -> NDArray[np.float32]:
    """(2, POINTS) of the points, evenly; where there are fewer, the rest is far away."""
    if len(some) > POINTS:
        some = some[np.linspace(0, len(some) - 1, POINTS).astype(np.int64)]
    filled = np.full((2, POINTS), AWAY, np.float32)
    filled[:, : len(some)] = some.T
    return filled


def _squares(places: Tensor, ink: Tensor) -> Tensor:
    """Squared distances of places (B, k, 2) to ink (B, 2, n): (B, k, n)."""
    x, y = (places[..., axis].unsqueeze(-1) - ink[:, axis].unsqueeze(1) for axis in (0, 1))
    return x.square_().addcmul_(y, y)


def _pick(ink: Tensor, which: Tensor) -> Tensor:
    """Of ink (B, 2, n) the points (B,): (B, 2)."""
    return ink.gather(2, which[:, None, None].expand(-1, 2, 1)).squeeze(2)


def _cells(sketch: Tensor, places: Tensor) -> Tensor:
    """Index into the maps of all sketches, one after the other, of places (…, 2) in longer sides."""
    cell = (places + REACH) * (SIDE / (2 * REACH))
    column, row = cell.nan_to_num().clamp(0, SIDE - 1).long().unbind(dim=-1)  # NaN is reported elsewhere
    return (sketch * SIDE + row) * SIDE + column
