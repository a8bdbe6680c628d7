"""Drawings in motion: GIF files frame by frame, animated SVG, and what cannot be animated."""

import numpy as np
import pytest
from PIL import Image

from gra2seq.errors import UserError
from gra2seq.formats.files import check_target, write
from gra2seq.formats.motion import FRAME_SECONDS, MotionCell, timelines, write_motion
from gra2seq.sketch.strokes import Sketch

TWO = Sketch.from_polylines([[(0, 0), (100, 0)], [(0, 100), (100, 100)]])
SIDE = Sketch.from_polylines([[(0, 0), (0, 100)]])


def frames(path):
    """Pixels of every frame, and how long each is shown in ms."""
    with Image.open(path) as image:
        pictures, durations = [], []
        for number in range(image.n_frames):
            image.seek(number)
            pictures.append(np.asarray(image.convert("L")))
            durations.append(image.info["duration"])
        return pictures, durations


def test_gif_draws_stroke_by_stroke_in_the_given_time_and_pauses(tmp_path):
    assert write_motion(tmp_path / "two.gif", [MotionCell(TWO)], seconds=2) == [tmp_path / "two.gif"]
    pictures, durations = frames(tmp_path / "two.gif")
    ink = [(picture < 128).sum() for picture in pictures]
    assert ink == sorted(ink)
    assert ink[0] < ink[-1] / 4
    middle = pictures[len(pictures) // 3]
    assert (middle[:120] < 128).any(), "the first stroke is drawn first"
    assert not (middle[120:] < 128).any()
    assert (pictures[-1][120:] < 128).any()
    assert sum(durations[:-1]) == pytest.approx(2000, rel=0.1)
    assert durations[-1] >= 2000


def test_gif_shows_visible_lines_in_grey_from_the_beginning(tmp_path):
    write_motion(tmp_path / "a.gif", [MotionCell(TWO, SIDE), MotionCell(None, SIDE)], seconds=1)
    first, *_, last = frames(tmp_path / "a.gif")[0]
    assert first.shape == (240, 480)
    assert ((first[:, :240] > 150) & (first[:, :240] < 220)).sum() > 100
    assert (last[:, :240] < 60).any()
    assert not (last[:, 240:] < 128).any(), "nothing is added to the second"


def test_many_drawings_get_smaller_cells(tmp_path):
    write_motion(tmp_path / "many.gif", [MotionCell(TWO)] * 64, seconds=FRAME_SECONDS)
    assert frames(tmp_path / "many.gif")[0][0].shape == (1200, 1200)


def test_animated_svg_has_grey_lines_and_keyframes(tmp_path):
    write_motion(tmp_path / "a.svg", [MotionCell(TWO, SIDE), MotionCell(None, SIDE)], seconds=3)
    text = (tmp_path / "a.svg").read_text()
    assert text.count("@keyframes") == 2
    assert text.count("#b8b8b8") == 2
    assert "animation:5s" in text  # 3 s and a pause of 2


def test_new_lines_are_drawn_at_the_pace_of_the_whole_drawing():
    dash = Sketch.from_polylines([[(0, 0), (10, 0)]])
    alone, beside = timelines([MotionCell(dash), MotionCell(dash, SIDE)])
    assert beside[0] == 0
    assert beside[-1] < alone[-1] / 2
    assert timelines([MotionCell(None, SIDE)])[0].shape == (0,)


def test_write_makes_a_gif_of_sketches(tmp_path):
    check_target(tmp_path / "two.gif", 2)
    assert write(tmp_path / "two.gif", [SIDE, SIDE]) == [tmp_path / "two.gif"]
    assert frames(tmp_path / "two.gif")[0][-1].shape == (240, 480)
    with pytest.raises(UserError, match="more than 100 drawings"):
        check_target(tmp_path / "x.gif", 101)


@pytest.mark.parametrize(
    ("name", "count", "seconds", "message"),
    [
        ("a.png", 1, None, ".gif or .svg"),
        ("a.gif", 0, None, "1 to 100"),
        ("a.svg", 101, None, "1 to 100"),
        ("a.gif", 1, 0.0, "above 0"),
        ("a.gif", 1, float("nan"), "above 0"),
    ],
)
def test_what_cannot_be_animated_is_refused(tmp_path, name, count, seconds, message):
    with pytest.raises(UserError, match=message):
        write_motion(tmp_path / name, [MotionCell(TWO)] * count, seconds)
    assert not list(tmp_path.iterdir())
