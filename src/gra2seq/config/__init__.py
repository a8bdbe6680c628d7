"""Options of a run, typed by kind: frozen dataclasses whose field metadata hold bounds, choices and help."""

from gra2seq.config.drawing import DrawingConfig
from gra2seq.config.model import ModelConfig
from gra2seq.config.parse import as_dict, parse_config, read_config
from gra2seq.config.preparation import PreparationConfig
from gra2seq.config.run import RunConfig
from gra2seq.config.training import TrainingConfig

__all__ = [
    "DrawingConfig",
    "ModelConfig",
    "PreparationConfig",
    "RunConfig",
    "TrainingConfig",
    "as_dict",
    "parse_config",
    "read_config",
]
