"""Cached results of an evaluation: a stopped one continues, and a finished one is not computed again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gra2seq.config import as_dict
from gra2seq.data.datasets import Dataset
from gra2seq.evaluation.judge import Judge
from gra2seq.model import Model
from gra2seq.sketch.strokes import Floats, Ints
from gra2seq.system.atomic_files import atomic_write
from gra2seq.training.manifest import fixed_options

VERSION = 4  # of damage and drawing: results of another one are not taken


class Kept:
    """Arrays in a file."""

    def save(self, path: Path) -> None:
        with atomic_write(path) as temporary:
            save_file(dict(vars(self)), temporary)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """None if there is no such file or it is damaged: it is made again."""
        try:
            arrays = load_file(path)
        except (OSError, SafetensorError):
            return None
        names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        return cls(**arrays) if arrays.keys() == names else None


@dataclass(frozen=True)
class Originals(Kept):
    """Codes and judged categories of the sketches themselves."""

    codes: Floats  # (N, code): the gallery
    categories: Ints  # (N,) the judge's; UNKNOWN without judge


@dataclass(frozen=True)
class Judged(Kept):
    """Codes, categories and distances of the drawings with one kind of damage and one seed."""

    codes: Floats  # (N, code) of the drawings
    empty: NDArray[np.bool_]  # (N,) nothing was drawn
    categories: Ints  # (N,) the judge's, of the drawings; UNKNOWN without judge or drawing
    distance: NDArray[np.float64]  # (N,) Chamfer distance to the original
    region: NDArray[np.float64]  # (N, len(healing.REGION)); NaN where it was not measured


def fingerprint(model: Model, judge: Judge | None, dataset: Dataset, split: str) -> str:
    """Of all that a judged split depends on: data, weights, options of the model and how it draws."""
    chosen: dict[str, Any] = {
        name: value for name, value in fixed_options(model.config).items() if name.startswith(("model", "preparation"))
    }
    drawing = {name: value for name, value in as_dict(model.drawing).items() if name != "seed"}
    what = [VERSION, dataset.store.hash, dataset.name, split, model.preparation.scale, chosen, drawing]
    digest = hashlib.sha256(json.dumps(what).encode())
    for network in (model.network, judge.network if judge else None):
        for tensor in network.state_dict().values() if network else ():
            digest.update(tensor.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
