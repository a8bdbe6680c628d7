"""gra2seq-plus, our own: SP-gra2seq whose nodes know their place, with a picture branch and code repair."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor, nn

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch
from gra2seq.models.graph_encoder import RelativeEdges
from gra2seq.models.sketch_model import Encoding, SketchModel, build_decoder
from gra2seq.models.sp_gra2seq import SynonymEncoder, synonym_encoder, synonym_graph
from gra2seq.nn.code_repair import CodeRepair
from gra2seq.nn.frame_predictor import FramePredictor
from gra2seq.nn.ink_predictor import InkPredictor
from gra2seq.nn.node_position import NodePosition
from gra2seq.nn.picture_cnn import PictureCNN, song_cnn


class PictureBranch(nn.Module):
    """The whole drawing as one small picture -> what that adds to the code: 0 before training."""

    def __init__(self, cnn: PictureCNN, code: int) -> None:
        super().__init__()
        self.cnn, self.project = cnn, nn.Linear(cnn.dim, code)
        nn.init.zeros_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def forward(self, pictures: Tensor) -> Tensor:
        added: Tensor = self.project(self.cnn(pictures))
        return added


class PlusEncoder(nn.Module):
    """SP-gra2seq's encoder, and a picture branch that adds to its code."""

    def __init__(self, synonyms: SynonymEncoder, branch: PictureBranch | None) -> None:
        super().__init__()
        self.synonyms, self.branch = synonyms, branch

    def forward(self, batch: Batch) -> Encoding:
        encoding: Encoding = self.synonyms(batch)
        if self.branch is None:
            return encoding
        return replace(encoding, mean=encoding.mean + self.branch(batch.views["picture"]))


def gra2seq_plus(config: ModelConfig) -> SketchModel:
    dim = config.channels[-1]
    position = None
    if config.node_position != "none":
        position = NodePosition(dim, order=config.node_position == "canvas-and-order")
    graph = synonym_graph(config, position, RelativeEdges(dim) if config.relative_edges else None)
    branch = PictureBranch(song_cnn(config.picture), config.code) if config.picture_branch else None
    repair = CodeRepair(song_cnn(config.picture, channels=2), config.code) if config.code_repair else None
    ink = InkPredictor(config.code) if config.ink_prediction else None
    frame = FramePredictor(config.code) if config.frame_prediction else None
    encoder = PlusEncoder(synonym_encoder(config, graph), branch)
    return SketchModel(encoder, build_decoder(config), repair=repair, ink=ink, frame=frame)
