"""The map against a loop over all ink, cell by cell."""

import math

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.chamfer import Left, left_of
from gra2seq.sketch.ink_map import FINE, REACH, SIDE, UNKNOWN, ink_map, lost_map
from gra2seq.sketch.masking import damage

NOWHERE = np.empty((0, 4))
CELL = 2 * REACH / SIDE  # in longer sides


def middle(cell):
    return (cell + 0.5) * CELL - REACH


def off(found, x, y):
    return found[int((y + REACH) / CELL), int((x + REACH) / CELL)] / FINE * CELL


def test_every_cell_says_how_far_the_nearest_ink_is():
    """To a cell's width."""
    sketch = next(iter(doodles(1, seed=3)))
    left = left_of(sketch, damage(sketch, Canvas(640, 16, 256)))
    found = ink_map(left)
    assert found.shape == (SIDE, SIDE)
    for column, row in np.random.default_rng(0).integers(0, SIDE, (300, 2)).tolist():
        nearest = min(math.dist((middle(column), middle(row)), point) for point in left.points)
        assert abs(found[row, column] / FINE * CELL - nearest) < CELL


def test_where_something_was_lost_ink_may_be_near():
    """But no nearer than it is unknown; and ink that is left is ink."""
    line = np.column_stack([np.linspace(-0.5, 0.5, 65), np.full(65, -0.4)])
    left = Left(line, np.array([[-0.2, 0.0, 0.2, 0.3], [0.6, 0.6, 9.0, 9.0]]))
    found = ink_map(left)
    assert off(found, 0.0, -0.4) == 0
    assert off(found, 0.0, -0.2) == pytest.approx(0.2, abs=CELL)
    for x, y in ((0.0, 0.15), (-0.19, 0.01), (0.19, 0.29), (0.74, 0.74)):
        assert off(found, x, y) == pytest.approx(UNKNOWN, abs=CELL / FINE)
    for x, y in ((-0.25, 0.15), (0.0, 0.35), (0.25, 0.15), (0.5, 0.74)):
        assert off(found, x, y) > 0.5
    gone = lost_map(left)
    inside = [[-0.2 < middle(x) < 0.2 and 0 < middle(y) < 0.3 for x in range(SIDE)] for y in range(SIDE)]
    edge = [[middle(x) > 0.6 and middle(y) > 0.6 for x in range(SIDE)] for y in range(SIDE)]
    assert (gone ^ (np.array(inside) | np.array(edge))).sum() < 100, "but for cells that a border cuts"
    assert gone[np.array(inside)].all()
    beside = np.array([[0.7, -0.2, 0.7, 0.2]])
    assert not lost_map(Left(line, beside)).any()
    assert (ink_map(Left(line, beside)) == ink_map(Left(line, NOWHERE))).all(), "a box without area loses nothing"
    near = ink_map(Left(line, np.array([[-0.2, -0.5, 0.2, -0.3]])))
    assert off(near, 0.0, -0.4) == 0
    assert 0 < off(near, 0.0, -0.35) <= UNKNOWN + CELL / FINE


def test_nothing_left_and_ink_beyond_the_edge():
    nothing = Left(np.empty((0, 2)), np.array([[-1.0, -1.0, 1.0, 1.0]]))
    assert not ink_map(nothing).any()
    beyond = ink_map(Left(np.array([[5.0, -5.0]]), NOWHERE))
    assert beyond[0, SIDE - 1] == 0, "at the edge"
    assert beyond[SIDE - 1, 0] == 255, "as far as it can say"
