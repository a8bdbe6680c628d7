"""Presets: what the options of a run start from, by section."""

from __future__ import annotations

from typing import Any

_SMALL_MODEL = {"hidden": 512, "pen_position": True, "start_log_variance": -6.0, "cluster_form": "squared"}
_SMALL_TRAINING = {"batch": 32, "learning_rate": 3e-3, "lr_schedule": "cosine", "warm_up": 100, "max_steps": 10_000}

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    # what the authors' released code does where it differs from the paper (docs/differences.md)
    "released": {
        "model": {
            "blank_value": -1.0,
            "ink_value": 1.0,
            "corner": 1.0,
            "normalise": "rows",
            "cluster_rate": 0.25,
            "cluster_form": "squared",
        },
        "drawing": {"sigma_temperature": "linear"},
        "training": {"lr_schedule": "steps", "decay": 0.9999, "patience": 5},
    },
    # for a laptop: the same encoder, half the LSTM, small batches, what was measured to learn more an hour
    "small": {
        "model": _SMALL_MODEL,
        "preparation": {"jitter": 0.5},
        "drawing": {"min_pen_temperature": 0.75},
        "training": _SMALL_TRAINING,
    },
    # the model in the package: `small`, and damage as users have it
    "package": {
        "model": {**_SMALL_MODEL, "given_input": True},
        "preparation": {
            "jitter": 0.5,
            "mask": 0.0,
            "mask_to": 0.3,
            "rectangle": 0.2,
            "eraser": 0.2,
            "end": 0.15,
            "given": 0.4,
        },
        "drawing": {"min_pen_temperature": 0.75, "best_of": 3, "good_enough": 0.015, "candidates": 4},
        "training": {**_SMALL_TRAINING, "average": 0.999},
    },
    # for tests: everything there, everything little
    "tiny": {
        "model": {
            "channels": (8, 16, 16, 16),
            "stroke_hidden": 16,
            "embedding": 8,
            "code": 16,
            "clusters": 5,
            "hidden": 32,
            "mixtures": 3,
        },
        "preparation": {"side": 80, "pen": 2, "nodes": 8},
        "training": {
            "batch": 16,
            "max_steps": 60,
            "validate_every": 20,
            "validate_sketches": 40,
            "save_every": 20,
            "gallery": 3,
        },
    },
}
