"""Traced strokes to fractions of a pixel: in the middle of the ink, and as long as the pen drew them.

Thinning returns whole pixels, up to one beside the middle of a line, and it wears lines away at their ends. Both are
undone here from the distance of the ink's pixels to the page.
"""

from __future__ import annotations

import math
from collections import Counter

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.formats.skeleton import Mask, SkeletonGraph
from gra2seq.sketch.strokes import Doubles

ALONG = 3  # points before and after a point, which tell the direction of its line
SMOOTH = 1.0  # px, standard deviation: distances to the page come in steps, too
RIDGE = 1e-3  # px, how much lower the distance must be beside a line for its middle to be looked for
MAX_SHIFT = 1.0  # px across the line
SKIP = 0.25  # line widths at an end that are not followed
LOOK_BACK = 1.5  # line widths along which the direction at an end is measured
MIN_LOOK_BACK = 4.0  # px
MAX_AHEAD = 2.0  # line widths within which the ink must end ahead
STEP = 0.25  # px


def centred(strokes: list[Doubles], ink: Mask, graph: SkeletonGraph) -> list[Doubles]:
    """Strokes of whole pixels -> the same strokes in the middle of the ink, loose ends half a line width from its edge.

    Ends at a junction, and strokes of one or two points, stay where they are.
    """
    degree = Counter(node for edge in graph.edges for node in (edge.first, edge.last))
    loose = {tuple(graph.nodes[node]) for node, count in degree.items() if count == 1}
    distance = cv2.distanceTransform(np.pad(ink, 1).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    smooth = np.asarray(cv2.GaussianBlur(distance, (0, 0), SMOOTH), np.float32)
    moved = []
    for stroke in strokes:
        if len(stroke) > 2:
            first, last = (tuple(stroke[end]) in loose for end in (0, -1))
            if first:
                stroke = _with_end(stroke, ink, graph.line_width)
            if last:
                stroke = _with_end(stroke[::-1], ink, graph.line_width)[::-1]
            stroke = _in_the_middle(stroke, smooth)
        moved.append(stroke)
    return moved


def _with_end(stroke: Doubles, ink: Mask, width: float) -> Doubles:
    """The stroke begun anew: straight, and where the edge of the ink ahead is half a line width away.

    The first pixels of a skeleton may lead aside into a corner of the line's end.
    """
    steps = np.diff(stroke, axis=0)
    walked = np.concatenate([[0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))])
    if walked[-1] < width:
        return stroke
    begin, behind = np.searchsorted(walked, (SKIP * width, min(max(LOOK_BACK * width, MIN_LOOK_BACK), walked[-1])))
    away = stroke[begin] - stroke[behind]
    size = math.hypot(*away)
    if size == 0:
        return stroke
    ahead = np.arange(0.0, MAX_AHEAD * width + 2, STEP)
    columns, rows = np.rint(stroke[begin] + ahead[:, None] * (away / size)).astype(np.int64).T
    height, length = ink.shape
    inside = (columns >= 0) & (columns < length) & (rows >= 0) & (rows < height)
    inside[inside] = ink[rows[inside], columns[inside]]
    longer = float(ahead[np.argmin(inside)]) - width / 2
    if inside.all() or longer < 0:
        return stroke  # the line runs on into other ink, or bends
    return np.concatenate([[stroke[begin] + longer * (away / size)], stroke[begin:]])


def _in_the_middle(stroke: Doubles, distance: NDArray[np.float32]) -> Doubles:
    """The stroke with its inner points moved across the line to the largest distance to the page.

    `distance`: to the page, with a border of one pixel around the picture.
    """
    number = np.arange(1, len(stroke) - 1)
    along = stroke[np.minimum(number + ALONG, len(stroke) - 1)] - stroke[np.maximum(number - ALONG, 0)]
    size = np.hypot(along[:, 0], along[:, 1])
    across = np.column_stack([-along[:, 1], along[:, 0]]) / np.where(size > 0, size, 1)[:, None]
    places = stroke[1:-1] + np.array([-1.0, 0.0, 1.0])[:, None, None] * across + 1
    x, y = np.ascontiguousarray(places.transpose(2, 0, 1), np.float32)
    left, here, right = cv2.remap(distance, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    bend = left - 2 * here + right  # of the parabola through the three
    ridge = bend < -RIDGE
    shift = np.where(ridge, (left - right) / np.where(ridge, 2 * bend, 1), 0).clip(-MAX_SHIFT, MAX_SHIFT)
    moved = stroke.astype(np.float64)
    moved[1:-1] += shift[:, None] * across
    return moved
