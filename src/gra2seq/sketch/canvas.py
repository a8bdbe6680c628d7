"""The canvas: a sketch is placed on it once, and drawing, patch centres and masking all follow that one pen walk.

The canvas is a square of 0 (paper) and 1 (ink). The longer side of the sketch spans `side` pixels, the sketch is
centred, a margin keeps the thick pen inside, and half a patch of paper all around keeps every crop inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.strokes import Ints, Sketch

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Canvas:
    """Sizes in pixels. The defaults are the paper's (patches of 256 on 640) with the released code's pen."""

    side: int = 640  # the sketch's longer side
    pen: int = 16  # thickness: 0.025 x side (released code)
    patch: int = 256
    snap: int = 1  # patch centres go to the nearest of a grid of so many pixels: overlapping patches then share blocks
    spread: bool = False  # of too many patch centres those are kept that lie evenly along the way, not the first
    wiped: float = 0.4  # side of what a masked centre loses, of `side`: the paper's patch, for every system alike

    @property
    def margin(self) -> int:
        return self.pen + 1  # released code

    @property
    def inner(self) -> int:
        """Side of the drawn square, margins included: what the whole view shows."""
        return self.side + 2 * self.margin

    @property
    def pad(self) -> int:
        """Paper around the drawn square, so that a patch around any pen position never leaves the canvas."""
        return self.patch // 2

    @property
    def padded(self) -> int:
        return self.inner + 2 * self.pad


@dataclass(frozen=True)
class Walk:
    """The pen's way over the padded canvas, in whole pixels: the one thing drawing and cropping share."""

    points: NDArray[np.int32]  # (P, 2) x, y
    lengths: Ints  # (S,)
    canvas: Canvas

    @property
    def strokes(self) -> list[NDArray[np.int32]]:
        return np.split(self.points, np.cumsum(self.lengths)[:-1])


def pen_walk(sketch: Sketch, canvas: Canvas) -> Walk:
    """Place a sketch: longer side scaled to `canvas.side`, centred. A sketch without extent becomes a dot."""
    points = sketch.points.astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max())
    scale = canvas.side / extent if extent > 0 else 1.0
    placed = (points - (low + high) / 2) * scale + canvas.padded / 2
    return Walk(np.rint(placed).astype(np.int32), sketch.lengths, canvas)


def draw(walk: Walk, into: Pixels | None = None) -> Pixels:
    """Draw the walk, 1 on 0, without anti-aliasing. `into` is a blank canvas to reuse."""
    size = walk.canvas.padded
    pixels = np.zeros((size, size), np.uint8) if into is None else into
    # OpenCV draws nothing for a polyline of one point: a stroke of one point is a line to itself.
    strokes = [stroke if len(stroke) > 1 else np.repeat(stroke, 2, axis=0) for stroke in walk.strokes]
    cv2.polylines(pixels, strokes, isClosed=False, color=1, thickness=walk.canvas.pen, lineType=cv2.LINE_8)
    return pixels


def whole_view(pixels: Pixels, canvas: Canvas, side: int | None = None) -> Pixels:
    """The (masked) drawing at patch size, or at `side`: node 0. Nearest-neighbour sampling keeps it binary."""
    side = side or canvas.patch
    return np.asarray(cv2.resize(inner_view(pixels, canvas), (side, side), interpolation=cv2.INTER_NEAREST), np.uint8)


def grey_view(pixels: Pixels, canvas: Canvas, side: int) -> Pixels:
    """The (masked) drawing as a small picture of 0 to 255: the share of ink in each pixel.

    As OpenCV's INTER_AREA makes it, in half the time: the ink left of and above a place between pixels is
    what lies between the sums there.
    """
    ink = cv2.integral(inner_view(pixels, canvas))  # (inner + 1, inner + 1)
    edges = np.linspace(0, canvas.inner, side + 1)
    whole = np.minimum(edges.astype(np.intp), canvas.inner - 1)
    part = edges - whole
    for _ in "yx":  # each turn sums along one axis and turns the picture over
        ink = ink[whole].T * (1 - part) + ink[whole + 1].T * part
    share = np.diff(np.diff(ink, axis=0), axis=1) * (side / canvas.inner) ** 2
    return np.rint(share * 255).astype(np.uint8)


def inner_view(pixels: Pixels, canvas: Canvas) -> Pixels:
    """The drawn square, without the paper around it."""
    return pixels[canvas.pad : canvas.pad + canvas.inner, canvas.pad : canvas.pad + canvas.inner]
