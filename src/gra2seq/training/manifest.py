"""What a run was: options, versions, commit, data, seed; enough to repeat it and to refuse to resume another one."""

from __future__ import annotations

import dataclasses
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gra2seq.config import RunConfig, as_dict, parse_config
from gra2seq.data.datasets import Dataset
from gra2seq.errors import UserError
from gra2seq.models.model_files import CONFIG, read_field, read_json, write_json

MANIFEST = "manifest.json"
VERSION = 2  # of config.json; version 0.1 of gra2seq wrote none
BESIDE = ("code_repair", "ink_prediction", "frame_prediction")  # options of parts that are trained beside a model
LIBRARIES = ("gra2seq", "torch", "lightning-fabric", "numpy", "opencv-python-headless", "safetensors")


def describe(config: RunConfig, dataset: Dataset) -> dict[str, Any]:
    """What `gra2seq.load` needs besides the weights."""
    return {
        "version": VERSION,
        "config": as_dict(config),
        "scale": dataset.scale,
        "categories": list(dataset.categories),
        "dataset": dataset.describe(),
    }


def write(run: Path, config: RunConfig, dataset: Dataset, resumed_at: int | None) -> None:
    """One entry a stretch: a resumed run keeps the entries before."""
    path = run / MANIFEST
    stretches = read_field(path, "stretches", list) if path.exists() and resumed_at is not None else []
    stretches.append(
        {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "resumed_at": resumed_at,
            "config": as_dict(config),
            "dataset": dataset.describe(),
            "versions": {name: version(name) for name in LIBRARIES},
            "python": platform.python_version(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "commit": commit(),
        }
    )
    write_json(path, {"stretches": stretches})


def configs_of_stretches(run: Path) -> list[dict[str, Any]]:
    """The configuration of each stretch of a run, with today's defaults where it is older than an option."""
    path = run / (MANIFEST if (run / MANIFEST).exists() else CONFIG)
    about = read_json(path, "record of the run")
    try:
        stretches = [stretch["config"] for stretch in about.get("stretches", [about])]
        return [as_dict(parse_config(values, source=str(path))) for values in stretches]
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} lacks {error}: it is no record of a run; choose another run=…") from error


def fixed_options(config: RunConfig) -> dict[str, Any]:
    """The options that say what a run is, by dotted name: all but those that are free and how the model draws."""
    found: dict[str, Any] = {}
    for name, part in (("", config), ("model.", config.model), ("preparation.", config.preparation),
                       ("training.", config.training)):  # fmt: skip
        for field in dataclasses.fields(part):
            if field.metadata and not field.metadata["free"]:
                found[name + field.name] = getattr(part, field.name)
    return found


def check_same_run(run: Path, config: RunConfig, dataset: Dataset) -> None:
    """Resuming with other data or another network would not be the same run: say what differs."""
    before, data = read_field(run / CONFIG, "config", dict), read_field(run / CONFIG, "dataset", dict)
    changed = _differences(fixed_options(config), fixed_options(parse_config(before, source=str(run / CONFIG))))
    if changed:
        raise UserError(f"cannot resume {run} with other options ({changed}): start a new run with run=…")
    if data.get("store") != dataset.store.hash:
        raise UserError(f"cannot resume {run}: its data were other drawings; give the same data=…")


def check_same_model(other: Path, config: RunConfig) -> None:
    """A part that is trained beside a model needs the same model: say what differs."""
    then = parse_config(read_field(other / CONFIG, "config", dict), source=str(other / CONFIG))
    canvas = ("side", "pen", "nodes", "spread", "dense")
    own = [field.name for field in dataclasses.fields(then.model) if field.name not in BESIDE]
    pairs = [(config.model, then.model, own)]
    changed = _differences(
        *({name: getattr(part, name) for *parts, names in pairs for name in names for part in [parts[which]]}
          | {name: getattr((config, then)[which].preparation, name) for name in canvas} for which in (0, 1))
    )  # fmt: skip
    if changed:
        raise UserError(f"the model in {other} was trained with other options ({changed}): give its own")


def _differences(now: dict[str, Any], then: dict[str, Any]) -> str:
    return ", ".join(f"{name} was {then[name]!r}, is {now[name]!r}" for name in now if then[name] != now[name])


def commit() -> str:
    """The commit of the source tree, with + if it has changes; empty where there is none."""
    here = Path(__file__).parent
    try:
        head = subprocess.run(
            ["git", "-C", here, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
        dirty = subprocess.run(
            ["git", "-C", here, "status", "--porcelain", "-uno"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
    return head + ("+" if dirty else "")


def rank() -> int:
    """Before Fabric is up, 0 for one process of all, as the launcher's variables say."""
    for of_all in ("RANK", "SLURM_PROCID"):
        if os.environ.get(of_all):
            return int(os.environ[of_all])
    return max(int(os.environ.get(name) or 0) for name in ("NODE_RANK", "LOCAL_RANK"))
