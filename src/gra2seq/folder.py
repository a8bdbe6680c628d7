"""A model as a folder: of a run, in the package, or packed to give away. Safetensors and JSON, nothing that can run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from gra2seq.errors import UserError
from gra2seq.model import Model
from gra2seq.models import build, network_of
from gra2seq.options import IN_USE, Options, as_dict, options
from gra2seq.system.atomic_files import readable_os_errors
from gra2seq.training.checkpoint import (
    CONFIG,
    LAST,
    WEIGHTS,
    load_weights,
    read_json,
    read_progress,
    save_weights,
    write_json,
)
from gra2seq.training.manifest import scale_of

SHIPPED = Path(__file__).parent / "shipped"  # its model card is README.md there
PACKED = (CONFIG, WEIGHTS, "README.md")  # files of a model to give away


def model_folder(path: str | Path | None) -> Path:
    """The folder of a run or of weights; of the model in the package without a name, or by the name `shipped`."""
    if path is None or str(path) == SHIPPED.name:
        if path and Path(path).is_dir() and not SHIPPED.samefile(path):
            here = Path(path).absolute()
            raise UserError(f"{path} is the model in the package, and there is a folder of that name: call it {here}")
        return SHIPPED
    path = Path(path)
    if not path.is_dir():
        raise UserError(f"no model at {path}: name the folder of a run (it holds {CONFIG} and {WEIGHTS})")
    return path


def load(path: str | Path | None = None, device: str = "cpu") -> Model:
    """A model from the folder of a run or of weights; without one, or by the name `shipped`, the one in the package.

    Nothing in it can run: safetensors and JSON only.
    """
    path = model_folder(path)
    chosen, categories = _told(path)
    scale = scale_of(path)
    network = build(chosen)
    _fill(path, network)
    return Model(network, chosen, chosen.recipe(scale), categories).to(device)


def pack(run: str | Path, out: str | Path, changes: Mapping[str, Any] | None = None) -> Path:
    """The model or judge of a run as a folder to give away: weights in 16 bits, and a configuration without paths.

    `changes` are options that say how a model draws (`options.IN_USE`).
    """
    run, out, changes = model_folder(run), Path(out), dict(changes or {})
    fixed = [name for name in changes if name not in IN_USE]
    if fixed:
        raise UserError(f"{fixed[0]} belongs to the training: only {', '.join(IN_USE)} can be set now")
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file: name a folder for the model")
    if out.exists() and any(file.name not in PACKED for file in out.iterdir()):
        raise UserError(f"{out} holds other files: choose a new folder, or one that was packed before")
    trained, categories = _told(run)
    network = network_of(trained, categories)
    _fill(run, network)
    chosen = options({**as_dict(trained), **changes, "run": Options.run, "data": "", "start": ""})
    config = {**read_json(run / CONFIG, "model configuration"), "options": as_dict(chosen)}
    progress = read_progress(run / WEIGHTS)
    with readable_os_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    save_weights(out / WEIGHTS, network, progress, half=True)
    write_json(out / CONFIG, config)
    return out


def _told(path: Path) -> tuple[Options, tuple[str, ...]]:
    """Options and categories of a folder."""
    config = read_json(path / CONFIG, "model configuration")
    try:
        return options(dict(config["options"])), tuple(config["categories"])
    except KeyError as error:
        raise UserError(f"{path / CONFIG} lacks {error}: it is not a configuration of gra2seq") from error
    except (TypeError, ValueError) as error:
        raise UserError(f"{path / CONFIG} is damaged ({error}): restore it from a copy") from error


def _fill(path: Path, network: nn.Module) -> None:
    if not (path / WEIGHTS).exists() and (path / LAST).exists():
        raise UserError(f"{path} has no {WEIGHTS} yet: the run has not been validated; wait or resume it")
    load_weights(path / WEIGHTS, network)
