"""Checkpoints of a run as safetensors, beside the files of its model (models/model_files.py).

`last.safetensors` holds weights, optimiser and place in the run, from which `--resume` continues;
`previous.safetensors` is the checkpoint before it, should the last one be damaged.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gra2seq.errors import UserError
from gra2seq.models.model_files import LAST, fill
from gra2seq.system.atomic_files import atomic_write, readable_os_errors
from gra2seq.system.tensor_files import read_tensors, save_tensors
from gra2seq.training.average import Average

PREVIOUS = "previous.safetensors"  # the checkpoint before the last
DAMAGED = "damaged.safetensors"  # where a damaged last checkpoint is moved to


@dataclass
class Progress:
    """Where a run is: all that a checkpoint must remember besides weights and moments."""

    step: int = 0  # steps done
    best: float = math.inf  # smallest validation loss so far
    best_step: int = 0
    stale: int = 0  # validations since then
    seconds: float = 0.0  # spent in training, over all stretches
    finished: bool = False

    def __post_init__(self) -> None:
        """A checkpoint may come from a stranger: TypeError if a field is not what it should be."""
        for field in fields(self):
            value, kind = getattr(self, field.name), type(field.default)
            fits = type(value) in (int, float) if kind is float else type(value) is kind
            sound = fits and (0 <= value < math.inf if field.name != "best" else not math.isnan(value))
            if not sound:
                raise TypeError(f"{field.name} is {str(value)[:40]}")


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    state: Mapping[str, Any],
    average: Average | None = None,
) -> None:
    """Weights, their running mean, Adam's moments by parameter name, and the place in the run; keeps the one before."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"adam.{key}.{name}"] = torch.as_tensor(value)
    if average is not None:
        tensors |= {f"average.{name}": tensor for name, tensor in average.mean.items()}
    save_tensors(path, tensors, state, backup=path.with_name(PREVIOUS))


def recover_last(run: Path) -> str:
    """If the last checkpoint is damaged or missing and the one before it is not, put that in its place and say so."""
    last, previous = run / LAST, run / PREVIOUS
    if not previous.exists():
        return ""
    try:
        read_tensors(last)
        return ""
    except UserError as error:
        reason = str(error)
    try:
        _, state = read_tensors(previous)
    except UserError:
        return ""  # both are damaged: whoever loads the last one says so
    with readable_os_errors(last):
        if last.exists():
            last.replace(run / DAMAGED)
    with atomic_write(last) as temporary:
        shutil.copyfile(previous, temporary)
    return f"{reason.partition(': ')[0]}: going on from the checkpoint before it, of step {state.get('step')}"


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, average: Average | None = None
) -> dict[str, Any]:
    """Fill model, optimiser and average; returns the place in the run."""
    tensors, state = read_tensors(path)
    fill(path, model, {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    for name, parameter in model.named_parameters():
        moments = {}
        for key in ("step", "exp_avg", "exp_avg_sq"):  # a fused Adam has all three, the step too, beside the weights
            if f"adam.{key}.{name}" in tensors:
                moment = tensors[f"adam.{key}.{name}"].to(parameter.device)
                if key != "step" and moment.shape != parameter.shape:
                    raise UserError(f"{path} does not fit this model ({key} of {name}): resume with the same options")
                # A fused Adam walks weights and moments side by side in memory: they must lie alike.
                moments[key] = moment if key == "step" else torch.empty_like(parameter).copy_(moment)
        if moments:
            optimizer.state[parameter] = moments
    if average is not None:
        mean = {name.removeprefix("average."): t for name, t in tensors.items() if name.startswith("average.")}
        missing = average.mean.keys() - mean.keys()
        if missing:
            raise UserError(f"{path} has no mean of {min(missing)}: it was trained with average=0, go on with that")
        average.load_(mean)
    return state


def save_run(
    run: Path, model: nn.Module, optimizer: torch.optim.Optimizer, state: Progress, average: Average | None
) -> None:
    """Write the checkpoint that `load_run` goes on from."""
    save_checkpoint(run / LAST, model, optimizer, vars(state), average)


def load_run(run: Path, model: nn.Module, optimizer: torch.optim.Optimizer, average: Average | None = None) -> Progress:
    """Fill network, optimiser and mean from the run's last checkpoint; returns its place in the run."""
    state = load_checkpoint(run / LAST, model, optimizer, average)
    try:
        return Progress(**state)
    except TypeError as error:
        raise UserError(f"{run / LAST} is of another version ({error}): train again with run=…") from error
