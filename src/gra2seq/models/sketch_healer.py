"""SketchHealer (Su et al., BMVC 2020) and SketchHealer 2.0 (Qi et al., 2022): patches linked along the drawing order.

SketchLattice+ (built for SP-gra2seq's paper) is the same with patches on a lattice, linked by distance: what differs
is in the options (`SYSTEMS`), where a system's patches, canvas and links are.
"""

from __future__ import annotations

from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.models.graph_encoder import Graph, GraphEncoder, graph_encoder_of
from gra2seq.models.sketch_model import Code, Drawn, Encoding, SketchModel, decoder_of, rows_that_count
from gra2seq.nn.lstm import pack, unpack
from gra2seq.nn.stroke_encoder import StrokeEncoder
from gra2seq.options import Options

PERCEPTUAL_WEIGHT = 10.0  # of the squared distance of two impressions


class FreeGraph(nn.Module):
    """A graph of patches -> a code that nothing pulls at."""

    def __init__(self, graph: GraphEncoder, code: Code) -> None:
        super().__init__()
        self.graph, self.code = graph, code

    def forward(self, batch: Batch) -> Encoding:
        graph: Graph = self.graph(batch)
        return Encoding(*self.code(graph.feature))


class Perception(nn.Module):
    """SketchHealer 2.0's perceptual term, as SP-gra2seq's paper built it: a bidirectional LSTM reads the drawn and the
    true sequence, and its two impressions shall be alike. Gumbel-softmax lets the gradient through the drawing.

    The reader stays as it was made: one that learnt along could make all impressions alike.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.read = StrokeEncoder(hidden).requires_grad_(False)

    def forward(self, drawn: Drawn) -> dict[str, Tensor]:
        true = drawn.batch.rows[:, 1:]
        count = rows_that_count(true)
        soft = unpack(drawn.true, _soft_rows(drawn, count), true.shape[1])
        apart = self.read(soft, count) - self.read(true, count)
        return {"perception": PERCEPTUAL_WEIGHT * apart.square().sum(dim=-1).mean()}


def _soft_rows(drawn: Drawn, count: Tensor) -> Tensor:
    """Rows (R, 5) that a gradient passes; where there is no randomness (in use), of the likeliest kind."""
    moves, wobble = drawn.moves, drawn.batch.wobble
    numbers = moves.logits.shape[-1] + 3
    luck = moves.pen.new_zeros(len(moves.pen), numbers + 2) if wobble is None else pack(wobble, count).data
    return moves.soft_sample(luck[:, :numbers], luck[:, numbers:])


def _graph(options: Options) -> FreeGraph:
    return FreeGraph(graph_encoder_of(options), Code(options.channels[-1], options.code, options.start_log_variance))


def sketch_healer(options: Options) -> SketchModel:
    return SketchModel(_graph(options), decoder_of(options))


def sketch_healer_2(options: Options) -> SketchModel:
    return SketchModel(_graph(options), decoder_of(options), Perception(options.stroke_hidden))


def sketch_lattice_plus(options: Options) -> SketchModel:
    return SketchModel(_graph(options), decoder_of(options))
