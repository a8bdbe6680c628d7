"""The base of every system: an encoder that gives a code, a decoder that draws it, and named loss terms."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from gra2seq.config.model import ModelConfig
from gra2seq.data.batches import Batch, Targets
from gra2seq.nn.code_repair import CodeRepair
from gra2seq.nn.frame_predictor import FramePredictor
from gra2seq.nn.ink_predictor import InkPredictor
from gra2seq.nn.lstm import members, pack, unpack
from gra2seq.nn.pen_move import PenMove
from gra2seq.nn.picture_cnn import PicturePainter
from gra2seq.nn.stroke_decoder import StrokeDecoder
from gra2seq.sketch.strokes import DOWN, END

FARTHEST_PREFIX = 1.0  # scaled units: a row that the decoder draws farther off the true one is not learnt from


@dataclass(frozen=True)
class Encoding:
    """The code's distribution, what it adds to the loss, and what is worth watching."""

    mean: Tensor  # (B, code) mu: the code in use
    log_variance: Tensor | None  # (B, code), or None where the code is certain
    terms: dict[str, Tensor] = field(default_factory=dict)  # loss terms, weighted
    figures: dict[str, Tensor] = field(default_factory=dict)  # for the log


class Code(nn.Module):
    """Two linear heads: mu and log sigma^2 of the code (y = mu + sigma eps)."""

    def __init__(self, dim: int, code: int, start_log_variance: float) -> None:
        super().__init__()
        self.mean = nn.Linear(dim, code)
        self.log_variance = nn.Linear(dim, code)
        nn.init.constant_(self.log_variance.bias, start_log_variance)

    def forward(self, feature: Tensor) -> tuple[Tensor, Tensor]:
        return self.mean(feature), self.log_variance(feature)


@dataclass(frozen=True)
class Decoded:
    """A batch on its way through a model: what an extra term may look at."""

    batch: Batch
    code: Tensor  # (B, code) that was drawn from
    moves: PenMove  # (R,) what the decoder says of each row that counts
    true: PackedSequence  # (R, 5) those rows


class Painting(nn.Module):
    """An extra term: the undamaged picture, painted from the code, by its squared error."""

    def __init__(self, code: int, side: int, weight: float) -> None:
        super().__init__()
        self.paint, self.weight = PicturePainter(code, side), weight

    def forward(self, decoded: Decoded) -> dict[str, Tensor]:
        assert decoded.batch.painted is not None
        return {"picture": self.weight * self.paint.squared_error(decoded.code, decoded.batch.painted).mean()}


class SketchModel(nn.Module):
    """Batch -> named loss terms (they add up to the loss); `encode` for use; `decoder` draws.

    `extra` is for systems that ask more of a drawing than its likelihood: `Decoded` -> further terms. `repair`
    corrects the codes of damaged drawings, `ink` predicts where lost ink was, `frame` how far a begun drawing will
    reach; each is trained by an objective of its own (training/objectives.py).
    `precision` is that of the encoder's products in use; drawings are always made in single precision.
    """

    precision = "32-true"

    def __init__(
        self,
        encoder: nn.Module,
        decoder: StrokeDecoder,
        extra: nn.Module | None = None,
        repair: CodeRepair | None = None,
        ink: InkPredictor | None = None,
        frame: FramePredictor | None = None,
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.extra = encoder, decoder, extra
        self.repair, self.ink, self.frame = repair, ink, frame
        for own in (repair, ink, frame):
            if own is not None:
                own.requires_grad_(False)

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Terms of the loss and figures to watch. The loss is a sum over time, averaged over the sketches."""
        encoding: Encoding = self.encoder(batch)
        code = sampled(encoding.mean, encoding.log_variance, batch.noise)
        targets = own_prefixes(self.decoder, batch, code)
        moves, true = follow(self.decoder, targets, code)
        terms = {name: each.mean() for name, each in negative_log_likelihood(moves, true).items()} | encoding.terms
        if self.extra is not None:
            terms |= self.extra(Decoded(batch, code, moves, true))
        return terms, figures_of(encoding)

    def encode(self, batch: Batch, repair: bool = True) -> Tensor:
        """The codes (mu), (B, code), repaired where the model can."""
        encoding: Encoding = self.encoder(batch)
        if self.repair is None or not repair:
            return encoding.mean
        repaired: Tensor = self.repair(encoding.mean, batch.views["picture"], batch.views["lost"])
        return repaired


def sampled(mean: Tensor, log_variance: Tensor | None, noise: Tensor | None) -> Tensor:
    """y = mu + sigma eps; mu where there is no noise (in use) or no sigma."""
    return mean if log_variance is None or noise is None else mean + torch.exp(0.5 * log_variance) * noise


def follow(decoder: StrokeDecoder, targets: Targets, code: Tensor) -> tuple[PenMove, PackedSequence]:
    """Along rows (B, T, 5): what the decoder says of each that counts, given those before it, and these rows.

    Nothing is computed of the padding: of a batch it is often more than half.
    """
    count = rows_that_count(targets.rows)
    return decoder(targets.inputs, targets.given, code, count), pack(targets.rows, count)


def own_prefixes(decoder: StrokeDecoder, batch: Batch, code: Tensor) -> Targets:
    """The targets, some of the points before each row exchanged for those that the decoder itself would draw.

    A decoder that has only seen true prefixes does not know the way back once it is off the line. Each row still leads
    to the true next point. Points given to the decoder stay, and so do those that it would draw far from the true ones.
    """
    targets, draws = batch.targets, batch.prefix_draws
    assert targets is not None
    if draws is None:
        return targets
    with torch.no_grad():
        count = rows_that_count(targets.rows)
        moves = decoder(targets.inputs, targets.given, code, count)
        noise = pack(draws[..., 1:], count)
        drawn = unpack(noise, moves.sample(noise=noise.data), targets.rows.shape[1])
        off = (drawn - targets.rows)[..., :DOWN]  # (B, T, 2) of the point that row t leads to
        there = torch.arange(off.shape[1], device=off.device) < (count - 1).unsqueeze(1)  # END leads nowhere
        taken = (draws[..., 0] > 0) & there & (torch.linalg.vector_norm(off, dim=-1) < FARTHEST_PREFIX)
        taken[:, :-1] &= targets.given[:, 1:] == 0
        off = off * taken.unsqueeze(-1)
        before = nn.functional.pad(off, (0, 0, 1, 0))[:, :-1]  # of the point that row t leads from
        inputs, rows = targets.inputs.clone(), targets.rows.clone()
        inputs[..., :DOWN] += before - nn.functional.pad(before, (0, 0, 1, 0))[:, :-1]
        rows[..., :DOWN] -= before * (rows[..., END:] == 0)
    return Targets(rows, inputs, targets.given)


def negative_log_likelihood(moves: PenMove, true: PackedSequence) -> dict[str, Tensor]:
    """Of the true rows (R, 5) of each sketch, (B,): of their offsets, and of the pen up to the first END."""
    whose, sketches = members(true), int(true.batch_sizes[0])
    return {
        name: -each.new_zeros(sketches).index_add(0, whose, each)
        for name, each in zip(("offset", "pen"), moves.log_prob(true.data), strict=True)
    }


def figures_of(encoding: Encoding) -> dict[str, Tensor]:
    """What is worth watching of an encoding, with the mean deviation of its codes."""
    if encoding.log_variance is None:
        return encoding.figures
    return encoding.figures | {"sigma": torch.exp(0.5 * encoding.log_variance.detach()).mean()}


def build_decoder(config: ModelConfig) -> StrokeDecoder:
    """The decoder that all systems share."""
    return StrokeDecoder(
        config.code, config.hidden, config.mixtures, config.min_log_std, config.pen_position, config.given_input
    )


def rows_that_count(rows: Tensor) -> Tensor:
    """(B, T, 5) -> (B,) rows up to and with the first END."""
    return (rows[..., END].cumsum(dim=-1) <= 1).sum(dim=-1)
