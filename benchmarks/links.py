"""What links can carry: two control tasks for the graph encoder of the paper, one with each kind of information.

*order*: every drawing has the same eight patches, in another order; are patches 0 and 1 drawn one after the other?
All patches and the whole view are the same in both classes, so only links along the drawing order can tell.

*repeat*: twelve patches, random vectors; in half of the drawings one of them comes twice, slightly changed.
The bag of patches determines the answer, but a sum over nodes must find the pair; links by cosine point at it.

    python benchmarks/links.py [--steps 1500] [--seeds 3]     # prints JSON: accuracy by task and link rule
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import torch
from torch import Tensor, nn

from gra2seq.nn.adjacency import symmetric, with_whole_view
from gra2seq.nn.graph_conv import GraphConv
from gra2seq.nn.links import LINKS, Nodes
from gra2seq.nn.masked_batch_norm import BatchNorm

DIM = 64  # of a node's vector
BATCH = 128
KINDS = 8  # of patches in a drawing of `order`
NODES, INPUT, CHANGE = 12, 16, 0.1  # of `repeat`: patches, numbers of each, standard deviation of the change
RULES = ("synonymous", "temporal", "random", "none")


def order_batch(random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Patches (B, KINDS, KINDS), one-hot and permuted, and whether 0 and 1 are neighbours; both classes alike often."""
    order = torch.rand(4 * BATCH, KINDS, generator=random).argsort(dim=1)
    place = order.argsort(dim=1)
    together = (place[:, 0] - place[:, 1]).abs() == 1
    half = BATCH // 2
    chosen = torch.cat([together.nonzero()[:half, 0], (~together).nonzero()[:half, 0]])
    return nn.functional.one_hot(order[chosen], KINDS).float(), together[chosen].float()


def repeat_batch(random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Patches (B, NODES, INPUT), and whether one of them comes twice."""
    patches = torch.randn(BATCH, NODES, INPUT, generator=random)
    label = torch.rand(BATCH, generator=random) < 0.5
    pair = torch.rand(BATCH, NODES, generator=random).argsort(dim=1)[:, :2]
    rows = torch.arange(BATCH)
    copy = patches[rows, pair[:, 0]] + CHANGE * torch.randn(BATCH, INPUT, generator=random)
    patches[rows[label], pair[label, 1]] = copy[label]
    return patches, label.float()


class Classifier(nn.Module):
    """The paper's encoder after its CNN, for which a two-layer network stands; one number out of the code."""

    def __init__(self, inputs: int, rule: str, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embed = nn.Sequential(nn.Linear(inputs, DIM), nn.ReLU(), nn.Linear(DIM, DIM))
        self.norm, self.mix, self.out = BatchNorm(DIM), GraphConv(DIM), nn.Linear(DIM, 1)
        self.link = LINKS[rule]
        self.random = torch.Generator().manual_seed(seed)

    def forward(self, patches: Tensor) -> Tensor:
        views = torch.cat([patches.mean(dim=1, keepdim=True), patches], dim=1)  # the whole view comes first
        v = self.embed(views)
        count = patches.shape[1]
        valid = torch.ones(len(v), count, dtype=torch.bool)
        uniform = torch.rand(len(v), count, count, generator=self.random)
        adjacency = self.link(Nodes(v[:, 1:], valid, torch.zeros(len(v), count, 2), uniform))
        real = torch.ones(len(v), 1 + count, dtype=torch.bool)
        x = self.norm(torch.relu(v), real)
        logits: Tensor = self.out(self.mix(x, symmetric(with_whole_view(adjacency, valid)))).squeeze(-1)
        return logits


def accuracy(task: Callable[[torch.Generator], tuple[Tensor, Tensor]], rule: str, steps: int, seed: int) -> float:
    """Share of right answers on drawings that were not trained on."""
    random = torch.Generator().manual_seed(1000 + seed)
    model = Classifier(task(random)[0].shape[-1], rule, seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        patches, label = task(random)
        loss = nn.functional.binary_cross_entropy_with_logits(model(patches), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.inference_mode():
        tests = [task(random) for _ in range(20)]
        right = [((model(patches) > 0) == (label > 0)).float().mean() for patches, label in tests]
    return float(torch.stack(right).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for name, task in (("order", order_batch), ("repeat", repeat_batch)):
        for rule in RULES:
            found = [accuracy(task, rule, options.steps, seed) for seed in range(options.seeds)]
            print(json.dumps({"task": name, "links": rule, "accuracy": [round(one, 4) for one in found]}), flush=True)


if __name__ == "__main__":
    main()
