"""Pictures of lines become those lines: crossings, loops, spurs, dots, pens, paper, light; and pictures of nothing."""

from __future__ import annotations

import time
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gra2seq
from gra2seq.data.doodles import CATEGORIES, doodle
from gra2seq.errors import UserError
from gra2seq.formats.tracing import read_picture
from gra2seq.sketch.distance import chamfer
from gra2seq.sketch.render import render
from gra2seq.sketch.strokes import Sketch

CAT = Path(__file__).parents[2] / "examples/drawings/cat.svg"


def png(picture):
    return bytes(cv2.imencode(".png", picture)[1])


def drawn(*lines, size=256, width=4, closed=False):
    """Black polylines on white; a line of one point is a dot."""
    picture = np.full((size, size), 255, np.uint8)
    for line in lines:
        points = np.array(line, np.int32)
        cv2.polylines(
            picture, [np.repeat(points, 2, axis=0) if len(line) == 1 else points], closed, 0, width, cv2.LINE_AA
        )
    return picture


def traced(picture):
    return read_picture(png(picture))


def has_strokes(sketch, expected, within=7.0):
    """Whether the strokes have exactly the expected ends, in any order and direction, up to some pixels."""
    left = [np.array(pair, np.float64) for pair in expected]
    for stroke in sketch.strokes:
        both = stroke[[0, -1]]
        off = [min(np.abs(both - pair).max(), np.abs(both[::-1] - pair).max()) for pair in left]
        if not off or min(off) > within:
            return False
        left.pop(int(np.argmin(off)))
    return not left


@pytest.mark.parametrize("end", [(200, 210), (200, 50), (40, 200), (200, 120)])  # 45 degrees is special to thinning
def test_straight_line_becomes_one_stroke_in_pixels_of_the_picture(end):
    sketch = traced(drawn([(40, 50), end]))
    assert len(sketch) <= 4
    assert has_strokes(sketch, [[(40, 50), end]], within=4)


@pytest.mark.parametrize("width", [3, 4, 7, 12])
@pytest.mark.parametrize("end", [(200, 210), (200, 50), (207, 97), (90, 203)])
def test_lines_lie_in_the_middle_of_the_ink_and_reach_its_ends(width, end):
    begin, end = np.array([40.0, 50.0]), np.array(end, np.float64)
    (stroke,) = traced(drawn([begin, end], width=width)).strokes
    along = (end - begin) / np.hypot(*(end - begin))
    from_begin = stroke - begin
    beside = from_begin[:, 0] * along[1] - from_begin[:, 1] * along[0]
    assert np.abs(beside).mean() < 0.52  # cv2 itself draws lines of even width half a pixel aside
    walked = from_begin @ along
    assert abs(walked.min()) < 1
    assert abs(walked.max() - np.hypot(*(end - begin))) < 1


@pytest.mark.parametrize("width", [1, 3, 6, 12])
@pytest.mark.parametrize("angle", [60, 75, 90])
def test_crossing_lines_become_two_strokes_straight_through(width, angle):
    lean = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))]) * 100
    lines = [[(28, 128), (228, 128)], [128 - lean, 128 + lean]]
    sketch = traced(drawn(*lines, width=width))
    truth = Sketch.from_polylines([np.array(line, np.float64) for line in lines])
    assert has_strokes(sketch, lines)
    assert chamfer([sketch], [truth])[0] < 0.01


def test_three_lines_through_one_point_become_three_strokes():
    turns = np.radians([0, 60, 120])
    lines = [
        [(128 - 90 * np.cos(a), 128 - 90 * np.sin(a)), (128 + 90 * np.cos(a), 128 + 90 * np.sin(a))] for a in turns
    ]
    assert len(traced(drawn(*lines)).lengths) == 3


def test_branch_ends_at_the_line_it_meets():
    sketch = traced(drawn([(30, 128), (226, 128)], [(128, 128), (128, 220)], width=5))
    assert has_strokes(sketch, [[(30, 128), (226, 128)], [(128, 128), (128, 220)]])


@pytest.mark.parametrize("width", [2, 8])
def test_circle_becomes_one_closed_stroke_that_starts_at_the_top_against_the_clock(width):
    picture = np.full((256, 256), 255, np.uint8)
    cv2.circle(picture, (128, 128), 80, 0, width, cv2.LINE_AA)
    sketch = traced(picture)
    assert len(sketch.lengths) == 1
    assert (sketch.points[0] == sketch.points[-1]).all()
    assert sketch.points[0, 1] < 90
    assert np.abs(np.hypot(*(sketch.points - 128).T) - 80).max() < 3
    x, y = sketch.points.T
    assert (x[:-1] * y[1:] - x[1:] * y[:-1]).sum() < 0


def test_loop_crossed_by_a_line_stays_closed():
    picture = drawn([(10, 128), (246, 128)])
    cv2.circle(picture, (128, 128), 60, 0, 4, cv2.LINE_AA)
    sketch = traced(picture)
    assert len(sketch.lengths) == 2
    assert sum(bool((s[0] == s[-1]).all()) for s in sketch.strokes) == 1


def test_sharp_tip_stays_one_stroke():
    sketch = traced(drawn([(80, 220), (128, 40), (176, 220)], width=6))
    assert len(sketch.lengths) == 1
    assert sketch.points[:, 1].min() < 46


def test_corners_of_a_closed_line_keep_their_tips():
    (cat,) = gra2seq.read(CAT)  # at one ear the skeleton has a tiny loop inside the ink, at the other a short spur
    sketch = traced(render(cat, 400, 6))
    head = max(sketch.strokes, key=lambda stroke: len(stroke))
    assert (head[0] == head[-1]).all()
    for tip in ((71, 36), (331, 30)):
        assert np.hypot(*(head - tip).T).min() < 4


def test_rough_border_leaves_no_spurs():
    picture = drawn([(30, 128), (226, 128)], width=13)
    for x in range(40, 220, 12):
        picture[118:122, x : x + 3] = 0  # bumps on the upper border
    assert len(traced(picture).lengths) == 1


def test_dots_become_strokes_of_one_place():
    sketch = traced(drawn([(60, 60)], [(200, 60)], [(60, 200), (200, 200)], width=6))
    small = [s for s in sketch.strokes if np.ptp(s, axis=0).max() == 0]
    assert len(sketch.lengths) == 3
    assert sorted(tuple(np.rint(s[0] / 10)) for s in small) == [(6, 6), (20, 6)]


def test_white_on_black_gives_the_same_drawing():
    sketch = doodle("cat", 0)
    picture = render(sketch, 256)
    assert chamfer([traced(255 - picture)], [traced(picture)])[0] < 0.001


@pytest.mark.parametrize("scale", [1, 3])
def test_large_picture_is_read_in_its_own_pixels(scale):
    size = 700 * scale
    sketch = traced(drawn([(0.1 * size, 0.2 * size), (0.8 * size, 0.9 * size)], size=size, width=5 * scale))
    low, high = sketch.points.min(axis=0), sketch.points.max(axis=0)
    assert np.abs(low - [0.1 * size, 0.2 * size]).max() < 0.01 * size
    assert np.abs(high - [0.8 * size, 0.9 * size]).max() < 0.01 * size


@settings(max_examples=25, deadline=None)
@given(
    category=st.sampled_from(CATEGORIES),
    seed=st.integers(0, 10_000),
    size=st.sampled_from([128, 256, 400]),
    pen=st.floats(1 / 128, 1 / 50),
)
def test_doodle_is_read_back_within_a_chamfer_bound(category, seed, size, pen):
    truth = doodle(category, seed)
    sketch = traced(render(truth, size, max(1.5, pen * size)))
    assert chamfer([sketch], [truth])[0] < 0.02


@pytest.mark.parametrize("seed", range(4))
def test_noise_blur_and_uneven_light_change_little(seed):
    rng = np.random.default_rng(seed)
    truth = doodle(CATEGORIES[seed], seed)
    clean = cv2.GaussianBlur(render(truth, 256, 3).astype(np.float64), (0, 0), 0.8)
    picture = clean * np.linspace(1, 0.6, 256) + rng.normal(0, 12, clean.shape)
    sketch = traced(picture.clip(0, 255).astype(np.uint8))
    assert chamfer([sketch], [truth])[0] < 0.012
    assert len(sketch.lengths) <= 2 * len(truth.lengths)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("slope", [0.0, 0.05])
def test_rulings_fainter_than_the_ink_are_left_out(squared, slope):
    size = 600
    truth = doodle("cat", 1)
    paper = np.full((size, size), 250, np.uint8)
    for place in range(-40, size + 40, 22):
        shift = round(slope * size)
        cv2.line(paper, (0, place), (size, place + shift), 200, 2, cv2.LINE_AA)
        if squared:
            cv2.line(paper, (place, 0), (place - shift, size), 200, 2, cv2.LINE_AA)
    sketch = traced(np.minimum(paper, render(truth, size, 5)))
    assert chamfer([sketch], [truth])[0] < 0.01


def test_parallel_lines_as_dark_as_the_rest_are_part_of_the_drawing():
    fence = [[(20, y), (236, y)] for y in range(30, 230, 25)]
    assert len(traced(drawn(*fence)).lengths) == len(fence)


def test_dark_table_around_the_page_is_left_out():
    truth = doodle("duck" if "duck" in CATEGORIES else CATEGORIES[0], 3)
    photo = np.full((700, 700), 70, np.uint8)
    photo[60:640, 40:650] = 235
    photo[100:600, 100:600] = np.minimum(235, render(truth, 500, 5))
    assert chamfer([traced(photo)], [truth])[0] < 0.015  # the edge of the page would make it 0.05 or more


def grainy(level, spread, size=200):
    return np.random.default_rng(0).normal(level, spread, (size, size)).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    "picture",
    [
        np.full((100, 100), 255, np.uint8),
        grainy(235, 4),
        grainy(180, 10),
        np.tile(np.arange(200, dtype=np.uint8), (200, 1)),
    ],
)
def test_page_without_a_drawing_is_refused(picture):
    with pytest.raises(UserError, match="shows no drawing"):
        traced(picture)


@pytest.mark.parametrize("picture", [np.zeros((100, 100), np.uint8), grainy(6, 3)])
def test_black_page_is_refused(picture):
    with pytest.raises(UserError, match="black all over"):
        traced(picture)


def test_texture_without_lines_is_refused():
    dots = np.random.default_rng(0).random((256, 256)) < 0.35
    texture = cv2.resize(np.where(dots, 0, 255).astype(np.uint8), (1024, 1024), interpolation=cv2.INTER_NEAREST)
    with pytest.raises(UserError, match="shows no"):
        traced(texture)


def test_animated_picture_warns_or_reports(tmp_path):
    from PIL import Image

    frame = Image.fromarray(drawn([(40, 40), (200, 200)]))
    frame.save(tmp_path / "moving.png", save_all=True, append_images=[Image.new("L", frame.size, 255)])
    with pytest.warns(UserWarning, match="first frame"):
        read_picture(tmp_path / "moving.png")
    remarks: list[str] = []
    read_picture(tmp_path / "moving.png", remarks.append)
    assert len(remarks) == 1


def test_large_scribble_takes_bounded_time():
    rng = np.random.default_rng(0)
    points = rng.integers(50, 1950, (120, 2))
    picture = drawn(points, size=2000, width=8)
    start = time.process_time()
    sketch = traced(picture)
    assert time.process_time() - start < 20
    assert len(sketch.lengths) > 10


def test_thin_lines_beside_a_blot_are_a_drawing():
    """Borders of thin lines are half-tones, and the blot is wide: neither makes a texture of it."""
    grey = render(doodle("cat", seed=1), 256, 1.9)
    cv2.circle(grey, (20, 236), 9, 0, -1, cv2.LINE_AA)
    assert len(read_picture(cv2.imencode(".png", grey)[1].tobytes()).lengths) > 3
