"""One optimiser step's arithmetic: learning rate, clipping, and the guard against numbers that are not finite."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import nn

from gra2seq.config.training import TrainingConfig
from gra2seq.data.batch_order import Schedule
from gra2seq.data.batches import Batch
from gra2seq.errors import UserError
from gra2seq.models import model_files

BETAS, EPSILON = (0.9, 0.999), 1e-8  # Adam's, as in the paper


class NotFinite(UserError):
    """A loss term or gradient that is NaN or infinite; the message names it, the step and the sketches of the batch."""


def learning_rate(config: TrainingConfig, schedule: Schedule, step: int) -> float:
    """Rises through the warm-up, then falls: by `decay` an epoch or a step, or along half a cosine to the last step."""
    lowest = min(config.min_learning_rate, config.learning_rate)
    if config.lr_schedule == "cosine":
        share = min(step / config.max_steps, 1.0)
        rate = lowest + (config.learning_rate - lowest) * 0.5 * (1 + math.cos(math.pi * share))
    else:
        times = step if config.lr_schedule == "steps" else step // schedule.steps_per_epoch
        rate = max(config.learning_rate * config.decay**times, lowest)
    return rate * min((step + 1) / (config.warm_up + 1), 1.0)


def clip(network: nn.Module, how: str, at: float) -> float:
    """Clip gradients in place; returns their norm before. `variable-norm`: each variable's norm (released code)."""
    grads = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    norms = torch.stack(list(torch._foreach_norm(grads)))
    norm = torch.linalg.vector_norm(norms)
    if how == "variable-norm":
        torch._foreach_mul_(grads, list((at / norms.clamp(min=at)).unbind()))
    elif how == "norm":
        torch._foreach_mul_(grads, at / norm.clamp(min=at))
    elif how == "value":
        torch._foreach_clamp_min_(grads, -at)
        torch._foreach_clamp_max_(grads, at)
    return float(norm)


def check_finite(values: dict[str, float], step: int, batch: Batch, run: Path, rank: int) -> None:
    """Stop the run before numbers that are not finite touch the weights, and say where to look."""
    bad = [name for name, value in values.items() if not math.isfinite(value)]
    if bad:
        names = ", ".join(batch.names[:8]) + (" …" if len(batch.names) > 8 else "")
        file = run / f"not-finite-step-{step + 1}{f'-process-{rank}' if rank else ''}.json"
        model_files.write_json(file, {"step": step + 1, "terms": bad, "sketches": list(batch.names)})
        raise NotFinite(
            f"step {step + 1}: {', '.join(bad)} is not finite on the batch of {names} (all in {file}); this step was "
            "not taken. Look at these drawings, or lower learning_rate, or set min_log_std"
        )
