"""What guided sampling looks up of a drawing: the distance to its ink, points along it, and what is unknown."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from gra2seq.sketch.canvas import Pixels
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import visible_points
from gra2seq.sketch.region import Flags
from gra2seq.sketch.strokes import Doubles, Ints

SIDE = 128  # cells
REACH = 0.75  # frames' longer sides, from the centre to the edges of the map
FINE = 4  # distances are counted in quarters of a cell, up to 64 cells
UNKNOWN = 0.02  # longer sides: inside of the lost region no distance is larger, for ink may have been there


@dataclass(frozen=True)
class InkMap:
    """The ink of one drawing, in frame units; a map's cells count from the frame's centre minus REACH."""

    distances: Pixels  # (SIDE, SIDE) to the nearest ink, in cells times FINE
    unknown: Flags  # (SIDE, SIDE) where nothing is known of the ink
    points: Doubles  # (n, 2) along the ink


def visible_ink(damage: Damage) -> InkMap:
    """The visible strokes; in the lost region nothing is known."""
    return InkMap(ink_map(damage), lost_map(damage), visible_points(damage))


def ink_map(damage: Damage) -> Pixels:
    """(SIDE, SIDE) distances to the visible ink, in cells times FINE."""
    blank = np.ones((SIDE, SIDE), np.uint8)
    x, y = _cells(visible_points(damage)).T
    blank[y, x] = 0
    cells = cv2.distanceTransform(blank, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    cells = np.where(lost_map(damage), np.minimum(cells, UNKNOWN * SIDE / (2 * REACH)), cells)
    return np.minimum(np.rint(cells * FINE), 255).astype(np.uint8)


def lost_map(damage: Damage) -> Flags:
    """(SIDE, SIDE) cells that lie in the lost region."""
    lost = np.zeros((SIDE, SIDE), np.uint8)
    if damage.lost:
        scale = SIDE / (2 * REACH)
        damage.lost_normalised.moved(np.full(2, -REACH), scale).paint(lost, 1)
    return lost > 0


def _cells(points: Doubles) -> Ints:
    """(n, 2) places in frame units -> columns and rows; what lies beyond the map is at its edge."""
    return np.clip((points + REACH) * (SIDE / (2 * REACH)), 0, SIDE - 1).astype(np.int64)
