"""Public ways to turn a picture into lines, to compare ours with: each from the bytes of a file to a `Sketch`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.formats.raster import read_grey
from gra2seq.formats.skeleton import skeleton_graph
from gra2seq.formats.svg.reader import read_svg
from gra2seq.formats.tracing import read_picture
from gra2seq.sketch.simplify import simplify_in_place
from gra2seq.sketch.strokes import Sketch


def plain_skeleton(file: bytes) -> Sketch:
    """Otsu's threshold and scikit-image's skeleton; every line between two nodes is a stroke."""
    return _simplified([edge.points for edge in skeleton_graph(_otsu(file) > 0).edges])


def opencv_contours(file: bytes) -> Sketch:
    """Otsu's threshold and the outlines of the ink."""
    contours, _ = cv2.findContours(_otsu(file), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    return _simplified([np.concatenate([contour[:, 0], contour[:1, 0]]).astype(np.float64) for contour in contours])


def vtracer_outlines(file: bytes) -> Sketch:
    """vtracer's outlines of the black areas."""
    vtracer = importlib.import_module("vtracer")

    svg = vtracer.convert_raw_image_to_svg(file, img_format="png", colormode="binary")
    return simplify_in_place(read_svg(svg.encode()))


def _otsu(file: bytes) -> NDArray[np.uint8]:
    return np.asarray(cv2.threshold(read_grey(file).grey, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)[1], np.uint8)


def _simplified(strokes: list[NDArray[np.float64]]) -> Sketch:
    return simplify_in_place(Sketch.from_polylines(strokes))


METHODS: dict[str, Callable[[bytes], Sketch]] = {
    "gra2seq": read_picture,
    "plain skeleton": plain_skeleton,
    "opencv contours": opencv_contours,
}
if importlib.util.find_spec("vtracer"):
    METHODS["vtracer"] = vtracer_outlines
