"""Maps of what is left of a drawing: how far every place lies from its ink, and where something was lost.

A pen can be steered by them.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from gra2seq.sketch.canvas import Pixels
from gra2seq.sketch.chamfer import Left
from gra2seq.sketch.masking import Flags
from gra2seq.sketch.strokes import Doubles, Ints

SIDE = 128  # cells
REACH = 0.75  # longer sides of the drawing, from its middle to the edges of the map
FINE = 4  # distances are told in quarters of a cell, up to 64 cells
UNKNOWN = 0.02  # longer sides: no further from ink is a place where something was lost, for it may have had some


def ink_map(left: Left) -> Pixels:
    """(SIDE, SIDE) distances to the ink that is left, in cells times FINE. Without ink all places are alike."""
    if not len(left.points):
        return np.zeros((SIDE, SIDE), np.uint8)
    blank = np.ones((SIDE, SIDE), np.uint8)
    x, y = _cells(left.points).T
    blank[y, x] = 0
    cells = cv2.distanceTransform(blank, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    for where in _lost(left):
        np.minimum(cells[where], UNKNOWN * SIDE / (2 * REACH), out=cells[where])
    return np.minimum(np.rint(cells * FINE), 255).astype(np.uint8)


def lost_map(left: Left) -> Flags:
    """(SIDE, SIDE) cells where something was lost."""
    lost = np.zeros((SIDE, SIDE), bool)
    for where in _lost(left):
        lost[where] = True
    return lost


def _lost(left: Left) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of each box that was lost. A hole beside the drawing has no area there."""
    for box in left.lost[(left.lost[:, 2:] > left.lost[:, :2]).all(axis=1)].reshape(-1, 2, 2):
        (from_x, from_y), (to_x, to_y) = _cells(box)
        yield slice(from_y, to_y + 1), slice(from_x, to_x + 1)


def _cells(points: Doubles) -> Ints:
    """(n, 2) places in longer sides around the origin -> columns and rows; what lies beyond is at the edge."""
    return np.clip((points + REACH) * (SIDE / (2 * REACH)), 0, SIDE - 1).astype(np.int64)
