"""Which pixels of a picture are ink: on a clean page, or on paper with shadows, noise and printed rulings.

The picture becomes a map of contrast, 0 on the page and about 1 on the lines, by dividing out the light on the page.
Rulings fainter than the ink are taken away (`rulings.py`); what stands out against the noise is ink.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.formats.raster import Grey, Picture
from gra2seq.formats.rulings import without_rulings
from gra2seq.formats.skeleton import Mask
from gra2seq.sketch.region import Region

Contrast = NDArray[np.float32]  # (height, width)

FLAT_SPREAD = 4  # grey values around the median that an evenly lit page takes up
FLAT_SHARE = 0.5  # of the pixels lie within that spread if the light is even
WINDOW = 1 / 30  # of the longer side: in uneven light, wider dark areas are table or shadow, not ink
MIN_WINDOW = 21  # px
SEEN = 0.7  # of a square must lie outside of a lost region to tell the page there
DARKEST_PAGE = 0.48  # of its brightest parts: wide areas at the border that are darker are no page
DARK = 60  # grey up to which a page counts as black: contrast is not measured against less
MIN_CONTRAST = 0.1  # of the page's brightness: what is fainter is not ink
NOISE_FACTOR = 4.0  # standard deviations of the noise by which ink stands out
NOISY = 2.0  # grey values, standard deviation from which on a picture is smoothed
BLUR = 1.0  # px, standard deviation of that smoothing
PAGE_BLUR = 3.0  # px, the same before the brightness of the page is taken from its lightest pixels
BLUR_GAIN = 0.28 / BLUR  # white noise that remains after it
STRONG, WEAK = 0.5, 0.35  # of the ink's contrast: ink, and ink if it touches a strong pixel
BLOTCHY = 1.6  # ninth decile of the ink's width over its median; lines of one pen: 1.0 to 1.25 (24 photos of paper)
FAINT = 0.3  # contrast of lines below which blotchy ink is texture: clouds have 0.15 to 0.19, pens on paper over 0.5
SHADES = 0.3  # half-tones away from ink, over ink: blotchy ink with more is shading; at most 0.05 on those photos
SHADES_REACH = 3  # px around ink in which half-tones are its border
MAX_INK_SHARE = 0.75  # of the picture; more is no line drawing
SPECK = 0.3  # squared line widths; smaller blots are dirt
RULED_SPECK = 1.0  # the same where rulings were removed: pieces of them remain


def ink_of(picture: Picture) -> Mask:
    """Find the ink of a drawing, dark on light or light on dark; a `UserError` if there is none."""
    seen = _contrast(picture.grey)
    contrast = without_rulings(seen)
    level = _line_level(contrast)
    if level == 0:
        raise _nothing(picture)
    ink = _hysteresis(contrast, WEAK * level, max(STRONG * level, MIN_CONTRAST))
    ink = _without_specks(ink, SPECK if contrast is seen else RULED_SPECK)
    share = float(ink.mean())
    if share == 0:
        raise _nothing(picture)
    if share > MAX_INK_SHARE:
        raise UserError(
            f"{picture.name} shows no line drawing: {share:.0%} of it is neither page nor thin line; "
            "give a picture of lines on a page"
        )
    if _is_texture(contrast, ink, level):
        raise UserError(
            f"{picture.name} shows no line drawing: what is dark in it is faint and of any width, like clouds or a "
            "texture; give a picture of lines on a page"
        )
    return ink


def without_region(grey: Grey, lost: Region) -> Grey:
    """A picture with the page in place of a region, as it is around: what was in the region has no part in it."""
    inside = np.zeros(grey.shape, np.uint8)
    lost.paint(inside, 1)
    if inside.all():
        raise UserError("the lost region covers all of the picture: nothing is visible to draw it from")
    known = np.where(inside > 0, np.nan, grey.astype(np.float32))
    side = max(MIN_WINDOW, round(max(grey.shape) * WINDOW))
    rows, columns = (range(0, size, side) for size in grey.shape)
    page = np.full((len(rows), len(columns)), np.nan, np.float32)  # a line is thin: the median of a square is the page
    for i, top in enumerate(rows):
        for j, left in enumerate(columns):
            square = known[top : top + side, left : left + side]
            if np.isfinite(square).mean() > SEEN:
                page[i, j] = np.nanmedian(square)
    there = np.isfinite(page)
    if not there.any():  # a small picture, or little of it is left: one brightness for all of the page
        return np.asarray(np.where(inside > 0, np.rint(np.median(grey[inside == 0])), grey), np.uint8)
    near = np.argwhere(there)
    for i, j in np.argwhere(~there):  # squares of the region: the mean of all others, near ones above all
        weights = 1 / (np.square(near - (i, j)).sum(axis=1) ** 2)
        page[i, j] = np.average(page[there], weights=weights)
    height, width = (size * side for size in page.shape)
    smooth = cv2.resize(page, (width, height), interpolation=cv2.INTER_LINEAR)[: grey.shape[0], : grey.shape[1]]
    return np.asarray(np.where(inside > 0, np.rint(smooth), grey), np.uint8)


def _is_texture(contrast: Contrast, ink: Mask, level: float) -> bool:
    """Whether the ink is of many widths and fades into the page, as in a photo of something else than a drawing."""
    half_widths = _half_widths(ink)
    if not half_widths.size:
        return False
    median, wide = np.quantile(half_widths, (0.5, 0.9))
    near = cv2.dilate(ink.astype(np.uint8), np.ones((2 * SHADES_REACH + 1,) * 2, np.uint8)) > 0
    shades = (~near & (contrast >= WEAK * MIN_CONTRAST)).sum() / ink.sum()
    return bool(wide >= BLOTCHY * median and (level < FAINT or shades > SHADES))


def _half_widths(ink: Mask) -> Contrast:
    """Distance to the page along the middle of the ink."""
    reach = np.asarray(cv2.distanceTransform(ink.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_3), np.float32)
    return reach[ink & (reach >= cv2.dilate(reach, np.ones((3, 3), np.uint8)))]


def _line_level(contrast: Contrast) -> float:
    """Typical contrast along the middle of the lines; 0 if there are none."""
    ridge = contrast[(contrast >= MIN_CONTRAST) & (contrast >= cv2.dilate(contrast, np.ones((3, 3), np.uint8)))]
    return float(np.median(ridge)) if ridge.size else 0.0


def _contrast(grey: Grey) -> Contrast:
    """How much darker than the page each pixel is, relative to the page; 0 where noise could be the only reason."""
    if _ink_is_light(grey):
        grey = 255 - grey
    noise = _noise(grey)
    if noise >= NOISY:
        grey = np.asarray(cv2.GaussianBlur(grey, (0, 0), BLUR), np.uint8)
        noise *= BLUR_GAIN
    median = float(np.median(grey))
    if float((np.abs(grey.astype(np.float32) - median) <= FLAT_SPREAD).mean()) >= FLAT_SHARE:
        flat = max(median, DARK)
        return _above((median - grey.astype(np.float32)) / flat, NOISE_FACTOR * noise / flat)
    smooth = np.asarray(cv2.GaussianBlur(grey, (0, 0), PAGE_BLUR), np.uint8) if noise >= NOISY * BLUR_GAIN else grey
    window = max(MIN_WINDOW, round(max(grey.shape) * WINDOW)) | 1
    # Repeating the border makes a strip of table along it wide enough to stay.
    wider = cv2.copyMakeBorder(smooth, window, window, window, window, cv2.BORDER_REPLICATE)
    closed = cv2.morphologyEx(wider, cv2.MORPH_CLOSE, np.ones((window, window), np.uint8))
    page = closed[window:-window, window:-window].astype(np.float32)
    bright: Contrast = np.maximum(page, np.float32(DARK))
    contrast: Contrast = ((page - grey) / bright).astype(np.float32)
    contrast -= np.float32(np.median(contrast))
    contrast[_table(grey, DARKEST_PAGE * float(np.quantile(page, 0.9)), window // 2)] = 0
    return _above(contrast, np.float32(NOISE_FACTOR * noise) / bright)


def _table(grey: Grey, level: float, size: int) -> Mask:
    """What lies around the page: wide areas at the border of the picture darker than `level`."""
    _, label = cv2.connectedComponents((cv2.blur(grey, (size, size)) < level).astype(np.uint8), connectivity=8)
    border = np.unique(np.concatenate([label[0], label[-1], label[:, 0], label[:, -1]]))
    table = np.isin(label, border[border > 0]).astype(np.uint8)
    mask: Mask = cv2.dilate(table, np.ones((2 * size + 1, 2 * size + 1), np.uint8)) > 0  # and the edge of the page
    return mask


def _above(contrast: Contrast, noise: NDArray[np.float32] | float) -> Contrast:
    return np.where(contrast > noise, contrast, np.float32(0))


def _ink_is_light(grey: Grey) -> bool:
    """Whether lines are lighter than what is around them: then large deviations from the local mean are upwards."""
    side = max(3, max(grey.shape) // 9) | 1
    values = grey.astype(np.float32)
    deviation = values - cv2.blur(values, (side, side))
    return bool((deviation**3).sum() > 0)


def _noise(grey: Grey) -> float:
    """Standard deviation of the noise in grey values (Immerkaer 1996, with the median against lines)."""
    mask = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    return float(np.median(np.abs(cv2.filter2D(grey, cv2.CV_32F, mask)))) / (6 * 0.6745)


def _hysteresis(contrast: Contrast, weak: float, strong: float) -> Mask:
    """Pixels above `weak` that hang together with one above `strong`."""
    count, label = cv2.connectedComponents((contrast > weak).astype(np.uint8), connectivity=8)
    kept = np.zeros(count, bool)
    kept[label[contrast > strong]] = True
    kept[0] = False
    mask: Mask = kept[label]
    return mask


def _without_specks(ink: Mask, least: float) -> Mask:
    """Drop blots smaller than `least` squared line widths: too small for a dot of this pen."""
    half_widths = _half_widths(ink)
    width = 2 * float(np.median(half_widths)) - 1 if half_widths.size else 0.0
    count, label, about, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
    kept = about[:, cv2.CC_STAT_AREA] >= least * width**2
    kept[0] = False
    mask: Mask = kept[label] if count > 1 else ink
    return mask


def _nothing(picture: Picture) -> UserError:
    if float(np.median(picture.grey)) <= DARK:
        return UserError(f"{picture.name} is black all over: no drawing is seen; take it again with more light")
    return UserError(
        f"{picture.name} shows no drawing: nothing stands out from the page; use a darker pen or more light"
    )
