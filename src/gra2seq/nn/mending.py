"""The code of a damaged drawing, mended: what its code would be if nothing had been lost (beyond the paper).

An encoder cannot tell paper that was always blank from paper that something was wiped off. Told what was lost, a small
network can guess what was there, and so how far the code is off.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.batch_norm import BatchNorm
from gra2seq.nn.picture_cnn import PictureCNN

HIDDEN = 512  # as the graph's feature; not tuned


class Mend(nn.Module):
    """Codes (B, code), pictures (B, side, side) of what is left and of what was lost, 0 to 255 -> codes (B, code).

    Where no place was lost the code stays as it is, to the last bit.
    """

    def __init__(self, see: PictureCNN, code: int, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.see = see
        self.norm = BatchNorm(code)  # whatever the size of a model's codes
        self.guess = nn.Linear(see.dim + code, hidden)
        self.tell = nn.Linear(hidden, code)
        nn.init.zeros_(self.tell.weight)
        nn.init.zeros_(self.tell.bias)

    def forward(self, code: Tensor, left: Tensor, lost: Tensor) -> Tensor:
        seen = torch.cat([self.see(torch.stack([left, lost], dim=1)), self.norm(code)], dim=-1)
        missing = self.tell(torch.relu(self.guess(seen)))
        return torch.where((lost > 0).flatten(1).any(dim=1, keepdim=True), code + missing, code)
