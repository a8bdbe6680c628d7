"""Centre lines of filled shapes that are lines drawn by their outline, as brushes and "outline stroke" make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.formats.svg.layout import Shape
from gra2seq.sketch.strokes import Doubles, Floats, Ints

THIN = 1 / 40  # area over squared length of the outline: that of a band ten times as long as wide is 1/48
OUTLINED = ("path", "polygon")  # elements that programs write such lines as
MIN_POINTS = 5  # of an outline, its first point counted twice: a sliver of three corners is no line
BAND_PIXELS = 10.0  # width of a band in the picture that is thinned
MIN_BAND_PIXELS = 2.5  # a narrower one breaks up
MAX_PIXELS = 1024  # longer side of that picture
MAX_OUTLINES = 20  # of one shape: a line that crosses itself has a few
MAX_WORK = 3_000_000  # pixels that are thinned for one document: about half a second
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
    last, stops = np.cumsum(counts), np.cumsum(lengths)
    candidates = [
        number
        for number, shape in enumerate(shapes)
        if shape.filled and not shape.stroked and shape.element.tag in OUTLINED and 0 < counts[number] <= MAX_OUTLINES
    ]
    if not candidates:
        return {}
    ranges = [(int(last[number] - counts[number]), int(last[number])) for number in candidates]
    own_points = [points[stops[begin] - lengths[begin] : stops[end - 1]] for begin, end in ranges]
    own_lengths = [lengths[begin:end] for begin, end in ranges]
    widths = band_widths(np.concatenate(own_points), np.concatenate(own_lengths), counts[candidates])
    bands: dict[int, Band] = {}
    left = MAX_WORK
    for place in np.flatnonzero(widths).tolist():
        outlines = np.split(own_points[place].astype(np.float64), np.cumsum(own_lengths[place])[:-1])
        width = float(widths[place])
        scale = _scale(outlines, width)
        left -= _pixels(outlines, scale) if scale else 0
        if left < 0:
            break
        if scale and (lines := centre_lines(outlines, scale)):
            bands[candidates[place]] = Band(lines, width)
    return bands


def band_widths(points: NDArray[Any], lengths: Ints, counts: Ints) -> Doubles:
    """(shapes,) mean widths of shapes that are bands: closed outlines, long and with little area; 0 of any other."""
    stops = np.cumsum(lengths)
    starts = stops - lengths
    closed = lengths >= MIN_POINTS
    closed[closed] = (points[starts[closed]] == points[stops[closed] - 1]).all(axis=1)
    x, y = points.astype(np.float64).T
    with np.errstate(over="ignore", invalid="ignore"):  # of absurd coordinates no shape is a band
        crosses = np.concatenate([[0], np.cumsum(x[:-1] * y[1:] - x[1:] * y[:-1])])
        sizes = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
        area = np.abs(_sums((crosses[stops - 1] - crosses[starts]) / 2, counts))
        length = _sums(sizes[stops - 1] - sizes[starts], counts)
        is_band = (_sums(closed, counts) == counts) & (area > 0) & (area < THIN * length**2)
        return np.where(is_band, 2 * area / np.where(is_band, length, 1), 0.0)


def _sums(values: NDArray[Any], counts: Ints) -> Doubles:
    """Sums of as many values as each count says, one after the other."""
    totals = np.concatenate([[0], np.cumsum(values, dtype=np.float64)])
    last = np.cumsum(counts)
    return np.asarray(totals[last] - totals[last - counts])


def _scale(outlines: Sequence[Doubles], width: float) -> float:
    """Pixels of a unit in the picture that is thinned; 0 if the band is too fine for a picture."""
    extent = np.ptp(np.concatenate(outlines), axis=0).max()
    scale = min(BAND_PIXELS / width, MAX_PIXELS / float(extent))
    return scale if width * scale >= MIN_BAND_PIXELS else 0.0


def _pixels(outlines: Sequence[Doubles], scale: float) -> int:
    """Work of thinning: pixels of the picture, and some for the start."""
    columns, rows = np.ptp(np.concatenate(outlines), axis=0) * scale + 5
    return int(columns * rows) + 10_000


def centre_lines(outlines: Sequence[Doubles], scale: float) -> list[Doubles]:
    """The lines in the middle of a filled band, found in a picture of so many pixels a unit."""
    every = np.concatenate(outlines)
    low, extent = every.min(axis=0), np.ptp(every, axis=0)
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
