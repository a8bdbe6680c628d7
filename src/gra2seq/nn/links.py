"""Which patches are linked: a proximity turns the nodes of a sketch into the adjacency A of eq. 2.

Mask first, then choose: a node that is absent or masked has no neighbours and is the neighbour of none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gra2seq.errors import UserError, unknown_name
from gra2seq.nn.full_precision import full_precision

SELF = 1.0
TWO = (0.5, 0.2)  # eq. 2: the closest, the second
HEALER = (0.5, 0.3, 0.2)  # SketchHealer: self, one step, two steps
REACH = 0.2  # SketchLattice: of the largest distance between two points


@dataclass(frozen=True)
class Nodes:
    """The patches of a batch of sketches, without the whole view."""

    features: Tensor  # (B, N, D) the CNN's vectors v, before ReLU and normalisation
    valid: Tensor  # (B, N) True where a patch is real and not masked
    centres: Tensor  # (B, N, 2) in pixels
    uniform: Tensor | None = None  # (B, N, N) for random links, handed in


Link = Callable[[Nodes], Tensor]


@full_precision
def cosine(features: Tensor) -> Tensor:
    """Eq. 1 for all pairs: (B, N, D) -> (B, N, N). A zero vector has cosine 0 with everything."""
    unit: Tensor = features / torch.linalg.vector_norm(features, dim=-1, keepdim=True).clamp(min=1e-12)
    return unit @ unit.transpose(-1, -2)


def nearest(closeness: Tensor, valid: Tensor, weight: Tensor, shares: Sequence[float] = TWO) -> Tensor:
    """Eq. 2: self 1, the closest 0.5 x weight, the second 0.2 x weight, and so on if there are more. (B, N, N)

    Of equally close nodes the earlier drawn one is chosen. A node with fewer valid others has fewer edges.
    """
    itself = torch.eye(valid.shape[-1], dtype=torch.bool, device=valid.device)
    open_ = valid.unsqueeze(-1) & valid.unsqueeze(-2) & ~itself  # (B, N, N) pairs that may be linked
    adjacency = SELF * (itself & valid.unsqueeze(-1)).to(weight.dtype)
    for share in shares:
        rank = closeness.detach().masked_fill(~open_, -torch.inf)
        chosen = torch.zeros_like(open_).scatter_(-1, rank.argmax(dim=-1, keepdim=True), True) & open_
        adjacency = adjacency + share * weight * chosen
        open_ = open_ & ~chosen
    return adjacency


def synonymous(nodes: Nodes) -> Tensor:
    """The paper's links, learnt: the cosine both chooses the neighbours and weighs the edges."""
    similarity = cosine(nodes.features)
    return nearest(similarity, nodes.valid, similarity)


def nearest_cosine(nodes: Nodes) -> Tensor:
    """DC-gra2seq's: the cosine chooses the neighbours; edges have the weights 1 (itself), 0.5 and 0.2."""
    similarity = cosine(nodes.features)
    return nearest(similarity, nodes.valid, torch.ones_like(similarity))


def temporal(nodes: Nodes) -> Tensor:
    """Links along the drawing order: fewest patches between."""
    order = torch.arange(nodes.valid.shape[-1], device=nodes.valid.device, dtype=nodes.features.dtype)
    closeness = -(order.unsqueeze(0) - order.unsqueeze(1)).abs().expand(len(nodes.valid), -1, -1)
    return nearest(closeness, nodes.valid, torch.ones_like(closeness))


def spatial(nodes: Nodes) -> Tensor:
    """Links by Euclidean distance on the canvas."""
    centres = nodes.centres.to(nodes.features.dtype)
    closeness = -(centres.unsqueeze(-2) - centres.unsqueeze(-3)).square().sum(dim=-1)
    return nearest(closeness, nodes.valid, torch.ones_like(closeness))


def random(nodes: Nodes) -> Tensor:
    """The paper's ablation: every entry drawn from U(0, 1)."""
    if nodes.uniform is None:
        raise ValueError("random links need nodes.uniform")
    return nodes.uniform * (nodes.valid.unsqueeze(-1) & nodes.valid.unsqueeze(-2))


def drawing_order(nodes: Nodes) -> Tensor:
    """SketchHealer's: self 0.5, one step along the drawing order 0.3, two steps 0.2, both ways."""
    count, like = nodes.valid.shape[-1], nodes.features
    band = torch.zeros(count, count, dtype=like.dtype, device=like.device)
    for steps, weight in enumerate(HEALER):
        for way in {steps, -steps}:
            band.diagonal(way).fill_(weight)
    return band * (nodes.valid.unsqueeze(-1) & nodes.valid.unsqueeze(-2))


def within_reach(nodes: Nodes) -> Tensor:
    """SketchLattice's: nodes no farther apart than 0.2 of the sketch's largest distance are linked."""
    centres = nodes.centres.to(nodes.features.dtype)
    both = nodes.valid.unsqueeze(-1) & nodes.valid.unsqueeze(-2)
    distance = (centres.unsqueeze(-2) - centres.unsqueeze(-3)).square().sum(dim=-1).sqrt() * both  # (B, N, N)
    largest = distance.amax(dim=(-1, -2), keepdim=True)
    return ((distance <= REACH * largest) & both).to(nodes.features.dtype)


def unlinked(nodes: Nodes) -> Tensor:
    """An ablation: no patch is linked to another; each keeps its own vector and what it has of the whole view."""
    return torch.diag_embed(nodes.valid.to(nodes.features.dtype)) * SELF


LINKS: dict[str, Link] = {
    "synonymous": synonymous,
    "nearest-cosine": nearest_cosine,
    "temporal": temporal,
    "spatial": spatial,
    "random": random,
    "drawing-order": drawing_order,
    "within-reach": within_reach,
    "none": unlinked,
}


def register_links(name: str, link: Link) -> None:
    """Make an own link rule known as `links=NAME`."""
    if name in LINKS:
        raise UserError(f"there is a link rule {name!r} already: choose another name")
    LINKS[name] = link


def link_rule(name: str) -> Link:
    """The link rule of this name."""
    if name not in LINKS:
        raise unknown_name("link rule", name, LINKS)
    return LINKS[name]
