"""Patches: where they are cut (SketchHealer's rule) and the cutting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.canvas import Canvas, Pixels, Walk

NODES = 20  # M of the paper: patches of a sketch, without the whole view
SEGMENTS_PER_PATCH = 4  # a centre at a stroke's first point, then at every 4th drawn segment (released code)

Centres = NDArray[np.int32]  # (n, 2) x, y on the padded canvas


def centres(walk: Walk, most: int = NODES) -> Centres:
    """Centres in drawing order, no more than `most`: the first of them, or some spread over the whole way.

    A sketch with few segments has fewer.
    """
    starts = np.cumsum(walk.lengths) - walk.lengths
    step = np.arange(len(walk.points)) - np.repeat(starts, walk.lengths)  # of the point within its stroke
    every: Centres = walk.points[step % SEGMENTS_PER_PATCH == 0]
    if walk.canvas.spread and len(every) > most:
        return every[np.linspace(0, len(every) - 1, most).round().astype(np.int64)]
    return every[:most]


def snapped(at: Centres, canvas: Canvas) -> Centres:
    """Centres on the canvas's grid, never beyond the drawn square, so that the patches around them stay inside."""
    if canvas.snap == 1:
        return at
    low, high, snap = canvas.pad, canvas.padded - canvas.pad, canvas.snap
    return np.asarray(((at - low + snap // 2) // snap * snap + low).clip(low, high), np.int32)


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
