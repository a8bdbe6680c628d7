"""Fit the weights of `gra2seq.formats.pen_order` to how people draw, and print them with what they predict.

    python benchmarks/fit_pen_order.py --data QUICKDRAW

QUICKDRAW is a folder of `<category>.ndjson.gz` files. The weights come from the training split of every eighth
category there, the shares of correct predictions from its validation split.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gra2seq.data.datasets import open_dataset
from gra2seq.formats.pen_order import DIRECTION, HAND_GAP, PRECEDENCE, Drawing, Hand
from gra2seq.sketch.strokes import Doubles, Sketch

EVERY = 8  # categories; every eighth is used
DRAWINGS = 150  # a category
STROKES = range(2, 41)  # a drawing
DECAY = 1e-4


def drawing_of(sketch: Sketch) -> Drawing:
    return Drawing.of([stroke.astype(np.float64) for stroke in sketch.strokes], HAND_GAP)


def fit_precedence(drawings: Sequence[Drawing]) -> Doubles:
    """Logistic regression on pairs of strokes of one drawing: which came first. Every drawing counts the same."""
    differences, shares = [], []
    for drawing in drawings:
        rows = drawing.precedence()
        earlier, later = np.triu_indices(len(rows), 1)
        differences.append(rows[earlier] - rows[later])
        shares.append(np.full(len(earlier), 1 / (len(earlier) * len(drawings))))
    x, share = torch.tensor(np.concatenate(differences)), torch.tensor(np.concatenate(shares))
    return _minimise(lambda weights: (share * torch.nn.functional.softplus(-x @ weights)).sum(), len(PRECEDENCE))


def choices(drawing: Drawing) -> list[Doubles]:
    """For each stroke that can be drawn in several ways, what speaks for each; the first is what the person did."""
    hand, rows = Hand(drawing), []
    for number in range(len(drawing.strokes)):
        ways = drawing.ways(number)
        if len(ways) > 1:
            rows.append(hand.features(ways, number))
        hand.draw(ways[0], number)
    return rows


def fit_direction(drawings: Sequence[Drawing]) -> Doubles:
    """Conditional logit over the ways to draw each stroke."""
    every = [rows for drawing in drawings for rows in choices(drawing)]
    x = torch.tensor(np.concatenate(every))
    sizes = torch.tensor([len(rows) for rows in every])
    stroke = torch.repeat_interleave(torch.arange(len(every)), sizes)
    taken = torch.cumsum(sizes, 0) - sizes

    def loss(weights: Tensor) -> Tensor:
        score = x @ weights
        total = torch.zeros(len(every), dtype=torch.float64).index_add(0, stroke, score.exp())
        return (total.log() - score[taken]).mean()

    return _minimise(loss, len(DIRECTION))


def _minimise(loss: Callable[[Tensor], Tensor], count: int) -> Doubles:
    weights = torch.zeros(count, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def step() -> Tensor:
        optimizer.zero_grad()
        value = loss(weights) + DECAY * weights.square().sum()
        value.backward()
        return value

    optimizer.step(step)
    return np.asarray(weights.detach())


def report(drawings: Sequence[Drawing], precedence: Doubles, direction: Doubles) -> None:
    """Kendall's tau of the order, and how often the likeliest direction is the person's."""
    taus, hits = [], {"open": [], "closed": []}  # type: ignore[var-annotated]
    for drawing in drawings:
        score = drawing.precedence() @ precedence
        taus.append(np.sign(np.subtract.outer(score, score))[np.triu_indices(len(score), 1)].mean())
        for rows in choices(drawing):
            hits["open" if len(rows) == 2 else "closed"].append(((rows @ direction).argmax() == 0, 1 / len(rows)))
    print(f"order: Kendall's tau {np.mean(taus):.3f} over {len(taus)} drawings")
    for which, results in hits.items():
        share, chance = np.mean(results, axis=0)
        print(f"direction, {which}: {share:.1%} of {len(results)} as the person (by chance {chance:.1%})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of <category>.ndjson.gz")
    folder = parser.parse_args().data
    names = sorted(path.name.removesuffix(".ndjson.gz") for path in Path(folder).glob("*.ndjson.gz"))[::EVERY]
    dataset = open_dataset(folder, categories=names, train_limit=DRAWINGS, valid_limit=DRAWINGS)
    train, valid = (
        [drawing_of(sketch) for index in split if len((sketch := dataset.store[int(index)]).lengths) in STROKES]
        for split in (dataset.train, dataset.valid)
    )
    precedence, direction = fit_precedence(train), fit_direction(train)
    print(f"{len(train)} drawings of {len(names)} categories to fit")
    for named, weights in ((PRECEDENCE, precedence), (DIRECTION, direction)):
        for name, weight in zip(named, weights, strict=True):
            print(f'    "{name}": {weight:.2f},')
    report(valid, precedence, direction)


if __name__ == "__main__":
    main()
