"""How well a lost region was healed: ends that meet, distance to the original lines there, lines that leave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.drawing.merge import open_ends
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import dense_points
from gra2seq.sketch.region import pieces
from gra2seq.sketch.strokes import Doubles, Ints, Sketch

# of one drawing: `HealedRegion`, the mean distance of its samples to each other, and of two drawings of its category
REGION = ("ends", "met", "distance", "outside", "apart", "apart_in_category")
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


def region_figures(original: Sketch, damage: Damage, samples: Sequence[Sketch], other: Sketch) -> list[float]:
    """The figures of `REGION`: of the first sample, of all, and of another drawing of the category; NaN: unknown."""
    first = healed_region(original, damage, samples[0])
    figures = [first.ends, first.met, np.nan if first.distance is None else first.distance, first.outside]
    if len(samples) < 2:
        return [*figures, np.nan, np.nan]
    kept = len(damage.visible.lengths)
    drawn = [dense_points([damage.normalised(line) for line in one.strokes[kept:]]) for one in samples]
    pairs = [_apart(*pair) for pair in combinations(drawn, 2)]
    placed = other.with_points(_placed(other, original))
    true = [
        dense_points([damage.normalised(piece.points) for piece in pieces(one, damage.lost, within=True)])
        for one in (original, placed)
    ]
    known = [pair for pair in pairs if not np.isnan(pair)]
    return [*figures, float(np.mean(known)) if known else np.nan, _apart(*true)]


def region_row(region: Doubles) -> dict[str, Any]:
    """Columns of a table from figures (N, len(REGION)); None where nothing was measured."""
    ends, met, distance, outside, apart, in_category = region.T
    there, both = ~np.isnan(ends), ~np.isnan(apart) & ~np.isnan(in_category)
    return {
        "ends": int(ends[there].sum()) if there.any() else None,
        "ends_met": float(met[there].sum() / ends[there].sum()) if ends[there].sum() else None,
        "region_chamfer": None if np.isnan(distance).all() else float(np.nanmean(distance)),
        "lines_outside": int(outside[there].sum()) if there.any() else None,
        "diversity": float(apart[both].mean() / in_category[both].mean()) if in_category[both].sum() else None,
    }


def next_of_category(categories: NDArray[np.integer]) -> Ints:
    """(N,) for each drawing the number of the next one of its category; the first follows the last."""
    following = np.arange(len(categories))
    for category in np.unique(categories):
        own = np.flatnonzero(categories == category)
        following[own] = np.roll(own, -1)
    return following


def _placed(sketch: Sketch, like: Sketch) -> Doubles:
    """The points of a drawing moved and scaled to the centre and longer side of another."""
    (x, y, width, height), (to_x, to_y, to_width, to_height) = sketch.box, like.box
    scale = (max(to_width, to_height) or 1.0) / (max(width, height) or 1.0)
    middle, goal = np.array([x + width / 2, y + height / 2]), np.array([to_x + to_width / 2, to_y + to_height / 2])
    return np.asarray((sketch.points.astype(np.float64) - middle) * scale + goal)


def _apart(one: Doubles, other: Doubles) -> float:
    """Chamfer distance of two sets of points; 0 if both are empty, NaN if one is."""
    if not len(one) or not len(other):
        return np.nan if len(one) or len(other) else 0.0
    return float((_nearest(one, other).mean() + _nearest(other, one).mean()) / 2)
