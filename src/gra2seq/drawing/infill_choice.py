"""Which samples of infill decoding are shown: those that represent all samples best.

The first is the medoid, whose expected distance to another sample is smallest, and so, as far as the model is right,
to the lost lines. Each further one is chosen so that every sample has a chosen one near it (greedy k-medoids): the
choices are likely and differ from each other. If the model has learnt to predict ink, the predicted ink counts as
`PREDICTED` times as many samples more, to which the choices should be near too; and samples of much more ink come last,
for a scribble is near to everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np

from gra2seq.sketch.distance import dense_points
from gra2seq.sketch.strokes import Doubles

if TYPE_CHECKING:
    from gra2seq.drawing.infill import InfillResult
    from gra2seq.drawing.likely_ink import LikelyInk

CELLS = 64  # of the longer side of a distance map
MARGIN = 2  # cells around the lines
NO_LINES = 0.25  # longer sides from a sample without lines to one with lines
MIN_INK = 0.02  # longer sides of new lines: less can hardly be seen
LONGEST = 0.25  # of the samples of a begun drawing: the first is chosen among so many
PREDICTED = 4.0  # weight of the predicted ink beside that of all samples together
MAX_LENGTH = 1.5  # times the expected length of the lost lines


def representatives(
    results: Sequence[InfillResult],
    count: int,
    goes_on: bool = False,
    begun: bool = False,
    likely: LikelyInk | None = None,
) -> list[InfillResult]:
    """The `count` samples that represent all of them best, the best first.

    `goes_on` is for a drawing that is to be continued: samples that hold it for finished come last. Where it is also
    unknown how far it reaches (`begun`), most samples stop too early: the first is chosen among those with most ink.
    """
    if goes_on:
        return _continuations(results, count, LONGEST if begun else 1.0)
    lines = [result.lines for result in results]
    apart, weights = distances(lines), np.ones(len(lines))
    if likely is not None:
        apart = np.vstack([apart, [likely.expected_distance(own) for own in lines]])
        weights = np.append(weights, PREDICTED * len(lines))
        short = np.array([ink(result) <= MAX_LENGTH * likely.length for result in results])
    else:
        short = np.ones(len(lines), bool)
    numbers = np.flatnonzero(short)
    chosen = numbers[k_medoids(apart[:, short], weights, count)].tolist()
    rest = sorted(np.flatnonzero(~short).tolist(), key=lambda number: ink(results[number]))
    return [results[number] for number in (chosen + rest)[:count]]


def _continuations(results: Sequence[InfillResult], count: int, longest: float) -> list[InfillResult]:
    """Chosen among those that draw something; the first among the share with most ink."""
    inks = np.array([ink(result) for result in results])
    order = np.argsort(-inks, kind="stable")
    drawn = [results[number] for number in order if inks[number] >= MIN_INK]
    blank = [results[number] for number in order if inks[number] < MIN_INK]
    if longest == 1:
        return [*representatives(drawn, count), *blank][:count]
    first = representatives(drawn[: max(round(longest * len(results)), 1)], 1)
    others = [result for result in drawn if not any(result is one for one in first)]
    return [*first, *representatives(others, count - len(first)), *blank][:count]


def ink(result: InfillResult) -> float:
    """The length of the new lines, in longer sides."""
    return sum(float(np.hypot(*np.diff(line, axis=0).T).sum()) for line in result.lines)


def k_medoids(apart: Doubles, weights: Doubles, count: int) -> list[int]:
    """Numbers of `count` candidates, chosen one after the other from the distances of items to them (items, n).

    The first lowers the weighted mean distance of all items to it most, each further one the mean square of the
    distances to the nearest chosen one: there the items count more that are far from all chosen ones.
    """
    chosen: list[int] = []
    nearest = np.full(len(apart), np.inf)
    for _ in range(min(count, apart.shape[1])):
        means = weights @ np.minimum(apart, nearest[:, None]) ** (2 if chosen else 1)
        means[chosen] = np.inf
        chosen.append(int(means.argmin()))
        nearest = np.minimum(nearest, apart[:, chosen[-1]])
    return chosen


def distances(drawings: Sequence[Sequence[Doubles]]) -> Doubles:
    """(n, n) Chamfer distances between sets of lines, up to a cell of their distance maps."""
    points = [dense_points(lines) for lines in drawings]
    drawn = [number for number, own in enumerate(points) if len(own)]
    one_way = np.full((len(points), len(points)), NO_LINES)  # from the points of the row to those of the column
    np.fill_diagonal(one_way, 0.0)
    without = np.setdiff1d(np.arange(len(points)), drawn)
    one_way[np.ix_(without, without)] = 0.0
    if drawn:
        every = np.concatenate([points[number] for number in drawn])
        low = every.min(axis=0)
        cell = max(float((every.max(axis=0) - low).max()), 1e-6) / CELLS
        cells = np.round((every - low) / cell).astype(np.int64) + MARGIN
        starts = np.cumsum([0, *(len(points[number]) for number in drawn[:-1])])
        height, width = cells[:, 1].max() + MARGIN + 1, cells[:, 0].max() + MARGIN + 1
        for number, own in zip(drawn, np.split(cells, starts[1:]), strict=True):
            blank = np.ones((height, width), np.uint8)
            blank[own[:, 1], own[:, 0]] = 0
            far = cv2.distanceTransform(blank, cv2.DIST_L2, 5)[cells[:, 1], cells[:, 0]].astype(np.float64) * cell
            counts = np.diff([*starts, len(cells)])
            one_way[drawn, number] = np.add.reduceat(far, starts) / counts
    return np.asarray((one_way + one_way.T) / 2)
