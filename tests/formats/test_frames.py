from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.formats.frames import HOLD, SIDE, write_film
from gra2seq.sketch.strokes import Sketch


def test_svg_shows_exactly_one_drawing_at_any_time(tmp_path):
    (path,) = write_film(tmp_path / "film.svg", list(doodles(4, seed=1)))
    text = path.read_text()
    assert len(ElementTree.fromstring(text).findall(".//{*}path")) == 4
    changes = {0.0: 0}
    for frames in re.findall(r"@keyframes f\d+\{(.*)\}\n", text):
        is_shown = False
        for percent, state in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", frames):
            if (state == "visible") != is_shown:
                is_shown = not is_shown
                changes[float(percent)] = changes.get(float(percent), 0) + (1 if is_shown else -1)
    assert (np.cumsum([changes[percent] for percent in sorted(changes)]) == 1).all()


def test_svg_without_animation_shows_the_last_drawing(tmp_path):
    (path,) = write_film(tmp_path / "film.svg", list(doodles(3, seed=1)))
    paths = ElementTree.parse(path).getroot().findall(".//{*}path")
    assert [one.get("visibility") for one in paths] == ["hidden", "hidden", None]


def test_gif_goes_there_and_back_and_holds_the_ends(tmp_path):
    (path,) = write_film(tmp_path / "film.gif", list(doodles(4, seed=1)))
    with Image.open(path) as film:
        assert film.size == (SIDE, SIDE)
        assert film.n_frames == 6
        durations = []
        for number in range(6):
            film.seek(number)
            durations.append(film.info["duration"])
    assert durations[0] == durations[3] == HOLD * durations[1]


def test_drawings_keep_their_places_to_each_other(tmp_path):
    small = Sketch.from_polylines([[[0, 0], [10, 10]]])
    large = Sketch.from_polylines([[[0, 0], [100, 100]]])
    (path,) = write_film(tmp_path / "film.svg", [small, large])
    ends = [
        float(re.findall(r"[\d.]+", one.get("d"))[-1])
        for one in ElementTree.parse(path).getroot().findall(".//{*}path")
    ]
    assert ends[0] < ends[1] / 4


@pytest.mark.parametrize("count", [1, 2])
def test_films_may_be_short(tmp_path, count):
    for name in ("film.svg", "film.gif"):
        (path,) = write_film(tmp_path / name, list(doodles(count, seed=1)))
        assert path.stat().st_size > 0


def test_other_names_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"\.gif"):
        write_film(tmp_path / "film.png", list(doodles(2)))
