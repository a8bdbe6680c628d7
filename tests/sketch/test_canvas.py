"""The canvas: scale and placement by the frame, the pen, and the small pictures made of it."""

import cv2
import numpy as np
import pytest

from gra2seq.data.doodles import doodle
from gra2seq.errors import UserError
from gra2seq.sketch.canvas import Canvas, draw, grey_view, inner_view, lost_on, lost_view, place, whole_view
from gra2seq.sketch.centres import centre_points
from gra2seq.sketch.damage import Damage, lose
from gra2seq.sketch.masking import mask
from gra2seq.sketch.patches import crop, on_canvas, window
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch

CANVAS = Canvas()


def drawn(*strokes):
    return draw(Damage.none(Sketch.from_polylines(strokes)), CANVAS)


def test_sizes_are_the_papers():
    assert (CANVAS.side, CANVAS.patch, CANVAS.pen) == (640, 256, 16)
    assert CANVAS.inner == 640 + 2 * 17


def test_longer_side_spans_640_and_the_sketch_is_centred():
    damage = Damage.none(Sketch.from_polylines([[[10, 10], [30, 20]]]))
    first, last = place(damage.normalised(damage.visible.points), CANVAS)
    assert (last - first).tolist() == [640, 320]
    assert ((first + last) / 2).tolist() == [CANVAS.padded / 2] * 2


def test_a_frame_gives_scale_and_placement():
    """The left half of a drawing lies where it lies in the whole drawing."""
    left, right = [[0, 0], [40, 100]], [[60, 0], [100, 100]]
    whole = drawn(left, right)
    half = draw(lose(Sketch.from_polylines([left]), Region(), (0, 0, 100, 100)), CANVAS)
    middle = CANVAS.padded // 2
    assert (half[:, :middle] == whole[:, :middle]).all()
    assert not half[:, middle:].any()


def test_ink_is_binary_and_as_thick_as_the_pen():
    pixels = drawn([[0, 5], [10, 5]])
    assert set(np.unique(pixels)) == {0, 1}
    assert pixels[:, CANVAS.padded // 2].sum() in (CANVAS.pen, CANVAS.pen + 1)


@pytest.mark.parametrize("points", [[[3, 4]], [[3, 4], [3, 4]]])
def test_a_dot_is_drawn(points):
    assert 100 < drawn(points).sum() < 400


def test_no_patch_leaves_the_canvas():
    square = Damage.none(Sketch.from_polylines([[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], [[1, 1]]]))
    pixels = draw(square, CANVAS)
    for centre in on_canvas(square.normalised(square.visible.points), CANVAS):
        assert pixels[window(centre, CANVAS)].shape == (256, 256)


def test_patches_are_cut_around_their_centres():
    damage = Damage.none(doodle("cat", 1))
    pixels = draw(damage, CANVAS)
    centres = on_canvas(damage.normalised(centre_points(damage.visible)), CANVAS)
    for (x, y), patch in zip(centres.tolist(), crop(pixels, centres, CANVAS), strict=True):
        assert (patch == pixels[y - 128 : y + 128, x - 128 : x + 128]).all()
        assert patch[120:136, 120:136].any(), "the pen was there"


def test_whole_view_is_binary_and_patch_sized():
    view = whole_view(draw(Damage.none(doodle("pig", 0)), CANVAS), CANVAS)
    assert view.shape == (256, 256)
    assert set(np.unique(view)) == {0, 1}


def test_a_hole_is_blank_and_nothing_else_changes():
    """Also the thick pen of a line that is cut at the border does not reach into the hole."""
    sketch = Sketch.from_polylines([[[0, 0], [100, 0]], [[0, 100], [100, 100]]])
    damage = lose(sketch, Region.of_boxes([(-10, -10, 30, 30)]), sketch.box)
    full, seen = draw(Damage.none(sketch), CANVAS), draw(damage, CANVAS)
    scale, middle = 640 / 100, CANVAS.padded / 2
    low, high = (round((x - 50) * scale + middle) for x in (-10, 20))
    inside = np.zeros_like(full, dtype=bool)
    inside[low:high, low:high] = True
    assert full[inside].any()
    assert not seen[inside].any()
    assert (seen[~inside] == full[~inside]).all()


@pytest.mark.parametrize("hole", [(0, 0, 0, 5), (0, 0, float("nan"), 5), (0, 0, -3, 5), (0, 0, 5)])
def test_an_impossible_hole_is_refused(hole):
    with pytest.raises(UserError, match=r"hole .* needs a finite place and a positive size"):
        Region.of_boxes([hole])


def test_a_hundred_thousand_points_are_drawn():
    points = np.random.default_rng(0).random((100_000, 2))
    assert drawn(points).mean() > 0.1


@pytest.mark.parametrize("side", [7, 48, 96, 224])
def test_a_small_picture_has_the_share_of_ink_in_each_pixel(side):
    pixels = draw(Damage.none(doodle("cat", 3)), CANVAS)
    expected = cv2.resize(inner_view(pixels, CANVAS) * 255, (side, side), interpolation=cv2.INTER_AREA)
    seen = grey_view(pixels, CANVAS, side)
    assert seen.dtype == np.uint8
    assert seen.max() > 50
    assert np.abs(seen.astype(int) - expected).max() <= 1  # where rounding goes either way
    assert (seen == expected).mean() > 0.99


def test_the_lost_region_as_a_picture_has_the_share_of_each_pixel():
    """Against the painted canvas, pixel by pixel, for boxes and for polygons."""
    sketch = doodle("cat", seed=3)
    x, y, width, height = sketch.box
    boxes = Region.of_boxes([(x + 0.1 * width, y + 0.6 * height, 0.3 * width, 0.2 * height)])
    masks = mask(sketch, np.linspace(0, 1, 20), 0.1).lost
    assert len(masks.boxes) == 2
    corners = np.array([[0.1, 0.1], [0.7, 0.2], [0.4, 0.8]]) * (width, height) + (x, y)
    for lost in (boxes | masks, Region.of_polygons([corners]), Region.of_polygons([corners]) | boxes):
        damage = Damage(sketch, lost, sketch.box)
        shown = lost_view(damage, CANVAS, 8)
        gone = np.zeros((CANVAS.padded, CANVAS.padded), np.uint8)
        lost_on(damage, CANVAS).paint(gone, 1)
        edge, inner = CANVAS.inner / 8, inner_view(gone, CANVAS)
        fine = np.kron(inner, np.ones((4, 4)))  # a pixel is 84.25 of the canvas's wide: quarters fill it
        for row in range(8):
            for column in range(8):
                rows, columns = (slice(round(4 * edge * n), round(4 * edge * (n + 1))) for n in (row, column))
                assert shown[row, column] == pytest.approx(255 * fine[rows, columns].mean(), abs=1)
    assert not lost_view(Damage.none(sketch), CANVAS, 8).any()
    beside = Region.of_boxes([(x + 9 * width, y, 5, 5)])
    assert not lost_view(Damage(sketch, beside, sketch.box), CANVAS, 8).any()
