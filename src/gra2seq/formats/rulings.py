"""Ruled and squared paper: printed lines that run straight across the page and are fainter than the ink.

Long straight runs are looked for near the horizontal and the vertical, at many small tilts, because a photo shows the
rulings turned and in perspective. Only what is as faint as they are is removed, so the drawing over them stays whole.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

Contrast = NDArray[np.float32]  # (height, width), 0 on the page to about 1 on the darkest lines
Mask = NDArray[np.bool_]

MIN_CONTRAST = 0.04  # fainter rulings are not traced
INK_QUANTILE = 0.99  # of the contrast of all lines: the drawing's own, even if nearly all are rulings
FAINTER = 0.75  # of that contrast: the most that a ruling has
ABOVE = 1.6  # times the typical contrast of the rulings: what is darker is ink
MAX_TILT, TILT_STEP = 9.0, 1.5  # degrees, of the rulings against the edges of the picture
RUN = 1 / 16  # of the longer side: length of a straight run
MIN_RUN = 24  # px
FILLED = 0.85  # of a run is seen; the rest is lost in noise
MIN_TOTAL = 3.0  # shorter sides of the picture that all rulings together are long


def without_rulings(contrast: Contrast) -> Contrast:
    """The map of contrast without the rulings of the paper; the same map if there are none."""
    seen = contrast >= MIN_CONTRAST
    if not seen.any():
        return contrast
    most = FAINTER * float(np.quantile(contrast[seen], INK_QUANTILE))
    apart = seen & (cv2.dilate(contrast, np.ones((5, 5), np.uint8)) <= most)  # not the soft border of a dark line
    if np.count_nonzero(apart) < MIN_TOTAL * min(contrast.shape):
        return contrast
    runs = np.zeros(contrast.shape, bool)
    for turned in (False, True):
        own = _runs(seen, turned)
        if np.count_nonzero(own & apart) >= MIN_TOTAL * min(contrast.shape):
            runs |= own
    if not runs.any():
        return contrast
    level = float(np.median(contrast[runs & apart]))
    ruled = cv2.dilate(runs.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return np.where(ruled & (contrast <= ABOVE * level), np.float32(0), contrast)


def _runs(seen: Mask, turned: bool) -> Mask:
    """Pixels on straight runs near the horizontal, or near the vertical if `turned`."""
    picture = np.ascontiguousarray(seen.T if turned else seen).astype(np.uint8) * 255
    length = max(MIN_RUN, round(max(seen.shape) * RUN)) | 1
    height, width = picture.shape
    found = np.zeros_like(picture)
    for tilt in np.arange(-MAX_TILT, MAX_TILT + TILT_STEP / 2, TILT_STEP):
        slope = math.tan(math.radians(float(tilt)))
        margin = math.ceil(abs(slope) * width)
        shear = np.array([[1, 0, 0], [-slope, 1, margin if slope > 0 else 0]])
        level = cv2.warpAffine(picture, shear, (width, height + margin), flags=cv2.INTER_NEAREST)
        full = (cv2.blur(level, (length, 1)) >= FILLED * 255).astype(np.uint8)
        if not full.any():
            continue
        line = np.minimum(cv2.dilate(full, np.ones((1, length), np.uint8)), level).astype(np.uint8)
        back = cv2.warpAffine(line, shear, (width, height), flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP)
        found = np.maximum(found, back).astype(np.uint8)
    mask: Mask = (found.T if turned else found) > 0
    return mask & seen
