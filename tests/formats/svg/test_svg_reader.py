from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import svgelements
from hypothesis import given
from hypothesis import strategies as st
from svg_samples import ANY, assert_same, calm, sketches
from svg_samples import read_page as page
from svg_samples import strokes_of as strokes

from gra2seq.formats.svg import read_svg, write_svg
from gra2seq.formats.svg.affine import parse_transform
from gra2seq.formats.svg.geometry import OutlinePen, flatten
from gra2seq.formats.svg.path_data import draw_path
from gra2seq.sketch.strokes import Sketch

# Written and read again


@calm
@given(sketches(ANY))
def test_round_trip(sketch: Sketch) -> None:
    assert_same(read_svg(write_svg(sketch).encode()), sketch)


def test_characters_xml_cannot_hold_are_replaced() -> None:
    sketch = Sketch.from_polylines([[(0, 0)]], category="a\x00b")
    assert read_svg(write_svg(sketch).encode()).category == "a\ufffdb"


def test_written_svg_shows_the_whole_drawing_with_round_pens() -> None:
    root = ET.fromstring(write_svg(Sketch.from_polylines([[(10, 20), (110, 70)], [(50, 50)]])))
    assert [float(value) for value in root.attrib["viewBox"].split()] == [5, 15, 110, 60]
    (group,) = root
    assert group.attrib["stroke-width"] == "1"
    assert group.attrib["stroke-linecap"] == "round"  # or a dot would not be seen
    assert [path.attrib["d"] for path in group] == ["M10 20L110 70", "M50 50z"]


# Geometry against values worked out by hand


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("M1 2L3 4 5 6", [[[1, 2], [3, 4], [5, 6]]]),
        ("m1 2l3 4 5 6", [[[1, 2], [4, 6], [9, 12]]]),
        ("M1 2 3 4", [[[1, 2], [3, 4]]]),
        ("m1,2,3,4", [[[1, 2], [4, 6]]]),
        ("M0 0H5h-2V7v1", [[[0, 0], [5, 0], [3, 0], [3, 7], [3, 8]]]),
        ("M0 0h2v2z", [[[0, 0], [2, 0], [2, 2], [0, 0]]]),
        ("M0 0h2v2H0V0z", [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]),  # closed already: no point twice
        ("M0 0h1zl2 2", [[[0, 0], [1, 0], [0, 0]], [[0, 0], [2, 2]]]),
        ("M5 5h1zm1 1h1", [[[5, 5], [6, 5], [5, 5]], [[6, 6], [7, 6]]]),
        ("M5 5zM1 1h0", [[[5, 5]], [[1, 1], [1, 1]]]),
        ("M9 9M1 1h1", [[[1, 1], [2, 1]]]),  # a move alone draws nothing
        ("M-.5.5-1e1+2E0", [[[-0.5, 0.5], [-10, 2]]]),
        ("M0 0A0 5 0 0 1 3 4", [[[0, 0], [3, 4]]]),  # no radius: a line
        ("M0 0h1A5 5 0 0 1 1 0", [[[0, 0], [1, 0]]]),  # from here to here: nothing
    ],
)
def test_path_of_lines(data: str, expected: list[list[list[float]]]) -> None:
    assert strokes(f'<path d="{data}"/>') == expected


def test_a_cubic_is_followed_to_the_tolerance() -> None:
    (curve,) = page('<path d="M0 0C0 100 100 100 100 0"/>').strokes
    t = np.linspace(0, 1, 20_001)
    x, y = 300 * t**2 * (1 - t) + 100 * t**3, 300 * t * (1 - t)
    nearest = np.hypot(curve[:, :1] - x, curve[:, 1:] - y).min(axis=1)
    assert nearest.max() < 0.01  # every point is on the curve
    assert max(_away(curve, np.array(point)) for point in zip(x[::50], y[::50], strict=True)) < 100 / 5000
    assert curve[[0, -1]].tolist() == [[0, 0], [100, 0]]
    assert 20 < len(curve) < 100


def test_a_quadratic_is_the_cubic_it_equals() -> None:
    quadratic = page('<path d="M0 0Q30 60 60 0"/>')
    cubic = page('<path d="M0 0C20 40 40 40 60 0"/>')
    np.testing.assert_allclose(quadratic.points, cubic.points, atol=1e-4)


def test_smooth_curves_reflect_the_last_control_point() -> None:
    assert_same(
        page('<path d="M0 0C0 10 10 10 10 0S20-10 20 0"/>'),
        page('<path d="M0 0C0 10 10 10 10 0C10-10 20-10 20 0"/>'),
    )
    assert_same(page('<path d="M0 0Q5 10 10 0T20 0"/>'), page('<path d="M0 0Q5 10 10 0Q15-10 20 0"/>'))
    assert_same(page('<path d="M0 0L5 5S9 0 9 9"/>'), page('<path d="M0 0L5 5C5 5 9 0 9 9"/>'))
    assert_same(page('<path d="m1 1s3 4 5 0"/>'), page('<path d="M1 1C1 1 4 5 6 1"/>'))


@pytest.mark.parametrize(("sweep", "side"), [(0, -1), (1, 1)])
def test_half_circle_follows_its_sweep_flag(sweep: int, side: int) -> None:
    (arc,) = page(f'<path d="M10 0A10 10 0 0 {sweep} -10 0"/>').strokes
    np.testing.assert_allclose(np.hypot(*arc.T), 10, atol=20 / 5000)
    assert (arc[1:-1, 1] * side > 0).all()


def test_large_arc_of_a_rotated_ellipse() -> None:
    (arc,) = page('<path d="M0 20A10 20 90 1 1 20 10"/>').strokes
    x, y = (arc - [0, 10]).T / [[20], [10]]  # rx stands upright; from the bottom by the left to the right
    np.testing.assert_allclose(np.hypot(x, y), 1, atol=1e-3)
    angle = np.unwrap(np.arctan2(y, x))
    assert angle[-1] - angle[0] == pytest.approx(1.5 * math.pi, abs=1e-3)


def test_arc_radius_too_small_is_scaled_up() -> None:
    (arc,) = page('<path d="M0 0a1 1 0 0120 0"/>').strokes
    np.testing.assert_allclose(np.hypot(*(arc - [10, 0]).T), 10, atol=20 / 5000)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ('<line x1="1" y1="2" x2="3" y2="4"/>', [[[1, 2], [3, 4]]]),
        ('<polyline points="1,2 3,4,5 6"/>', [[[1, 2], [3, 4], [5, 6]]]),
        ('<polygon points="0 0 4 0 4 3"/>', [[[0, 0], [4, 0], [4, 3], [0, 0]]]),
        ('<polyline points="7 8"/>', [[[7, 8]]]),
        ('<rect x="1" y="2" width="3" height="4"/>', [[[1, 2], [4, 2], [4, 6], [1, 6], [1, 2]]]),
        ('<rect width="1in" height="10mm"/>', [[[0, 0], [96, 0], [96, 37.7953], [0, 37.7953], [0, 0]]]),
        ('<rect width="50%" height="10%"/>', [[[0, 0], [100, 0], [100, 10], [0, 10], [0, 0]]]),
    ],
)
def test_shapes(shape: str, expected: list[list[list[float]]]) -> None:
    assert strokes(shape, 'width="200" height="100"') == expected


def test_round_shapes() -> None:
    (circle,) = page('<circle cx="3" cy="4" r="10"/>').strokes
    np.testing.assert_allclose(np.hypot(*(circle - [3, 4]).T), 10, atol=20 / 5000)
    np.testing.assert_array_equal(circle[0], circle[-1])
    (ellipse,) = page('<ellipse cx="3" cy="4" rx="10" ry="5"/>').strokes
    np.testing.assert_allclose(np.hypot(*((ellipse - [3, 4]) / [10, 5]).T), 1, atol=1e-3)
    (rounded,) = page('<rect width="20" height="10" rx="4"/>').strokes
    assert page('<rect width="20" height="10" rx="4"/>').box == (0, 0, 20, 10)
    corner = rounded[(rounded < 4).all(axis=1)] - 4
    np.testing.assert_allclose(np.hypot(*corner.T), 4, atol=20 / 5000)
    assert len(corner) > 5


def test_nested_transforms_act_from_the_inside_out() -> None:
    content = '<g transform="translate(10 20) scale(2)"><path transform="rotate(90)" d="M1 0L0 3"/></g>'
    assert strokes(content) == [[[10, 22], [4, 20]]]
    assert strokes('<g transform="matrix(1 2 3 4 5 6)"><path d="M0 0L1 0L0 1"/></g>') == [[[5, 6], [6, 8], [8, 10]]]
    assert strokes('<path transform="rotate(180, 5, 5)" d="M0 0h5"/>') == [[[10, 10], [5, 10]]]
    assert strokes('<path style="transform: translate(3px, 4px)" d="M0 0h1"/>') == [[[3, 4], [4, 4]]]


@calm
@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["rotate", "skewX", "skewY"]), st.integers(-80, 80)),
            st.tuples(st.sampled_from(["translate", "scale"]), st.integers(1, 9), st.integers(-9, -1)),
            st.tuples(st.just("rotate"), st.integers(-180, 180), st.integers(-9, 9), st.integers(-9, 9)),
        ),
        max_size=4,
    )
)
def test_transforms_match_svgelements(calls: list[tuple[str, ...]]) -> None:
    text = " ".join(f"{name}({' '.join(map(str, values))})" for name, *values in calls)
    other = svgelements.Matrix(text)
    expected = [other.a, other.b, other.c, other.d, other.e, other.f]
    np.testing.assert_allclose(parse_transform(text), expected, rtol=1e-9, atol=1e-6)


numbers = st.integers(-50, 50)
radii = st.integers(1, 40)
flags = st.integers(0, 1)
pairs = st.tuples(numbers, numbers)
commands = st.one_of(
    st.tuples(st.sampled_from("Ll"), pairs),
    st.tuples(st.sampled_from("HhVv"), st.tuples(numbers)),
    st.tuples(st.sampled_from("Qq"), pairs, pairs, st.sampled_from("Tt"), pairs, pairs),
    st.tuples(st.sampled_from("Cc"), pairs, pairs, pairs, st.sampled_from("Ss"), pairs, pairs),
    st.tuples(st.sampled_from("Aa"), st.tuples(radii, radii, numbers, flags, flags), pairs),
    st.tuples(st.sampled_from(["z", "Z"])),
)


@calm
@given(st.lists(commands, min_size=1, max_size=8))
def test_paths_match_svgelements(parts: list[tuple[str | tuple[int, ...], ...]]) -> None:
    words = [word if isinstance(word, str) else " ".join(map(str, word)) for part in parts for word in part]
    data = " ".join(["M3 4h1", *words])
    pen = OutlinePen()
    draw_path(data, pen)
    points, _ = flatten(pen.outline(), 0.01)
    for segment in svgelements.Path(data):
        if isinstance(segment, svgelements.Move) or getattr(segment, "sweep", 1) == 0:
            continue
        for share in (0.1, 0.5, 0.9):
            at = segment.point(share)
            assert _away(points, np.array([at.x, at.y])) < 0.02


def _away(line: np.ndarray, point: np.ndarray) -> float:
    way = np.diff(line, axis=0)
    square = np.maximum((way**2).sum(axis=1), 1e-12)
    share = (((point - line[:-1]) * way).sum(axis=1) / square).clip(0, 1)[:, None]
    return float(np.hypot(*(line[:-1] + share * way - point).T).min())


# Structure


def test_units_of_a_page_are_those_of_its_viewbox() -> None:
    assert strokes('<path d="M0 0L10 5"/>', 'viewBox="0 0 10 10" width="100" height="50"') == [[[0, 0], [10, 5]]]
    assert strokes('<path d="M0 0L10 5"/>', 'viewBox="-5 -5 20 20" width="10cm" height="10cm"') == [[[0, 0], [10, 5]]]
    stretched = 'viewBox="0 0 10 10" width="100" height="50" preserveAspectRatio="none"'
    assert strokes('<path d="M0 0L10 5"/>', stretched) == [[[0, 0], [100, 25]]]
    assert strokes('<path d="M0 0L10 5"/>', 'viewBox="-5 -5 20 20"') == [[[0, 0], [10, 5]]]
    assert strokes('<path d="M0 0L10 5"/>', 'viewBox="0 0 20 20" width="100%"') == [[[0, 0], [10, 5]]]


def test_nested_svg_is_placed_and_scaled() -> None:
    inner = '<svg x="100" y="10" width="40" height="20" viewBox="1 1 10 10"><path d="M1 1h10"/></svg>'
    assert strokes(inner) == [[[110, 10], [130, 10]]]  # 10 units are 20 px, in the middle of 40
    low = inner.replace("viewBox", 'preserveAspectRatio="xMaxYMin slice" viewBox')
    assert strokes(low) == [[[100, 10], [140, 10]]]


def test_use_draws_its_target_in_place() -> None:
    content = """
      <defs><g id="pair"><path d="M0 0h1"/><path id="second" d="M0 1h1"/></g></defs>
      <symbol id="sign" viewBox="0 0 1 1"><path d="M0 0L1 1"/></symbol>
      <use href="#second" x="10"/>
      <use xlink:href="#pair" transform="scale(2)" y="3" xmlns:xlink="http://www.w3.org/1999/xlink"/>
      <use href="#sign" x="5" width="8" height="8"/>"""
    expected = [[[10, 1], [11, 1]], [[0, 6], [2, 6]], [[0, 8], [2, 8]], [[5, 0], [13, 8]]]
    assert strokes(content) == expected


SEEN = '<path d="M0 0h1"/>'


@pytest.mark.parametrize(
    "hidden",
    [
        '<path d="M5 5h5" display="none"/>',
        '<g style="fill: red; display: none"><path d="M5 5h5"/></g>',
        '<style>/* } */ .off, p.x { display: none }</style><path class="on off" d="M5 5h5"/>',
        '<style>#x { fill: red; display: none !important }</style><g id="x"><path d="M0 0h9"/></g>',
        '<path d="M5 5h5" visibility="hidden"/>',
        *(f'<{tag}><path d="M5 5h5"/></{tag}>' for tag in ("defs", "symbol", "clipPath", "mask", "marker", "pattern")),
        "<text>Hello</text>",
        '<image href="http://localhost/x.png" width="5" height="5"/>',
        '<path d="M0 0h24v24H0z" fill="none"/>',  # the invisible frame of many icons
        '<rect width="100%" height="100%" fill="#FFFFFF"/>',  # the paper
        '<circle r="0"/><rect width="0" height="5"/><ellipse rx="3" ry="0"/><path/><polyline/>',
        '<other:path xmlns:other="http://example.com/other" d="M5 5h5"/>',
        '<use href="other.svg#x"/><use href="https://example.com/x.svg#y"/><use href="#nowhere"/><use/>',
        '<svg width="0"><path d="M5 5h5"/></svg>',
    ],
)
def test_invisible_elements_are_not_read(hidden: str) -> None:
    assert strokes(hidden + SEEN) == [[[0, 0], [1, 0]]]


def test_visible_shape_in_hidden_group_is_read() -> None:
    content = '<g visibility="hidden"><path d="M5 5h5"/><path visibility="visible" d="M0 0h1"/></g>'
    assert strokes(content) == [[[0, 0], [1, 0]]]


def test_unpainted_shapes_count_if_there_are_no_others() -> None:
    assert strokes('<polyline points="0 0 1 1" fill="none"/>') == [[[0, 0], [1, 1]]]


def test_parts_come_from_the_shape_or_its_group() -> None:
    sketch = page('<g data-part="leg"><path d="M0 0h1M2 0h1"/></g><path data-part="ear" d="M0 0h1"/><path d="M0 0h1"/>')
    assert sketch.parts == ("leg", "leg", "ear", "")


def test_other_encodings() -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><svg data-category="Käse"><path d="M0 0h1"/></svg>'
    assert read_svg(text.encode("utf-16")).category == "Käse"


def test_curves_are_written_smooth_and_near_the_points() -> None:
    angle = np.linspace(0, 5, 40)
    sketch = Sketch.from_polylines(
        [np.column_stack([np.cos(angle), np.sin(angle)]) * 100, [(3, 4)]], parts=("arc", "dot")
    )
    text = write_svg(sketch, curves=True)
    assert "L" not in text
    assert text.count("C") == 1
    read = read_svg(text.encode())
    assert read.parts == ("arc", "dot")
    assert max(_away(read.strokes[0], point) for point in sketch.strokes[0]) < 200 / 400
    assert read.strokes[1].tolist() == [[3, 4]]
