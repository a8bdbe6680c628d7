"""Weights and checkpoints as safetensors: nothing that is loaded can run, nothing is half-written.

A weights folder is `config.json` + `model.safetensors`. A run folder is one too, with `last.safetensors` (weights,
optimiser and place in the run) beside it, from which `--resume` goes on, and `previous.safetensors`, the checkpoint
before that, should the last one be damaged.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from gra2seq.errors import UserError
from gra2seq.nn.empty_network import EmptyNetwork
from gra2seq.system.atomic_files import atomic_write, readable_os_errors
from gra2seq.system.json_files import read_json_object
from gra2seq.system.tensor_files import Shape, read_shapes, read_state, read_tensors, save_tensors
from gra2seq.training.average import Average

CONFIG, WEIGHTS, LAST, PREVIOUS = "config.json", "model.safetensors", "last.safetensors", "previous.safetensors"
DAMAGED = "damaged.safetensors"  # where a damaged last checkpoint is moved to
SPARE_NUMBERS = 2**20  # that a network may make besides its weights while it is built

Network = TypeVar("Network", bound=nn.Module)


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


def write_json(path: Path, value: Any) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def read_json(path: Path, what: str) -> dict[str, Any]:
    """A JSON object from a file that may come from a stranger; `what` it should be is named in the error."""
    try:
        return read_json_object(path)
    except OSError as error:
        raise UserError(f"no {what} at {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}): restore it from a copy or train again") from error


def save_weights(path: Path, model: nn.Module, state: Mapping[str, Any], half: bool = False) -> None:
    """With `half`, matrices are kept in 16 bits; what is small (biases, statistics of batch norm) keeps its type."""
    tensors = dict(model.state_dict())
    if half:
        tensors = {n: t.half() if t.ndim > 1 and t.is_floating_point() else t for n, t in tensors.items()}
        overflown = [name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()]
        if overflown:
            raise UserError(f"{overflown[0]} holds numbers that do not fit into 16 bits: keep the weights in 32")
    save_tensors(path, tensors, state)


def load_weights(path: Path, model: nn.Module) -> dict[str, Any]:
    """Fill the model; every tensor must be there and fit. Returns the state that `save_weights` was given."""
    tensors, state = read_tensors(path)
    _fill(path, model, tensors)
    return state


def load_network(path: Path, make: Callable[[], Network]) -> Network:
    """The network that `make` builds, with the weights of a file.

    A configuration that asks for more memory than its weights fill is refused before any of it is allocated.
    """
    shapes = read_shapes(path)
    try:
        with EmptyNetwork(limit=2 * sum(map(math.prod, shapes.values())) + SPARE_NUMBERS):
            network = make()
    except (RuntimeError, ValueError, TypeError, OverflowError, MemoryError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise UserError(
            f"{path.parent / CONFIG} asks for a network that cannot be built ({reason}): "
            f"it and {path.name} must come from the same run"
        ) from error
    load_weights(path, network)
    return network


def start_from(path: Path, model: nn.Module) -> tuple[list[str], list[str]]:
    """Fill the model with another's weights to learn on from; returns the tensors that only this, only that one has."""
    shapes, wanted = read_shapes(path), model.state_dict()
    shared = wanted.keys() & shapes.keys()
    if not shared:
        raise UserError(f"{path} shares no tensor with this model: start from one of the same kind")
    for name in sorted(shared):
        there, here = shapes[name], tuple(wanted[name].shape)
        if there != here:
            raise UserError(f"{path} has {name} as {there}, this model as {here}: give both the same preset and sizes")
    tensors, _ = read_tensors(path)
    _fill(path, model, {**wanted, **{name: tensors[name] for name in shared}})
    return sorted(wanted.keys() - shared), sorted(tensors.keys() - shared)


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
    _fill(path, model, {n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
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


def read_progress(path: Path) -> dict[str, Any]:
    """How far a checkpoint's run is, or the state that `save_weights` was given, without the tensors."""
    return read_state(path)


def _check_shapes(path: Path, model: nn.Module, shapes: Mapping[str, Shape]) -> None:
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    missing, extra = sorted(wanted.keys() - shapes.keys()), sorted(shapes.keys() - wanted.keys())
    other = [name for name in wanted if name in shapes and wanted[name] != shapes[name]]
    if missing or extra or other:
        names = f"missing {missing[:3]}, unknown {[name[:80] for name in extra[:3]]}, other shape {other[:3]}"
        raise UserError(
            f"{path} does not fit this model ({names}): config.json and weights must come from the same run"
        )


def _fill(path: Path, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    _check_shapes(path, model, {name: tuple(tensor.shape) for name, tensor in tensors.items()})
    wanted = model.state_dict()
    model.load_state_dict({name: tensor.to(wanted[name].dtype) for name, tensor in tensors.items()})
