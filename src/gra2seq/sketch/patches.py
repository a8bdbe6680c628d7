"""Patches: squares of the canvas around pen positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.canvas import Canvas, Pixels, place
from gra2seq.sketch.strokes import Doubles

Centres = NDArray[np.int32]  # (n, 2) x, y on the padded canvas


def window(centre: NDArray[np.int32], canvas: Canvas) -> tuple[slice, slice]:
    """Rows and columns of the patch around a centre."""
    x, y = int(centre[0]) - canvas.pad, int(centre[1]) - canvas.pad
    return slice(y, y + canvas.patch), slice(x, x + canvas.patch)


def crop(pixels: Pixels, at: Centres, canvas: Canvas, into: Pixels | None = None) -> Pixels:
    """(n, patch, patch) patches around the centres; `into` is memory to reuse."""
    patches = np.empty((len(at), canvas.patch, canvas.patch), np.uint8) if into is None else into[: len(at)]
    for patch, centre in zip(patches, at, strict=True):
        patch[:] = pixels[window(centre, canvas)]
    return patches


def on_canvas(points: Doubles, canvas: Canvas) -> Centres:
    """Normalised points (frame's longer side 1, centre at the origin) as centres whose patches lie on the canvas."""
    return np.rint(place(points, canvas)).clip(canvas.pad, canvas.padded - canvas.pad).astype(np.int32)
