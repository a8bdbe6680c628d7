"""Is this installation well? Versions, devices, and a check that the fast encoder equals plain convolutions."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch

from gra2seq.data.datasets import default_cache
from gra2seq.data.doodles import doodle
from gra2seq.folder import load
from gra2seq.nn.patch_cnn import Blocks, PatchCNN
from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.masking import look
from gra2seq.sketch.quadtree import leaves, number_blocks
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
        "model in the package": load().options.model,
        "healthy": difference < TOLERANCE,
    }


def encoder_difference() -> float:
    """Largest relative difference of the fast encoder from plain convolutions in double precision, on one doodle."""
    views = look(doodle("cat", 0), Canvas()).views
    cnn = PatchCNN()
    with torch.inference_mode():
        fast = cnn(Blocks.of(number_blocks(leaves(np.ascontiguousarray(views)))))
        plain = cnn.double().plain(torch.from_numpy(views))
        return float((fast - plain).abs().max() / plain.abs().max())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
