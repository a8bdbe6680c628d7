"""The outline of what erasers cover: a few polygons, whatever the length of their paths."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Doubles

RASTER = 512  # pixels along the longer side of what the erasers cover
MARGIN = 2  # blank pixels around it
FINE = 16  # steps of a pixel that OpenCV can place lines at: 2 ** SHIFT
SHIFT = 4
TOLERANCE = 0.75  # pixels that the outline may differ from the raster


def eraser_outline(erasers: Sequence[tuple[ArrayLike, float]]) -> Region:
    """All within the radius of one of the paths [(x, y), …]. The outline is exact to 1/500 of its longer side.

    A long path would be hundreds of overlapping polygons, and every step of the decoder asks which places lie inside:
    the paths are painted together, and the outline of the painted area is followed.
    """
    if not erasers:
        return Region()
    paths = [np.asarray(path, np.float64).reshape(-1, 2) for path, _ in erasers]
    radii = [float(radius) for _, radius in erasers]
    low = np.min([path.min(axis=0) - radius for path, radius in zip(paths, radii, strict=True)], axis=0)
    high = np.max([path.max(axis=0) + radius for path, radius in zip(paths, radii, strict=True)], axis=0)
    scale = RASTER / float((high - low).max())
    pixels = np.zeros((RASTER + 2 * MARGIN + 1,) * 2, np.uint8)
    for path, radius in zip(paths, radii, strict=True):
        _paint(pixels, (path - low) * scale + MARGIN, radius * scale)
    return Region(polygons=tuple((ring - MARGIN) / scale + low for ring in _rings(pixels)))


def _paint(pixels: NDArray[np.uint8], path: Doubles, radius: float) -> None:
    places = np.rint(path * FINE).astype(np.int32)
    thickness = max(round(2 * radius), 1)
    cv2.polylines(pixels, [places], False, 1, thickness, cv2.LINE_8, SHIFT)
    for x, y in places.tolist():
        cv2.circle(pixels, (x, y), max(round(radius * FINE), 1), 1, cv2.FILLED, cv2.LINE_8, SHIFT)


def _rings(pixels: NDArray[np.uint8]) -> list[Doubles]:
    """The painted areas as polygons. A hole is joined to the outline around it by a slit of no width, which the
    even-odd rule does not see."""
    contours, hierarchy = cv2.findContours(pixels, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    rings: dict[int, Doubles] = {}
    holes: list[tuple[int, Doubles]] = []
    for number, contour in enumerate(contours):
        outline = cv2.approxPolyDP(contour, TOLERANCE, True)[:, 0].astype(np.float64)
        if len(outline) < 3:
            continue
        parent = int(hierarchy[0, number, 3])
        if parent < 0:
            rings[number] = outline
        else:
            holes.append((parent, outline))
    for parent, hole in holes:
        if parent in rings:
            outer = rings[parent]
            rings[parent] = np.concatenate([outer, outer[:1], hole, hole[:1]])
    return list(rings.values())
