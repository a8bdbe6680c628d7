"""The map of distances to the visible ink against a loop over all ink, cell by cell."""

import math

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.drawing.ink_map import FINE, REACH, SIDE, UNKNOWN, ink_map, lost_map
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import visible_points
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch

CELL = 2 * REACH / SIDE  # in longer sides
UNIT = (-0.5, -0.5, 1.0, 1.0)  # a frame in which drawings are in longer sides


def middle(cell):
    return (cell + 0.5) * CELL - REACH


def distance_at(found, x, y):
    return found[int((y + REACH) / CELL), int((x + REACH) / CELL)] / FINE * CELL


def test_every_cell_has_the_distance_to_the_nearest_ink():
    """To a cell's width."""
    damage = Damage.none(next(iter(doodles(1, seed=3))))
    found, ink = ink_map(damage), visible_points(damage)
    assert found.shape == (SIDE, SIDE)
    for column, row in np.random.default_rng(0).integers(0, SIDE, (300, 2)).tolist():
        nearest = min(math.dist((middle(column), middle(row)), point) for point in ink)
        assert abs(found[row, column] / FINE * CELL - nearest) < CELL


LINE = Sketch.from_polylines([[[-0.5, -0.4], [0.5, -0.4]]])


def of_line(*boxes):
    """The line in a frame of 1, with boxes (left, top, right, bottom) lost."""
    return Damage(LINE, Region(np.array(boxes, float).reshape(-1, 4)), UNIT)


def test_in_the_lost_region_ink_may_be_near():
    """No distance there is larger than that to unknown ink; visible ink stays ink."""
    damage = of_line([-0.2, 0.0, 0.2, 0.3], [0.6, 0.6, 9.0, 9.0])
    found = ink_map(damage)
    assert distance_at(found, 0.0, -0.4) == 0
    assert distance_at(found, 0.0, -0.2) == pytest.approx(0.2, abs=CELL)
    for x, y in ((0.0, 0.15), (-0.19, 0.01), (0.19, 0.29), (0.74, 0.74)):
        assert distance_at(found, x, y) == pytest.approx(UNKNOWN, abs=CELL / FINE)
    for x, y in ((-0.25, 0.15), (0.0, 0.35), (0.25, 0.15), (0.5, 0.74)):
        assert distance_at(found, x, y) > 0.5
    gone = lost_map(damage)
    inside = [[-0.2 < middle(x) < 0.2 and 0 < middle(y) < 0.3 for x in range(SIDE)] for y in range(SIDE)]
    edge = [[middle(x) > 0.6 and middle(y) > 0.6 for x in range(SIDE)] for y in range(SIDE)]
    assert (gone ^ (np.array(inside) | np.array(edge))).sum() < 100, "but for cells that a border cuts"
    assert gone[np.array(inside)].mean() > 0.97
    near = ink_map(of_line([-0.2, -0.5, 0.2, -0.3]))
    assert distance_at(near, 0.0, -0.4) == 0
    assert 0 < distance_at(near, 0.0, -0.35) <= UNKNOWN + CELL / FINE


def test_lost_polygons_are_in_the_map():
    triangle = np.array([[-0.3, -0.3], [0.4, 0.0], [-0.1, 0.4]])
    damage = Damage(LINE, Region.of_polygons([triangle]), UNIT)
    gone = lost_map(damage)
    centres = np.array([[middle(x), middle(y)] for y in range(SIDE) for x in range(SIDE)])
    clear = damage.lost.distance(centres) > 1.5 * CELL
    assert (gone.reshape(-1) == damage.lost.contains(centres))[clear].all()
    assert gone.sum() > 500


def test_ink_beyond_the_map_lies_at_its_edge():
    dot = Sketch.from_polylines([[[5.0, -5.0]]])
    found = ink_map(Damage(dot, Region(), UNIT))
    assert found[0, SIDE - 1] == 0
    assert found[SIDE - 1, 0] == 255, "the largest distance it can hold"
