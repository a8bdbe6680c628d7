"""DC-gra2seq (CVIU 2025): SP-gra2seq without clusters, whose nodes know their number and that of their neighbours."""

from __future__ import annotations

from gra2seq.config.model import ModelConfig
from gra2seq.models.graph_encoder import GraphEncoder, RelativeEdges, graph_rounds
from gra2seq.models.sketch_healer import FreeGraph
from gra2seq.models.sketch_model import Code, SketchModel, build_decoder
from gra2seq.nn.adjacency import NORMALISING
from gra2seq.nn.links import link_rule
from gra2seq.nn.node_position import SinusoidPosition
from gra2seq.nn.patch_cnn import PatchCNN


def dc_gra2seq(config: ModelConfig) -> SketchModel:
    dim = config.channels[-1]
    before, last = graph_rounds(dim, config.rounds)
    graph = GraphEncoder(
        PatchCNN(config.channels, config.blank_value, config.ink_value, bias=True),
        link_rule(config.links),
        last,
        NORMALISING[config.normalise],
        config.corner,
        position=SinusoidPosition(dim),
        relative=RelativeEdges(dim),
        before=before,
    )
    code = Code(dim, config.code, config.start_log_variance)
    return SketchModel(FreeGraph(graph, code), build_decoder(config))
