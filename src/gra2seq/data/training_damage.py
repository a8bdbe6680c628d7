"""Damage that training draws at random: the paper's masks, and what users have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gra2seq.errors import UserError
from gra2seq.sketch.centres import NODES
from gra2seq.sketch.damage import Damage, lose, missing_end, square_hole
from gra2seq.sketch.masking import mask
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Doubles, Sketch

HOLE_SIDES = 0.15, 0.6  # smallest and largest side of a rectangle, of the longer side of the drawing
ERASER_WIDTHS = 0.08, 0.25  # and width of an eraser
ERASER_STEPS = 2, 7  # fewest and most straight movements of an eraser


@dataclass(frozen=True)
class DamageSpec:
    """How sketches of training are damaged: shares of them for each kind; all others have masks."""

    mask: tuple[float, float] = (0.1, 0.1)  # smallest and largest probability that a patch is wiped
    rectangle: float = 0.0
    eraser: float = 0.0
    end: float = 0.0
    end_shares: tuple[float, float] = (0.1, 0.6)  # smallest and largest share of the points that are missing at the end
    true_frame: float = 0.5  # probability that the frame is that of the whole drawing, as where a user gives it

    def draw(self, sketch: Sketch, random: np.random.Generator) -> Damage:
        """The damage of one sketch. A sketch that would be hidden wholly stays intact."""
        noise = random.random(NODES, dtype=np.float32)
        probability, kind, framed = random.uniform(*self.mask), random.random(), random.random() < self.true_frame
        frame = sketch.box if framed else None
        try:
            if kind < self.rectangle:
                place, size = random.random(2), random.uniform(*HOLE_SIDES, 2)
                hole = square_hole(sketch, place.tolist(), size.tolist())
                return lose(sketch, Region.of_boxes([hole]), frame)
            if kind < self.rectangle + self.eraser:
                return lose(sketch, eraser(sketch, random), frame)
            if kind < self.rectangle + self.eraser + self.end:
                return missing_end(sketch, random.uniform(*self.end_shares), frame)
            return mask(sketch, noise, probability)
        except UserError:
            return Damage.none(sketch)


def eraser(sketch: Sketch, random: np.random.Generator) -> Region:
    """The region of an eraser that moves along a random path: a band with round ends."""
    left, top, width, height = sketch.box
    side = max(width, height) or 1.0
    radius = random.uniform(*ERASER_WIDTHS) * side / 2
    turns = np.cumsum(random.normal(0, 0.8, random.integers(*ERASER_STEPS, endpoint=True))) + random.uniform(0, 7)
    steps = np.stack([np.cos(turns), np.sin(turns)], axis=1) * (radius * random.uniform(0.5, 1.5, (len(turns), 1)))
    start = np.array([left, top]) + random.random(2) * (width, height)
    return band(np.concatenate([start[None], start + np.cumsum(steps, axis=0)]), radius)


def band(path: Doubles, radius: float, corners: int = 12) -> Region:
    """All points within `radius` of a polyline (n, 2): one polygon with round ends for each of its segments."""
    if len(path) == 1:
        path = np.repeat(path, 2, axis=0)
    rings = []
    for start, stop in pairwise(path):
        way = np.arctan2(*(stop - start)[::-1])
        turn = np.linspace(0, np.pi, corners // 2 + 1) + np.pi / 2 + way
        arc = radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        rings.append(np.concatenate([start + arc, stop - arc]))
    return Region(polygons=tuple(rings))
