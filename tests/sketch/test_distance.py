"""The distance between drawings against a double loop, by hand, and what must not change it."""

import math
from itertools import pairwise

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.sketch import distance as module
from gra2seq.sketch.damage import lose
from gra2seq.sketch.distance import (
    MAX_STEPS,
    SPACING,
    chamfer,
    dense_points,
    distance_to_visible,
    line_points,
    visible_points,
)
from gra2seq.sketch.masking import mask
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import BOX, Sketch

SKETCHES = list(doodles(24, seed=5))


def sketch(*strokes):
    return Sketch.from_polylines(strokes)


def slow_points(drawing, frame=None):
    """Walk along every stroke, segment by segment, in units in which the frame's longer side is 1."""
    left, top, width, height = frame or drawing.box
    side = max(width, height) or 1.0
    strokes = [
        [((float(x) - left - width / 2) / side, (float(y) - top - height / 2) / side) for x, y in stroke]
        for stroke in drawing.strokes
    ]
    lengths = [sum(math.dist(a, b) for a, b in pairwise(s)) for s in strokes]
    spacing = max(SPACING, sum(lengths) / MAX_STEPS)
    found = []
    for stroke, length in zip(strokes, lengths, strict=True):
        steps = math.ceil(length / spacing - 1e-6)
        for n in range(steps + 1):
            rest = length * n / steps if steps else 0.0
            place = stroke[-1] if n else stroke[0]
            for a, b in pairwise(stroke):
                size = math.dist(a, b)
                if rest <= size and size > 0:
                    place = tuple(p + (q - p) * rest / size for p, q in zip(a, b, strict=True))
                    break
                rest -= size
            found.append(place)
    return found


def slow_chamfer(one, other):
    a, b = slow_points(one), slow_points(other)
    there = sum(min(math.dist(p, q) for q in b) for p in a) / len(a)
    back = sum(min(math.dist(p, q) for p in a) for q in b) / len(b)
    return (there + back) / 2


DOT = sketch([(3, 4)])
LINE = sketch([(0, 0), (10, 0)])
CASES = [
    (SKETCHES[0], SKETCHES[15]),
    (SKETCHES[1], SKETCHES[2]),
    (sketch([(0, 0), (1, 1)], [(5, 5)], [(0, 9), (9, 9), (9, 0)]), LINE),
    (DOT, LINE),
    (DOT, DOT),
    (sketch([(1, 1), (1, 1)], [(1, 1)]), SKETCHES[3]),
]


def test_equals_a_double_loop():
    expected = [slow_chamfer(*case) for case in CASES]
    assert chamfer(*zip(*CASES, strict=True)) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_points_equal_a_walk():
    for drawing in [*SKETCHES[:5], DOT]:
        np.testing.assert_allclose(line_points(drawing), slow_points(drawing), atol=1e-9)


def test_by_hand():
    """A dot lies in the middle of its box, a line from -1/2 to 1/2: its points are 1/4 away on average."""
    assert chamfer([DOT], [LINE])[0] == pytest.approx((0.25 + 0.0) / 2, abs=0.005)
    cross = sketch([(0, 5), (10, 5)], [(5, 0), (5, 10)])
    assert chamfer([cross], [LINE])[0] == pytest.approx((0.125 + 0.0) / 2, abs=0.005)


def test_identical_drawings_are_at_zero():
    assert (chamfer(SKETCHES, SKETCHES) == 0).all()


def test_symmetric_and_never_negative():
    shifted = SKETCHES[1:] + SKETCHES[:1]
    there = chamfer(SKETCHES, shifted)
    assert there == pytest.approx(chamfer(shifted, SKETCHES), rel=1e-12)
    assert (there > 0).all()
    assert (there < 1).all()


@pytest.mark.parametrize("scale", [1.0, 0.03, 17.0])
def test_place_size_order_and_direction_do_not_matter(scale):
    moved = []
    for drawing in SKETCHES:
        strokes = [stroke.astype(float)[::-1] * scale + (40, -7) for stroke in reversed(drawing.strokes)]
        moved.append(Sketch.from_polylines(strokes))
    others = SKETCHES[5:] + SKETCHES[:5]
    assert chamfer(moved, others) == pytest.approx(chamfer(SKETCHES, others), rel=1e-3)
    assert chamfer(moved, SKETCHES) == pytest.approx(0, abs=1e-4)


def test_moves_of_the_lifted_pen_do_not_count():
    box = [(0, 0), (0, 10)], [(10, 0), (10, 10)]
    assert np.abs(np.abs(line_points(sketch(*box))[:, 0]) - 0.5).max() < 1e-9


def test_a_scribble_has_a_bounded_number_of_points():
    random = np.random.default_rng(0)
    assert len(line_points(sketch(random.random((5000, 2))))) <= MAX_STEPS + 1


def test_distance_does_not_depend_on_batch_or_block_size(monkeypatch):
    others = SKETCHES[7:] + SKETCHES[:7]
    together = chamfer(SKETCHES, others)
    alone = [chamfer([a], [b])[0] for a, b in zip(SKETCHES, others, strict=True)]
    assert together.tolist() == pytest.approx(alone, rel=1e-12)
    monkeypatch.setattr(module, "PAIRS", 1000)  # one pair no longer fits: it is taken in parts
    assert chamfer(SKETCHES, others) == pytest.approx(together, rel=1e-12)


def test_very_many_dots():
    """Each dot is a point: the pair is compared in parts."""
    dots = Sketch(np.random.default_rng(0).random((3000, 2)) * 255, np.ones(3000, np.int64))
    assert chamfer([dots], [dots]).tolist() == [0]


def slow_distance_to_visible(drawn, damage):
    """A double loop; drawn lines inside of the lost region do not count, but visible ink may be near to them."""
    visible = slow_points(damage.visible, damage.frame)
    every = slow_points(drawn, (-BOX / 2, -BOX / 2, BOX, BOX))
    outside = ~damage.lost.contains(damage.denormalised(np.array(every)))
    seen = [point for point, counts in zip(every, outside.tolist(), strict=True) if counts]
    there = sum(min(math.dist(p, q) for q in visible) for p in seen) / max(len(seen), 1)
    return (there + sum(min(math.dist(p, q) for p in every) for q in visible) / len(visible)) / 2


def test_distance_to_visible_ink_against_a_double_loop():
    """Of masks, holes with and without a frame, and an erased band."""
    noise = np.random.default_rng(3).random((8, 20))
    damages = []
    for number, (one, numbers) in enumerate(zip(SKETCHES[:8], noise, strict=True)):
        left, top, width, height = one.box
        hole = Region.of_boxes([(left, top, 0.4 * width, 0.4 * height)])
        triangle = Region.of_polygons([[[left, top], [left + width, top + height / 3], [left, top + height / 2]]])
        damages.append(
            [mask(one, numbers, 0.3), lose(one, hole, one.box), lose(one, hole), lose(one, triangle)][number % 4]
        )
    assert sum(len(one.lost.boxes) for one in damages) > 4
    for drawn, damage in zip(SKETCHES[8:16], damages, strict=True):
        placed = boxed(drawn)
        expected = slow_distance_to_visible(placed, damage)
        assert distance_to_visible(placed, damage, BOX) == pytest.approx(expected, abs=1e-5)
        np.testing.assert_allclose(visible_points(damage), slow_points(damage.visible, damage.frame), atol=1e-9)


def boxed(drawing):
    """As `Model.draw` gives them: longer side 255 around the origin."""
    left, top, width, height = drawing.box
    return Sketch((drawing.points - (left + width / 2, top + height / 2)) * (255 / max(width, height)), drawing.lengths)


def test_a_healed_drawing_is_not_blamed_for_what_it_draws_in_the_lost_region():
    """But a line on visible blank paper, a line that is missing, and a drawing beside its place are errors."""
    whole = sketch([(0, 0), (100, 0)], [(0, 100), (100, 100)])
    half = lose(whole, Region.of_boxes([(-10, 80, 120, 40)]), whole.box)
    drawings = {
        "the original": whole,
        "without the lost line": sketch([(0, 0), (100, 0)]),
        "with another line there": sketch([(0, 0), (100, 0)], [(40, 95), (60, 95)]),
        "a line on blank paper": sketch([(0, 0), (100, 0)], [(0, 50), (100, 50)]),
        "a line missing": sketch([(0, 0), (50, 0)]),
        "aside": sketch([(0, 10), (100, 10)]),
    }
    found = {
        name: distance_to_visible(Sketch((one.points - 50) * 2.55, one.lengths), half, 255.0)
        for name, one in drawings.items()
    }
    assert max(list(found.values())[:3]) < 1e-6
    assert min(list(found.values())[3:]) > 0.05
    assert found["aside"] == pytest.approx(0.1, abs=1e-6)


def test_no_drawing_and_bad_input():
    assert chamfer([], []).shape == (0,)
    with pytest.raises(UserError, match="1 drawings for 2 originals"):
        chamfer([DOT], [DOT, LINE])


def test_dense_points_lie_in_equal_steps_on_every_segment():
    random = np.random.default_rng(0)
    lines = [random.normal(size=(count, 2)) * scale for count, scale in ((1, 1), (2, 1e-4), (9, 0.1), (3, 2))]
    slow = []
    for line in lines:
        for start, stop in pairwise(line):
            count = max(math.ceil(math.dist(start, stop) / SPACING), 1)
            slow += [start + share * (stop - start) for share in np.linspace(0, 1, count, endpoint=False)]
        slow.append(line[-1])
    assert (dense_points(lines) == np.array(slow)).all()
    assert dense_points([]).shape == (0, 2)
