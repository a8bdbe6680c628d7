"""Code repair: the code of a damaged drawing as it would be if nothing had been lost (beyond the paper).

An encoder cannot tell paper that was always blank from a lost region. Given the region, a small network can guess what
was there, and so how far the code is off.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.masked_batch_norm import BatchNorm
from gra2seq.nn.picture_cnn import PictureCNN

HIDDEN = 512  # as the graph's feature; not tuned


class CodeRepair(nn.Module):
    """Codes (B, code), pictures (B, side, side) of the visible strokes and of the lost region -> codes (B, code).

    Where nothing is lost the code stays as it is, to the last bit.
    """

    def __init__(self, cnn: PictureCNN, code: int, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.cnn = cnn
        self.norm = BatchNorm(code)  # whatever the size of a model's codes
        self.hidden = nn.Linear(cnn.dim + code, hidden)
        self.project = nn.Linear(hidden, code)
        nn.init.zeros_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def forward(self, code: Tensor, visible: Tensor, lost: Tensor) -> Tensor:
        seen = torch.cat([self.cnn(torch.stack([visible, lost], dim=1)), self.norm(code)], dim=-1)
        missing = self.project(torch.relu(self.hidden(seen)))
        return torch.where((lost > 0).flatten(1).any(dim=1, keepdim=True), code + missing, code)
