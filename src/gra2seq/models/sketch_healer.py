"""SketchHealer (Su et al., BMVC 2020) and SketchHealer 2.0 (Qi et al., 2022): patches linked along the drawing order.

SketchLattice+ (built for SP-gra2seq's paper) is the same with patches on a lattice, linked by distance: what differs
is in the options (`SYSTEMS`), where a system's patches, canvas and links are.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from gra2seq.data.batches import Batch, generator
from gra2seq.models.graph_encoder import Graph, GraphEncoder, graph_encoder_of
from gra2seq.models.sketch_model import Code, Drawn, Encoding, SketchModel, decoder_of, not_past_end
from gra2seq.nn.stroke_encoder import StrokeEncoder
from gra2seq.options import Options

PERCEPTUAL_WEIGHT = 10.0


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
        count = not_past_end(true).sum(dim=-1).long()  # up to and with END
        # Randomness follows from the sketches of the batch, so that a resumed run sees the same; time comes first in
        # it, so that padding changes nothing.
        noise = drawn.batch.noise
        seed = 0 if noise is None else int(noise.double().abs().sum() * 1e6)
        batch_size, steps, components = drawn.moves.logits.shape
        gumbel = generator(seed, 0).gumbel(size=(steps, batch_size, components + 3)).astype(np.float32)
        normal = generator(seed, 1).standard_normal((steps, batch_size, 2), dtype=np.float32)
        gumbel_, normal_ = (torch.from_numpy(numbers).transpose(0, 1).to(true) for numbers in (gumbel, normal))
        rows = drawn.moves.soft_sample(gumbel_, normal_)
        apart = self.read(rows, count) - self.read(true, count)
        return {"perception": PERCEPTUAL_WEIGHT * apart.square().mean(dim=-1).mean()}


def _graph(options: Options) -> FreeGraph:
    return FreeGraph(graph_encoder_of(options), Code(options.channels[-1], options.code, options.start_log_variance))


def sketch_healer(options: Options) -> SketchModel:
    return SketchModel(_graph(options), decoder_of(options))


def sketch_healer_2(options: Options) -> SketchModel:
    return SketchModel(_graph(options), decoder_of(options), Perception(options.stroke_hidden))


def sketch_lattice_plus(options: Options) -> SketchModel:
    return SketchModel(_graph(options), decoder_of(options))
