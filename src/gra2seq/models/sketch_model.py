"""What every system is: an encoder that gives a code, a decoder that draws it, and loss terms with names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from gra2seq.data.batches import Batch
from gra2seq.nn.decoder import StrokeDecoder
from gra2seq.nn.lstm import members, pack
from gra2seq.nn.mending import Mend
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
    moves: PenMove  # (R,) what the decoder says of each row that counts
    true: PackedSequence  # (R, 5) those rows


class Painting(nn.Module):
    """An extra term: the undamaged picture, painted from the code."""

    def __init__(self, code: int, side: int, weight: float) -> None:
        super().__init__()
        self.paint, self.weight = PicturePainter(code, side), weight

    def forward(self, drawn: Drawn) -> dict[str, Tensor]:
        return {"picture": self.weight * self.paint.losses(drawn.code, drawn.batch.painted).mean()}


class SketchModel(nn.Module):
    """Batch -> named loss terms (they add up to the loss); `encode` for use; `decoder` draws.

    `extra` is for systems that ask more of a drawing than its likelihood: `Drawn` -> further terms. With `mend` codes
    of damaged drawings are mended; then nothing else learns any more, not even statistics. With `polish` the decoder
    alone learns, from codes as they are in use.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: StrokeDecoder,
        extra: nn.Module | None = None,
        mend: Mend | None = None,
        polish: bool = False,
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.extra, self.mend, self.polish = encoder, decoder, extra, mend, polish
        learner = decoder if polish else mend
        if learner is not None:
            self.requires_grad_(False)
            learner.requires_grad_(True)

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        if self.mend is not None or self.polish:
            self.encoder.eval()
        if self.mend is not None and self.polish:
            self.mend.eval()
        return self

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Terms of the loss and figures to watch. The loss is a sum over time, averaged over the sketches."""
        if self.polish:
            return self._polishing(batch)
        if self.mend is not None:
            return self._mending(self.mend, batch)
        encoding: Encoding = self.encoder(batch)
        code = sampled(encoding.mean, encoding.log_variance, batch.noise)
        moves, true = follow(self.decoder, batch.rows, code)
        terms = {name: each.mean() for name, each in unlikely(moves, true).items()} | encoding.terms
        if self.extra is not None:
            terms |= self.extra(Drawn(batch, code, moves, true))
        return terms, watched(encoding)

    def _mending(self, mend: Mend, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """How far codes of the first half, which is damaged, are off those of the second, the same sketches whole."""
        with torch.no_grad():
            encoding: Encoding = self.encoder(batch)
            damaged, whole = encoding.mean.chunk(2)
        left, lost = (pictures[: len(damaged)] for pictures in (batch.pictures, batch.lost))
        off = {"mend": mend(damaged, left, lost) - whole, "unmended": damaged - whole}
        squares = {name: each.square().sum(dim=-1).mean() for name, each in off.items()}
        return {"mend": squares["mend"]}, {"unmended": squares["unmended"]}

    def _polishing(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """How unlikely sketches are by the codes that they have in use."""
        with torch.no_grad():
            code = self.encode(batch)
        moves, true = follow(self.decoder, batch.rows, code)
        return {name: each.mean() for name, each in unlikely(moves, true).items()}, {}

    def encode(self, batch: Batch) -> Tensor:
        """The codes (mu), (B, code)."""
        encoding: Encoding = self.encoder(batch)
        return encoding.mean if self.mend is None else self.mend(encoding.mean, batch.pictures, batch.lost)


def sampled(mean: Tensor, log_variance: Tensor | None, noise: Tensor | None) -> Tensor:
    """y = mu + sigma eps; mu where there is no noise (in use) or no sigma."""
    return mean if log_variance is None or noise is None else mean + torch.exp(0.5 * log_variance) * noise


def follow(decoder: StrokeDecoder, rows: Tensor, code: Tensor) -> tuple[PenMove, PackedSequence]:
    """Along true rows (B, 1 + T, 5): what the decoder says of each that counts, told those before it, and these rows.

    Nothing is computed of the padding: of a batch it is often more than half.
    """
    count = rows_that_count(rows[:, 1:])
    return decoder(rows[:, :-1], code, count), pack(rows[:, 1:], count)


def unlikely(moves: PenMove, true: PackedSequence) -> dict[str, Tensor]:
    """How unlikely the true rows (R, 5) of each sketch are, (B,): their offsets, and the pen up to the first END."""
    whose, sketches = members(true), int(true.batch_sizes[0])
    return {
        name: -each.new_zeros(sketches).index_add(0, whose, each)
        for name, each in zip(("offset", "pen"), moves.log_prob(true.data), strict=True)
    }


def watched(encoding: Encoding) -> dict[str, Tensor]:
    """What is worth watching of an encoding, with how wide its codes are."""
    if encoding.log_variance is None:
        return encoding.watch
    return encoding.watch | {"sigma": torch.exp(0.5 * encoding.log_variance.detach()).mean()}


def decoder_of(options: Options) -> StrokeDecoder:
    """The decoder that all systems share."""
    return StrokeDecoder(
        options.code, options.hidden, options.mixtures, options.least_log_std, options.position, options.layer_norm
    )


def rows_that_count(rows: Tensor) -> Tensor:
    """(B, T, 5) -> (B,) rows up to and with the first END."""
    return (rows[..., END].cumsum(dim=-1) <= 1).sum(dim=-1)
