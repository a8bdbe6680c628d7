"""A model as a folder: of a run, in the package, or packed to give away. Safetensors and JSON, nothing that can run."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from gra2seq.config import DrawingConfig, RunConfig, as_dict, parse_config
from gra2seq.errors import UserError
from gra2seq.model import Model
from gra2seq.models.model_files import (
    CONFIG,
    LAST,
    WEIGHTS,
    load_network,
    read_json,
    read_progress,
    save_weights,
    scale_of,
    write_json,
)
from gra2seq.models.registry import build, build_network, preparation_of
from gra2seq.nn.precision import check_precision
from gra2seq.system.atomic_files import atomic_folder

PACKAGE = "package"  # name of the model in the package
CARD = "README.md"
PACKAGE_FOLDER = Path(__file__).parent / "package_model"  # with its model card
PACKED = (CONFIG, WEIGHTS, CARD)  # files of a model to give away


def model_folder(path: str | Path | None) -> Path:
    """The folder of a run or of weights; of the model in the package without a name, or by the name `package`."""
    if path is None or str(path) == PACKAGE:
        if path and Path(path).is_dir():
            here = Path(path).absolute()
            raise UserError(f"{path} is the model in the package, and there is a folder of that name: call it {here}")
        return PACKAGE_FOLDER
    path = Path(path)
    if not path.is_dir():
        raise UserError(f"no model at {path}: name the folder of a run (it holds {CONFIG} and {WEIGHTS})")
    return path


def load(
    path: str | Path | None = None, device: str = "cpu", *, precision: str = "32-true", modules: bool = False
) -> Model:
    """A model from the folder of a run or of weights; without one, or by the name `package`, the one in the package.

    Nothing in it can run: safetensors and JSON only. If its configuration names Python modules that register its parts,
    these must be imported already; with `modules` they are imported now, which runs them. With a `precision` of
    bf16-mixed or 16-mixed the encoder's products are computed in 16 bits; drawings are made in single precision.

    >>> import gra2seq
    >>> len(gra2seq.load().categories)
    345
    """
    path = model_folder(path)
    check_device(device)
    check_precision(precision)
    config, categories = read_folder(path, modules=modules)
    scale = scale_of(path)
    network = load_network(_weights_of(path), lambda: build(config.model, len(categories)))
    network.precision = precision
    return Model(network, config, preparation_of(config, scale), categories).to(device)


def pack(run: str | Path, out: str | Path, changes: Mapping[str, Any] | None = None) -> Path:
    """The model or judge of a run as a folder to give away: weights in 16 bits, and a configuration without paths.

    `changes` are options of `DrawingConfig`: how the model draws by itself.
    """
    run, out, changes = model_folder(run), Path(out), dict(changes or {})
    known = [field.name for field in dataclasses.fields(DrawingConfig)]
    fixed = [name for name in changes if name not in known]
    if fixed:
        raise UserError(f"{fixed[0]} belongs to the training: only {', '.join(known)} can be set now")
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file: name a folder for the model")
    if out.exists() and any(file.name not in PACKED for file in out.iterdir()):
        raise UserError(f"{out} holds other files: choose a new folder, or one that was packed before")
    trained, categories = read_folder(run)
    network = load_network(_weights_of(run), lambda: build_network(trained.model, categories))
    values = as_dict(trained)
    values |= {"run": RunConfig.run, "data": "", "start": "", "drawing": {**values["drawing"], **changes}}
    values["training"]["objective"] = "reconstruct"
    config = {**read_json(run / CONFIG, "model configuration"), "config": as_dict(parse_config(values))}
    progress = read_progress(run / WEIGHTS)
    with atomic_folder(out, replace=True) as folder:  # weights and configuration change together
        if (out / CARD).exists():
            shutil.copy2(out / CARD, folder / CARD)
        save_weights(folder / WEIGHTS, network, progress, half=True)
        write_json(folder / CONFIG, config)
    return out


def read_folder(path: Path, *, modules: bool = False) -> tuple[RunConfig, tuple[str, ...]]:
    """Configuration and categories of a model folder; `modules` as in `load`."""
    about = read_json(path / CONFIG, "model configuration")
    if "options" in about and "config" not in about:
        raise UserError(
            f"{path} holds a model of gra2seq 0.1, whose networks saw damaged drawings in another way: train it again "
            "(gra2seq train), or use the model in the package"
        )
    for name, kind in (("config", dict), ("categories", list)):
        if not isinstance(about.get(name), kind):
            raise UserError(f"{path / CONFIG} has no {name}: it is not a configuration of gra2seq")
    if not all(isinstance(category, str) for category in about["categories"]):
        raise UserError(f"{path / CONFIG} has categories that are not text: it is not a configuration of gra2seq")
    try:
        source = None if modules else str(path / CONFIG)
        return parse_config(about["config"], source=source), tuple(about["categories"])
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(f"{path / CONFIG} is damaged ({str(error)[:200]}): restore it from a copy") from error


def _weights_of(path: Path) -> Path:
    if not (path / WEIGHTS).exists() and (path / LAST).exists():
        raise UserError(f"{path} has no {WEIGHTS} yet: the run has not been validated; wait or resume it")
    return path / WEIGHTS


def check_device(device: str) -> None:
    """Raise UserError unless tensors can be put there."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, ValueError, TypeError, NotImplementedError) as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise UserError(f"device {device!r} cannot be used here ({reason}): leave it out, or give cpu") from error


def untrained(config: RunConfig, scale: float = 30.0, categories: tuple[str, ...] = ()) -> Model:
    """A model with fresh weights from `config.seed`: what training starts from."""
    torch.manual_seed(config.seed)
    network = build(config.model, len(categories))
    return Model(network, config, preparation_of(config, scale), categories)
