"""Weights and checkpoints as safetensors: nothing that is loaded can run, nothing is half-written.

A weights folder is `config.json` + `model.safetensors`. A run folder is one too, with `last.safetensors` (weights,
optimiser and place in the run) beside it, from which `--resume` goes on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from gra2seq.errors import UserError
from gra2seq.system.atomic_files import atomic_write
from gra2seq.training.average import Average

CONFIG, WEIGHTS, LAST = "config.json", "model.safetensors", "last.safetensors"
STATE = "state"  # key of the JSON text in the file's metadata


@dataclass
class Progress:
    """Where a run is: all that a checkpoint must remember besides weights and moments."""

    step: int = 0  # steps done
    best: float = math.inf  # smallest validation loss so far
    best_step: int = 0
    stale: int = 0  # validations since then
    seconds: float = 0.0  # spent in training, over all stretches
    finished: bool = False


def write_json(path: Path, value: Any) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")


def read_json(path: Path, what: str) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text())
    except OSError as error:
        raise UserError(f"no {what} at {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}): restore it from a copy or train again") from error
    if not isinstance(value, dict):
        raise UserError(f"{path} is not a {what}")
    return value


def save_weights(path: Path, model: nn.Module, about: Mapping[str, Any], half: bool = False) -> None:
    """With `half` matrices are kept in 16 bits; what is small (biases, statistics of batch norm) stays whole."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    if half:
        tensors = {n: t.half() if t.ndim > 1 and t.is_floating_point() else t for n, t in tensors.items()}
        lost = [name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()]
        if lost:
            raise UserError(f"{lost[0]} holds numbers that 16 bits cannot: keep the weights whole")
    with atomic_write(path) as temporary:
        save_file(tensors, temporary, {STATE: json.dumps(dict(about))})


def load_weights(path: Path, model: nn.Module) -> dict[str, Any]:
    """Fill the model; every tensor must be there and fit. Returns what `save_weights` was told."""
    tensors, about = _read(path)
    _fill(path, model, tensors)
    return about


def start_from(path: Path, model: nn.Module) -> tuple[list[str], list[str]]:
    """Fill the model with another's weights to learn on from; returns the tensors that only this, only that one has."""
    tensors, _ = _read(path)
    wanted = model.state_dict()
    shared = wanted.keys() & tensors.keys()
    if not shared:
        raise UserError(f"{path} shares no tensor with this model: start from one of the same kind")
    for name in sorted(shared):
        there, here = tuple(tensors[name].shape), tuple(wanted[name].shape)
        if there != here:
            raise UserError(f"{path} has {name} as {there}, this model as {here}: give both the same preset and sizes")
    _fill(path, model, {**wanted, **{name: tensors[name] for name in shared}})
    return sorted(wanted.keys() - shared), sorted(tensors.keys() - shared)


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    state: Mapping[str, Any],
    average: Average | None = None,
) -> None:
    """Weights, their running mean, Adam's moments by parameter name, and the place in the run."""
    tensors = {f"model.{name}": tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"adam.{key}.{name}"] = torch.as_tensor(value).detach().cpu().contiguous()
    if average is not None:
        tensors |= {f"average.{name}": tensor.cpu().contiguous() for name, tensor in average.mean.items()}
    with atomic_write(path) as temporary:
        save_file(tensors, temporary, {STATE: json.dumps(dict(state))})


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, average: Average | None = None
) -> dict[str, Any]:
    tensors, state = _read(path)
    _fill(path, model, {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    for name, parameter in model.named_parameters():
        moments = {}
        for key in ("step", "exp_avg", "exp_avg_sq"):  # a fused Adam has all three, the step too, beside the weights
            if f"adam.{key}.{name}" in tensors:
                moment = tensors[f"adam.{key}.{name}"].to(parameter.device)
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


def read_progress(path: Path) -> dict[str, Any]:
    """How far a checkpoint's run is, or what `save_weights` was told, without the tensors."""
    with _readable(path), safe_open(path, framework="pt") as file:
        about: dict[str, Any] = json.loads((file.metadata() or {}).get(STATE, "{}"))
    return about


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise UserError(f"no weights at {path}: name the folder of a run, or train one first") from error
    except (OSError, SafetensorError, ValueError) as error:
        raise UserError(f"{path} is damaged or cut short ({error}): restore it from a copy or train again") from error


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    about = read_progress(path)
    with _readable(path):
        return load_file(path), about


def _fill(path: Path, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    wanted = model.state_dict()
    missing, extra = sorted(wanted.keys() - tensors.keys()), sorted(tensors.keys() - wanted.keys())
    shapes = [n for n in wanted if n in tensors and wanted[n].shape != tensors[n].shape]
    if missing or extra or shapes:
        raise UserError(
            f"{path} does not fit this model (missing {missing[:3]}, unknown {extra[:3]}, other shape {shapes[:3]}): "
            "config.json and weights must come from the same run"
        )
    model.load_state_dict({name: tensor.to(wanted[name].dtype) for name, tensor in tensors.items()})
