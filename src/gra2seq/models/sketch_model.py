"""What every system is: an encoder that gives a code, a decoder that draws it, and loss terms with names."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from gra2seq.data.batches import Batch
from gra2seq.nn.decoder import StrokeDecoder
from gra2seq.options import Options


@dataclass(frozen=True)
class Encoding:
    """The code's distribution, what it adds to the loss, and what is worth watching."""

    mean: Tensor  # (B, code) mu: the code in use
    log_variance: Tensor | None  # (B, code), or None where the code is certain
    terms: dict[str, Tensor] = field(default_factory=dict)  # loss terms, weighted
    watch: dict[str, Tensor] = field(default_factory=dict)  # figures for the log


class Code(nn.Module):
    """Two linear heads: mu and log sigma^2 of the code (y = mu + sigma eps, no KL term)."""

    def __init__(self, dim: int, code: int, start_log_variance: float) -> None:
        super().__init__()
        self.mean = nn.Linear(dim, code)
        self.log_variance = nn.Linear(dim, code)
        nn.init.constant_(self.log_variance.bias, start_log_variance)

    def forward(self, feature: Tensor) -> tuple[Tensor, Tensor]:
        return self.mean(feature), self.log_variance(feature)


class SketchModel(nn.Module):
    """Batch -> named loss terms (they add up to the loss); `encode` for use; `decoder` draws."""

    def __init__(self, encoder: nn.Module, decoder: StrokeDecoder) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Terms of the loss and figures to watch. The loss is a sum over time, averaged over the sketches."""
        encoding: Encoding = self.encoder(batch)
        code = encoding.mean
        if encoding.log_variance is not None and batch.noise is not None:
            code = code + torch.exp(0.5 * encoding.log_variance) * batch.noise
        moves = self.decoder(batch.rows[:, :-1], code)
        targets = batch.rows[:, 1:]
        offset, pen = moves.log_prob(targets)
        drawn = not_past_end(targets)
        terms = {
            "offset": -offset.sum() / len(batch),
            "pen": -(pen * drawn).sum() / len(batch),
            **encoding.terms,
        }
        watch = dict(encoding.watch)
        if encoding.log_variance is not None:
            watch["sigma"] = torch.exp(0.5 * encoding.log_variance.detach()).mean()
        return terms, watch

    def encode(self, batch: Batch) -> Tensor:
        """The codes (mu), (B, code)."""
        encoding: Encoding = self.encoder(batch)
        return encoding.mean


def decoder_of(options: Options) -> StrokeDecoder:
    """The decoder that all systems share."""
    return StrokeDecoder(options.code, options.hidden, options.mixtures, options.least_log_std, options.position)


def not_past_end(rows: Tensor) -> Tensor:
    """1 up to and with the first END row, 0 in the padding behind it: (B, T, 5) -> (B, T)."""
    ended = rows[..., 4].cumsum(dim=-1)
    return (ended <= 1).to(rows.dtype)
