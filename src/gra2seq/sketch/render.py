"""Sketches as pictures for people: one drawing, or a contact sheet of many with titles."""

from __future__ import annotations

import math
import unicodedata
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

Picture = NDArray[np.uint8]

BLANK_VALUE, INK_VALUE, TEXT_VALUE = 255, 0, 110  # grey levels of pixels
TINT = (170, 200, 255)  # of a region, blue, green, red: a light orange
MAX_SHEET = 36  # regions on one sheet
LINE_WIDTH = 1 / 90  # of the picture's side
MARGIN = 1 / 16  # of the picture's side, free on all four sides
GAP = 1 / 16  # between the cells of a sheet, of a cell's side
TEXT_HEIGHT = 1 / 10  # of a cell's side
FINER = 4  # a line is drawn at this many times the resolution and averaged, so that it is smooth at every width
SUBPIXEL = 4  # fractional bits of OpenCV's coordinates
MAX_SIDE = 20_000  # px of a picture


def render(sketch: Sketch, size: int = 256, width: float | None = None) -> Picture:
    """Black lines on white, (size, size): centred, aspect kept, antialiased. `width` of the line in pixels."""
    _check_size(size)
    line = max(1.0, size * LINE_WIDTH) if width is None else width
    left, top, box_width, box_height = sketch.box
    side = max(box_width, box_height)
    room = max(size * (1 - 2 * MARGIN) - line, 1.0)
    scale = room / side if side > 0 else 1.0
    middle = np.array([left + box_width / 2, top + box_height / 2])
    places = (sketch.points.astype(np.float64) - middle) * scale + size / 2
    fine = np.rint((places * FINER - 0.5) * (1 << SUBPIXEL)).astype(np.int32)
    thick = max(1, round(line * FINER))
    canvas = np.full((size * FINER, size * FINER), BLANK_VALUE, np.uint8)
    strokes = [np.repeat(stroke, 2, axis=0) if len(stroke) == 1 else stroke for stroke in _split(fine, sketch)]
    cv2.polylines(canvas, strokes, False, INK_VALUE, thick, cv2.LINE_AA, SUBPIXEL)
    return np.asarray(cv2.resize(canvas, (size, size), interpolation=cv2.INTER_AREA), np.uint8)


def contact_sheet(
    rows: Sequence[Sequence[Sketch | Picture | None]],
    size: int = 160,
    titles: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
) -> Picture:
    """Drawings, or grey pictures, in rows and columns; None leaves a cell empty.

    `titles` stand above the columns, `labels` to the left of the rows; text that is too long is cut.
    """
    _check_size(size)
    columns = max((len(row) for row in rows), default=0)
    if columns == 0:
        raise UserError("there is no drawing to put on a sheet")
    if titles is not None and len(titles) != columns:
        raise UserError(f"{len(titles)} titles for {columns} columns")
    if labels is not None and len(labels) != len(rows):
        raise UserError(f"{len(labels)} labels for {len(rows)} rows")
    gap, text = max(2, round(size * GAP)), max(10, round(size * TEXT_HEIGHT))
    words = [_text(label, text, size) for label in labels or ()]
    left = gap + (max(word.shape[1] for word in words) + gap if words else 0)
    top = gap + (text * 2 if titles else 0)
    step = size + gap
    height, width = top + step * len(rows), left + step * columns
    if max(height, width) > MAX_SIDE:
        raise UserError(f"a sheet of {width} x {height} px is too large: show fewer drawings or smaller ones")
    sheet = np.full((height, width), BLANK_VALUE, np.uint8)
    for column, title in enumerate(titles or ()):
        word = _text(title, text, size)
        _put(sheet, word, gap, left + step * column + (size - word.shape[1]) // 2)
    for number, row in enumerate(rows):
        if words:
            word = words[number]
            _put(sheet, word, top + step * number + (size - word.shape[0]) // 2, left - gap - word.shape[1])
        for column, cell in enumerate(row):
            if cell is not None:
                shown = render(cell, size) if isinstance(cell, Sketch) else cv2.resize(cell, (size, size))
                _put(sheet, np.asarray(shown, np.uint8), top + step * number, left + step * column)
    return sheet


def render_region(sketch: Sketch, region: Region | None, size: int = 512) -> Picture:
    """Black lines on white and a tinted region behind them, in colour, (size, size, 3): blue, green, red."""
    corners = np.concatenate([sketch.points, *(region.rings if region else ())]).astype(np.float64)
    low, high = corners.min(axis=0), corners.max(axis=0)
    scale = size * (1 - 2 * MARGIN) / (float((high - low).max()) or 1.0)
    middle = (low + high) / 2
    picture = np.full((size, size, 3), BLANK_VALUE, np.uint8)
    if region:
        tinted = np.zeros((size, size), np.uint8)
        region.moved(middle, scale, size / 2).paint(tinted, 1)
        picture[tinted > 0] = TINT
    fine = np.rint(((sketch.points - middle) * scale + size / 2) * (1 << SUBPIXEL)).astype(np.int32)
    strokes = [np.repeat(stroke, 2, axis=0) if len(stroke) == 1 else stroke for stroke in _split(fine, sketch)]
    cv2.polylines(picture, strokes, False, (INK_VALUE,) * 3, max(1, round(size * LINE_WIDTH)), cv2.LINE_AA, SUBPIXEL)
    return picture


def region_sheet(drawings: Sequence[tuple[Sketch, Region | None]]) -> Picture:
    """`render_region` of several drawings in a grid that is nearly square; at most MAX_SHEET of them."""
    shown = [render_region(sketch, region) for sketch, region in drawings[:MAX_SHEET]]
    columns = math.ceil(math.sqrt(len(shown)))
    shown += [np.full_like(shown[0], BLANK_VALUE)] * (-len(shown) % columns)
    rows = [np.concatenate(shown[start : start + columns], axis=1) for start in range(0, len(shown), columns)]
    return np.concatenate(rows)


def write_png(path: str | Path, picture: Picture) -> None:
    """Write grey or (blue, green, red) pixels, OpenCV's order; completely or not at all."""
    done, data = cv2.imencode(".png", picture)
    if not done:
        raise UserError(f"cannot make a PNG of a picture of shape {picture.shape}")
    with atomic_write(path) as temporary:
        temporary.write_bytes(data.tobytes())


def printable(words: str) -> str:
    """Text as a font or a terminal can show it: without control characters and unpaired surrogates."""
    kinds = ((letter, unicodedata.category(letter)) for letter in words)
    return "".join(letter if kind not in ("Cc", "Cs") else " " if letter.isspace() else "�" for letter, kind in kinds)


def _split(points: NDArray[np.int32], sketch: Sketch) -> list[NDArray[np.int32]]:
    return np.split(points, sketch.starts[1:])


def _put(sheet: Picture, picture: Picture, top: int, left: int) -> None:
    height, width = picture.shape
    sheet[top : top + height, left : left + width] = picture


def _text(words: str, height: int, longest: int) -> Picture:
    """Grey letters on white, no wider than `longest`; a box for each letter that the font lacks."""
    font, words = _font(), printable(words)
    font.set_size(height * 0.75, 96)  # points: 72 to the inch, where a pixel is 1/96
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ ", UserWarning)  # missing letters are shown as boxes
        font.set_text(words or " ")
        while font.get_width_height()[0] / 64 > longest - 2 and len(words) > 1:
            words = words.rstrip("…")[:-1] + "…"
            font.set_text(words)
    font.draw_glyphs_to_bitmap(antialiased=True)
    ink = np.asarray(font.get_image(), np.float32) / 255
    return np.rint(BLANK_VALUE - (BLANK_VALUE - TEXT_VALUE) * ink).astype(np.uint8)[:, :longest]


@lru_cache(maxsize=1)
def _font() -> FT2Font:
    """matplotlib's own, loaded only when there is text: OpenCV's letters are ASCII only and jagged."""
    from matplotlib import get_data_path
    from matplotlib.ft2font import FT2Font

    return FT2Font(str(Path(get_data_path()) / "fonts/ttf/DejaVuSans.ttf"))


def _check_size(size: int) -> None:
    if not 1 <= size <= MAX_SIDE // FINER:
        raise UserError(f"a picture of {size} px is not drawn: choose 1 to {MAX_SIDE // FINER}")
