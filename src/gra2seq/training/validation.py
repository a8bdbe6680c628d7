"""Validation: the loss on sketches of the validation split, a gallery of drawings, and the best weights so far."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from gra2seq.config.run import RunConfig
from gra2seq.config.systems import CLASSIFIER
from gra2seq.data.batches import prepare_training
from gra2seq.data.datasets import Dataset
from gra2seq.data.store import Indices
from gra2seq.errors import UserError
from gra2seq.model import Model
from gra2seq.models import model_files
from gra2seq.models.registry import preparation_of
from gra2seq.models.sketch_model import SketchModel
from gra2seq.training.checkpoint import Progress
from gra2seq.training.logs import Logs
from gra2seq.training.pictures import write_gallery

VALID_SEED = 20230  # of the damage of the validation split: the same in every run and at every step
MAX_BATCH = 256


class Validation:
    """Losses of an objective on at most `most` sketches of `indices`, evenly chosen; keeps the best weights."""

    def __init__(self, config: RunConfig, dataset: Dataset, objective: nn.Module, indices: Indices, most: int) -> None:
        self.config, self.dataset, self.objective = config, dataset, objective
        self.preparation = preparation_of(config, dataset.scale, dataset.categories)
        if config.model.name != CLASSIFIER:  # a classifier sees pictures, however many points they have
            limit = config.preparation.max_points
            indices = indices[dataset.store.point_counts[indices] <= limit]
            if len(indices) == 0:
                raise UserError(f"every sketch to validate on has more than max_points={limit}: raise it")
        spread = np.linspace(0, len(indices) - 1, min(most, len(indices))).astype(int)
        chosen = indices[np.unique(spread)]
        self.indices = chosen[np.argsort(dataset.store.point_counts[chosen], kind="stable")]

    def __call__(self, network: nn.Module, state: Progress, logs: Logs, run: Path) -> float:
        """Measure, log, draw the gallery, and save the weights if they are the best so far; returns the loss."""
        totals = self.losses()
        # Systems have other terms beside: the best weights are those that draw best.
        loss = totals["offset"] + totals["pen"] if "offset" in totals else totals["loss"]
        logs.valid(state.step, totals)
        if self.config.training.gallery and isinstance(network, SketchModel):
            model = Model(network, self.config, self.preparation, self.dataset.categories)
            shown = np.linspace(0, len(self.indices) - 1, self.config.training.gallery).astype(int)
            sketches = [self.dataset.store[int(self.indices[i])] for i in shown]
            write_gallery(run / "gallery" / f"step-{state.step:07d}.png", model, sketches, VALID_SEED)
        if loss < state.best:
            state.best, state.best_step, state.stale = loss, state.step, 0
            model_files.save_weights(run / model_files.WEIGHTS, network, {"step": state.step, "valid_loss": loss})
        else:
            state.stale += 1
        return loss

    @torch.inference_mode()
    def losses(self) -> dict[str, float]:
        """Means over the sketches of each loss term and figure."""
        self.objective.eval()
        totals: dict[str, float] = {}
        size = min(self.config.training.batch, MAX_BATCH)
        device = next(self.objective.parameters()).device
        for start in range(0, len(self.indices), size):
            numbers = range(start, min(start + size, len(self.indices)))
            sketches = [self.dataset.store[int(self.indices[number])] for number in numbers]
            seeds = [(VALID_SEED, number) for number in numbers]
            batch = prepare_training(sketches, self.preparation, seeds, validation=True)
            terms, figures = self.objective(batch.to(device))
            for name, value in {"loss": torch.stack(list(terms.values())).sum(), **terms, **figures}.items():
                totals[name] = totals.get(name, 0.0) + float(value) * len(sketches) / len(self.indices)
        return totals
