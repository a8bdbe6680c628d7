"""What training minimises: the loss of the whole model, or that of one part of a trained model."""

from __future__ import annotations

from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.models.sketch_model import SketchModel, follow, negative_log_likelihood
from gra2seq.nn.ink_predictor import ink_losses

Losses = tuple[dict[str, Tensor], dict[str, Tensor]]  # terms that add up to the loss, and figures for the log


class Reconstruct(nn.Module):
    """The network's own loss: all of it learns."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, batch: Batch) -> Losses:
        losses: Losses = self.network(batch)
        return losses


class OnePart(nn.Module):
    """One part of a trained network learns; all else is frozen and stays in evaluation mode."""

    part: ClassVar[str]

    def __init__(self, network: SketchModel) -> None:
        super().__init__()
        self.network = network
        network.requires_grad_(False)
        for name, module in network.named_children():
            module.requires_grad_(name == self.part)

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        for name, module in self.network.named_children():
            module.train(mode and name == self.part)
        return self


class RepairCodes(OnePart):
    """The code repair learns to turn codes of damaged drawings into those of intact ones."""

    part = "repair"

    def forward(self, batch: Batch) -> Losses:
        assert batch.whole is not None
        with torch.no_grad():
            damaged, intact = self.network.encode(batch, repair=False), self.network.encode(batch.whole, repair=False)
        assert self.network.repair is not None
        repaired = self.network.repair(damaged, batch.views["picture"], batch.views["lost"])
        error, before = ((code - intact).square().sum(dim=-1).mean() for code in (repaired, damaged))
        return {"repair": error}, {"unrepaired": before}


class PredictInk(OnePart):
    """Ink prediction learns where the ink of the intact drawing lies."""

    part = "ink"

    def forward(self, batch: Batch) -> Losses:
        assert self.network.ink is not None
        assert batch.painted is not None
        assert batch.ink_distance is not None
        with torch.no_grad():
            code = self.network.encode(batch)
        predicted = self.network.ink(code, batch.views["visible_ink"], batch.views["lost_ink"])
        terms = ink_losses(predicted, batch.painted, batch.ink_distance)
        return {name: each.mean() for name, each in terms.items()}, {}


class PredictFrame(OnePart):
    """Frame prediction learns how far the intact drawing sticks out of the visible box: the median of what may come."""

    part = "frame"

    def forward(self, batch: Batch) -> Losses:
        assert self.network.frame is not None
        assert batch.growth is not None
        with torch.no_grad():
            code = self.network.encode(batch)
        predicted = self.network.frame(code, batch.views["extent"])
        true = torch.log1p(batch.growth)
        return {"frame": (predicted - true).abs().sum(dim=-1).mean()}, {"unframed": true.sum(dim=-1).mean()}


class FinetuneDecoder(OnePart):
    """The decoder learns on from codes as they are in use: without noise, of damaged drawings, repaired."""

    part = "decoder"

    def forward(self, batch: Batch) -> Losses:
        assert batch.targets is not None
        with torch.no_grad():
            code = self.network.encode(batch)
        moves, true = follow(self.network.decoder, batch.targets, code)
        return {name: each.mean() for name, each in negative_log_likelihood(moves, true).items()}, {}


OBJECTIVES: dict[str, type[nn.Module]] = {
    "reconstruct": Reconstruct,
    "repair-codes": RepairCodes,
    "predict-ink": PredictInk,
    "predict-frame": PredictFrame,
    "finetune-decoder": FinetuneDecoder,
}
