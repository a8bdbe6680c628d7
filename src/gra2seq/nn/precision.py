"""The precision in which a trained network is used."""

from __future__ import annotations

import torch

from gra2seq.errors import unknown_name

TYPES = {"32-true": None, "bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}  # of matrix products


def check_precision(precision: str) -> None:
    """Raise UserError unless there is such a precision."""
    if precision not in TYPES:
        raise unknown_name("precision", precision, TYPES)


def autocast(precision: str, device: torch.device) -> torch.autocast:
    """A context in which matrix products are computed in 16 bits; with 32-true nothing changes in it."""
    kind = TYPES[precision]
    return torch.autocast(device.type, dtype=kind or torch.bfloat16, enabled=kind is not None)
