"""Where the lost ink of a drawing most likely was, by ink prediction: from its code and what is visible of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import torch
from torch import Tensor

from gra2seq.data.batches import Preparation
from gra2seq.data.views import Seen
from gra2seq.drawing.ink_map import FINE, REACH, InkMap, visible_ink
from gra2seq.drawing.ink_map import SIDE as MAP_SIDE
from gra2seq.models.codes import parts
from gra2seq.models.registry import ink_views
from gra2seq.models.sketch_model import SketchModel
from gra2seq.nn.ink_predictor import SIDE
from gra2seq.sketch.canvas import FARTHEST
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import dense_points
from gra2seq.sketch.strokes import Doubles, Floats, Ints

MIN_PROBABILITY = 0.05  # ink less likely than this does not count: there are many such cells
LINE_CELLS = 1.7  # ink of a line in cells, for each cell of its length
LIKELY = 0.3  # probability from which a ridge of ink is a line to be drawn


@dataclass(frozen=True)
class LikelyInk:
    """Cells of a square around the centre of the frame, in the units of `Damage.normalised`."""

    hidden: Floats  # (SIDE, SIDE) probability that a cell has lost ink
    distance: Floats  # (SIDE, SIDE) expected distance to the nearest ink of the whole drawing, at most FARTHEST
    reach: float  # from the centre to the edges of the square

    @property
    def length(self) -> float:
        """Expected length of the lost lines, in longer sides."""
        return float(self.hidden.sum()) * (2 * self.reach / SIDE) / LINE_CELLS

    def expected_distance(self, lines: Sequence[Doubles]) -> float:
        """The expected Chamfer distance of new lines to the hidden ones: each should lie on likely ink, and all of it
        should have a line near it. No lines at all are right where no ink is likely."""
        points = dense_points(lines)
        if not len(points):
            return FARTHEST * float(self.hidden.max())
        columns, rows = self.cells(points)
        blank = np.ones_like(self.hidden, np.uint8)
        blank[rows, columns] = 0
        away = np.minimum(cv2.distanceTransform(blank, cv2.DIST_L2, 5) * (2 * self.reach / SIDE), FARTHEST)
        weight = np.where(self.hidden > MIN_PROBABILITY, self.hidden, 0)
        missed = float((weight * away).sum() / max(weight.sum(), 1e-6))
        return (float(self.distance[rows, columns].mean()) + missed) / 2

    def ink_map(self, damage: Damage) -> InkMap:
        """For guided sampling: the likely ink in the lost region, the visible ink elsewhere."""
        visible = visible_ink(damage)
        centres = ((np.arange(MAP_SIDE) + 0.5) / MAP_SIDE * 2 - 1) * REACH  # of the map's cells
        at = ((centres + self.reach) * (SIDE / (2 * self.reach)) - 0.5).astype(np.float32)
        columns = np.tile(at, (MAP_SIDE, 1))
        far = cv2.remap(self.distance, columns, columns.T.copy(), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        cells = np.minimum(np.rint(far * (MAP_SIDE / (2 * REACH)) * FINE), 255).astype(np.uint8)
        distances = np.where(visible.unknown, cells, visible.distances)
        return InkMap(distances, np.zeros_like(visible.unknown), np.concatenate([visible.points, self.ridges()]))

    def ridges(self) -> Doubles:
        """(n, 2) places along the likeliest hidden ink: maxima of its probability across a line, between the cells."""
        padded = np.pad(self.hidden, 1)
        middle, found = padded[1:-1, 1:-1], list[Doubles]()
        sides = ((padded[1:-1, :-2], padded[1:-1, 2:]), (padded[:-2, 1:-1], padded[2:, 1:-1]))
        for axis, (before, after) in enumerate(sides):
            top = (middle > LIKELY) & (middle >= before) & (middle > after)
            low, high, most = before[top], after[top], middle[top]
            rows, columns = np.nonzero(top)
            places: Doubles = np.column_stack([columns, rows]) + np.float64(0.5)
            places[:, axis] += np.clip(0.5 * (low - high) / np.minimum(low - 2 * most + high, -1e-6), -0.5, 0.5)
            found.append(places)
        return np.concatenate(found) * (2 * self.reach / SIDE) - self.reach

    def cells(self, points: Doubles) -> Ints:
        """(n, 2) places -> (2, n) columns and rows; what lies beyond the square is at its edge."""
        places = (points + self.reach) * (SIDE / (2 * self.reach))
        return np.clip(places, 0, SIDE - 1).astype(np.int64).T


def likely_ink(
    network: SketchModel, preparation: Preparation, codes: Tensor, damages: Sequence[Damage]
) -> list[LikelyInk | None]:
    """The likely ink of each drawing, from its code (N, code), its visible strokes and its lost region.

    None where there is no lost region, and everywhere if the network has not learnt to predict ink.
    """
    every: list[LikelyInk | None] = [None] * len(damages)
    if network.ink is None:
        return every
    device, reach = next(network.parameters()).device, preparation.canvas.inner / preparation.canvas.side / 2
    damaged = [number for number, damage in enumerate(damages) if damage.lost]
    for part in parts(len(damaged)):
        numbers = damaged[part]
        seen = Seen([preparation.simplified(damages[number]) for number in numbers])
        visible, lost = (view(seen) for view in ink_views(preparation.canvas).values())
        with torch.inference_mode():
            found = network.ink(*(each.to(device) for each in (codes[numbers], visible, lost)))
        ink = torch.sigmoid(found.logits).cpu() * (lost / 255)
        hidden = (ink - visible / 255).clamp(min=0).numpy()
        distance = (found.distance.clamp(0, 1).cpu() * FARTHEST).numpy()
        for number, own_hidden, own_distance in zip(numbers, hidden, distance, strict=True):
            every[number] = LikelyInk(own_hidden, own_distance, reach)
    return every
