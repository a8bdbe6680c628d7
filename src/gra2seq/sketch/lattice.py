"""SketchLattice's view of a sketch: the points of a lattice that meet ink."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.canvas import Canvas, Pixels, draw, whole_view
from gra2seq.sketch.damage import Damage

LATTICE = 32  # points along each side
VIEW = 256  # pixels of the picture the lattice lies on
MAX_POINTS = 150
CELLS = 8  # along each side, of SketchLattice+


def lattice_points(view: Pixels) -> NDArray[np.int64]:
    """(n, 2) column and row, in pixels of the 256 x 256 view, of lattice points on ink, row by row.

    Where there are more than MAX_POINTS, that many of them, evenly spread.
    """
    gap = len(view) // LATTICE
    rows, columns = np.nonzero(view[gap // 2 :: gap, gap // 2 :: gap])
    points = np.stack([columns, rows], axis=1) * gap + gap // 2
    if len(points) > MAX_POINTS:
        points = points[np.linspace(0, len(points) - 1, MAX_POINTS).astype(int)]
    return points


def visible_points(damage: Damage, canvas: Canvas) -> NDArray[np.int64]:
    """The lattice points on the visible ink: the paper's masking approach (d)."""
    return lattice_points(whole_view(draw(damage, canvas), canvas, VIEW))


def lattice_centres(pixels: Pixels, canvas: Canvas, cells: int = CELLS) -> NDArray[np.int32]:
    """(n, 2) middles, on the padded canvas, of the cells that hold ink, row by row: SketchLattice+'s patches."""
    edges = canvas.pad + np.arange(cells + 1) * canvas.inner // cells
    inner = pixels[edges[0] : edges[-1], edges[0] : edges[-1]]
    starts = edges[:-1] - edges[0]
    ink = np.maximum.reduceat(np.maximum.reduceat(inner, starts, axis=0), starts, axis=1)
    rows, columns = np.nonzero(ink)
    middles = (edges[:-1] + edges[1:]) // 2
    return np.stack([middles[columns], middles[rows]], axis=1).astype(np.int32)
