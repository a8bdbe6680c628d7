"""Whether drawings between two are more even along the line or along the great circle between their codes.

    python benchmarks/morph.py --data STORE [--model DIR] [--pairs 60] [--steps 9]

Pairs of validation drawings are morphed; each drawing on the way is encoded again. Of the codes that are read back:
`unevenness` is the deviation of the steps from one to the next over their mean (0: all alike), `largest_step` the
largest step over the mean one, and `detour` the length of the way over the distance of its ends. Means over the pairs;
`better` is the share of pairs whose unevenness is smaller than the other way's. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.data.datasets import open_dataset
from gra2seq.drawing.blend import blended
from gra2seq.folder import load
from gra2seq.sketch.strokes import Floats

PARALLEL = 1e-4  # sine of the angle below which the great circle is the line


def along_great_circle(first: Floats, second: Floats, share: NDArray[np.floating]) -> Floats:
    """Codes whose direction turns evenly and whose length changes evenly."""
    lengths = np.linalg.norm(first), np.linalg.norm(second)
    if min(lengths) == 0:
        return blended(first, second, share)
    one, other = first / lengths[0], second / lengths[1]
    angle = np.arccos(np.clip(one @ other, -1, 1))
    if np.sin(angle) < PARALLEL:
        return blended(first, second, share)
    direction = np.sin((1 - share) * angle)[:, None] * one + np.sin(share * angle)[:, None] * other
    length = (1 - share) * lengths[0] + share * lengths[1]
    codes: Floats = (direction / np.sin(angle) * length[:, None]).astype(np.float32)
    return codes


PATHS = {"line": blended, "great circle": along_great_circle}


def measure(model: Any, pairs: Any, steps: int) -> dict[str, Any]:
    """Figures of both ways, for pairs of codes (pairs, 2, code)."""
    share = np.linspace(0, 1, steps)
    found: dict[str, Any] = {}
    for name, way in PATHS.items():
        codes = np.concatenate([way(first, second, share) for first, second in pairs])
        drawn = model.draw(codes, first=np.zeros(len(codes), np.int64), best_of=1)
        back = model.encode(drawn).reshape(len(pairs), steps, -1).astype(np.float64)
        size = np.linalg.norm(np.diff(back, axis=1), axis=2)
        found[name] = {
            "unevenness": size.std(axis=1) / size.mean(axis=1),
            "largest_step": size.max(axis=1) / size.mean(axis=1),
            "detour": size.sum(axis=1) / np.linalg.norm(back[:, -1] - back[:, 0], axis=1),
        }
    line, circle = (found[name]["unevenness"] for name in PATHS)
    better = {"line": (line < circle).mean(), "great circle": (circle < line).mean()}
    return {
        name: {key: round(float(each.mean()), 4) for key, each in one.items()}
        | {"better": round(float(better[name]), 4)}
        for name, one in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--model")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--steps", type=int, default=9)
    options = parser.parse_args()
    model, dataset = load(options.model), open_dataset(options.data)
    chosen = np.random.default_rng(0).permutation(dataset.valid)[: 2 * options.pairs]
    codes = model.encode([dataset.store[int(number)] for number in chosen])
    pairs = codes.reshape(options.pairs, 2, -1)
    print(
        json.dumps({"pairs": options.pairs, "steps": options.steps, **measure(model, pairs, options.steps)}, indent=2)
    )


if __name__ == "__main__":
    main()
