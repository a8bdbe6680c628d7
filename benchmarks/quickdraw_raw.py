"""What raw drawings of QuickDraw tell: how exact our simplification is, and the pace of a hand.

    python benchmarks/quickdraw_raw.py DATA

DATA holds official simplified drawings, <category>.ndjson.gz, and raw/<category>.ndjson.gz with the same key_id and
a list of times in ms for every stroke. `source` in a line says which public copy a drawing was taken from.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.pace import AIR_SECONDS, PAUSE_SECONDS, SPEED, STROKE_SECONDS
from gra2seq.sketch.simplify import quickdraw_points

STROKE_EDGES = (0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 1e9)  # longer sides
AIR_EDGES = (0, 0.05, 0.1, 0.2, 0.4, 0.8, 1e9)

Doubles = NDArray[np.float64]


def pairs(data: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every raw drawing with its official simplified form."""
    for path in sorted((data / "raw").glob("*.ndjson.gz")):
        with gzip.open(path) as lines:
            raw = {drawing["key_id"]: drawing for drawing in map(json.loads, lines)}
        with gzip.open(data / path.name) as lines:
            for official in map(json.loads, lines):
                if official["key_id"] in raw:
                    yield raw[official["key_id"]], official


def is_identical(raw: list[Any], official: list[Any]) -> bool:
    """Whether our simplification of the raw drawing is the official one, point for point."""
    lengths = np.array([len(stroke[0]) for stroke in raw])
    points = np.concatenate([np.array(stroke[:2], np.float64).T for stroke in raw])
    ours, counts = quickdraw_points(points, lengths)
    theirs = np.concatenate([np.array(stroke, np.float64).T for stroke in official])
    return counts.tolist() == [len(stroke[0]) for stroke in official] and np.array_equal(ours, theirs)


def motion(raw: list[Any]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """(length, seconds) of every stroke and of every way through the air, lengths in longer sides."""
    strokes = [np.array(stroke, np.float64) for stroke in raw]
    every = np.concatenate([stroke[:2] for stroke in strokes], axis=1)
    side = float(np.ptp(every, axis=1).max())
    if side == 0:
        return [], []
    drawn = [(float(np.hypot(*np.diff(s[:2], axis=1)).sum()) / side, (s[2, -1] - s[2, 0]) / 1000) for s in strokes]
    air = [(float(np.hypot(*(b[:2, 0] - a[:2, -1]))) / side, (b[2, 0] - a[2, -1]) / 1000) for a, b in pairwise(strokes)]
    return drawn, air


def medians(values: Doubles, edges: tuple[float, ...]) -> str:
    """Median seconds by length."""
    columns = []
    for low, high in pairwise(edges):
        inside = values[(values[:, 0] > low) & (values[:, 0] <= high)]
        columns.append(f"over {low:g}: {np.median(inside[:, 1]):.2f} s ({len(inside):,})")
    return ", ".join(columns)


def fitted(values: Doubles, constants: Doubles, slopes: Doubles) -> tuple[float, float]:
    """constant and slope of seconds = constant + slope * length, by the least mean absolute error of the logarithm."""
    length, seconds = values[values[:, 1] > 0].T
    errors = [
        (float(np.abs(np.log(seconds / (constant + slope * length))).mean()), constant, slope)
        for constant in constants.tolist()
        for slope in slopes.tolist()
    ]
    _, constant, slope = min(errors)
    return constant, slope


def main() -> None:
    total, same, drawings = Counter[str](), Counter[str](), 0
    strokes: list[tuple[float, float]] = []
    airs: list[tuple[float, float]] = []
    totals: list[float] = []
    for raw, official in pairs(Path(sys.argv[1])):
        total[official["source"]] += 1
        same[official["source"]] += is_identical(raw["drawing"], official["drawing"])
        if official["split"] != "test":
            drawn, air = motion(raw["drawing"])
            strokes, airs, drawings = strokes + drawn, airs + air, drawings + bool(drawn)
            totals.append((raw["drawing"][-1][2][-1] - raw["drawing"][0][2][0]) / 1000)
    print(f"identical: {same.total():,} of {total.total():,} = {same.total() / total.total():.2%}")
    for source in sorted(total):
        print(f"  copy {source}: {same[source]:,} of {total[source]:,}")
    pen, up = np.array(strokes), np.array(airs)
    moving = pen[(pen > 0).all(axis=1)]
    print(f"{drawings:,} drawings of train and valid, {len(pen):,} strokes, {len(up):,} pauses")
    quarters = (25, 50, 75)
    print("sides a second, quartiles:", np.percentile(moving[:, 0] / moving[:, 1], quarters).round(2))
    print("pause in s, quartiles:", np.percentile(up[:, 1], quarters).round(2))
    print("whole drawing in s, quartiles:", np.percentile(totals, quarters).round(1))
    print("strokes:", medians(pen, STROKE_EDGES))
    print("pauses:", medians(up, AIR_EDGES))
    constant, slope = fitted(pen, np.arange(0.05, 0.2, 0.005), 1 / np.arange(0.8, 1.5, 0.02))
    print(f"stroke = {constant:.3f} s + length / {1 / slope:.2f}; in use {STROKE_SECONDS}, {SPEED}")
    constant, slope = fitted(up, np.arange(0.2, 0.45, 0.01), np.arange(0.1, 1, 0.02))
    print(f"pause = {constant:.2f} s + {slope:.2f} * length; in use {PAUSE_SECONDS}, {AIR_SECONDS}")


if __name__ == "__main__":
    main()
