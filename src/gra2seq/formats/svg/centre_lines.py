"""Centre lines of filled shapes that are lines drawn by their outline, as brushes and "outline stroke" make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from gra2seq.formats.svg.layout import Shape
from gra2seq.sketch.strokes import Doubles, Floats, Ints

THIN = 1 / 40  # area over squared length of the outline: that of a band ten times as long as wide is 1/48
OUTLINED = ("path", "polygon")  # elements that programs write such lines as
MIN_POINTS = 5  # of an outline, its first point counted twice: a sliver of three corners is no line
BAND_PIXELS = 10.0  # width of a band in the picture that is thinned
MIN_BAND_PIXELS = 2.5  # a narrower one breaks up
MAX_PIXELS = 1024  # longer side of that picture
MAX_BANDS = 300  # of a document: thinning takes about 10 ms each
TOLERANCE = 1.0  # pixels by which a centre line is simplified: it runs in steps of one
SUBPIXEL = 4  # fractional bits of OpenCV's coordinates


@dataclass(frozen=True)
class Band:
    """A line drawn by its outline."""

    lines: list[Doubles]  # its centre lines, (n, 2) each
    width: float


def find_bands(shapes: Sequence[Shape], points: Doubles | Floats, lengths: Ints, counts: Ints) -> dict[int, Band]:
    """Which of the shapes, by their number, are filled bands.

    `points` and `lengths` are those of the outlines of all shapes, of which each has as many as `counts` says.
    """
    bands: dict[int, Band] = {}
    stops, last = np.cumsum(lengths), np.cumsum(counts)
    for number, shape in enumerate(shapes):
        if shape.stroked or not shape.filled or shape.element.tag not in OUTLINED or len(bands) == MAX_BANDS:
            continue
        outlines = range(int(last[number] - counts[number]), int(last[number]))
        own = [points[stops[one] - lengths[one] : stops[one]].astype(np.float64) for one in outlines]
        width = band_width(own)
        if width and (lines := centre_lines(own, width)):
            bands[number] = Band(lines, width)
    return bands


def band_width(outlines: Sequence[Doubles]) -> float:
    """The mean width of a filled shape that is a band: closed, long and with little area; 0 for any other shape."""
    if any(len(line) < MIN_POINTS or (line[0] != line[-1]).any() for line in outlines):
        return 0.0
    length = area = 0.0
    for x, y in (line.T for line in outlines):
        area += float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
        length += float(np.hypot(np.diff(x, append=x[:1]), np.diff(y, append=y[:1])).sum())
    return 2 * abs(area) / length if 0 < abs(area) < THIN * length**2 else 0.0


def centre_lines(outlines: Sequence[Doubles], width: float) -> list[Doubles]:
    """The lines in the middle of a filled band of some width; none if it is too fine for a picture."""
    every = np.concatenate(outlines)
    low, extent = every.min(axis=0), np.ptp(every, axis=0)
    scale = min(BAND_PIXELS / width, MAX_PIXELS / float(extent.max()))
    if width * scale < MIN_BAND_PIXELS:
        return []
    from gra2seq.formats.joining import strokes_of  # only now: thinning needs scikit-image, which loads slowly
    from gra2seq.formats.skeleton import skeleton_graph

    columns, rows = (np.ceil(extent * scale).astype(int) + 5).tolist()
    pixels = np.zeros((rows, columns), np.uint8)
    rings = [np.rint(((line - low) * scale + 2) * (1 << SUBPIXEL)).astype(np.int32) for line in outlines]
    cv2.fillPoly(pixels, rings, 1, cv2.LINE_8, SUBPIXEL)
    lines = []
    for stroke in strokes_of(skeleton_graph(pixels > 0)):
        simple = cv2.approxPolyDP(stroke.astype(np.float32)[:, None], TOLERANCE, False).reshape(-1, 2)
        lines.append((simple.astype(np.float64) - 2) / scale + low)
    return lines
