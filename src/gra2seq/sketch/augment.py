"""Small changes that let a model learn more from the same drawings; pictures of whole sketches for a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.canvas import Pixels
from gra2seq.sketch.strokes import Floats, Sketch

LINE = 1 / 90  # width of the pen, of the picture's side
MARGIN = 1 / 16  # of the side, free on all sides of a sketch that is not changed
SUBPIXEL = 4  # bits behind the point of OpenCV's coordinates
MAX_TURN = np.radians(12)
MIN_SIZE = 0.8


def picture(sketch: Sketch, side: int, random: np.random.Generator | None = None) -> Pixels:
    """(side, side) white strokes on black, centred, aspect kept, smooth; with `random`, changed a little first."""
    left, top, width, height = sketch.box
    extent = max(width, height)
    middle = np.array([left + width / 2, top + height / 2])
    points = (sketch.points - middle) / (extent if extent > 0 else 1.0)  # longer side 1, around the origin
    if random is not None:
        points = changed(points, random)
    room = side * (1 - 2 * MARGIN)
    fine = np.rint((points * room + side / 2) * (1 << SUBPIXEL)).astype(np.int32)
    strokes = [np.repeat(s, 2, axis=0) if len(s) == 1 else s for s in np.split(fine, sketch.starts[1:])]
    pixels = np.zeros((side, side), np.uint8)
    cv2.polylines(pixels, strokes, False, 255, max(1, round(side * LINE)), cv2.LINE_AA, SUBPIXEL)
    return pixels


def changed(points: NDArray[Any], random: np.random.Generator) -> Floats:
    """Mirrored half the time, turned, shrunk along each axis and moved, all a little; never out of the box."""
    turn = random.uniform(-MAX_TURN, MAX_TURN)
    turning = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    points = points @ turning
    if random.random() < 0.5:
        points = points * [-1, 1]
    low, high = points.min(axis=0), points.max(axis=0)
    points = points - (low + high) / 2
    extent = max(float((high - low).max()), 1e-6)
    size = random.uniform(MIN_SIZE, 1.0, 2) * min(1.0, 1 / extent)
    points = points * size
    spare = (1 - (high - low) * size) / 2
    moved: Floats = (points + random.uniform(-1, 1, 2) * np.minimum(spare, 0.1)).astype(np.float32)
    return moved


@dataclass(frozen=True)
class Augmentation:
    """How much a sketch may change in training, before it is damaged; the changed one is what is drawn again."""

    stretch: float = 0.0  # each axis grows or shrinks by up to this share (sketch-rnn: 0.15)

    def __bool__(self) -> bool:
        return self.stretch > 0

    def __call__(self, sketch: Sketch, random: np.random.Generator) -> Sketch:
        return sketch.with_points(sketch.points * random.uniform(1 - self.stretch, 1 + self.stretch, 2))
