from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from gra2seq.errors import UserError
from gra2seq.formats.svg import read_svg
from gra2seq.formats.svg.animation import AnimationStyle, animate
from gra2seq.sketch.distance import dense_points
from gra2seq.sketch.strokes import Sketch

SVG = "{http://www.w3.org/2000/svg}"
STEPS = Sketch.from_polylines([[(0, 0), (100, 0)], [(0, 50), (50, 50), (100, 50)], [(50, 100)]])
TIMES = np.array([0, 1, 2, 2.5, 3, 4])
POLYLINES = AnimationStyle(curves=False)


def keyframes(text: str) -> list[dict[str, list[tuple[float, float]]]]:
    """For each stroke the percentages and values of each property."""
    found = []
    for body in re.findall(r"@keyframes s\d+\{((?:[^{}]*\{[^{}]*\})+)\}", text):
        frames: dict[str, list[tuple[float, float]]] = {}
        for places, name, value in re.findall(r"([^{}]*)\{([\w-]+):([^{}]*)\}", body):
            frames.setdefault(name, []).extend((float(place.strip("%")), float(value)) for place in places.split(","))
        found.append(frames)
    return found


def paths(text: str) -> list[ET.Element]:
    return [path for path in ET.fromstring(text).iter(SVG + "path") if path.get("class")]


def test_strokes_appear_one_after_the_other() -> None:
    text = animate([STEPS], [TIMES], seconds=8, style=POLYLINES)
    assert "animation:10s linear infinite" in text  # 8 s and a pause of 2
    first, second, dot = keyframes(text)
    assert first["stroke-dashoffset"] == [(0, 1), (0, 1), (20, 0), (100, 0)]
    assert second["stroke-dashoffset"] == [(0, 1), (40, 1), (60, 0), (100, 0)]
    assert second["opacity"] == [(0, 0), (40, 0), (40.01, 1)]
    assert dot == {"opacity": [(0, 0), (80, 0), (80.01, 1)]}
    assert [path.get("class") for path in paths(text)] == ["line", "line", "dot"]
    assert [path.get("pathLength") for path in paths(text)] == ["1", "1", None]
    assert [path.get("style") for path in paths(text)] == [f"animation-name:s{n}" for n in range(3)]


def test_an_uneven_pace_is_followed() -> None:
    line = Sketch.from_polylines([[(x, 0) for x in range(101)]])
    times = np.arange(101) ** 2 / 1000
    (frames,) = keyframes(animate([line], [times]))
    percent, offset = np.array(sorted(set(frames["stroke-dashoffset"]))).T
    loop = 10 + 2
    drawn = 1 - np.interp(times / loop * 100, percent, offset)
    assert abs(drawn - np.arange(101) / 100).max() < 0.025
    assert (np.diff(percent) >= 0).all()
    assert len(percent) < 12


def test_without_motion_all_is_drawn() -> None:
    text = animate([STEPS], [TIMES], style=POLYLINES)
    sheet = text[text.index("<style>") : text.index("</style>")]
    assert sheet.startswith("<style>@media (prefers-reduced-motion: no-preference){")
    outside = text.replace(sheet, "")
    assert "dash" not in outside
    assert "opacity" not in outside
    drawn = read_svg(text.encode())
    np.testing.assert_array_equal(drawn.lengths, STEPS.lengths)
    scale = (240 - 32) / 100
    np.testing.assert_allclose(drawn.points, STEPS.points * scale + 16, atol=0.06)


def test_drawings_stand_in_a_grid_with_the_visible_part_in_grey() -> None:
    grey = Sketch.from_polylines([[(0, 0), (0, 100)], [(100, 0), (100, 100)]])
    text = animate([STEPS] * 5, [TIMES] * 5, visible=[grey, None, grey, None, None], style=POLYLINES)
    root = ET.fromstring(text)
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("720", "480", "0 0 720 480")
    still = [path for path in root.iter(SVG + "path") if not path.get("class")]
    assert [path.get("stroke") for path in still] == ["#b8b8b8"] * 2
    assert still[0].get("d") == "M16 16L16 224M224 16L224 224"
    assert len(paths(text)) == len(keyframes(text)) == 15
    corners = [path.get("d", "").split("L")[0] for path in paths(text)[::3]]
    assert corners == ["M16 16", "M256 16", "M496 16", "M16 256", "M256 256"]


def test_a_frame_is_the_same_for_all() -> None:
    text = animate([STEPS], [TIMES], frame=(0, 0, 200, 200), style=AnimationStyle(curves=False, columns=2, margin=20))
    assert paths(text)[0].get("d") == "M20 20L120 20"
    assert ET.fromstring(text).get("width") == "480"


def test_drawings_without_time_and_title() -> None:
    text = animate([STEPS], [np.zeros(6)], title="a < b & \x00", style=AnimationStyle(background="none", pause=0))
    root = ET.fromstring(text)
    assert root.findtext(SVG + "title") == "a < b & ?"
    assert root.find(SVG + "rect") is None
    for frames in keyframes(text):
        for places in frames.values():
            assert all(0 <= place <= 100 for place, _ in places)


@pytest.mark.parametrize(
    ("sketches", "timelines", "options", "message"),
    [
        ([], [], {}, "one at least"),
        ([STEPS], [], {}, "as many"),
        ([STEPS], [TIMES], {"visible": [None, None]}, "2 visible parts"),
        ([STEPS], [TIMES[:3]], {}, "has 6 points"),
        ([STEPS], [TIMES[::-1]], {}, "must not decrease"),
        ([STEPS], [TIMES * np.nan], {}, "must be finite"),
        ([STEPS], [TIMES], {"seconds": 0}, "cannot take 0 seconds"),
    ],
)
def test_bad_values_are_refused(sketches: list, timelines: list, options: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        animate(sketches, timelines, **options)


def test_visible_lines_are_ten_times_as_exact_as_new_ones() -> None:
    """What the user drew must look as it was; new lines may be smoothed."""
    angle = np.linspace(0, 6, 60)
    wave = Sketch.from_polylines([np.stack([40 * angle, 20 * np.sin(3 * angle)], axis=1)])
    text = animate([wave], [np.arange(60.0)], visible=[wave], frame=(0, -120, 240, 240), style=AnimationStyle(margin=0))
    page = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 240"><path stroke="black" fill="none" d="{}"/></svg>'
    )
    away = []
    for data in re.findall(r' d="([^"]+)"', text):
        drawn = dense_points([read_svg(page.format(data).encode()).points / 5.0]) * 5
        away.append(np.hypot(*((wave.points + (0, 120))[:, None] - drawn).transpose(2, 0, 1)).min(axis=1).max())
    visible, new = away
    assert visible < 0.12  # px: a tenth, written with one digit, beside 0.6
    assert new > 2 * visible
