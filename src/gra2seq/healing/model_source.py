"""Which model is used, on which device and in which precision; can be sent to other processes before it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gra2seq.system.processes import ctrl_c_kept

if TYPE_CHECKING:  # torch is imported when the model is loaded
    from gra2seq.model import Model


@dataclass(frozen=True)
class ModelSource:
    """Arguments of `gra2seq.load`."""

    path: str | Path | None = None
    device: str = "cpu"
    precision: str = "32-true"

    def load(self) -> Model:
        with ctrl_c_kept():
            from gra2seq.folder import load

        return load(self.path, self.device, precision=self.precision)
