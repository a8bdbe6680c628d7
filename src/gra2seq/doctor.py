"""A check of the installation: versions, devices, and that the fast encoder equals plain convolutions."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from gra2seq.data.cache import default_cache
from gra2seq.data.doodles import doodle
from gra2seq.data.views import PatchView, Seen
from gra2seq.folder import load
from gra2seq.nn.patch_cnn import PatchCNN
from gra2seq.sketch.canvas import draw
from gra2seq.sketch.damage import Damage
from gra2seq.training.manifest import LIBRARIES

TOLERANCE = 1e-5


def examine() -> dict[str, Any]:
    """Findings by name; `healthy` is the verdict."""
    difference = encoder_difference()
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in LIBRARIES},
        "cores": torch.get_num_threads(),
        "vector instructions": torch.backends.cpu.get_cpu_capability(),
        "cuda": torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none",
        "mps": torch.backends.mps.is_available(),
        "cache": str(default_cache()),
        "encoder difference": difference,
        "model in the package": load().config.model.name,
        "healthy": difference < TOLERANCE,
    }


def encoder_difference() -> float:
    """Largest relative difference of the fast encoder from plain convolutions in double precision, on one doodle."""
    view, damage = PatchView(), Damage.none(doodle("cat", 0))
    patches, _ = view.cut(damage, draw(damage, view.canvas))
    cnn = PatchCNN()
    with torch.inference_mode():
        fast = cnn(view(Seen([damage])).blocks)
        plain = cnn.double().plain(torch.from_numpy(patches))
        return float((fast - plain).abs().max() / plain.abs().max())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
