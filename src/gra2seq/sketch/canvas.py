"""The canvas: the visible strokes of a drawing as pixels, which patches and pictures are cut from.

The canvas is a square of 0 (blank) and 1 (ink). The longer side of the drawing's frame spans `side` pixels, the frame
is centred, a margin keeps the thick pen inside, and half a patch of blank border keeps every crop inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.damage import Damage
from gra2seq.sketch.region import Region, inside
from gra2seq.sketch.strokes import Doubles

Pixels = NDArray[np.uint8]

FARTHEST = 0.15  # longer sides of the frame: larger distances to ink count as this
FINER = 2  # times smaller than those of a picture are the pixels on which its distances are measured


@dataclass(frozen=True)
class Canvas:
    """Sizes in pixels. The defaults are the paper's (patches of 256 on 640) with the released code's pen."""

    side: int = 640  # the sketch's longer side
    pen: int = 16  # thickness: 0.025 x side (released code)
    patch: int = 256

    @property
    def margin(self) -> int:
        return self.pen + 1  # released code

    @property
    def inner(self) -> int:
        """Side of the drawn square, margins included: what the whole view shows."""
        return self.side + 2 * self.margin

    @property
    def pad(self) -> int:
        """Blank border around the drawn square, so that a patch around any pen position never leaves the canvas."""
        return self.patch // 2

    @property
    def padded(self) -> int:
        return self.inner + 2 * self.pad


def place(points: Doubles, canvas: Canvas) -> Doubles:
    """Points in frame units (`Damage.normalised`) as places on the padded canvas, in pixels."""
    return points * canvas.side + canvas.padded / 2


def draw(damage: Damage, canvas: Canvas) -> Pixels:
    """The padded canvas with the visible strokes, 1 on 0, without anti-aliasing.

    The lost region is blank: the thick pen of a stroke that ends at its border does not reach into it.
    """
    size = canvas.padded
    pixels = np.zeros((size, size), np.uint8)
    placed = np.rint(place(damage.normalised(damage.visible.points), canvas)).clip(-size, 2 * size).astype(np.int32)
    cv2.polylines(pixels, _lines(placed, damage), isClosed=False, color=1, thickness=canvas.pen, lineType=cv2.LINE_8)
    if damage.lost:
        lost_on(damage, canvas).paint(pixels, 0)
    return pixels


def lost_on(damage: Damage, canvas: Canvas) -> Region:
    """The lost region in pixels of the padded canvas."""
    return damage.lost.moved(damage.middle, canvas.side / damage.side, canvas.padded / 2)


def lost_view(damage: Damage, canvas: Canvas, side: int) -> Pixels:
    """The lost region as a small picture of 0 to 255, laid as `grey_view` lays the drawing: the share of each pixel."""
    lost = lost_on(damage, canvas)
    if not lost:
        return np.zeros((side, side), np.uint8)
    if lost.polygons:
        pixels = np.zeros((canvas.padded, canvas.padded), np.uint8)
        lost.paint(pixels, 1)
        return grey_view(pixels, canvas, side)
    return _shares_of_boxes(np.rint(lost.boxes) - canvas.pad, canvas.inner, side)


def _shares_of_boxes(boxes: Doubles, inner: int, side: int) -> Pixels:
    """(side, side) of 0 to 255: how much of each pixel of a square of `inner` units lies in one of the boxes.

    The edges of all boxes cut the square into a few cells, each of them inside or not; no pixel is touched.
    """
    boxes = boxes.clip(0, inner)
    across, down = (np.unique(boxes[:, axis::2]) for axis in (0, 1))
    corners = np.stack(np.meshgrid(across[:-1], down[:-1]), axis=-1).reshape(-1, 2)
    within = inside(corners, boxes).reshape(max(len(down) - 1, 0), max(len(across) - 1, 0))
    edges = np.linspace(0, inner, side + 1)[:, None]
    share_y, share_x = (np.diff(cuts.clip(edges[:-1], edges[1:]), axis=1) for cuts in (down, across))  # (side, cells)
    share = share_y @ within @ share_x.T * (side / inner) ** 2
    return np.rint(share * 255).astype(np.uint8)


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


def distance_view(damage: Damage, canvas: Canvas, side: int) -> NDArray[np.float32]:
    """(side, side) distances to the visible lines, laid as `grey_view` lays the drawing; 1 is `FARTHEST` or more."""
    fine = FINER * side
    blank = np.ones((fine, fine), np.uint8)
    inner = canvas.inner / canvas.side  # longer sides of the frame
    placed = (damage.normalised(damage.visible.points) / inner + 0.5) * fine - 0.5
    points = np.rint(placed).clip(-fine, 2 * fine).astype(np.int32)
    cv2.polylines(blank, _lines(points, damage), isClosed=False, color=0)
    far = cv2.distanceTransform(blank, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    far = np.minimum(far * np.float32(inner / fine / FARTHEST), 1)
    return np.asarray(cv2.resize(far, (side, side), interpolation=cv2.INTER_AREA))


def _lines(points: NDArray[np.int32], damage: Damage) -> list[NDArray[np.int32]]:
    """The visible strokes, placed in pixels. OpenCV draws nothing for one point: it becomes a line to itself."""
    strokes = np.split(points, damage.visible.starts[1:])
    return [stroke if len(stroke) > 1 else np.repeat(stroke, 2, axis=0) for stroke in strokes]


def inner_view(pixels: Pixels, canvas: Canvas) -> Pixels:
    """The drawn square, without the blank border."""
    return pixels[canvas.pad : canvas.pad + canvas.inner, canvas.pad : canvas.pad + canvas.inner]
