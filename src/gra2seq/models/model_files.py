"""Files of a model folder: `config.json` and `model.safetensors`. Nothing that is loaded can run, or is half-written.

The folder of a run is one too, with its checkpoints beside them (training/checkpoint.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from gra2seq.config.fields import MAX_SINGLE
from gra2seq.errors import UserError
from gra2seq.nn.empty_network import EmptyNetwork
from gra2seq.system.atomic_files import atomic_write
from gra2seq.system.json_files import read_json_object
from gra2seq.system.tensor_files import Shape, read_shapes, read_state, read_tensors, save_tensors

CONFIG, WEIGHTS = "config.json", "model.safetensors"
LAST = "last.safetensors"  # the last checkpoint of a run
SPARE_NUMBERS = 2**20  # that a network may make besides its weights while it is built

Network = TypeVar("Network", bound=nn.Module)
T = TypeVar("T")


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


def categories_of(run: Path) -> list[str]:
    """What a model has learnt to draw."""
    return read_field(run / CONFIG, "categories", list)


def scale_of(run: Path) -> float:
    """The unit of the offsets that a model has learnt."""
    scale = read_field(run / CONFIG, "scale", (float, int))
    if not 0 < scale <= MAX_SINGLE:
        raise UserError(f"{run / CONFIG} has a scale that is no unit: restore it from a copy")
    return float(scale)


def read_field(path: Path, name: str, kind: type[T] | tuple[type[T], ...]) -> T:
    value = read_json(path, "record of a run").get(name)
    if not isinstance(value, kind):
        raise UserError(f"{path} is damaged (its {name!r} is not there): restore it from a copy or train again")
    return value


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
    fill(path, model, tensors)
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
    fill(path, model, {**wanted, **{name: tensors[name] for name in shared}})
    return sorted(wanted.keys() - shared), sorted(tensors.keys() - shared)


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


def fill(path: Path, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    _check_shapes(path, model, {name: tuple(tensor.shape) for name, tensor in tensors.items()})
    wanted = model.state_dict()
    model.load_state_dict({name: tensor.to(wanted[name].dtype) for name, tensor in tensors.items()})
