"""A pen that sees: of the moves it is offered, it makes the one whose line lies best on what is left of a drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from gra2seq.sketch.chamfer import Left
from gra2seq.sketch.ink_map import REACH, SIDE, ink_map

# Numbers of sketches (B,), where their pens are (B, 2), which are down (B,), moves offered (B, k, 2) -> chosen (B,)
Steer = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

LOOKS = 4  # places along a line where its distance to the ink is taken


class InkMaps:
    """Chooses moves by the ink that is left of each sketch, of which there are `tries` numbers in a row.

    `unit` says how many longer sides of a drawing a move of 1 is.
    """

    def __init__(self, left: Sequence[Left], unit: float, tries: int, device: torch.device) -> None:
        maps = np.stack([ink_map(one) for one in left])
        self.maps, self.unit, self.tries = torch.from_numpy(maps).to(device).reshape(-1), unit, tries
        self.share = torch.linspace(0, 1, LOOKS + 1, device=device)[1:]

    def __call__(self, numbers: Tensor, at: Tensor, down: Tensor, moves: Tensor) -> Tensor:
        """The first of the best. A pen that is up draws no line: only where it comes down counts."""
        looks = at[:, None, None] + moves[:, :, None] * self.share[:, None]  # (B, k, LOOKS, 2)
        cell = (looks * self.unit + REACH) * (SIDE / (2 * REACH))
        cell = cell.nan_to_num().clamp(0, SIDE - 1).long()  # what is no number is said where the sketch is made
        sketch = (numbers // self.tries).to(cell.device)[:, None, None]
        off = self.maps[(sketch * SIDE + cell[..., 1]) * SIDE + cell[..., 0]].int()  # (B, k, LOOKS)
        return torch.where(down[:, None], off.sum(dim=-1), LOOKS * off[..., -1]).argmin(dim=-1)
