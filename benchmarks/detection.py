"""How often erased squares are found, and how often intact drawings are taken for damaged; prints lines of JSON.

    python benchmarks/detection.py DATA [--drawings 500] [--split valid]
    python benchmarks/detection.py DATA --fit src/gra2seq/sketch/detection.npz

DATA holds QuickDraw's simplified drawings, <category>.ndjson.gz, with a split each. A square of 0.4 of the longer side
is erased at a random place, and only the visible strokes are handed in. A region is found if it overlaps the square
with an IoU of 0.5 or more; squares that touch no line, or cut one, count like all others. `rounded`: the same with
the visible strokes rounded to whole units, as QuickDraw's own are. `rectangles`: sides from 0.25 to 0.6.
`--fit` fits the weights on the training split: on rectangles, so that no exact side or squareness is learned.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch  # only fitting uses it
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.damage import lose, square_hole
from gra2seq.sketch.detection import SAME, find_damage, overlap
from gra2seq.sketch.erased_box import candidates
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch

OPEN8 = ("bird", "car", "cat", "dog", "duck", "elephant", "flamingo", "horse")
SQUARE = 0.4
SIDES = (0.25, 0.6)  # of rectangles
EPOCHS, BATCH, HIDDEN, LEARNING_RATE, DECAY = 10, 64, 24, 5e-3, 0.03
GOOD = 0.5  # IoU of candidates that count as the erased box in fitting


Row = tuple[torch.Tensor, torch.Tensor, bool]  # features of candidates (C, F), which are good (C,), damaged or not


@dataclass(frozen=True)
class Example:
    """The visible strokes of a drawing, and the erased box (left, top, right, bottom) if there is one."""

    visible: Sketch
    lost: NDArray[np.float64] | None = None
    touched: bool = False


def drawings(data: Path, split: str, count: int) -> list[Sketch]:
    """The first drawings of a split, as many of each category of OPEN8."""
    found = []
    each = -(-count // len(OPEN8))
    for category in OPEN8:
        with gzip.open(data / f"{category}.ndjson.gz") as lines:
            rows = (row for row in map(json.loads, lines) if row["split"] == split)
            found += [Sketch.from_quickdraw(row["drawing"], category=category) for row in islice(rows, each)]
    return found[:count] if len(found) - count < len(OPEN8) else found


def damaged(sketches: Sequence[Sketch], seed: int, sides: tuple[float, float]) -> list[Example]:
    """Each drawing without the lines in a box at a random place; the box's sides are drawn from a range."""
    rng = np.random.default_rng(seed)
    examples = []
    for sketch in sketches:
        place, size = rng.random(2), rng.uniform(*sides, 2)
        x, y, width, height = square_hole(sketch, place.tolist(), size.tolist())
        try:
            visible = lose(sketch, Region.of_boxes([(x, y, width, height)])).visible
        except UserError:  # nothing is left
            continue
        touched = not np.array_equal(visible.points, sketch.points)
        examples.append(Example(visible, np.array([x, y, x + width, y + height]), touched))
    return examples


def measured(examples: Sequence[Example], change: Callable[[Sketch], Sketch]) -> dict[str, Any]:
    """Shares of damaged drawings: reported at all, and found; and of those whose lines the box touched, found."""
    reported, found = [], []
    for example in examples:
        region = find_damage(change(example.visible))
        reported.append(region is not None)
        found.append(region is not None and bool(overlap(np.array(region.bounds), example.lost) >= SAME))
    touched = np.array([example.touched for example in examples])
    return {
        "drawings": len(examples),
        "touch_no_line": round(float(1 - touched.mean()), 4),
        "reported": round(float(np.mean(reported)), 4),
        "found": round(float(np.mean(found)), 4),
        "found_of_touched": round(float(np.array(found)[touched].mean()), 4),
    }


def unchanged(sketch: Sketch) -> Sketch:
    return sketch


def rounded(sketch: Sketch) -> Sketch:
    return sketch.with_points(np.rint(sketch.points))


def prepared(examples: Sequence[Example]) -> list[Row]:
    """Features of all candidates, which of them are good, and whether the drawing is damaged."""
    rows = []
    for example in examples:
        found = candidates(example.visible)
        if found is None or not len(found.boxes):
            continue
        good = np.zeros(len(found.boxes), bool)
        if example.lost is not None:
            left, top, width, height = example.visible.box
            good = overlap(found.boxes, (example.lost - [left, top, left, top]) / max(width, height)) >= GOOD
            if not good.any():
                continue  # nothing to learn from it
        rows.append((torch.from_numpy(found.features), torch.from_numpy(good), example.lost is not None))
    return rows


def _loss(
    batch: list[Row], score: torch.nn.Module, intact: torch.Tensor, mean: torch.Tensor, spread: torch.Tensor
) -> torch.Tensor:
    """Mean negative logarithm of the probability of what is right: a good box, or that there is none."""
    count = len(batch)
    scores = score((torch.cat([features for features, _, _ in batch]) - mean) / spread)[:, 0]
    owner = torch.repeat_interleave(torch.arange(count), torch.tensor([len(good) for _, good, _ in batch]))
    good = torch.cat([good for _, good, _ in batch])
    damaged_one = torch.tensor([is_damaged for _, _, is_damaged in batch])
    top = torch.maximum(
        intact.detach().expand(count).scatter_reduce(0, owner, scores.detach(), "amax"), intact.detach()
    )
    weights = (scores - top[owner]).exp()
    none = (intact - top).exp()
    every = none.index_add(0, owner, weights)
    right = torch.where(damaged_one, torch.zeros(count).index_add(0, owner, weights * good), none)
    return -(right / every + 1e-9).log().mean()


def fit(rows: list[Row]) -> dict[str, NDArray[np.float32]]:
    """The weights that give the good boxes of damaged drawings, and no box of intact ones, most probability."""
    torch.manual_seed(0)
    every = torch.cat([features for features, _, _ in rows])
    mean, spread = every.mean(0), every.std(0) + 1e-6
    layers = [torch.nn.Linear(*size) for size in ((every.shape[1], HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1))]
    network = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    intact = torch.nn.Parameter(torch.zeros(1))
    steps = len(rows) // BATCH
    optimiser = torch.optim.AdamW([*network.parameters(), intact], LEARNING_RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=EPOCHS * steps)
    for _ in range(EPOCHS):
        order = torch.randperm(len(rows)).tolist()
        for step in range(steps):
            loss = _loss(
                [rows[number] for number in order[step * BATCH : (step + 1) * BATCH]], network, intact, mean, spread
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    weights = {f"weights{n}": layer.weight.detach().numpy().T for n, layer in enumerate(layers)}
    weights |= {f"offsets{n}": layer.bias.detach().numpy() for n, layer in enumerate(layers)}
    weights |= {"mean": mean.numpy(), "spread": spread.numpy(), "intact": intact.detach().numpy()[0]}
    return {name: np.asarray(values, np.float32) for name, values in weights.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--drawings", type=int, default=500)
    parser.add_argument("--split", default="valid")
    parser.add_argument("--fit", type=Path)
    words = parser.parse_args()
    if words.fit:
        sketches = drawings(words.data, "train", words.drawings)
        rows = prepared([*damaged(sketches, 2, SIDES), *damaged(sketches, 3, SIDES), *map(Example, sketches)])
        np.savez(words.fit, **fit(rows))
        print(json.dumps({"fitted": len(rows), "weights": str(words.fit)}))
        return
    sketches = drawings(words.data, words.split, words.drawings)
    squares = damaged(sketches, 1, (SQUARE, SQUARE))
    alarms = [find_damage(sketch) is not None for sketch in sketches]
    print(json.dumps({"split": words.split, "intact": len(alarms), "false_alarms": round(float(np.mean(alarms)), 4)}))
    for name, examples, change in (
        ("squares", squares, unchanged),
        ("rounded", squares, rounded),
        ("rectangles", damaged(sketches, 4, SIDES), unchanged),
    ):
        print(json.dumps({"damage": name, **measured(examples, change)}), flush=True)


if __name__ == "__main__":
    main()
