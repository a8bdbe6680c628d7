"""How well a lost region was healed: ends that meet, distance to the original lines there, lines that leave it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gra2seq.drawing.merge import open_ends
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import dense_points
from gra2seq.sketch.region import pieces
from gra2seq.sketch.strokes import Doubles, Sketch

MEETS = 0.012  # longer sides: an end that is this near to a drawn line meets it


@dataclass(frozen=True)
class HealedRegion:
    """Figures of one healed drawing."""

    ends: int  # of visible strokes at the border of the region
    met: int  # of them, by a new line
    distance: float | None  # Chamfer distance to the original lines in the region, in longer sides; None: none there
    outside: int  # new lines that leave the region grown by MEETS


def healed_region(original: Sketch, damage: Damage, healed: Sketch) -> HealedRegion:
    """Compare what a healed drawing, which keeps the visible strokes, has in the lost region with the original."""
    kept = len(damage.visible.lengths)
    new = [damage.normalised(stroke) for stroke in healed.strokes[kept:]]
    drawn = dense_points(new)
    ends = damage.normalised(open_ends(damage))
    truth = dense_points([damage.normalised(piece.points) for piece in pieces(original, damage.lost, within=True)])
    visible = dense_points([damage.normalised(stroke) for stroke in damage.visible.strokes])
    met = int((_nearest(ends, drawn) <= MEETS).sum()) if len(drawn) else 0
    outside = 0
    for line in new:
        points = dense_points([line])
        far = ~damage.lost_normalised.contains(points)
        outside += bool((damage.lost_normalised.distance(points[far]) > MEETS).any()) if far.any() else 0
    if not len(truth):
        return HealedRegion(len(ends), met, None, outside)
    distance = _nearest(truth, drawn if len(drawn) else visible).mean()
    if len(drawn):
        distance = (distance + _nearest(drawn, truth).mean()) / 2
    return HealedRegion(len(ends), met, float(distance), outside)


def _nearest(points: Doubles, others: Doubles) -> Doubles:
    """(n,) distance of each point to the nearest of the others."""
    if not len(points):
        return np.empty(0)
    apart = points[:, None] - others
    nearest: Doubles = np.sqrt((apart * apart).sum(axis=-1).min(axis=1))
    return nearest
