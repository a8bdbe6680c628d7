"""Healed drawings that keep the user's lines: cut at the border of the lost region, against points along all lines."""

from itertools import pairwise

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.data.training_damage import band
from gra2seq.drawing import merge
from gra2seq.sketch.damage import lose
from gra2seq.sketch.masking import mask
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch


def keep_lines(original, drawn, boxes):
    """The original without what lies in the boxes (left, top, right, bottom), healed by the drawing."""
    return merge.keep_lines(lose(original, Region(np.asarray(boxes, float).reshape(-1, 4)), None), drawn)


def polylines(*strokes):
    return Sketch(np.concatenate(strokes).astype(np.float32), np.array([len(stroke) for stroke in strokes]))


def strokes_of(sketch):
    return np.split(sketch.points.astype(np.float64), np.cumsum(sketch.lengths)[:-1])


def along(sketch, steps=50):
    """(n, 2) points on its lines; a stroke of one point as it is."""
    found = []
    for stroke in strokes_of(sketch):
        for a, b in pairwise(stroke):
            found += [a + (b - a) * share for share in np.arange(steps) / steps]
        found.append(stroke[-1])
    return np.array(found)


def off(points, sketch):
    """How far each point lies from the lines of the sketch: the slow way, line by line."""
    least = np.full(len(points), np.inf)
    for stroke in strokes_of(sketch):
        for a, b in zip(stroke, [*stroke[1:], stroke[-1]], strict=True):
            way = b - a
            share = np.clip((points - a) @ way / max(way @ way, 1e-12), 0, 1)
            least = np.minimum(least, np.linalg.norm(points - a - share[:, None] * way, axis=1))
    return least


def lost(points, boxes, slack):
    grown = [(left - slack, top - slack, right + slack, bottom + slack) for left, top, right, bottom in boxes]
    return np.array(
        [any(left <= x < right and top <= y < bottom for left, top, right, bottom in grown) for x, y in points]
    )


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 6, 9])
def test_outside_it_is_the_original_and_inside_the_drawn_one(seed, monkeypatch):
    monkeypatch.setattr(merge, "JOIN", 0.0)
    random = np.random.default_rng(seed)
    original, drawn = doodles(2, seed=seed)
    (left, top, width, height), clear = original.box, 0.01  # beside an edge a rounding may tip a point over
    corner = [left, top] + random.uniform(-0.1, 0.8, (3, 2)) * [width, height]
    boxes = np.concatenate([corner, corner + random.uniform(0.1, 0.5, (3, 2)) * [width, height]], axis=1)
    healed = keep_lines(original, drawn, boxes)
    here, there, points = along(original), along(drawn), along(healed)
    assert lost(here, boxes, clear).any()
    assert lost(there, boxes, -clear).any()
    assert off(here[~lost(here, boxes, clear)], healed).max() < clear
    assert off(there[lost(there, boxes, -clear)], healed).max() < clear
    assert off(points[~lost(points, boxes, clear)], original).max() < clear
    assert off(points[lost(points, boxes, -clear)], drawn).max() < clear
    assert (healed.category, healed.key) == (original.category, original.key)


def test_untouched_strokes_stay_to_the_last_bit():
    original, drawn = doodles(2, seed=3)
    assert np.array_equal(keep_lines(original, drawn, []).points, original.points)
    assert np.array_equal(keep_lines(original, drawn, []).lengths, original.lengths)
    far = polylines([[0, 0], [3, 1]], [[90, 90], [100, 100]], [[5, 5]])
    healed = keep_lines(far, polylines([[94, 0], [94, 99]]), np.array([[92.0, 92, 96, 96]]))
    assert [stroke.tolist() for stroke in strokes_of(healed)] == [
        [[0, 0], [3, 1]],
        [[90, 90], [92, 92]],
        [[96, 96], [100, 100]],
        [[5, 5]],
        [[92, 92], [96, 96]],  # from 94, 92 to 94, 96: joined to the ends that are near
    ]


def test_near_ends_are_joined_and_others_are_not():
    original = polylines([[0, 0], [100, 0]], [[0, 50], [100, 50]])
    drawn = polylines([[30, 2], [70, 3]], [[30, 30], [70, 30]], [[45, 40], [55, 40]])
    healed = strokes_of(keep_lines(original, drawn, np.array([[40.0, -10, 60, 45]])))
    assert [stroke.tolist() for stroke in healed] == [
        [[0, 0], [40, 0]],
        [[60, 0], [100, 0]],
        [[0, 50], [100, 50]],
        [[40, 0], [60, 0]],  # it came out 2.25 and 2.75 beside
        [[40, 30], [60, 30]],  # no kept end is near
        [[45, 40], [55, 40]],  # both ends are its own
    ]


def test_corners_on_an_edge_dots_and_overlapping_boxes():
    boxes = np.array([[10.0, 10, 20, 20], [15, 5, 30, 15]])
    original = polylines([[0, 9], [10, 9], [10, 30]], [[12, 12]], [[40, 40]])
    healed = strokes_of(keep_lines(original, polylines([[0, 14], [50, 14]], [[17, 7]]), boxes))
    assert [stroke.tolist() for stroke in healed] == [
        [[0, 9], [10, 9], [10, 10]],
        [[10, 20], [10, 30]],
        [[40, 40]],
        [[10, 14], [30, 14]],  # from box to box nothing is cut
        [[17, 7]],
    ]


def test_a_piece_is_not_joined_to_one_end_with_both_of_its_own():
    healed = keep_lines(polylines([[0, 7], [100, 7]]), polylines([[39, 8], [42, 11]]), np.array([[40.0, -10, 60, 10]]))
    assert [stroke.tolist() for stroke in strokes_of(healed)][2:] == [[[40, 7], [41, 10]]]


def test_regions_beside_the_drawing_change_nothing():
    original, drawn = doodles(2, seed=1)
    left, top, _, height = original.box
    below = top + height + 1
    boxes = [[left - 50, top, left - 40, top + 9], [left, below, left + 9, below + 9]]
    assert np.array_equal(keep_lines(original, original, boxes).points, original.points)
    away = drawn.with_points(drawn.points - 900)
    assert np.array_equal(keep_lines(original, away, boxes).points, original.points)


def test_erased_bands_and_masks_are_filled_too():
    """Not only boxes: outside of the lost region only visible lines, inside only drawn ones."""
    original, drawn = doodles(2, seed=7)
    left, top, width, height = original.box
    path = np.array([[left, top + height / 2], [left + width / 2, top + height / 3], [left + width, top + height / 2]])
    side = max(width, height)
    for damage in (lose(original, band(path, 0.1 * side)), mask(original, np.linspace(0, 1, 20), 0.2)):
        healed = merge.keep_lines(damage, drawn)
        count = len(damage.visible.lengths)
        assert np.array_equal(healed.points[: len(damage.visible)], damage.visible.points)
        added = Sketch(healed.points[len(damage.visible) :], healed.lengths[count:])
        points = along(added)
        near = damage.lost.distance(points) < merge.JOIN * side  # ends are moved a little to be joined
        assert damage.lost.contains(points)[~near].all()
        assert len(points) > 10


def test_open_ends_are_visible_ends_at_the_border():
    original = polylines([[0, 0], [100, 0]], [[0, 50], [35, 50]], [[0, 80], [39.5, 80]])
    damage = lose(original, Region.of_boxes([(40, -10, 20, 100)]))
    assert merge.open_ends(damage).tolist() == [[40, 0], [60, 0], [39.5, 80]]


def test_the_seam_of_a_closed_line_is_no_open_end():
    square = [[38, 10], [10, 10], [10, 40], [38, 40], [38, 10]]
    hole = Region.of_boxes([(38.5, -10, 20, 100)])
    damage = lose(polylines(square, [[0, 80], [100, 80]], [[38, 60]]), hole)
    assert merge.open_ends(damage).tolist() == [[38.5, 80], [58.5, 80], [38, 60]]


@pytest.mark.slow
def test_a_hundred_thousand_points_and_dots_are_cut():
    random = np.random.default_rng(0)
    corner = random.uniform(0, 900, (20, 2))
    boxes = np.concatenate([corner, corner + 80], axis=1)
    line = Sketch(random.uniform(0, 1000, (100_000, 2)).astype(np.float32), np.array([100_000]))
    dots = Sketch(line.points, np.ones(100_000, np.int64))
    kept = keep_lines(dots, line, boxes)
    assert keep_lines(line, dots, boxes).lengths.sum() > 50_000
    gone = lost(line.points[:2000], boxes, 0.0)
    assert {tuple(point) for point in line.points[:2000][~gone].tolist()} <= {tuple(p) for p in kept.points.tolist()}
