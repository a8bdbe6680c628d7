"""Regions: inside or not against slow twins, painting, and strokes that are cut exactly and only once."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from some_sketches import assert_same, calm

from gra2seq.data.doodles import doodles
from gra2seq.data.training_damage import band, eraser
from gra2seq.errors import UserError
from gra2seq.sketch.region import Region, pieces, with_border_points
from gra2seq.sketch.strokes import Sketch

NUMBER = st.one_of(st.integers(-100, 100).map(float), st.floats(-100, 100, width=32))
POINT = st.tuples(NUMBER, NUMBER)


@st.composite
def polylines(draw):
    strokes = draw(st.lists(st.lists(POINT, min_size=1, max_size=7), min_size=1, max_size=4))
    return Sketch.from_polylines(strokes)


SIZE = st.one_of(st.integers(1, 120).map(float), st.floats(0.5, 120, width=32))
BOXES = st.lists(st.tuples(NUMBER, NUMBER, SIZE, SIZE), min_size=1, max_size=3).map(Region.of_boxes)
POLYGONS = st.lists(st.lists(POINT, min_size=3, max_size=7), min_size=1, max_size=3).map(Region.of_polygons)
BANDS = st.tuples(st.lists(POINT, min_size=1, max_size=4), st.floats(2, 40)).map(
    lambda drawn: band(np.array(drawn[0]), drawn[1])
)
REGIONS = st.one_of(BOXES, POLYGONS, BANDS, st.tuples(BOXES, POLYGONS).map(lambda two: two[0] | two[1]))


def slow_contains(region, x, y):
    """A ray to the right crosses the ring an odd number of times; boxes hold their left and upper border."""
    if any(left <= x < right and top <= y < bottom for left, top, right, bottom in region.boxes.tolist()):
        return True
    for ring in region.polygons:
        crossings = 0
        for (ax, ay), (bx, by) in pairwise([*ring.tolist(), ring[0].tolist()]):
            if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
                crossings += 1
        if crossings % 2:
            return True
    return False


@calm
@given(REGIONS, st.lists(POINT, min_size=1, max_size=20))
def test_contains_against_a_slow_twin(region, points):
    found = region.contains(np.array(points))
    far = region.distance(np.array(points)) > 1e-9  # on the border rounding decides
    for point, within, clear in zip(points, found.tolist(), far.tolist(), strict=True):
        assert not clear or within == slow_contains(region, *point)


@calm
@given(REGIONS, st.lists(POINT, min_size=1, max_size=10))
def test_distance_to_the_border_against_a_slow_twin(region, points):
    def to_segment(p, a, b):
        way, offset = b - a, p - a
        share = min(max(float(offset @ way) / max(float(way @ way), 1e-300), 0), 1)
        return float(np.linalg.norm(offset - share * way))

    for point, found in zip(points, region.distance(np.array(points)), strict=True):
        p = np.array(point)
        sides = (pair for ring in region.rings for pair in pairwise([*ring, ring[0]]))
        assert found == pytest.approx(min(to_segment(p, a, b) for a, b in sides), abs=1e-9)


def test_an_empty_region_contains_nothing():
    region = Region()
    points = np.array([[0.0, 0.0], [5.0, 5.0]])
    assert not region
    assert not region.contains(points).any()
    assert (region.distance(points) == np.inf).all()
    sketch = Sketch.from_polylines([[[0, 0], [5, 5]]])
    (piece,) = pieces(sketch, region)
    assert piece.points.tolist() == sketch.points.tolist()
    assert not list(pieces(sketch, region, within=True))


@pytest.mark.parametrize("polygon", [[[0, 0], [1, 1]], [[0, 0, 0]] * 3, [[0, 0], [1, np.nan], [2, 2]], [1, 2, 3]])
def test_impossible_polygons_are_refused(polygon):
    with pytest.raises(UserError, match="polygons of three or more finite points"):
        Region.of_polygons([polygon])


def test_overlapping_polygons_are_a_union_and_one_polygon_is_even_odd():
    square = np.array([[0, 0], [10, 0], [10, 10], [0, 10]])
    twice = np.concatenate([square, square])
    points = np.array([[5.0, 5.0], [12.0, 12.0], [7.0, 7.0]])
    assert Region.of_polygons([square, square + 5]).contains(points).tolist() == [True, True, True]
    assert Region.of_polygons([twice]).contains(points).tolist() == [False, False, False]


def dense(stroke, step=0.5):
    """Points along a polyline."""
    if len(stroke) == 1:
        return stroke.astype(float)
    parts = [
        np.linspace(a, b, max(int(np.hypot(*(b - a)) / step), 1), endpoint=False)
        for a, b in pairwise(stroke.astype(float))
    ]
    return np.concatenate([*parts, stroke[-1:].astype(float)])


def off(points, strokes):
    """How far each point lies from the lines, segment by segment."""
    least = np.full(len(points), np.inf)
    for stroke in strokes:
        for a, b in pairwise([*stroke.astype(float), stroke[-1].astype(float)]):
            way = b - a
            share = np.clip((points - a) @ way / max(way @ way, 1e-12), 0, 1)
            least = np.minimum(least, np.linalg.norm(points - a - share[:, None] * way, axis=1))
    return least


def total_length(strokes):
    return sum(float(np.linalg.norm(np.diff(stroke.astype(float), axis=0), axis=1).sum()) for stroke in strokes)


def along_border(strokes, region):
    """A bound of the length of the lines that run along the border, which may count to either side."""
    near = sum(int((region.distance(dense(stroke)) <= CLEAR).sum()) for stroke in strokes)
    return 2 * 0.5 * near + 1e-2


CLEAR = 1e-3  # a point nearer to the border than this may lie on either side: the tolerance is 1e-6 of 200


@calm
@given(polylines(), REGIONS)
def test_pieces_against_dense_sampling(sketch, region):
    """Every line is in exactly one of the two halves, cut at the border and nowhere else."""
    outside, inside = (list(pieces(sketch, region, within=within)) for within in (False, True))
    for found, within in ((outside, False), (inside, True)):
        for piece in found:
            points = dense(piece.points)
            clear = region.distance(points) > CLEAR
            assert (region.contains(points)[clear] == within).all()
            assert off(points, [sketch.strokes[piece.stroke]]).max() < CLEAR, "it lies on its own stroke"
            for cut, end in ((piece.cut_start, piece.points[:1]), (piece.cut_end, piece.points[-1:])):
                assert not cut or region.distance(end.astype(float))[0] < CLEAR
    for stroke in sketch.strokes:
        points = dense(stroke)
        clear, within = region.distance(points) > CLEAR, region.contains(points)
        for found, wanted in ((outside, ~within), (inside, within)):
            if (wanted & clear).any():
                assert off(points[wanted & clear], [piece.points for piece in found]).max() < CLEAR
    halves = total_length([piece.points for piece in [*outside, *inside]])
    assert halves == pytest.approx(total_length(sketch.strokes), rel=1e-5, abs=along_border(sketch.strokes, region))
    numbers = [piece.stroke for piece in outside]
    assert numbers == sorted(numbers), "in drawing order"


def cut(sketch, region):
    found = list(pieces(sketch, region))
    return Sketch.from_polylines([piece.points for piece in found]) if found else None


@calm
@given(polylines(), REGIONS)
def test_cutting_twice_equals_cutting_once_to_the_last_bit(sketch, region):
    once = cut(sketch, region)
    assume(once is not None)
    twice = cut(once, region)
    assert twice is not None
    assert_same(once, twice)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_cutting_doodles_twice_equals_cutting_once(scale):
    """At other sizes and far from the origin, by boxes and by an eraser."""
    random = np.random.default_rng(0)
    for number, drawn in enumerate(doodles(60, seed=8)):
        sketch = drawn.with_points(drawn.points * scale + (0 if number % 2 else 300 * scale))
        left, top, width, height = sketch.box
        box = (left + random.uniform(-0.1, 0.8) * width, top + random.uniform(-0.1, 0.8) * height)
        for region in (Region.of_boxes([(*box, 0.4 * width, 0.3 * height)]), eraser(sketch, random)):
            once = cut(sketch, region)
            if once is not None:
                assert_same(once, cut(once, region))


@pytest.mark.parametrize("angle", [1.0, 1e-2, 1e-4, 1e-6])
def test_cutting_lines_along_the_border_twice_equals_cutting_once(angle):
    """Where line and border are nearly parallel, rounding moves the place where they meet by a long way."""
    random = np.random.default_rng(0)
    for number in range(90):
        if number % 3 == 0:
            region = Region.of_boxes([(*random.uniform(0, 50, 2), *random.uniform(10, 60, 2))])
        elif number % 3 == 1:
            region = Region.of_polygons([random.uniform(0, 100, (5, 2))])
        else:
            region = band(random.uniform(0, 100, (3, 2)), random.uniform(3, 20))
        start, stop = region.edges
        edge = int(np.linalg.norm(stop - start, axis=1).argmax())
        way = (stop[edge] - start[edge]) / np.linalg.norm(stop[edge] - start[edge])
        way = way + angle * random.choice([-1, 1]) * np.array([-way[1], way[0]])
        middle = start[edge] + (stop[edge] - start[edge]) * random.random()
        line = [middle - way * random.uniform(1, 60), middle + way * random.uniform(1, 60)]
        once = cut(Sketch.from_polylines([[random.uniform(0, 100, 2), *line, random.uniform(0, 100, 2)]]), region)
        if once is not None:
            assert_same(once, cut(once, region))


def test_corners_on_the_border_dots_and_overlapping_boxes():
    region = Region.of_boxes([(10, 10, 10, 10), (15, 5, 15, 10)])
    sketch = Sketch.from_polylines([[[0, 9], [10, 9], [10, 30]], [[12, 12]], [[40, 40]], [[0, 14], [50, 14]]])
    assert [piece.points.tolist() for piece in pieces(sketch, region)] == [
        [[0, 9], [10, 9], [10, 10]],
        [[10, 20], [10, 30]],
        [[40, 40]],
        [[0, 14], [10, 14]],
        [[30, 14], [50, 14]],
    ]
    assert [piece.points.tolist() for piece in pieces(sketch, region, within=True)] == [
        [[10, 10], [10, 20]],
        [[12, 12]],
        [[10, 14], [30, 14]],  # not cut where the two boxes meet
    ]


@calm
@given(polylines(), REGIONS)
def test_border_points_keep_the_lines_and_mark_visible_rows(sketch, region):
    denser, visible = with_border_points(sketch, region)
    assert len(visible) == len(denser)
    assert len(denser.lengths) == len(sketch.lengths)
    seen, start = 0.0, 0
    for before, after in zip(sketch.strokes, denser.strokes, strict=True):
        flags = visible[start : start + len(after)]
        start += len(after)
        places = [np.flatnonzero((after == point).all(axis=1)) for point in before]
        assert all(len(found) for found in places), "the points of before are still there"
        assert total_length([after]) == pytest.approx(total_length([before]), rel=1e-5, abs=1e-2)
        assert off(after.astype(float), [before]).max() < CLEAR
        first = after[:1].astype(float)
        if region.distance(first)[0] > CLEAR:
            assert flags[0] == (not region.contains(first)[0])
        for a, b, shown in zip(after[:-1], after[1:], flags[1:], strict=True):
            points = dense(np.stack([a, b]))
            clear = region.distance(points) > CLEAR
            assert (region.contains(points)[clear] != shown).all(), "a row is wholly visible or wholly lost"
            seen += float(np.hypot(*(b.astype(float) - a))) * bool(shown)
    outside = total_length([piece.points for piece in pieces(sketch, region)])
    assert seen == pytest.approx(outside, rel=1e-5, abs=along_border(sketch.strokes, region))


@calm
@given(REGIONS)
def test_paint_fills_the_pixels_inside(region):
    pixels = np.zeros((60, 70), np.uint8)
    shifted = region.moved(np.array([-20.0, -20.0]), 0.5)  # part of it lies beside the picture
    shifted.paint(pixels, 1)
    rows, columns = np.mgrid[:60, :70]
    centres = np.stack([columns.ravel(), rows.ravel()], axis=1).astype(float)
    clear = shifted.distance(centres) > 2.2  # corners are rounded, and edges are drawn as lines
    painted = pixels.reshape(-1) > 0
    assert (painted[clear] == shifted.contains(centres)[clear]).all()


def test_paint_of_boxes_is_exact():
    pixels = np.zeros((10, 10), np.uint8)
    Region.of_boxes([(2, 3, 4, 5), (-5, -5, 6, 6)]).paint(pixels, 7)
    expected = np.zeros_like(pixels)
    expected[3:8, 2:6] = 7
    expected[:1, :1] = 7
    assert (pixels == expected).all()


def test_moved_regions_keep_what_they_contain():
    region = Region.of_boxes([(0, 0, 10, 5)]) | Region.of_polygons([[[20, 0], [30, 0], [20, 10]]])
    middle, points = np.array([3.0, 4.0]), np.random.default_rng(0).uniform(-5, 35, (500, 2))
    moved = region.moved(middle, 2.5, 7.0)
    assert (moved.contains((points - middle) * 2.5 + 7.0) == region.contains(points)).all()
    assert region.contains(points).any()


def test_a_band_is_all_within_its_radius_of_the_path():
    path, radius = np.array([[0.0, 0.0], [30.0, 10.0], [30.0, 50.0]]), 8.0
    region = band(path, radius)
    points = np.random.default_rng(1).uniform(-20, 70, (2000, 2))
    near = off(points, [path])
    within = region.contains(points)
    assert within[near < 0.96 * radius].all(), "round ends have corners"
    assert not within[near > 1.001 * radius].any()
    dot = band(np.array([[5.0, 5.0]]), 2.0)
    assert dot.contains(np.array([[5.0, 5.0], [6.5, 5.0], [5.0, 3.2], [8.0, 5.0]])).tolist() == [
        True,
        True,
        True,
        False,
    ]
