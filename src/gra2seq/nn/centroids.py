"""Clusters of patches over all sketches: centroids that follow them (eq. 5), the pull towards them (eq. 6)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gra2seq.nn.distributed import gather, total
from gra2seq.nn.full_precision import full_precision

RATE = 0.05  # eta of eq. 5 (paper; released code: 0.25)


class Centroids(nn.Module):
    """K centroids in the space of the CNN's vectors. No gradient moves them: `update_` does."""

    def __init__(self, clusters: int, dim: int, rate: float = RATE) -> None:
        super().__init__()
        self.rate = rate
        self.register_buffer("places", torch.zeros(clusters, dim))
        self.register_buffer("started", torch.zeros((), dtype=torch.bool))
        self.places: Tensor
        self.started: Tensor

    @full_precision
    def assign(self, patches: Tensor) -> Tensor:
        """The centroid with the largest cosine, (n, D) -> (n,)."""
        with torch.no_grad():
            return (patches @ F.normalize(self.places, dim=-1).T).argmax(dim=-1)

    @torch.no_grad()
    @full_precision
    def start_(self, patches: Tensor, order: Tensor) -> None:
        """Put the centroids on random patches of the first batch: those with the smallest `order` (n,)."""
        clusters = len(self.places)
        # Every process offers its first K; infinite orders stand for patches that are not there.
        absent = clusters - min(clusters, len(patches))
        order = F.pad(order, (0, absent), value=torch.inf)
        patches = F.pad(patches, (0, 0, 0, absent))
        first = order.argsort(stable=True)[:clusters]
        order, patches = gather(order[first]), gather(patches[first])
        real = int(order.isfinite().sum())
        if real == 0:
            return  # a batch without one patch starts nothing; the next one will
        first = order.argsort(stable=True)[:real]
        self.places.copy_(patches[first[torch.arange(clusters, device=first.device) % real]])
        self.started.fill_(True)

    @torch.no_grad()
    @full_precision
    def update_(self, patches: Tensor, cluster: Tensor) -> None:
        """Eq. 5: each centroid moves towards the mean of its patches; one that got none stays where it is."""
        member = F.one_hot(cluster, len(self.places)).to(patches.dtype)  # (n, K)
        count = total(member.sum(dim=0)).unsqueeze(-1)
        mean = total(member.T @ patches) / count.clamp(min=1)
        self.places.copy_(torch.where(count > 0, self.places.lerp(mean, self.rate), self.places))

    @full_precision
    def pull(self, patches: Tensor, cluster: Tensor, sketches: int, form: str = "euclidean") -> Tensor:
        """The clustering term, towards frozen centroids.

        `euclidean`: the paper's sum over the patches, averaged over the sketches.
        `squared`: the released code's half squared distance, averaged over the patches (of all processes).
        """
        apart = patches - self.places[cluster]
        if form == "euclidean":
            distance: Tensor = torch.linalg.vector_norm(apart, dim=-1)
            return distance.sum() / sketches
        if form == "squared":
            # The loop averages over processes: this process's sum over the mean share of the patches. (In use one
            # process may be the only one with a batch: no sum over processes then.)
            share = patches.new_tensor([len(patches), 1.0])
            share = total(share) if self.training else share
            return 0.5 * apart.square().sum() / (share[0] / share[1]).clamp(min=1)
        raise ValueError(f"unknown form {form!r}: euclidean or squared")
