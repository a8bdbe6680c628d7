"""A drawing from a picture: a scan, a photo of paper or a screenshot becomes pen strokes.

The ink is found (`photo_ink.py`), thinned to lines (`skeleton.py`), joined to strokes (`joining.py`), moved to its
middle (`centring.py`), put into the order in which people draw (`pen_order.py`) and simplified.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.centring import centred
from gra2seq.formats.joining import strokes_of
from gra2seq.formats.pen_order import in_drawing_order
from gra2seq.formats.photo_ink import ink_of, without_region
from gra2seq.formats.raster import Picture, read_grey
from gra2seq.formats.skeleton import skeleton_graph
from gra2seq.sketch.region import Region
from gra2seq.sketch.simplify import SIDE, rdp_sketch
from gra2seq.sketch.strokes import Floats, Sketch

WORKING_SIDE = 1024  # px; larger pictures are scaled down: lines stay several pixels wide, and time is bounded
EPSILON = 1.0  # of 255: finer than QuickDraw's 2, because thinning has already rounded off corners
MAX_STROKES = 1000  # more is a photo of something else
REACH = 0.025  # longer sides: a line that ends so near to a lost region, and points to it, was cut by it
STEPS = 26  # places in that reach where the border is sought


def read_picture(
    source: str | Path | bytes, report: Callable[[str], None] | None = None, lost: Region | None = None
) -> Sketch:
    """The drawing in a PNG or JPEG file (a path, or the file's bytes), in pixels of the upright picture, y downwards.

    What lies in the region `lost` is painted over before lines are sought. `report` receives a remark on how the file
    was read, such as that only the first frame was; without it the remark is a Python warning. A picture without a
    drawing, or one that cannot be read, is a `UserError`.
    """
    picture = read_grey(source)
    if picture.remark:
        if report is None:
            warnings.warn(picture.remark, UserWarning, stacklevel=2)
        else:
            report(picture.remark)
    return trace(picture, lost)


def trace(picture: Picture, lost: Region | None = None) -> Sketch:
    """The drawing in a decoded picture, outside of a lost region."""
    if lost:
        picture = replace(picture, grey=without_region(picture.grey, lost))
    height, width = picture.grey.shape
    scale = min(1.0, WORKING_SIDE / max(height, width))
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        grey = np.asarray(cv2.resize(picture.grey, size, interpolation=cv2.INTER_AREA), np.uint8)
        picture = Picture(grey, picture.name, picture.remark)
    ink = ink_of(picture)
    if lost:
        lost.moved(np.full(2, -0.5), scale, -0.5).paint(ink.view(np.uint8), 0)
    graph = skeleton_graph(ink)
    strokes = strokes_of(graph)
    if len(strokes) > MAX_STROKES:
        raise UserError(
            f"{picture.name} shows no drawing: more than {MAX_STROKES} separate lines were found; "
            "give a picture of a drawing on an empty page"
        )
    strokes = in_drawing_order(centred(strokes, ink, graph))
    sketch = Sketch.from_polylines([(stroke + 0.5) / scale - 0.5 for stroke in strokes])
    return _simplified(_led_to(lost, sketch) if lost else sketch)


def _led_to(lost: Region, sketch: Sketch) -> Sketch:
    """Lines that end just before the region, as thinning shortens them there, led on to its border."""
    reach = REACH * (max(sketch.box[2:]) or 1.0)
    strokes = [_led_on(_led_on(stroke, lost, reach)[::-1], lost, reach)[::-1] for stroke in sketch.strokes]
    return Sketch.from_polylines(strokes)


def _led_on(stroke: Floats, lost: Region, reach: float) -> Floats:
    """A line with its last point led on in its direction, if it meets the region there."""
    points = stroke.astype(np.float64)
    before = points[np.hypot(*(points - points[-1]).T) >= reach]
    if not len(before) or lost.contains(points[-1:])[0]:
        return stroke
    way = (points[-1] - before[-1]) / np.hypot(*(points[-1] - before[-1]))
    places = points[-1] + np.linspace(0, reach, STEPS)[:, None] * way
    inside = lost.contains(places)
    return np.concatenate([stroke, places[[inside.argmax()]]]).astype(np.float32) if inside.any() else stroke


def _simplified(sketch: Sketch) -> Sketch:
    """About as many points as QuickDraw's drawings have, where the drawing lies and in its own units.

    Only QuickDraw's rounding to whole numbers is left out; dots are two equal points as there.
    """
    _, _, width, height = sketch.box
    simple = rdp_sketch(sketch, EPSILON * max(width, height) / SIDE)
    dots = np.repeat(simple.lengths == 1, simple.lengths)
    points = np.repeat(simple.points, np.where(dots, 2, 1), axis=0)
    return Sketch(points, np.maximum(simple.lengths, 2), sketch.category, sketch.key)
