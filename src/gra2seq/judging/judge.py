"""The judge in the user's hands: a trained Sketch-a-Net that tells the category of sketches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from gra2seq.data.batches import Recipe, prepare
from gra2seq.errors import UserError
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.options import JUDGE, options
from gra2seq.sketch.strokes import Ints, Sketch
from gra2seq.training.checkpoint import CONFIG, WEIGHTS, load_network, read_json

BATCH = 16  # pictures that stay in the cache from layer to layer


class Judge:
    """`classify` sketches into `categories`."""

    def __init__(self, network: SketchANet, recipe: Recipe) -> None:
        self.network, self.recipe, self.categories = network.eval(), recipe, recipe.categories

    @torch.inference_mode()
    def classify(self, sketches: Sequence[Sketch]) -> Ints:
        """Number of the likeliest category of each sketch."""
        device = next(self.network.parameters()).device
        found = [torch.empty(0, dtype=torch.int64)]
        for start in range(0, len(sketches), BATCH):
            batch = prepare(sketches[start : start + BATCH], self.recipe, learning=False)
            found.append(self.network.logits(batch.pictures.to(device)).argmax(dim=-1).cpu())
        return torch.cat(found).numpy()


def load_judge(path: str | Path) -> Judge:
    """From the folder of a run of `model: sketch-a-net`."""
    path = Path(path)
    config = read_json(path / CONFIG, "judge")
    try:
        chosen = options(dict(config["options"]))
        scale, categories = float(config["scale"]), tuple(config["categories"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path / CONFIG} lacks {error}: it is not a configuration of gra2seq") from error
    if chosen.model != JUDGE:
        raise UserError(f"{path} holds {chosen.model}, not a judge: train one with `model: {JUDGE}`")
    network = load_network(path / WEIGHTS, lambda: SketchANet(len(categories)))
    return Judge(network, chosen.recipe(scale, categories))
