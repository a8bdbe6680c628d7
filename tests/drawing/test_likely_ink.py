"""Likely ink: distances to it against loops, its map beside the visible ink, and what it changes in drawings."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import gra2seq
from gra2seq.drawing.best_of import BestOf
from gra2seq.drawing.ink_map import REACH, visible_ink
from gra2seq.drawing.ink_map import SIDE as MAP_SIDE
from gra2seq.drawing.likely_ink import LIKELY, MIN_PROBABILITY, LikelyInk, likely_ink
from gra2seq.nn.ink_predictor import SIDE, PredictedInk
from gra2seq.sketch.canvas import FARTHEST
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import dense_points
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import BOX, Sketch

R = 0.6  # reach
CELL = 2 * R / SIDE
LOST = (-0.25, -0.25, 0.25, 0.25)


def middle(cell):
    return (cell + 0.5) * CELL - R


def ink_along(y):
    """Ink along a horizontal line, likelier the nearer, and the distances to it."""
    across = np.abs(middle(np.arange(SIDE)) - y)
    hidden = np.tile(np.clip(1 - across / (2 * CELL), 0, 1)[:, None], (1, SIDE)).astype(np.float32)
    distance = np.tile(np.minimum(across, FARTHEST)[:, None], (1, SIDE)).astype(np.float32)
    return LikelyInk(hidden, distance, R)


def line(y, left=-0.25, right=0.25):
    return [np.array([[left, y], [right, y]])]


def slow_expected_distance(likely, lines):
    points, every = dense_points(lines), []
    for x, y in points:
        column, row = (min(max(int((v + R) / CELL), 0), SIDE - 1) for v in (x, y))
        every.append(float(likely.distance[row, column]))
    cells = [tuple(min(max(int((v + R) / CELL), 0), SIDE - 1) for v in point) for point in points]
    missed = total = 0.0
    for row, column in np.ndindex(SIDE, SIDE):
        weight = float(likely.hidden[row, column])
        if weight > MIN_PROBABILITY:
            nearest = min(math.dist(cell, (column, row)) for cell in set(cells)) * CELL
            missed, total = missed + weight * min(nearest, FARTHEST), total + weight
    return (np.mean(every) + missed / total) / 2


def test_expected_distance_against_a_slow_twin():
    random = np.random.default_rng(0)
    hidden = np.zeros((SIDE, SIDE), np.float32)
    hidden[20:40, 25:45] = random.random((20, 20))
    likely = LikelyInk(hidden, random.random((SIDE, SIDE)).astype(np.float32) * FARTHEST, R)
    lines = [random.uniform(-0.3, 0.3, (4, 2)), random.uniform(-0.3, 0.9, (3, 2))]
    assert likely.expected_distance(lines) == pytest.approx(slow_expected_distance(likely, lines), rel=0.03)


def test_the_line_where_ink_is_likely_is_nearest():
    likely = ink_along(0.1)
    found = [likely.expected_distance(line(y, -R, R)) for y in (0.1, 0.15, 0.2)]
    assert found == sorted(found)
    assert found[0] < CELL
    assert likely.expected_distance(line(0.1, -R, 0.0)) > found[0], "half of the likely ink is not drawn"


def test_no_lines_are_right_where_no_ink_is_likely():
    empty = LikelyInk(np.zeros((SIDE, SIDE), np.float32), np.full((SIDE, SIDE), FARTHEST, np.float32), R)
    assert empty.expected_distance([]) == 0
    assert empty.expected_distance(line(0.1)) == pytest.approx(FARTHEST / 2)
    assert ink_along(0.1).expected_distance([]) > FARTHEST / 2


def test_ridges_run_along_the_likeliest_ink_between_the_cells():
    for y in (0.1, 0.1 + CELL / 3):
        ridges = ink_along(y).ridges()
        ridges = ridges[np.abs(ridges[:, 0]) < R - CELL]  # at the edge of the square everything ends
        assert len(ridges) == SIDE - 2
        assert np.abs(ridges[:, 1] - y).max() < CELL / 4
    assert not len(LikelyInk(np.full((SIDE, SIDE), LIKELY / 2, np.float32), np.zeros((SIDE, SIDE)), R).ridges())


def test_in_the_lost_region_the_map_tells_likely_ink_and_elsewhere_the_visible_ink():
    damage = damaged()
    visible, joined = visible_ink(damage), ink_along(0.1).ink_map(damage)
    lost = visible.unknown
    assert np.array_equal(joined.distances[~lost], visible.distances[~lost])
    assert not joined.unknown.any(), "candidates are compared everywhere"
    size = 2 * REACH / MAP_SIDE
    for row, column in np.argwhere(lost)[::37].tolist():
        y = (row + 0.5) * size - REACH
        assert joined.distances[row, column] / 4 * size == pytest.approx(min(abs(y - 0.1), FARTHEST), abs=CELL)
    assert len(joined.points) >= len(visible.points) + SIDE


def damaged():
    visible = Sketch.from_polylines([[[-0.5, 0.0], [-0.25, 0.0]], [[0.25, 0.0], [0.5, 0.0]]])
    return Damage(visible, Region(np.array([LOST])), (-0.5, -0.5, 1.0, 1.0))


class Known(nn.Module):
    """Predicts the same ink for all."""

    def __init__(self, likely):
        super().__init__()
        self.logits = torch.logit(torch.from_numpy(likely.hidden), eps=1e-6)
        self.distance = torch.from_numpy(likely.distance) / FARTHEST

    def forward(self, code, visible, lost):
        self.given = visible, lost
        return PredictedInk(*(each.expand(len(code), -1, -1) for each in (self.logits, self.distance)))


@pytest.fixture(scope="module")
def model():
    return gra2seq.load()


def test_ink_is_predicted_only_where_something_is_lost(model):
    whole = Damage.none(damaged().visible)
    network, codes = model.network, torch.from_numpy(model.encode([damaged(), whole]))
    ink, network.ink = network.ink, None
    try:
        assert likely_ink(network, model.preparation, codes, [damaged(), whole]) == [None, None]
        network.ink = Known(ink_along(0.1))
        first, second = likely_ink(network, model.preparation, codes, [damaged(), whole])
        assert second is None
        assert len(network.ink.given[0]) == 1
        rows, columns = np.nonzero(first.hidden)
        places = (np.column_stack([columns, rows]) + 0.5) * (2 * first.reach / SIDE) - first.reach
        assert len(places)
        assert np.abs(places).max() < 0.3, "outside of the region all is visible"
    finally:
        network.ink = ink


@pytest.mark.parametrize("options", [{"infill": 24, "keep_lines": True}, {"candidates": 4, "best_of": 3}])
def test_drawings_follow_the_likely_ink(model, options):
    """The same seeds, the same visible strokes; only the likely ink differs."""
    ink = model.network.ink
    drawing = replace(model.drawing, infill=0, keep_lines=False, **options) if "infill" not in options else None
    drawing = drawing or replace(model.drawing, **options)
    distance = {}
    try:
        for y in (-0.15, 0.15):
            model.network.ink = Known(ink_along(y))
            drawn = model.heal_damages([damaged()] * 6, drawing=drawing)
            for goal in (-0.15, 0.15):
                away = [inside_distance(sketch, goal) for sketch in drawn]
                distance[y, goal] = np.mean(away)
    finally:
        model.network.ink = ink
    assert distance[-0.15, -0.15] < distance[0.15, -0.15]
    assert distance[0.15, 0.15] < distance[-0.15, 0.15]


def inside_distance(sketch, y):
    points = dense_points([damaged().normalised(one) for one in sketch.strokes])
    inside = points[(np.abs(points) < 0.25).all(axis=1)]
    return np.abs(inside[:, 1] - y).mean() if len(inside) else 0.25


def test_of_several_drawings_the_one_along_likely_ink_is_kept():
    begin = line(0.0, -0.5, -0.25)[0]
    sides = [Sketch.from_polylines([np.concatenate([begin, line(y)[0]]) * BOX]) for y in (0.1, -0.1)]
    for y, expected in ((0.1, 0), (-0.1, 1)):
        choice = BestOf(1, 2, [damaged()], good_enough=0.0, likely=[ink_along(y)])
        for number, sketch in enumerate(sides):
            choice.add(number, sketch)
        assert choice.best(lambda _: np.zeros(2))[0] is sides[expected]
