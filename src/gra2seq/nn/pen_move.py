"""The distribution of the next pen move: a mixture of bivariate Gaussians and three pen states (sketch-rnn).

`PenMove` has `log_prob` and `sample`, which mean the same in training and in use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from gra2seq.nn.temperature import AS_DECODED, Temperature
from gra2seq.sketch.strokes import DOWN, DX, END

PENS = 3  # states
NUMBERS = 6  # of each Gaussian
FLOOR = math.log(1e-6)  # sketch-rnn's -log(p + 1e-6): a rare long jump otherwise gives huge gradients
NOISE = 4  # numbers a sample takes: uniforms for component and pen, normals for x and y
MAX_LOG_STD = 20.0  # |log sigma| is held below this, and offsets within MAX_SIGMAS of sigma: beyond them single
MAX_SIGMAS = 1e6  # precision overflows, and a finite loss could have a gradient that is not
MAX_TILT = 6.0  # |atanh rho| is held below this, or 1 - rho^2 vanishes in single precision


def raw_size(mixtures: int) -> int:
    """Numbers a step takes: pen logits, then pi, mu_x, mu_y, sigma_x, sigma_y and rho of each Gaussian."""
    return PENS + NUMBERS * mixtures


@dataclass(frozen=True)
class PenMove:
    """M Gaussians over the offset and a categorical over DOWN, UP, END; leading axes are free.

    p(offset, state) = sum_m pi_m N(offset; mean_m, std_m, rho_m) x pen[state], with pi and pen softmaxes of logits.
    """

    raw: Tensor  # (…, 3 + 6 M) the network's numbers, in the order of `raw_size`
    min_log_std: float | None = None

    @property
    def pen(self) -> Tensor:
        """(…, 3) logits"""
        return self.raw[..., :PENS]

    @property
    def logits(self) -> Tensor:
        """(…, M)"""
        return self.parts()[0]

    @property
    def mean(self) -> Tensor:
        """(…, M, 2)"""
        return torch.stack(self.parts()[1:3], dim=-1)

    @property
    def log_std(self) -> Tensor:
        """(…, M, 2)"""
        return self._bounded_log_std(torch.stack(self.parts()[3:5], dim=-1))

    @property
    def tilt(self) -> Tensor:
        """(…, M) atanh of the correlation"""
        return _bounded_tilt(self.parts()[5])

    def parts(self) -> tuple[Tensor, ...]:
        """(…, M) each: logits, means of x and y, unbounded log sigma of x and y, unbounded tilt."""
        return self.raw[..., PENS:].chunk(NUMBERS, dim=-1)

    def _bounded_log_std(self, log_std: Tensor) -> Tensor:
        return log_std.clamp(-MAX_LOG_STD if self.min_log_std is None else self.min_log_std, MAX_LOG_STD)

    def candidates(self) -> PenMove:
        """For several samples of each: one more leading axis, on which `sample` takes as many as the noise has."""
        return PenMove(self.raw.unsqueeze(-2), self.min_log_std)

    def log_prob_offset(self, offset: Tensor) -> Tensor:
        """log p(dx, dy), without the floor. (…, 2) -> (…)"""
        logits, mean_x, mean_y, log_x, log_y, tilt = self.parts()
        log_x, log_y, tilt = self._bounded_log_std(log_x), self._bounded_log_std(log_y), _bounded_tilt(tilt)
        z_x, z_y = (
            ((offset[..., axis : axis + 1] - mean) * torch.exp(-log_std)).clamp(-MAX_SIGMAS, MAX_SIGMAS)  # (…, M)
            for axis, (mean, log_std) in enumerate(((mean_x, log_x), (mean_y, log_y)))
        )
        rho = torch.tanh(tilt)
        # log(1 - rho^2) = 2 log sech(tilt), stable where 1 - rho^2 is not
        log_free = 2 * (math.log(2) - tilt.abs() - F.softplus(-2 * tilt.abs()))
        square = z_x.square() + z_y.square() - 2 * rho * z_x * z_y
        gaussian = -0.5 * square * torch.exp(-log_free) - math.log(2 * math.pi) - log_x - log_y - 0.5 * log_free
        return torch.logsumexp(F.log_softmax(logits, dim=-1) + gaussian, dim=-1)

    def log_prob_pen(self, state: Tensor) -> Tensor:
        """log p of a one-hot pen state. (…, 3) -> (…)"""
        return (F.log_softmax(self.pen, dim=-1) * state).sum(dim=-1)

    def log_prob(self, rows: Tensor, floor: bool = True) -> tuple[Tensor, Tensor]:
        """Of stroke-5 rows (…, 5): the offset's (0 past the end, with sketch-rnn's floor) and the pen's."""
        offset = self.log_prob_offset(rows[..., DX:DOWN])
        if floor:
            offset = torch.logaddexp(offset, offset.new_tensor(FLOOR))
        return offset * (1 - rows[..., END]), self.log_prob_pen(rows[..., DOWN:])

    def sample(
        self,
        temperature: Temperature = AS_DECODED,
        noise: Tensor | None = None,
    ) -> Tensor:
        """Stroke-5 rows, (…, 5). Randomness is handed in: `noise` (…, 4), two uniforms and two normals.

        A temperature of 0 needs none.
        """
        return self.sample_and_deviation(temperature, noise)[0]

    def sample_and_deviation(
        self,
        temperature: Temperature = AS_DECODED,
        noise: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Rows as `sample` has them, and (…,) the deviation of the Gaussian that each offset comes from, whatever the
        temperature.
        """
        if temperature.value == 0:
            component, pen = self.logits.argmax(dim=-1), self.pen.argmax(dim=-1)
        else:
            if noise is None:
                raise ValueError("only a temperature of 0 samples without noise")
            component = _choose(temperature.of_components(self.logits), noise[..., 0])
            pen = _choose(temperature.of_pen(self.pen), noise[..., 1])
        offset, std, tilt = self._gaussian(component)
        if temperature.value > 0 and noise is not None:
            rho = torch.tanh(tilt)
            first, second = noise[..., 2], noise[..., 3]
            tilted = torch.stack([first, rho * first + torch.sqrt(1 - rho.square()) * second], dim=-1)
            offset = offset + std * temperature.of_sigma * tilted
        rows = torch.cat([offset, torch.zeros_like(offset[..., :1]).expand(*pen.shape, PENS)], dim=-1)
        return rows.scatter_(-1, pen.unsqueeze(-1) + DOWN, 1.0), std.square().mean(dim=-1).sqrt()

    def _gaussian(self, component: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of the Gaussians with these numbers (…): mean (…, 2), deviation (…, 2) and tilt (…)."""
        size = self.raw.shape[-1]
        after = torch.arange(PENS, size, (size - PENS) // NUMBERS, device=self.raw.device)[1:]  # the logits
        picked = self.raw.expand(*component.shape, size).gather(-1, component.unsqueeze(-1) + after)
        log_std = self._bounded_log_std(picked[..., 2:4])
        return picked[..., :2], torch.exp(log_std), _bounded_tilt(picked[..., 4])

    def soft_sample(self, gumbel: Tensor, normal: Tensor, temperature: float = 1.0) -> Tensor:
        """Rows (…, 5) that a gradient can pass: component and pen by Gumbel-softmax, the offset by its own noise.

        Randomness is handed in: Gumbel numbers (…, M + 3) and normal ones (…, 2). The pen is a one-hot forwards and
        the soft choice backwards.
        """
        logits = self.logits
        components = logits.shape[-1]
        weight = F.softmax((logits + gumbel[..., :components]) / temperature, dim=-1)  # (…, M)
        rho = torch.tanh(self.tilt)
        first, second = normal[..., :1], normal[..., 1:]
        tilted = torch.stack([first.expand_as(rho), rho * first + torch.sqrt(1 - rho.square()) * second], dim=-1)
        offset = (weight.unsqueeze(-1) * (self.mean + torch.exp(self.log_std) * tilted)).sum(dim=-2)
        soft = F.softmax((self.pen + gumbel[..., components:]) / temperature, dim=-1)
        hard = F.one_hot(soft.argmax(dim=-1), 3).to(soft.dtype)
        return torch.cat([offset, hard - soft.detach() + soft], dim=-1)


def _bounded_tilt(tilt: Tensor) -> Tensor:
    return tilt.clamp(-MAX_TILT, MAX_TILT)


def _choose(logits: Tensor, uniform: Tensor) -> Tensor:
    """A category by inverting the distribution function at a uniform number."""
    below = F.softmax(logits, dim=-1).cumsum(dim=-1)
    return (uniform.unsqueeze(-1) * below[..., -1:] >= below).sum(dim=-1).clamp(max=logits.shape[-1] - 1)
