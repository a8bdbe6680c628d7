"""The centre lines of the ink in a picture, as a graph: nodes are line ends and junctions, edges the lines between.

Thinning (scikit-image) leaves lines one pixel wide. Pixels with two neighbours belong to an
edge, all others are nodes. Arrays are used for everything that touches the whole picture; Python loops only run along
the skeleton.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from skimage.morphology import skeletonize

from gra2seq.sketch.strokes import Doubles, Ints

Mask = NDArray[np.bool_]

# Right, down, left, up, then the diagonals; a diagonal step is redundant where one of its two sides is skeleton too.
_STEPS = np.array([(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)])  # dy, dx
_SIDES = {4: (0, 1), 5: (1, 2), 6: (2, 3), 7: (3, 0)}  # diagonal step -> the two straight steps it combines


@dataclass(frozen=True)
class Edge:
    """A line of the skeleton from node `first` to node `last`; both are -1 for a closed line without a junction."""

    first: int
    last: int
    points: Doubles  # (n, 2) x, y of the pixels along the line, both nodes included

    @property
    def closed(self) -> bool:
        """Whether it is a ring on its own; its last pixel is its first again."""
        return self.first < 0


@dataclass(frozen=True)
class SkeletonGraph:
    """The skeleton of a picture's ink. Isolated pixels are edges of one point from a node to itself."""

    edges: list[Edge]
    nodes: Doubles  # (k, 2) x, y
    radius: Doubles  # (k,) half the line width at each node, in pixels
    line_width: float  # median over the skeleton, in pixels


def skeleton_graph(ink: Mask) -> SkeletonGraph:
    """Thin the ink to lines of one pixel and follow them from node to node."""
    padded = np.pad(ink, 1)  # no pixel lies on the border, so every neighbour exists
    reach = cv2.distanceTransform(padded.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_5)
    thin = _thinned(padded, float(reach.max()))
    rows, columns = np.nonzero(thin)
    points: Doubles = np.column_stack([columns, rows]).astype(np.float64) - 1
    radius = np.maximum(reach[rows, columns].astype(np.float64) - 0.5, 0.5)  # to the edge of the ink, not beyond
    neighbours = _neighbours(thin, rows, columns)
    degree = (neighbours >= 0).sum(axis=1)
    node_pixels = np.flatnonzero(degree != 2)
    edges = _edges(points, neighbours, degree, node_pixels)
    width = 2 * float(np.median(radius)) if len(radius) else 0.0
    return SkeletonGraph(edges, points[node_pixels], radius[node_pixels], width)


def _thinned(ink: Mask, radius: float) -> Mask:
    """Centre lines one pixel wide. `radius`: the largest half width of the ink.

    Zhang and Suen's lines lie best, but their method can wear away a line at exactly 45 degrees from its ends. Where
    ink is left far from any line, that of Lee, Kashyap and Chu is used, which cannot.
    """
    thin: Mask = skeletonize(ink)  # type: ignore[no-untyped-call]
    away = cv2.distanceTransform((~thin).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_5)
    if ink.any() and float(away[ink].max()) > 2 * radius + 2:
        thin = skeletonize(ink, method="lee").astype(bool)  # type: ignore[no-untyped-call]
    return thin


def _neighbours(thin: Mask, rows: Ints, columns: Ints) -> Ints:
    """(n, 8) for each skeleton pixel the numbers of those it is linked to, real ones first, then -1."""
    number = np.full(thin.shape, -1, np.int64)
    number[rows, columns] = np.arange(len(rows))
    linked = number[rows[:, None] + _STEPS[:, 0], columns[:, None] + _STEPS[:, 1]]
    straight = linked[:, :4] >= 0
    for diagonal, (one, other) in _SIDES.items():
        linked[straight[:, one] | straight[:, other], diagonal] = -1
    return -np.sort(-linked, axis=1)


def _edges(points: Doubles, neighbours: Ints, degree: Ints, node_pixels: Ints) -> list[Edge]:
    """Follow every line once; lines without a node are closed."""
    is_inner = (degree == 2).tolist()
    pairs: list[list[int]] = neighbours[:, :2].tolist()  # the two neighbours of an inner pixel
    seen = [False] * len(pairs)
    node_number = {pixel: node for node, pixel in enumerate(node_pixels.tolist())}
    edges = []

    def follow(path: list[int]) -> list[int]:
        """Extend a path that has just entered a line up to the next node or back to its beginning."""
        before, here = path[-2:]
        while is_inner[here] and not seen[here]:
            seen[here] = True
            one, other = pairs[here]
            before, here = here, other if one == before else one
            path.append(here)
        return path

    for pixel, node in node_number.items():
        if degree[pixel] == 0:
            edges.append(Edge(node, node, points[[pixel]]))
        for neighbour in neighbours[pixel, : degree[pixel]].tolist():
            if seen[neighbour] or (not is_inner[neighbour] and neighbour < pixel):
                continue
            path = follow([pixel, neighbour])
            edges.append(Edge(node, node_number[path[-1]], points[path]))
    for pixel in np.flatnonzero(degree == 2).tolist():
        if not seen[pixel]:
            seen[pixel] = True
            path = follow([pixel, pairs[pixel][0]])
            edges.append(Edge(-1, -1, points[path]))
    return edges
