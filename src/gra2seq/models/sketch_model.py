"""What every system is: an encoder that gives a code, a decoder that draws it, and loss terms with names."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.nn.decoder import StrokeDecoder
from gra2seq.nn.mixture import PenMove
from gra2seq.nn.picture_cnn import PicturePainter
from gra2seq.options import Options
from gra2seq.sketch.strokes import END


@dataclass(frozen=True)
class Encoding:
    """The code's distribution, what it adds to the loss, and what is worth watching."""

    mean: Tensor  # (B, code) mu: the code in use
    log_variance: Tensor | None  # (B, code), or None where the code is certain
    terms: dict[str, Tensor] = field(default_factory=dict)  # loss terms, weighted
    watch: dict[str, Tensor] = field(default_factory=dict)  # figures for the log


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
class Drawn:
    """A batch on its way through a model: what an extra term may look at."""

    batch: Batch
    code: Tensor  # (B, code) that was drawn from
    moves: PenMove  # (B, T)
    decoder: StrokeDecoder


class Painting(nn.Module):
    """An extra term: the undamaged picture, painted from the code."""

    def __init__(self, code: int, side: int, weight: float) -> None:
        super().__init__()
        self.paint, self.weight = PicturePainter(code, side), weight

    def forward(self, drawn: Drawn) -> dict[str, Tensor]:
        return {"picture": self.weight * self.paint.loss(drawn.code, drawn.batch.painted)}


class SketchModel(nn.Module):
    """Batch -> named loss terms (they add up to the loss); `encode` for use; `decoder` draws.

    `extra` is for systems that ask more of a drawing than its likelihood: `Drawn` -> further terms.
    """

    def __init__(self, encoder: nn.Module, decoder: StrokeDecoder, extra: nn.Module | None = None) -> None:
        super().__init__()
        self.encoder, self.decoder, self.extra = encoder, decoder, extra

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Terms of the loss and figures to watch. The loss is a sum over time, averaged over the sketches."""
        encoding: Encoding = self.encoder(batch)
        code = sampled(encoding.mean, encoding.log_variance, batch.noise)
        moves = self.decoder(batch.rows[:, :-1], code, rows_that_count(batch.rows[:, 1:]))
        terms = {**drawing_terms(moves, batch.rows[:, 1:]), **encoding.terms}
        if self.extra is not None:
            terms |= self.extra(Drawn(batch, code, moves, self.decoder))
        watch = dict(encoding.watch)
        if encoding.log_variance is not None:
            watch["sigma"] = torch.exp(0.5 * encoding.log_variance.detach()).mean()
        return terms, watch

    def encode(self, batch: Batch) -> Tensor:
        """The codes (mu), (B, code)."""
        encoding: Encoding = self.encoder(batch)
        return encoding.mean


def sampled(mean: Tensor, log_variance: Tensor | None, noise: Tensor | None) -> Tensor:
    """y = mu + sigma eps; mu where there is no noise (in use) or no sigma."""
    return mean if log_variance is None or noise is None else mean + torch.exp(0.5 * log_variance) * noise


def drawing_terms(moves: PenMove, targets: Tensor, prefix: str = "") -> dict[str, Tensor]:
    """How unlikely the true rows (B, T, 5) are: their offsets, and the pen up to the first END."""
    offset, pen = moves.log_prob(targets)
    return {
        f"{prefix}offset": -offset.sum() / len(targets),
        f"{prefix}pen": -(pen * not_past_end(targets)).sum() / len(targets),
    }


def decoder_of(options: Options) -> StrokeDecoder:
    """The decoder that all systems share."""
    return StrokeDecoder(
        options.code, options.hidden, options.mixtures, options.least_log_std, options.position, options.layer_norm
    )


def rows_that_count(rows: Tensor) -> Tensor:
    """(B, T, 5) -> (B,) rows up to and with the first END."""
    return not_past_end(rows).sum(dim=-1).long()


def not_past_end(rows: Tensor) -> Tensor:
    """1 up to and with the first END row, 0 in the padding behind it: (B, T, 5) -> (B, T)."""
    ended = rows[..., END].cumsum(dim=-1)
    return (ended <= 1).to(rows.dtype)
