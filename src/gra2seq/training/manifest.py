"""What a run was: options, versions, commit, data, seed. Enough to do it again, and to refuse to mix two runs."""

from __future__ import annotations

import math
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from gra2seq.data.datasets import Dataset
from gra2seq.errors import UserError
from gra2seq.options import IN_USE, Options, as_dict
from gra2seq.options import options as checked
from gra2seq.training.checkpoint import CONFIG, read_json, write_json

T = TypeVar("T")
MANIFEST = "manifest.json"
LIBRARIES = ("gra2seq", "torch", "lightning-fabric", "numpy", "opencv-python-headless", "safetensors")
# Options that may change between the stretches of one run: where and how long, not what.
FREE = {"run", "data", "max_steps", "max_minutes", "workers", "threads", "accelerator", "devices", "num_nodes",
        "patience", "validate_every", "save_every", "gallery", *IN_USE}  # fmt: skip

# Options that say what a network is and what it sees, not how it learnt.
THE_MODEL = ("model", "side", "pen", "nodes", "snap", "spread", "paper", "ink", "masking", "channels", "picture",
             "glance", "stroke_hidden", "embedding", "links", "rounds", "where", "corner", "normalise", "code",
             "clusters", "hidden", "mixtures", "position", "layer_norm", "least_log_std")  # fmt: skip


def config(options: Options, dataset: Dataset) -> dict[str, Any]:
    """What `gra2seq.load` needs besides the weights."""
    return {
        "options": as_dict(options),
        "scale": dataset.scale,
        "categories": list(dataset.categories),
        "dataset": dataset.describe(),
    }


def write(run: Path, options: Options, dataset: Dataset, resumed_at: int | None) -> None:
    """One entry a stretch: a resumed run keeps the entries before."""
    path = run / MANIFEST
    stretches = _field(path, "stretches", list) if path.exists() and resumed_at is not None else []
    stretches.append(
        {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "resumed_at": resumed_at,
            "options": as_dict(options),
            "seed": options.seed,
            "dataset": dataset.describe(),
            "versions": {name: version(name) for name in LIBRARIES},
            "python": platform.python_version(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "commit": commit(),
        }
    )
    write_json(path, {"stretches": stretches})


def options_of_stretches(run: Path) -> list[dict[str, Any]]:
    """What each stretch of a run was asked, the options of today filled in where it is older than they are."""
    path = run / (MANIFEST if (run / MANIFEST).exists() else CONFIG)
    about = read_json(path, "record of the run")
    try:
        asked = [stretch["options"] for stretch in about.get("stretches", [about])]
        return [as_dict(checked(dict(options))) for options in asked]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} lacks {error}: it is no record of a run; choose another run=…") from error


def check_same_run(run: Path, options: Options, dataset: Dataset) -> None:
    """Resuming with other data or another network would not be the same run: say what differs."""
    before, data = _field(run / CONFIG, "options", dict), _field(run / CONFIG, "dataset", dict)
    now, then = as_dict(options), as_dict(checked(before))  # options newer than the run: their defaults
    changed = [name for name in now if name not in FREE and then[name] != now[name]]
    if changed:
        what = ", ".join(f"{name} was {then[name]!r}, is {now[name]!r}" for name in changed)
        raise UserError(f"cannot resume {run} with other options ({what}): start a new run with run=…")
    if data.get("store") != dataset.store.hash:
        raise UserError(f"cannot resume {run}: its data were other drawings; give the same data=…")


def check_same_model(other: Path, options: Options) -> None:
    """Who learns beside a model that stays as it is must have the same one: say what differs."""
    now, then = as_dict(options), as_dict(checked(_field(other / CONFIG, "options", dict)))
    names = (*THE_MODEL, "mend") if options.polish else THE_MODEL
    changed = [f"{name} is {now[name]!r}, there {then[name]!r}" for name in names if then[name] != now[name]]
    if changed:
        raise UserError(f"the model in {other} was trained with other options ({', '.join(changed)}): give its own")


def categories_of(run: Path) -> list[str]:
    """What a model has learnt to draw."""
    return _field(run / CONFIG, "categories", list)


def scale_of(run: Path) -> float:
    """The unit of the offsets that a model has learnt."""
    scale = float(_field(run / CONFIG, "scale", (float, int)))
    if not 0 < scale < math.inf:
        raise UserError(f"{run / CONFIG} has scale {scale}, which is no unit: restore it from a copy")
    return scale


def _field(path: Path, name: str, kind: type[T] | tuple[type[T], ...]) -> T:
    value = read_json(path, "record of a run").get(name)
    if not isinstance(value, kind):
        raise UserError(f"{path} is damaged (its {name!r} is not there): restore it from a copy or train again")
    return value


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
