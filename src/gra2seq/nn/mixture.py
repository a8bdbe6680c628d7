"""What the decoder says of the next pen move: a mixture of bivariate Gaussians and three pen states (sketch-rnn).

A thing that knows its own mathematics: `log_prob` and `sample` mean the same in training and in use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from gra2seq.sketch.strokes import DOWN, DX, END

FLOOR = math.log(1e-6)  # sketch-rnn's -log(p + 1e-6): a rare long jump otherwise gives huge gradients
NOISE = 4  # numbers a sample takes: uniforms for component and pen, normals for x and y
MOST_LOG_STD = 20.0  # |log sigma| is held below this, and offsets within MOST_SIGMAS of sigma: beyond them single
MOST_SIGMAS = 1e6  # precision overflows, and a finite loss could have a gradient that is not
MOST_TILT = 6.0  # |atanh rho| is held below this, or 1 - rho^2 vanishes in single precision


def raw_size(mixtures: int) -> int:
    """Numbers a step takes: pen logits, then pi, mu_x, mu_y, sigma_x, sigma_y and rho of each Gaussian."""
    return 3 + 6 * mixtures


@dataclass(frozen=True)
class PenMove:
    """M Gaussians over the offset and a categorical over DOWN, UP, END; leading axes are free."""

    logits: Tensor  # (…, M)
    mean: Tensor  # (…, M, 2)
    log_std: Tensor  # (…, M, 2)
    tilt: Tensor  # (…, M) atanh of the correlation
    pen: Tensor  # (…, 3) logits

    @staticmethod
    def of(raw: Tensor, least_log_std: float | None = None) -> PenMove:
        """From the network's numbers, (…, 3 + 6 M)."""
        pen, rest = raw[..., :3], raw[..., 3:]
        logits, mean_x, mean_y, std_x, std_y, tilt = rest.chunk(6, dim=-1)
        least = -MOST_LOG_STD if least_log_std is None else least_log_std
        log_std = torch.stack([std_x, std_y], dim=-1).clamp(least, MOST_LOG_STD)
        return PenMove(logits, torch.stack([mean_x, mean_y], dim=-1), log_std, tilt.clamp(-MOST_TILT, MOST_TILT), pen)

    def offered(self) -> PenMove:
        """For several samples of each: one more leading axis, on which `sample` takes as many as the noise has."""
        axis = self.pen.ndim - 1
        parts = (self.logits, self.mean, self.log_std, self.tilt, self.pen)
        return PenMove(*(part.unsqueeze(axis) for part in parts))

    def log_prob_offset(self, offset: Tensor) -> Tensor:
        """log p(dx, dy), without the floor. (…, 2) -> (…)"""
        z = (offset.unsqueeze(-2) - self.mean) * torch.exp(-self.log_std)  # (…, M, 2)
        z = z.clamp(-MOST_SIGMAS, MOST_SIGMAS)
        rho = torch.tanh(self.tilt)
        # log(1 - rho^2) = 2 log sech(tilt), stable where 1 - rho^2 is not
        log_free = 2 * (math.log(2) - self.tilt.abs() - F.softplus(-2 * self.tilt.abs()))
        square = z[..., 0].square() + z[..., 1].square() - 2 * rho * z[..., 0] * z[..., 1]
        gaussian = (
            -0.5 * square * torch.exp(-log_free) - math.log(2 * math.pi) - self.log_std.sum(dim=-1) - 0.5 * log_free
        )
        return torch.logsumexp(F.log_softmax(self.logits, dim=-1) + gaussian, dim=-1)

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
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        noise: Tensor | None = None,
        pen_temperature: float | None = None,
    ) -> Tensor:
        """Stroke-5 rows, (…, 5). Logits are divided by the temperature, sigma times its root; 0 takes the likeliest.

        The pen's states may have a temperature of their own. Randomness is handed in: a generator, or the noise itself
        (`make_noise`).
        """
        return self.sample_and_doubt(temperature, generator, noise, pen_temperature)[0]

    def sample_and_doubt(
        self,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        noise: Tensor | None = None,
        pen_temperature: float | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Rows as `sample` has them, and (…,) the deviation of the Gaussian that each offset comes from, whatever the
        temperature.
        """
        if temperature < 0:
            raise ValueError("temperature must not be negative")
        if temperature == 0:
            component, pen = self.logits.argmax(dim=-1), self.pen.argmax(dim=-1)
        else:
            if noise is None:
                noise = make_noise(self.pen.shape[:-1], generator, self.pen)
            component = _choose(self.logits / temperature, noise[..., 0])
            pen = _choose(self.pen / (temperature if pen_temperature is None else pen_temperature), noise[..., 1])
        offset, std = _pick(self.mean, component), torch.exp(_pick(self.log_std, component))
        if temperature > 0 and noise is not None:
            rho = torch.tanh(_pick(self.tilt.unsqueeze(-1), component)[..., 0])
            first, second = noise[..., 2], noise[..., 3]
            tilted = torch.stack([first, rho * first + torch.sqrt(1 - rho.square()) * second], dim=-1)
            offset = offset + std * math.sqrt(temperature) * tilted
        return torch.cat([offset, F.one_hot(pen, 3).to(offset.dtype)], dim=-1), std.square().mean(dim=-1).sqrt()

    def soft_sample(self, gumbel: Tensor, normal: Tensor, temperature: float = 1.0) -> Tensor:
        """Rows (…, 5) that a gradient can pass: component and pen by Gumbel-softmax, the offset by its own noise.

        Randomness is handed in: Gumbel numbers (…, M + 3) and normal ones (…, 2). The pen is a one-hot forwards and
        the soft choice backwards.
        """
        components = self.logits.shape[-1]
        weight = F.softmax((self.logits + gumbel[..., :components]) / temperature, dim=-1)  # (…, M)
        rho = torch.tanh(self.tilt)
        first, second = normal[..., :1], normal[..., 1:]
        tilted = torch.stack([first.expand_as(rho), rho * first + torch.sqrt(1 - rho.square()) * second], dim=-1)
        offset = (weight.unsqueeze(-1) * (self.mean + torch.exp(self.log_std) * tilted)).sum(dim=-2)
        soft = F.softmax((self.pen + gumbel[..., components:]) / temperature, dim=-1)
        hard = F.one_hot(soft.argmax(dim=-1), 3).to(soft.dtype)
        return torch.cat([offset, hard - soft.detach() + soft], dim=-1)


def make_noise(shape: torch.Size, generator: torch.Generator | None, like: Tensor) -> Tensor:
    """(…, NOISE): two uniforms and two normals a sample."""
    uniform = torch.rand(*shape, 2, generator=generator)
    normal = torch.randn(*shape, 2, generator=generator)
    return torch.cat([uniform, normal], dim=-1).to(like)


def _pick(values: Tensor, component: Tensor) -> Tensor:
    """(…, M, k) at (…) -> (…, k); leading axes of one value are the same for all."""
    index = component[..., None, None].expand(*component.shape, 1, values.shape[-1])
    return values.expand(*component.shape, *values.shape[-2:]).gather(-2, index).squeeze(-2)


def _choose(logits: Tensor, uniform: Tensor) -> Tensor:
    """A category by inverting the distribution function at a uniform number."""
    below = F.softmax(logits, dim=-1).cumsum(dim=-1)
    return (uniform.unsqueeze(-1) * below[..., -1:] >= below).sum(dim=-1).clamp(max=logits.shape[-1] - 1)
