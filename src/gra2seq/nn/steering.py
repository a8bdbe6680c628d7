"""A pen that sees what is left of a drawing: at every step it makes the best of the moves it is offered.

Best is the move whose line lies on ink and that comes nearest to ink that is still to be drawn. Then the move is drawn
towards that ink, as far as the decoder is in doubt: around its move lies a round Gaussian, as wide as the one it was
drawn from, around the ink a much narrower one, and the pen goes to the mean of their product. Where something was lost
there is nothing to see, and the decoder draws alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gra2seq.sketch.chamfer import Left
from gra2seq.sketch.ink_map import FINE, REACH, SIDE, ink_map, lost_map

# Numbers of sketches (B,), where their pens are (B, 2), which are down (B,), moves offered (B, k, 2) and the deviation
# of the Gaussian that each comes from (B, k) -> moves that are made (B, 2)
Steer = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]

LOOKS = 4  # places along a line where its distance to the ink is taken
POINTS = 128  # of the ink that is to be drawn, at most: evenly along its lines
FURTHEST = 0.15  # longer sides: ink further off than this is not looked at
PROGRESS = 0.5  # what the distance to ink that is to be drawn counts for, beside the distance of the line to any ink
DRAWN = 0.03  # longer sides: ink is drawn when a line passes by so near; a little more than the pen's thickness
SHARP = 0.003  # longer sides: deviation of where the eye sees ink
SURPRISE = 4.0  # deviations of the decoder: ink further from its move than this is not what it means to draw
STEP = 2 * REACH / SIDE / FINE  # longer sides: what the maps count in
AWAY = 1e3  # longer sides: where ink is put that is no longer to be drawn


class Sight:
    """Makes moves by the ink that is left of each sketch, of which there are `tries` numbers in a row.

    `unit` says how many longer sides of a drawing a move of 1 is. It remembers what each number has drawn.
    """

    def __init__(self, left: Sequence[Left], unit: float, tries: int, device: torch.device) -> None:
        self.unit, self.tries = unit, tries
        self.maps = torch.from_numpy(np.stack([ink_map(one) for one in left])).to(device).reshape(-1)
        self.lost = torch.from_numpy(np.stack([lost_map(one) for one in left])).to(device).reshape(-1)
        self.ink = torch.from_numpy(np.stack([_some(one) for one in left])).to(device)  # (n, 2, POINTS)
        self.to_draw = self.ink.repeat_interleave(tries, dim=0)
        self.share = torch.linspace(0, 1, LOOKS + 1, device=device)[1:]

    def __call__(self, numbers: Tensor, at: Tensor, down: Tensor, moves: Tensor, doubt: Tensor) -> Tensor:
        """A pen that is up draws no line: only where it comes down counts. Of equals the first is taken."""
        numbers = numbers.to(self.ink.device)
        sketch = numbers // self.tries
        at, moves = at.float() * self.unit, moves.float() * self.unit
        ends = at[:, None] + moves  # (B, k, 2)
        to_draw = self.to_draw.index_select(0, numbers)  # (B, 2, POINTS)
        squares = _squares(ends, to_draw)  # (B, k, POINTS)
        off = squares.amin(dim=-1).sqrt().clamp(max=FURTHEST)  # (B, k)
        looks = at[:, None, None] + moves[:, :, None] * self.share[:, None]  # (B, k, LOOKS, 2)
        cells = _cells(sketch[:, None, None], looks)
        line = self.maps.index_select(0, cells.view(-1)).view_as(cells).sum(dim=-1) * (STEP / LOOKS)
        blind = self.lost[cells[..., -1]]  # (B, k)
        cost = torch.where(down[:, None], line + PROGRESS * off, off).masked_fill(blind, torch.inf)
        chosen = torch.where(blind[:, 0], 0, cost.argmin(dim=-1))
        place = chosen + torch.arange(0, blind.numel(), blind.shape[1], device=chosen.device)  # among all offers
        move, end, near, doubt, blind = (
            each.flatten(0, 1).index_select(0, place) for each in (moves, ends, squares, doubt.float(), blind)
        )
        move = move + self._pull(sketch, end, to_draw, near, doubt * self.unit, blind)
        self._draw(numbers, to_draw, torch.where(down[:, None], at, at + move), at + move)
        return move / self.unit

    def _pull(
        self, sketch: Tensor, end: Tensor, to_draw: Tensor, squares: Tensor, doubt: Tensor, blind: Tensor
    ) -> Tensor:
        """(B, 2) from where moves end towards ink that is to be drawn or, where none is near, to any ink."""
        variance = doubt.square()
        limit = (SURPRISE**2 * variance).clamp(max=FURTHEST**2)
        ink = self.ink.index_select(0, sketch)
        (near, which), (near_any, which_any) = squares.min(dim=-1), _squares(end[:, None], ink)[:, 0].min(dim=-1)
        fresh = near < limit
        goal = torch.where(fresh[:, None], _pick(to_draw, which), _pick(ink, which_any))
        seen = (fresh | (near_any < limit)) & ~blind
        return torch.where(seen[:, None], (goal - end) * (variance / (variance + SHARP**2))[:, None], 0)

    def _draw(self, numbers: Tensor, to_draw: Tensor, start: Tensor, end: Tensor) -> None:
        """Ink along the lines (B, 2) to (B, 2) is no longer to be drawn."""
        way = end - start
        length = way.square().sum(dim=1, keepdim=True).clamp(min=1e-12)
        way_x, way_y = way[:, :1], way[:, 1:]
        x, y = (to_draw - start.unsqueeze(-1)).unbind(dim=1)  # (B, POINTS)
        share = (x * way_x).addcmul_(y, way_y).div_(length).clamp_(0, 1)
        beside = (x - share * way_x).square_().add_((y - share * way_y).square_()) < DRAWN**2
        self.to_draw.index_copy_(0, numbers, to_draw.masked_fill_(beside.unsqueeze(1), AWAY))


def _some(left: Left) -> NDArray[np.float32]:
    """(2, POINTS) of its points, evenly; where it has fewer, the rest is away."""
    some = left.points
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
    """Where the maps of sketches, one after the other, tell of places (…, 2) in longer sides."""
    cell = (places + REACH) * (SIDE / (2 * REACH))
    column, row = cell.nan_to_num().clamp(0, SIDE - 1).long().unbind(dim=-1)  # what is no number is said elsewhere
    return (sketch * SIDE + row) * SIDE + column
