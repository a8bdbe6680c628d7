"""SketchHealer (Su et al., BMVC 2020) and SketchHealer 2.0 (Qi et al., 2022): patches linked along the drawing order.

SketchLattice+ (built for SP-gra2seq's paper) is the same with patches on a lattice, linked by distance: what differs
is in its defaults (config/systems.py).
"""

from __future__ import annotations

from torch import Tensor, nn

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch
from gra2seq.data.views import PatchInput
from gra2seq.models.graph_encoder import Graph, GraphEncoder, SingleProduct
from gra2seq.models.sketch_model import Code, Decoded, Encoding, SketchModel, build_decoder, rows_that_count
from gra2seq.nn.adjacency import NORMALISING
from gra2seq.nn.links import link_rule
from gra2seq.nn.lstm import pack, unpack
from gra2seq.nn.patch_cnn import PatchCNN
from gra2seq.nn.stroke_encoder import StrokeEncoder

PERCEPTUAL_WEIGHT = 10.0  # of the squared distance of two readings


class FreeGraph(nn.Module):
    """A graph of patches -> a code without a prior."""

    def __init__(self, graph: GraphEncoder, code: Code) -> None:
        super().__init__()
        self.graph, self.code = graph, code

    def forward(self, batch: Batch) -> Encoding:
        patches: PatchInput = batch.views["patches"]
        graph: Graph = self.graph(patches)
        mean, log_variance = self.code(graph.feature)
        return Encoding(mean, log_variance, figures=self.graph.figures(graph, patches))


class Perception(nn.Module):
    """SketchHealer 2.0's perceptual term, as SP-gra2seq's paper built it: a bidirectional LSTM reads the drawn and the
    true sequence, and the distance of the two readings is minimised. Gumbel-softmax lets the gradient pass.

    The reader is frozen: one that learnt along could make all readings alike. Its weights are random, or those of a
    trained sketch-rnn encoder (`training.reader`).
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.read = StrokeEncoder(hidden).requires_grad_(False)

    def forward(self, decoded: Decoded) -> dict[str, Tensor]:
        targets = decoded.batch.targets
        assert targets is not None
        count = rows_that_count(targets.rows)
        soft = unpack(decoded.true, _soft_rows(decoded, count), targets.rows.shape[1])
        apart = self.read(soft, count) - self.read(targets.rows, count)
        return {"perception": PERCEPTUAL_WEIGHT * apart.square().sum(dim=-1).mean()}


def _soft_rows(decoded: Decoded, count: Tensor) -> Tensor:
    """Rows (R, 5) that a gradient passes; where there is no randomness (validation), of the likeliest kind."""
    moves, gumbel = decoded.moves, decoded.batch.gumbel
    numbers = moves.logits.shape[-1] + 3
    noise = moves.pen.new_zeros(len(moves.pen), numbers + 2) if gumbel is None else pack(gumbel, count).data
    return moves.soft_sample(noise[:, :numbers], noise[:, numbers:])


def _encoder(config: ModelConfig) -> FreeGraph:
    dim = config.channels[-1]
    graph = GraphEncoder(
        PatchCNN(config.channels, config.blank_value, config.ink_value),
        link_rule(config.links),
        SingleProduct(dim),
        NORMALISING[config.normalise],
        config.corner,
    )
    return FreeGraph(graph, Code(dim, config.code, config.start_log_variance))


def sketch_healer(config: ModelConfig) -> SketchModel:
    return SketchModel(_encoder(config), build_decoder(config))


def sketch_healer_2(config: ModelConfig) -> SketchModel:
    return SketchModel(_encoder(config), build_decoder(config), Perception(config.stroke_hidden))


def sketch_lattice_plus(config: ModelConfig) -> SketchModel:
    return SketchModel(_encoder(config), build_decoder(config))
