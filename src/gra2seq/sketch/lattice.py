"""SketchLattice's view of a sketch: the points of a lattice that meet ink."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.canvas import Canvas, Pixels, draw, pen_walk, whole_view
from gra2seq.sketch.strokes import Sketch

LATTICE = 32  # points along each side
VIEW = 256  # pixels of the picture the lattice lies on
MOST_POINTS = 150


def lattice_points(seen: Sketch | Pixels, lattice: int = LATTICE, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """(n, 2) column and row, in pixels of the 256 x 256 view, of lattice points on ink; the first `most` by row."""
    if isinstance(seen, Sketch):
        canvas = Canvas(patch=VIEW)
        seen = whole_view(draw(pen_walk(seen, canvas)), canvas)
    gap = len(seen) // lattice
    rows, columns = np.nonzero(seen[gap // 2 :: gap, gap // 2 :: gap])
    return np.stack([columns, rows], axis=1)[:most] * gap + gap // 2
