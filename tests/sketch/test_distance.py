"""The distance between drawings against a double loop, by hand, and what must not change it."""

import math
from itertools import pairwise

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.sketch import chamfer as module
from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.chamfer import MOST, SPACING, chamfer, left_of, line_points, off_what_is_left
from gra2seq.sketch.masking import damage
from gra2seq.sketch.strokes import Sketch

SKETCHES = list(doodles(24, seed=5))


def sketch(*strokes):
    return Sketch.from_strokes(strokes)


def slow_points(drawing):
    """Walk along every stroke, segment by segment."""
    left, top, width, height = drawing.box
    side = max(width, height) or 1.0
    strokes = [
        [((float(x) - left - width / 2) / side, (float(y) - top - height / 2) / side) for x, y in stroke]
        for stroke in drawing.strokes
    ]
    lengths = [sum(math.dist(a, b) for a, b in pairwise(s)) for s in strokes]
    spacing = max(SPACING, sum(lengths) / MOST)
    found = []
    for stroke, length in zip(strokes, lengths, strict=True):
        steps = math.ceil(length / spacing - 1e-6)
        for n in range(steps + 1):
            left_to_go = length * n / steps if steps else 0.0
            place = stroke[-1] if n else stroke[0]
            for a, b in pairwise(stroke):
                size = math.dist(a, b)
                if left_to_go <= size and size > 0:
                    place = tuple(p + (q - p) * left_to_go / size for p, q in zip(a, b, strict=True))
                    break
                left_to_go -= size
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
        moved.append(Sketch.from_strokes(strokes))
    others = SKETCHES[5:] + SKETCHES[:5]
    assert chamfer(moved, others) == pytest.approx(chamfer(SKETCHES, others), rel=1e-3)
    assert chamfer(moved, SKETCHES) == pytest.approx(0, abs=1e-4)


def test_moves_of_the_lifted_pen_do_not_count():
    box = [(0, 0), (0, 10)], [(10, 0), (10, 10)]
    assert np.abs(np.abs(line_points(sketch(*box))[:, 0]) - 0.5).max() < 1e-9


def test_a_scribble_has_a_bounded_number_of_points():
    random = np.random.default_rng(0)
    assert len(line_points(sketch(random.random((5000, 2))))) <= MOST + 1


def test_company_and_parts_change_nothing(monkeypatch):
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


def slow_off(drawn, original, boxes):
    """A double loop; boxes are (left, top, right, bottom), the original's longer side is 1 around the origin."""

    def told(x, y):
        return not any(a <= x < c and b <= y < d for a, b, c, d in boxes)

    left = [p for p in slow_points(original) if told(*p)]
    every = slow_points(drawn)
    seen = [p for p in every if told(*p)]
    there = sum(min(math.dist(p, q) for q in left) for p in seen) / max(len(seen), 1)
    return (there + sum(min(math.dist(p, q) for p in every) for q in left) / len(left)) / 2


def test_what_is_left_against_a_double_loop():
    """Of drawings that fill their box, so that the slow points, which are scaled, lie where they are drawn."""
    canvas = Canvas(640, 16, 256)
    numbers = np.random.default_rng(3).random((8, 20))
    damaged = SKETCHES[:8]
    pairs = zip(damaged, numbers, strict=True)
    lost = [damage(s, canvas, n, 0.3, holes=[(s.box[0], s.box[1], 30, 30)]) for s, n in pairs]
    left = [left_of(s, one) for s, one in zip(damaged, lost, strict=True)]
    drawn = [boxed(s) for s in SKETCHES[8:16]]
    found = off_what_is_left(drawn, left, 255.0)
    for number, one in enumerate(lost):
        boxes = (np.concatenate([one.patches, one.holes]) - canvas.padded / 2) / canvas.side
        assert found[number] == pytest.approx(slow_off(drawn[number], SKETCHES[number], boxes.tolist()), abs=1e-6)
    assert sum(len(one.patches) for one in lost) > 4


def boxed(drawing):
    """As `Model.draw` gives them: longer side 255 around the origin."""
    left, top, width, height = drawing.box
    return Sketch((drawing.points - (left + width / 2, top + height / 2)) * (255 / max(width, height)), drawing.lengths)


def test_a_healed_drawing_is_not_blamed_for_what_it_draws_where_something_was_lost():
    """But a line where there was paper, a line that is missing, and a drawing beside its place are."""
    whole = sketch([(0, 0), (100, 0)], [(0, 100), (100, 100)])
    half = left_of(whole, damage(whole, Canvas(640, 16, 256), holes=[(-10, 80, 120, 40)]))
    drawings = {
        "the original": whole,
        "without what was lost": sketch([(0, 0), (100, 0)]),
        "with something else there": sketch([(0, 0), (100, 0)], [(40, 95), (60, 95)]),
        "a line on paper": sketch([(0, 0), (100, 0)], [(0, 50), (100, 50)]),
        "a line missing": sketch([(0, 0), (50, 0)]),
        "aside": sketch([(0, 10), (100, 10)]),
    }
    placed = [Sketch((one.points - 50) * 2.55, one.lengths) for one in drawings.values()]
    off = dict(zip(drawings, off_what_is_left(placed, [half] * len(placed), 255.0).tolist(), strict=True))
    assert max(list(off.values())[:3]) < 1e-6
    assert min(list(off.values())[3:]) > 0.05
    assert off["aside"] == pytest.approx(0.1, abs=1e-6)
    nothing = left_of(whole, damage(whole, Canvas(640, 16, 256), holes=[(-10, -10, 200, 200)]))
    assert off_what_is_left(placed[:2], [nothing, half], 255.0).tolist() == pytest.approx([0, 0], abs=1e-6)


def test_no_drawing_and_bad_input():
    assert chamfer([], []).shape == (0,)
    with pytest.raises(UserError, match="1 drawings for 2 originals"):
        chamfer([DOT], [DOT, LINE])
