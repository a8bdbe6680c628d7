"""The devices that a training runs on, and the precision of its products."""

from __future__ import annotations

from typing import Any

import torch
from lightning_fabric import Fabric
from lightning_fabric.plugins.precision import MixedPrecision
from lightning_fabric.utilities.exceptions import MisconfigurationException

from gra2seq.config.run import RunConfig
from gra2seq.errors import UserError


class Autocast(MixedPrecision):
    """Mixed precision that takes batches and gives losses as they are: masks, positions and targets keep their type."""

    def convert_input(self, data: Any) -> Any:
        return data

    def convert_output(self, data: Any) -> Any:
        return data


def _device_type(config: RunConfig) -> str:
    """The kind of device that the accelerator of a configuration stands for here."""
    if config.accelerator in ("cpu", "mps"):
        return config.accelerator
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if config.accelerator == "auto" and torch.backends.mps.is_available() else "cpu"


def fabric_of(config: RunConfig) -> Fabric:
    """What spreads a training over the devices of a configuration, in its precision."""
    try:
        return Fabric(
            accelerator=config.accelerator,
            devices=config.devices,
            num_nodes=config.num_nodes,
            plugins=[] if config.precision == "32-true" else [Autocast("bf16-mixed", _device_type(config))],
            strategy="ddp" if config.devices * config.num_nodes > 1 else "auto",
        )
    except (ImportError, RuntimeError, ValueError, MisconfigurationException) as error:
        raise UserError(
            f"accelerator={config.accelerator} with devices={config.devices} is not available here "
            f"({str(error).strip().splitlines()[0]}): leave it auto, or give cpu"
        ) from error
