"""Frame prediction: how far a drawing will reach that was only begun, from its code and its extent (beyond the paper).

A decoder draws in the frame of the finished drawing. Of a drawing that was begun only the box of the visible strokes is
known; taken for the frame, it leaves no room for what is to come.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gra2seq.nn.masked_batch_norm import BatchNorm

HIDDEN = 256
EXTENT = 7  # numbers of `data.views.ExtentView`
SIDES = 4  # left, top, right, bottom


class FramePredictor(nn.Module):
    """Codes (B, code) and extents (B, EXTENT) of begun drawings -> log(1 + growth) of their boxes (B, SIDES).

    The growth of each side is in longer sides of the visible box.
    """

    def __init__(self, code: int) -> None:
        super().__init__()
        self.norm = BatchNorm(code + EXTENT)
        self.hidden = nn.Linear(code + EXTENT, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.project = nn.Linear(HIDDEN, SIDES)
        nn.init.zeros_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def forward(self, code: Tensor, extent: Tensor) -> Tensor:
        x = torch.relu(self.hidden(self.norm(torch.cat([code, extent], dim=-1))))
        growth: Tensor = self.project(torch.relu(self.second(x)))
        return growth

    def growth(self, code: Tensor, extent: Tensor) -> Tensor:
        """(B, SIDES) predicted growth of each side, never negative."""
        return torch.expm1(self(code, extent).clamp(min=0))
