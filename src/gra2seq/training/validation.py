"""How a run stands: its loss on sketches it does not learn from, a gallery of drawings, and the best weights so far."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from gra2seq.data.batches import generator, holes_by_lot, prepare
from gra2seq.data.datasets import Dataset
from gra2seq.data.store import Indices
from gra2seq.errors import UserError
from gra2seq.model import Model
from gra2seq.models.sketch_model import SketchModel
from gra2seq.options import JUDGE, Options
from gra2seq.sketch.masking import Draws
from gra2seq.training import checkpoint
from gra2seq.training.checkpoint import Progress
from gra2seq.training.gallery import write_gallery
from gra2seq.training.logs import Logs

VALID_SEED = 20230  # of the masks of the validation split: the same damage in every run


class Validation:
    """The loss on sketches it does not learn from, a gallery of drawings, and the best weights so far."""

    def __init__(self, options: Options, dataset: Dataset, network: nn.Module, indices: Indices, most: int) -> None:
        self.options, self.dataset, self.network = options, dataset, network
        self.recipe = options.recipe(dataset.scale, dataset.categories)
        if options.model != JUDGE:  # a judge sees pictures, however many points they have
            short = indices[dataset.store.point_counts[indices] <= options.max_points]
            if len(short) == 0:
                raise UserError(f"every sketch to validate on has more than max_points={options.max_points}: raise it")
            indices = short
        spread = np.linspace(0, len(indices) - 1, min(most, len(indices))).astype(int)
        chosen = indices[np.unique(spread)]
        self.indices = chosen[np.argsort(dataset.store.point_counts[chosen], kind="stable")]
        self.learning = options.model != JUDGE
        self.draws = Draws.make(len(self.indices), VALID_SEED, options.nodes).numbers

    def __call__(self, state: Progress, logs: Logs, run: Path) -> float:
        totals = self.losses()
        # Systems have other terms beside: the best weights are those that draw best, whatever else is asked of them.
        loss = totals["offset"] + totals["pen"] if "offset" in totals else totals["loss"]
        logs.valid(state.step, totals)
        if self.options.gallery and isinstance(self.network, SketchModel):
            model = Model(self.network, self.options, self.recipe, self.dataset.categories)
            shown = np.linspace(0, len(self.indices) - 1, self.options.gallery).astype(int)
            sketches = [self.dataset.store[int(self.indices[i])] for i in shown]
            write_gallery(run / "gallery" / f"step-{state.step:07d}.png", model, sketches, self.draws[shown])
        if loss < state.best:
            state.best, state.best_step, state.stale = loss, state.step, 0
            about = {"step": state.step, "valid_loss": loss}
            checkpoint.save_weights(run / checkpoint.WEIGHTS, self.network, about)
        else:
            state.stale += 1
        return loss

    @torch.inference_mode()
    def losses(self) -> dict[str, float]:
        """Means over the sketches of each loss term and figure."""
        self.network.eval()
        totals: dict[str, float] = {}
        size = min(self.options.batch, 256)
        device = next(self.network.parameters()).device
        for start in range(0, len(self.indices), size):
            part = slice(start, start + size)
            sketches = [self.dataset.store[int(i)] for i in self.indices[part]]
            lots = [generator(VALID_SEED, number) for number in range(start, start + len(sketches))]
            holes = holes_by_lot(sketches, self.recipe, lots)
            whole = np.array([len(own) == 0 for own in holes])  # the others are not masked besides
            batch = prepare(
                sketches,
                self.recipe,
                draws=np.where(whole[:, None], self.draws[part], 1),
                probability=self.recipe.mean_mask,
                holes=holes,
                learning=self.learning,
            )
            terms, figures = self.network(batch.to(device))
            for name, value in {"loss": torch.stack(list(terms.values())).sum(), **terms, **figures}.items():
                totals[name] = totals.get(name, 0.0) + float(value) * len(sketches) / len(self.indices)
        return totals
