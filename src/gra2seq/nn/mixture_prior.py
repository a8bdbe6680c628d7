"""RPCL-pix2seq's prior: a mixture of Gaussians over the codes, fitted by small EM steps; it drops spare components.

Every third step is rival-penalised: the component nearest to a code comes closer, the second nearest is pushed away a
little, so that spare components lose their weight and die (rival penalised competitive learning).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from gra2seq.nn.distributed import gather, total
from gra2seq.nn.full_precision import full_precision

RATE = 0.05  # of the EM steps
PENALTY = 1e-4  # how much a rival counts against itself, the winner counting 1
CALM = 500  # steps before rivals are penalised; with the last of them the components are put on codes anew
EVERY = 3  # and from then on every third step
MIN_VARIANCE = 1e-3


class GaussianMixture(nn.Module):
    """K diagonal Gaussians. No gradient moves them: `update_` does."""

    def __init__(self, components: int, dim: int, penalty: float = PENALTY) -> None:
        super().__init__()
        self.penalty = penalty
        self.register_buffer("weights", torch.full((components,), 1 / components))
        self.register_buffer("means", torch.zeros(components, dim))
        self.register_buffer("variances", torch.ones(components, dim))
        self.register_buffer("started", torch.zeros((), dtype=torch.bool))
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))
        self.weights: Tensor
        self.means: Tensor
        self.variances: Tensor
        self.started: Tensor
        self.step: Tensor

    @full_precision
    def log_joint(self, codes: Tensor) -> Tensor:
        """log (alpha_k N(y | mu_k, Sigma_k)), (n, D) -> (n, K). A dead component has -inf."""
        inverse = 1 / self.variances
        square = codes.square() @ inverse.T - 2 * codes @ (self.means * inverse).T
        square = square + (self.means.square() * inverse).sum(dim=-1)
        log_norm = self.variances.log().sum(dim=-1) + codes.shape[-1] * math.log(2 * math.pi)
        return self.weights.log() - 0.5 * (square + log_norm)

    def shares(self, codes: Tensor) -> Tensor:
        """How much each component has of each code, (n, K); rows sum to 1."""
        return self.log_joint(codes).softmax(dim=-1)

    @full_precision
    def kl(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        """KL of the codes' Gaussians from the mixture by its shares, a dimension, averaged over dimensions and batch.

        sum_k g_k KL(N(mean, variance) || N_k) + KL(g || alpha), with g the shares of the mean, through which a gradient
        passes as in the released code.
        """
        share = self.shares(mean)
        inverse = 1 / self.variances
        spread = log_variance.exp() + mean.square()
        square = spread @ inverse.T - 2 * mean @ (self.means * inverse).T + (self.means.square() * inverse).sum(dim=-1)
        apart = 0.5 * (self.variances.log().sum(dim=-1) + square - (1 + log_variance).sum(dim=-1, keepdim=True))
        chosen = torch.where(share > 0, share * (share.clamp(min=1e-30) / self.weights.clamp(min=1e-30)).log(), 0)
        return ((share * apart).sum(dim=-1) + chosen.sum(dim=-1)).mean() / mean.shape[-1]

    @torch.no_grad()
    @full_precision
    def start_(self, codes: Tensor) -> None:
        """Put the components on codes of a batch, all as wide and heavy: elsewhere one would get all codes."""
        codes = gather(codes)
        self.means.copy_(codes[torch.arange(len(self.means), device=codes.device) % len(codes)])
        spread = codes.var(dim=0, unbiased=False).clamp(min=MIN_VARIANCE)
        self.variances.copy_(spread.expand_as(self.variances))
        if len(codes) < len(self.means):  # two in one place would stay together for ever
            self.means += (
                0.1 * spread.sqrt() * torch.linspace(-1, 1, len(self.means), device=codes.device).unsqueeze(-1)
            )
        self.weights.fill_(1 / len(self.weights))
        self.started.fill_(True)

    @torch.no_grad()
    @full_precision
    def update_(self, codes: Tensor, variance: Tensor) -> None:
        """One EM step at RATE, or a rival-penalised one when its turn has come.

        Codes (n, D) are means of Gaussians; their own `variance` (n, D) counts in the components'.
        """
        self.step += 1
        # The codes of a fresh network wander off, and whichever component is left nearest to them gets them all.
        if not bool(self.started) or int(self.step) == CALM:
            self.start_(codes)
        joint = self.log_joint(codes)
        penalised = int(self.step) > CALM and int(self.step) % EVERY == 0
        share = self._winner_and_rival(joint) if penalised else joint.softmax(dim=-1)
        count, mass = total(codes.new_tensor(float(len(codes)))), total(share.sum(dim=0))
        first, second = total(share.T @ codes), total(share.T @ (codes.square() + variance))  # (K, D)
        pull = first - mass.unsqueeze(-1) * self.means  # sum of share x (y - mu)
        widen = second - 2 * self.means * first + mass.unsqueeze(-1) * (self.means.square() - self.variances)
        # A full EM step divides by the mass; a rival's is negative, a dying component's next to nothing.
        pace = (RATE / torch.maximum(mass, count * self.weights).clamp(min=1)).unsqueeze(-1)
        self.means += pace * pull
        self.variances.copy_((self.variances + pace * widen).clamp(min=MIN_VARIANCE))
        weights = self.weights.lerp(mass / count, RATE).clamp(min=0)
        self.weights.copy_(weights / weights.sum())

    def _winner_and_rival(self, joint: Tensor) -> Tensor:
        """1 for the component that has most of a code, -penalty for the second of those alive, 0 for the others.

        By the logarithm: in many dimensions the second's share is too small for a number.
        """
        result = torch.zeros_like(joint)
        if joint.shape[-1] < 2:
            return result + 1
        best = joint.topk(2, dim=-1)
        alive = torch.isfinite(best.values[:, 1:])
        result.scatter_(-1, best.indices[:, 1:], -self.penalty * alive.to(joint.dtype))
        return result.scatter_(-1, best.indices[:, :1], 1.0)
