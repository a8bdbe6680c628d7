"""A healed drawing that keeps the user's lines: the visible strokes, and the drawn lines inside of the lost region.

Where a drawn line leaves the region near the end of a visible one, the two are joined.
"""

from __future__ import annotations

import numpy as np

from gra2seq.sketch.damage import Damage
from gra2seq.sketch.region import Piece, pieces
from gra2seq.sketch.strokes import Doubles, Sketch

JOIN = 0.05  # longer sides of the frame, two pens wide: ends nearer than this are taken for one
AT_BORDER = 0.01  # longer sides: a visible stroke that ends this near to the lost region was cut by it


def keep_lines(damage: Damage, drawn: Sketch) -> Sketch:
    """The visible strokes as they are, then what `drawn`, in the same units, has inside of the lost region."""
    visible = damage.visible
    taken = _joined(list(pieces(drawn, damage.lost, within=True)), open_ends(damage), JOIN * damage.side)
    return Sketch.from_polylines([*visible.strokes, *taken], category=visible.category, key=visible.key)


def open_ends(damage: Damage) -> Doubles:
    """(n, 2) ends of visible strokes at the border of the lost region, where lines go on; closed ones have none."""
    visible = damage.visible
    first, last = visible.starts, visible.starts + visible.lengths - 1
    is_open = (first == last) | (visible.points[first] != visible.points[last]).any(axis=1)
    ends = visible.points[np.unique(np.concatenate([first[is_open], last[is_open]]))]
    places: Doubles = ends.astype(np.float64)
    return np.asarray(places[damage.lost.distance(places) <= AT_BORDER * damage.side])


def _joined(taken: list[Piece], ends: Doubles, reach: float) -> list[Doubles]:
    """Where a taken piece was cut, its end moves to the nearest open end, if one is within reach.

    No piece goes to the same open end with both of its own. Only ends in the grid cells around are compared.
    """
    cells: dict[tuple[int, int], list[int]] = {}
    for number, cell in enumerate(_cells(ends, reach)):
        cells.setdefault(cell, []).append(number)
    lines = []
    for piece in taken:
        points, used = piece.points.astype(np.float64), -1
        for at, cut in ((0, piece.cut_start), (-1, piece.cut_end)):
            if not cut:
                continue
            [(x, y)] = _cells(points[at : at + 1 or None], reach)
            around = [n for i in (x - 1, x, x + 1) for j in (y - 1, y, y + 1) for n in cells.get((i, j), ())]
            near = [n for n in around if n != used]
            away = np.linalg.norm(ends[near] - points[at], axis=1)
            if len(away) and away.min() < reach:
                used = near[int(away.argmin())]
                points[at] = ends[used]
        lines.append(points)
    return lines


def _cells(points: Doubles, width: float) -> list[tuple[int, int]]:
    """Column and row of each point in a grid of cells of this width."""
    return [(int(x), int(y)) for x, y in np.floor(points / (width or 1.0)).tolist()]
