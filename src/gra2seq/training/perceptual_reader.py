"""The reader of SketchHealer 2.0's perceptual term: the stroke encoder of a trained sketch-rnn."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from gra2seq.errors import UserError
from gra2seq.folder import read_folder
from gra2seq.models.model_files import WEIGHTS
from gra2seq.system.tensor_files import read_tensors

NO_READER = "none"  # value of training.reader: random weights
TRAINED, PART = "sketch-rnn", "encoder.read."  # the system whose stroke encoder is taken, and the names of its tensors


def load_reader(network: nn.Module, run: str | Path) -> None:
    """Fill the frozen reader of a sketch-healer-2 network with the stroke encoder of a sketch-rnn run."""
    reader = getattr(getattr(network, "extra", None), "read", None)
    if not isinstance(reader, nn.Module):
        raise UserError("training.reader is for sketch-healer-2, which reads its drawings: leave it out")
    folder = Path(run)
    if not folder.is_dir():
        raise UserError(f"reader={run}: there is no such folder; name that of a trained sketch-rnn")
    config, _ = read_folder(folder)
    if config.model.name != TRAINED:
        raise UserError(f"reader={run} holds {config.model.name}, not a trained {TRAINED}: name the folder of one")
    tensors, _ = read_tensors(folder / WEIGHTS)
    own = {name.removeprefix(PART): tensor for name, tensor in tensors.items() if name.startswith(PART)}
    wanted = reader.state_dict()
    for name, tensor in wanted.items():
        if name not in own or own[name].shape != tensor.shape:
            there = tuple(own[name].shape) if name in own else "missing"
            raise UserError(
                f"the stroke encoder of reader={run} does not fit: {name} is {there}, here {tuple(tensor.shape)}; "
                "give both models the same stroke_hidden"
            )
    reader.load_state_dict({name: own[name].to(tensor.dtype) for name, tensor in wanted.items()})
