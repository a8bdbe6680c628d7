"""Ruled and squared paper: printed lines that run across the page, evenly spaced and fainter than the ink.

The Hough transform finds them near the horizontal and the vertical. Only what is as faint as they are is removed, and
only where it is part of a long straight run in their direction, so the drawing over them stays whole.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

Contrast = NDArray[np.float32]  # (height, width)
Lines = NDArray[np.float64]  # (n, 2) rho in px, theta in radians, as OpenCV has them

MIN_CONTRAST = 0.04  # of the page's brightness: fainter rulings do no harm
INK_QUANTILE = 0.95  # of the contrast of all lines: the drawing's own, even if most are rulings
MAX_TILT = math.radians(12)  # of the rulings against the edges of the picture
RHO_STEP, THETA_STEP = 2.0, math.radians(0.5)
SUPPORT = 0.3  # of the shorter side: how many pixels of a ruling must be seen
MIN_LINES = 5  # parallel rulings; fewer are the drawing's own
APART = 4.0  # px between two rulings, at least
MAX_LINES = 400  # peaks of the Hough transform that are looked at
EVEN = 0.5  # of the distances between neighbouring rulings lie within a fifth of their median
FAINTER = 0.75  # of the ink's contrast: the most that a ruling has
ABOVE = 1.45  # times the contrast of the rulings: what is darker is ink
RUN = 1 / 14  # of the longer side: a straight run that is part of a ruling
HALF_WIDTH = 2  # px beside the middle of a ruling that belong to it


def without_rulings(contrast: Contrast) -> Contrast:
    """The map of contrast without the rulings of the paper; the same map if there are none."""
    seen = contrast >= MIN_CONTRAST
    if not seen.any():
        return contrast
    most = FAINTER * float(np.quantile(contrast[seen], INK_QUANTILE))
    apart = seen & (cv2.dilate(contrast, np.ones((5, 5), np.uint8)) <= most)  # faint, and not the border of a dark line
    if np.count_nonzero(apart) < MIN_LINES * _votes(contrast):
        return contrast
    families = [lines for lines in (_family(apart, upright) for upright in (False, True)) if len(lines)]
    if not families:
        return contrast
    on_lines = np.zeros(contrast.shape, np.uint8)
    for lines in families:
        _draw(on_lines, lines)
    level = float(np.median(contrast[(on_lines > 0) & apart]))
    faint = seen & (contrast <= ABOVE * level)
    ruled = np.zeros(contrast.shape, bool)
    for lines in families:
        ruled |= _runs(faint, lines)
    return np.where(ruled, np.float32(0), contrast)


def _votes(picture: NDArray[np.generic]) -> int:
    """Pixels that a ruling must have."""
    return round(SUPPORT * min(picture.shape))


def _family(seen: NDArray[np.bool_], upright: bool) -> Lines:
    """Evenly spaced long lines near the horizontal (or upright) direction; none if they are too few."""
    middle = 0.0 if upright else math.pi / 2  # theta is the direction of the normal
    picture = seen.astype(np.uint8)
    limits = {"min_theta": middle - MAX_TILT, "max_theta": middle + MAX_TILT}
    found = cv2.HoughLines(picture, RHO_STEP, THETA_STEP, _votes(seen), **limits)
    if found is None:
        return np.empty((0, 2))
    peaks = _thinned(found[:MAX_LINES, 0, :2].astype(np.float64), seen.shape)
    if len(peaks) < MIN_LINES:
        return np.empty((0, 2))
    gaps = np.diff(np.sort(_middle_position(peaks, seen.shape)))
    even = np.abs(gaps - np.median(gaps)) <= 0.2 * np.median(gaps)
    return peaks if even.mean() >= EVEN else np.empty((0, 2))


def _thinned(lines: Lines, shape: tuple[int, ...]) -> Lines:
    """The best supported of each bundle of nearly equal lines; OpenCV sorts them by support."""
    place = _middle_position(lines, shape)
    kept: list[int] = []
    for number in range(len(lines)):
        if not kept or np.abs(place[kept] - place[number]).min() >= APART:
            kept.append(number)
    return lines[kept]


def _middle_position(lines: Lines, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """(n,) where each line crosses the middle of the picture, across its own direction."""
    height, width = shape
    rho, theta = lines.T
    cosine, sine = np.cos(theta), np.sin(theta)
    upright = np.abs(cosine) > np.abs(sine)
    along_y = (rho - sine * height / 2) / np.where(upright, cosine, 1)
    along_x = (rho - cosine * width / 2) / np.where(upright, 1, sine)
    return np.where(upright, along_y, along_x)


def _draw(canvas: NDArray[np.uint8], lines: Lines) -> None:
    far = float(sum(canvas.shape))
    for rho, theta in lines.tolist():
        foot = np.array([math.cos(theta), math.sin(theta)]) * rho
        along = np.array([-math.sin(theta), math.cos(theta)]) * far
        one, other = np.rint(foot - along).astype(int).tolist(), np.rint(foot + along).astype(int).tolist()
        cv2.line(canvas, one, other, 1, 2 * HALF_WIDTH - 1)


def _runs(faint: NDArray[np.bool_], lines: Lines) -> NDArray[np.bool_]:
    """Pixels on long straight runs in the direction of the lines, in each of the directions that occur."""
    length = max(5, round(max(faint.shape) * RUN)) | 1
    runs = np.zeros(faint.shape, np.uint8)
    picture = faint.astype(np.uint8)
    for theta in sorted({round(math.degrees(theta)) for theta in lines[:, 1]}):
        kernel = np.zeros((length, length), np.uint8)
        half = length // 2
        along = np.array([-math.sin(math.radians(theta)), math.cos(math.radians(theta))]) * half
        one, other = np.rint(half - along).astype(int).tolist(), np.rint(half + along).astype(int).tolist()
        cv2.line(kernel, one, other, 1, 1)
        share = cv2.filter2D(picture, cv2.CV_32F, kernel / np.float32(kernel.sum()), borderType=cv2.BORDER_REFLECT)
        middle = (share >= 0.7).astype(np.uint8)  # a run may have gaps: noise, and ink that crosses it
        runs |= cv2.dilate(middle, kernel) & cv2.dilate(middle, kernel)
    grown = cv2.dilate(runs, np.ones((3, 3), np.uint8))
    return (grown > 0) & faint
