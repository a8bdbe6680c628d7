"""One pen walk serves drawing, centres and masking."""

import cv2
import numpy as np
import pytest

from gra2seq.data.doodles import doodle
from gra2seq.errors import UserError
from gra2seq.sketch.canvas import Canvas, draw, grey_view, inner_view, pen_walk, whole_view
from gra2seq.sketch.lattice import lattice_points
from gra2seq.sketch.masking import Draws, damage, drop_points, look, lost_view, survivors, wipe_then_lattice
from gra2seq.sketch.patches import centres, crop, window
from gra2seq.sketch.quadtree import leaves, number_blocks, together
from gra2seq.sketch.strokes import Sketch

CANVAS = Canvas()


def test_sizes_are_the_papers():
    assert (CANVAS.side, CANVAS.patch, CANVAS.pen) == (640, 256, 16)
    assert CANVAS.inner == 640 + 2 * 17


def test_longer_side_spans_640_and_the_sketch_is_centred():
    walk = pen_walk(Sketch.from_strokes([[[10, 10], [30, 20]]]), CANVAS)
    assert walk.points[1, 0] - walk.points[0, 0] == 640
    assert walk.points[1, 1] - walk.points[0, 1] == 320
    assert walk.points.mean(axis=0).tolist() == [CANVAS.padded / 2] * 2


def test_ink_is_binary_and_as_thick_as_the_pen():
    pixels = draw(pen_walk(Sketch.from_strokes([[[0, 5], [10, 5]]]), CANVAS))
    assert set(np.unique(pixels)) == {0, 1}
    assert pixels[:, CANVAS.padded // 2].sum() in (CANVAS.pen, CANVAS.pen + 1)


@pytest.mark.parametrize("points", [[[3, 4]], [[3, 4], [3, 4]]])
def test_a_dot_is_drawn(points):
    pixels = draw(pen_walk(Sketch.from_strokes([points]), CANVAS))
    assert 100 < pixels.sum() < 400


def test_no_patch_leaves_the_canvas():
    square = Sketch.from_strokes([[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], [[1, 1]]])
    walk = pen_walk(square, CANVAS)
    pixels = draw(walk)
    for centre in walk.points:
        assert pixels[window(centre, CANVAS)].shape == (256, 256)


def slow_centres(sketch, most):
    found = []
    walk = pen_walk(sketch, CANVAS)
    for stroke in walk.strokes:
        for number, point in enumerate(stroke):
            if number % 4 == 0:
                found.append(point.tolist())
    return found[:most]


@pytest.mark.parametrize("category", ["cat", "bus", "flower"])
@pytest.mark.parametrize("most", [3, 20, 1000])
def test_centres_follow_the_rule(category, most):
    sketch = doodle(category, 3)
    assert centres(pen_walk(sketch, CANVAS), most).tolist() == slow_centres(sketch, most)


def test_whole_view_is_binary_and_patch_sized():
    view = whole_view(draw(pen_walk(doodle("pig", 0), CANVAS)), CANVAS)
    assert view.shape == (256, 256)
    assert set(np.unique(view)) == {0, 1}


def test_masking_a_leaks_nothing_and_b_leaks():
    """Two overlapping patches, the second masked: (a) hides the overlap from the first, (b) does not."""
    sketch = Sketch.from_strokes([[[0, 0], [40, 0]], [[20, 0], [640, 640]]])  # centres (0, 0) and (20, 0)
    draws = np.array([0.9, 0.0])
    walk = pen_walk(sketch, CANVAS)
    untouched = crop(draw(walk), centres(walk), CANVAS)
    a = look(sketch, CANVAS, draws, 0.5, approach="wipe-then-crop")
    b = look(sketch, CANVAS, draws, 0.5, approach="crop-by-turns")
    for seen in (a, b):
        assert seen.masked.tolist() == [False, True]
        assert seen.views[2].sum() == 0
        assert (seen.canvas == a.canvas).all()
    assert (b.views[1] == untouched[0]).all()
    assert a.views[1].sum() < untouched[0].sum()
    rows, columns = window(centres(walk)[1], CANVAS)
    assert a.canvas[rows, columns].sum() == 0


def test_masks_nest():
    """What is masked at 10 % is masked at 30 %."""
    draws = Draws.make(50, seed=1).numbers
    sketch = doodle("bus", 1)
    for row in draws:
        few, many = (look(sketch, CANVAS, row, p).masked for p in (0.1, 0.3))
        assert not (few & ~many).any()


def test_centres_may_be_spread_over_the_whole_way():
    canvas = Canvas(spread=True)
    zigzag = Sketch.from_strokes([[[x, x % 2] for x in range(201)], [[0, 9], [5, 9]]])  # 51 centres, and one more
    every = look(zigzag, CANVAS, nodes=100).centres
    spread, first = look(zigzag, canvas).centres, look(zigzag, CANVAS).centres
    assert len(every) == 52
    assert (first == every[:20]).all()
    assert (spread[[0, -1]] == every[[0, -1]]).all(), "from the first to the last"
    numbers = [int(np.flatnonzero((every == centre).all(axis=1))[0]) for centre in spread]
    assert set(np.diff(numbers)) == {2, 3}, "51 steps in 19"
    few = doodle("cat", 0)
    assert (look(few, canvas, nodes=100).centres == look(few, CANVAS, nodes=100).centres).all()


def test_the_first_patches_have_the_same_numbers_in_every_model():
    few, usual, many = (Draws.make(7, seed=1, nodes=nodes).numbers for nodes in (8, 20, 64))
    assert few.shape == (7, 8)
    assert many.shape == (7, 64)
    assert (few == usual[:, :8]).all()
    assert (usual == many[:, :20]).all()
    assert len(np.unique(many)) == many.size


def test_a_hole_masks_the_centres_in_it_and_rubs_out_its_ink():
    sketch = Sketch.from_strokes([[[0, 0], [100, 0]], [[0, 100], [100, 100]]])
    seen = look(sketch, CANVAS, holes=[(-10, -10, 30, 30)])
    assert seen.masked.tolist() == [True, False]
    full = look(sketch, CANVAS).canvas
    scale, middle = 640 / 100, CANVAS.padded / 2
    left, right = (round((x - 50) * scale + middle) for x in (-10, 20))
    inside = np.zeros_like(full, dtype=bool)
    inside[left:right, left:right] = True
    assert (seen.canvas[inside] == 0).all()
    assert (seen.canvas[~inside] == full[~inside]).all(), "no more than the hole is rubbed out"


@pytest.mark.parametrize("hole", [(0, 0, 0, 5), (0, 0, float("nan"), 5), (0, 0, -3, 5)])
def test_an_impossible_hole_is_refused(hole):
    with pytest.raises(UserError, match="hole"):
        look(doodle("cat", 0), CANVAS, holes=[hole])


def slow_lattice(sketch):
    canvas = Canvas()
    view = whole_view(draw(pen_walk(sketch, canvas)), canvas)
    return [[8 * c + 4, 8 * r + 4] for r in range(32) for c in range(32) if view[8 * r + 4, 8 * c + 4]]


def test_lattice_points_against_a_double_loop():
    few, many = sorted((doodle("cat", seed) for seed in range(20)), key=lambda s: len(slow_lattice(s)))[::19]
    assert lattice_points(few).tolist() == slow_lattice(few)
    assert len(slow_lattice(many)) > 150
    points = lattice_points(many).tolist()
    assert len(points) == 150
    assert points[0] == slow_lattice(many)[0]
    assert points[-1] == slow_lattice(many)[-1], "the bottom of a busy drawing is there too"


def test_masking_c_drops_points_and_d_wipes_patches():
    sketch = doodle("bus", 2)
    draws = np.random.default_rng(0).random(200)
    before = lattice_points(sketch)
    c = drop_points(sketch, draws, 0.3)
    d = wipe_then_lattice(sketch, CANVAS, draws[:20], 0.3)
    assert len(c) == (draws[: len(before)] >= 0.3).sum()
    everything = {tuple(point) for point in slow_lattice(sketch)}
    assert {tuple(point) for point in d} < everything


def test_masking_c_needs_enough_numbers():
    with pytest.raises(UserError, match="150"):
        drop_points(doodle("bus", 2), Draws.make(1, 0).numbers[0], 0.1)


def test_draws_are_stored_and_come_back(tmp_path):
    draws = Draws.make(7, seed=3)
    draws.save(tmp_path / "draws.safetensors")
    back = Draws.load(tmp_path / "draws.safetensors")
    assert (back.numbers == draws.numbers).all()
    assert back.seed == 3
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(UserError, match="mask draws"):
        Draws.load(tmp_path / "bad")


def test_a_hundred_thousand_points_are_drawn():
    points = np.random.default_rng(0).random((100_000, 2))
    seen = look(Sketch.from_strokes([points]), CANVAS)
    assert len(seen.centres) == 20


def test_snapped_patches_lie_on_a_grid_near_the_pen_and_share_blocks():
    free, snapped = Canvas(), Canvas(snap=64)
    sketches = [doodle("cat", seed) for seed in range(4)]
    distinct = []
    for canvas in (free, snapped):
        cut = [leaves(look(sketch, canvas).views) for sketch in sketches]
        distinct.append(sum(len(level.children) for level in number_blocks(together(cut), True).levels))
    assert distinct[1] < 0.7 * distinct[0]
    draws = np.full(20, 0.9)
    draws[2] = 0
    for sketch in sketches:
        at = look(sketch, snapped).centres
        assert np.abs(at - look(sketch, free).centres).max() <= 32
        assert not ((at - snapped.pad) % 64).any()
        lost = [damage(sketch, canvas, draws, 0.5) for canvas in (free, snapped)]
        assert (lost[0].patches == lost[1].patches).all(), "the damage does not snap"


def slow_survivors(lost):
    """Points outside all boxes; a stroke ends where a point is lost or the straight line to the next meets a box."""
    boxes = np.concatenate([lost.patches, lost.holes])

    def inside(x, y):
        return any(left <= x < right and top <= y < bottom for left, top, right, bottom in boxes)

    pieces, number = [], 0
    for stroke in lost.walk.strokes:
        piece = []
        for i, (x, y) in enumerate(stroke):
            if piece and any(
                inside(*(stroke[i - 1] + (stroke[i] - stroke[i - 1]) * t)) for t in np.linspace(0.0005, 0.9995, 2000)
            ):
                pieces.append(piece)
                piece = []
            if inside(x, y):
                if piece:
                    pieces.append(piece)
                piece = []
            else:
                piece.append(number)
            number += 1
        if piece:
            pieces.append(piece)
    return pieces


def test_survivors_against_a_slow_twin():
    draws = np.full(20, 0.9)
    draws[[1, 4]] = 0
    torn = 0
    for seed in range(6):
        sketch = doodle("bus", seed)
        lost = damage(sketch, CANVAS, draws, 0.5)
        expected = slow_survivors(lost)
        got = [piece.tolist() for piece in survivors(sketch, lost)]
        assert got == expected
        torn += len(got) != len(sketch.lengths)
    assert torn
    square = Sketch.from_strokes([[[0, 0], [100, 0]], [[0, 50], [100, 50]], [[0, 100], [100, 100]]])
    hole = damage(square, CANVAS, holes=[(40, 40, 20, 20)])
    assert [piece.tolist() for piece in survivors(square, hole)] == [[0, 1], [2], [3], [4, 5]], "it passed through"


@pytest.mark.parametrize("side", [7, 48, 96, 224])
def test_a_small_picture_has_the_share_of_ink_in_each_pixel(side):
    pixels = draw(pen_walk(doodle("cat", 3), CANVAS))
    expected = cv2.resize(inner_view(pixels, CANVAS) * 255, (side, side), interpolation=cv2.INTER_AREA)
    seen = grey_view(pixels, CANVAS, side)
    assert seen.dtype == np.uint8
    assert seen.max() > 50
    assert np.abs(seen.astype(int) - expected).max() <= 1  # where rounding goes either way
    assert (seen == expected).mean() > 0.99


def test_what_is_lost_is_shown_where_the_drawing_lies():
    """Each pixel's share against its own square, box by box, pixel by pixel of the canvas."""
    sketch = doodle("cat", seed=3)
    x, y, width, height = sketch.box
    hole = (x + 0.1 * width, y + 0.6 * height, 0.3 * width, 0.2 * height)
    lost = damage(sketch, CANVAS, np.linspace(0, 1, 20), 0.1, holes=[hole])
    assert len(lost.patches) == 2
    shown = lost_view(lost, 8)
    gone = np.zeros((CANVAS.padded, CANVAS.padded))
    for left, top, right, bottom in [*lost.patches, *lost.holes]:
        for row in range(top, bottom):
            gone[row, left:right] = 1
    edge, inner = CANVAS.inner / 8, gone[CANVAS.pad : CANVAS.pad + CANVAS.inner, CANVAS.pad : CANVAS.pad + CANVAS.inner]
    fine = np.kron(inner, np.ones((4, 4)))  # a pixel is 84.25 of the canvas's wide: quarters fill it
    for row in range(8):
        for column in range(8):
            rows, columns = (slice(round(4 * edge * n), round(4 * edge * (n + 1))) for n in (row, column))
            assert shown[row, column] == pytest.approx(255 * fine[rows, columns].mean(), abs=1)
    assert not lost_view(damage(sketch, CANVAS), 8).any()
    assert not lost_view(damage(sketch, CANVAS, holes=[(x + 9 * width, y, 5, 5)]), 8).any(), "it lies beside the canvas"
