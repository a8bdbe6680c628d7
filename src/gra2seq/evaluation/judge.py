"""The judge: a trained Sketch-a-Net that names the category of sketches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from gra2seq.config.systems import CLASSIFIER
from gra2seq.data.batches import Preparation, prepare
from gra2seq.errors import UserError, unknown_name
from gra2seq.folder import read_folder
from gra2seq.models.model_files import WEIGHTS, load_network, scale_of
from gra2seq.models.registry import preparation_of
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import Ints, Sketch

BATCH = 16  # pictures that stay in the cache from layer to layer
JUDGES = Path(__file__).parent.parent / "judges"  # those in the package, by name


class Judge:
    """`classify` sketches into `categories`."""

    def __init__(self, network: SketchANet, preparation: Preparation) -> None:
        self.network, self.preparation, self.categories = network.eval(), preparation, preparation.categories

    @torch.inference_mode()
    def classify(self, sketches: Sequence[Sketch]) -> Ints:
        """Number of the likeliest category of each sketch."""
        device = next(self.network.parameters()).device
        found = [torch.empty(0, dtype=torch.int64)]
        for start in range(0, len(sketches), BATCH):
            batch = prepare([Damage.none(sketch) for sketch in sketches[start : start + BATCH]], self.preparation)
            found.append(self.network.logits(batch.views["picture"].to(device)).argmax(dim=-1).cpu())
        return torch.cat(found).numpy()


def load_judge(path: str | Path, device: str = "cpu") -> Judge:
    """From the folder of a run of `model: sketch-a-net`, or by the name of one in the package, such as `open8`."""
    folder = Path(path)
    if not folder.exists() and folder.name == str(folder):
        if not (JUDGES / folder).is_dir():
            raise unknown_name("judge", folder.name, [one.name for one in JUDGES.iterdir()], "here or in the package")
        folder = JUDGES / folder
    config, categories = read_folder(folder)
    if config.model.name != CLASSIFIER:
        raise UserError(f"{path} holds {config.model.name}, not a judge: train one with `model: {CLASSIFIER}`")
    network = load_network(folder / WEIGHTS, lambda: SketchANet(len(categories)))
    return Judge(network.to(device), preparation_of(config, scale_of(folder), categories))
