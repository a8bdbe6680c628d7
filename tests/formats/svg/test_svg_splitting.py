"""Cutting paths: exact outside of the region, nothing left inside of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from svg_samples import calm

from gra2seq.errors import UserError
from gra2seq.formats.svg.affine import IDENTITY, Affine, apply, parse_transform
from gra2seq.formats.svg.geometry import draw_ellipse
from gra2seq.formats.svg.path_data import draw_path
from gra2seq.formats.svg.region import Region
from gra2seq.formats.svg.splitting import SegmentPen, Subpath, cut

SQUARE = np.array([(40, 40), (60, 40), (60, 60), (40, 60)])
SHARES = np.linspace(0, 1, 2001)


def subpaths(data: str) -> list[Subpath]:
    pen = SegmentPen()
    draw_path(data, pen)
    return pen.subpaths


def cut_text(data: str, *polygons: np.ndarray, matrix: Affine = IDENTITY) -> str | None:
    kept = cut(subpaths(data), matrix, Region(polygons or [SQUARE]))
    return None if kept is None else "".join(subpath.text() for subpath in kept)


def samples(paths: list[Subpath], matrix: Affine = IDENTITY) -> np.ndarray:
    segments = [segment for path in paths for segment in path.segments]
    return apply(matrix, np.concatenate([np.zeros((0, 2)), *(segment.at(SHARES) for segment in segments)]))


def distance(points: np.ndarray, polyline: np.ndarray) -> np.ndarray:
    """Of each point from the nearest of dense samples."""
    return np.array([np.hypot(*(polyline - point).T).min() for point in points])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("M0 50H100", "M0 50L40 50M60 50L100 50"),
        ("M50 50L100 50", "M60 50L100 50"),
        ("M45 45L55 55", ""),
        ("M0 0L30 30", None),
        ("M0 50h100v-50z", "M60 50L100 50L100 0L0 50L40 50"),  # joined through the start
        ("M50 30h30v25h-30z", "M50 40L50 30L80 30L80 55L60 55"),
        ("M50 50z", ""),
        ("M5 5z", None),
        ("M0 0h9M50 50z", "M0 0L9 0"),
        ("M0 0h9M45 45h5M10 10h5z", "M0 0L9 0M10 10L15 10L10 10Z"),
        ("M0 50Q50 50 100 50", "M0 50Q20 50 40 50M60 50Q80 50 100 50"),
        ("M50 0C50 40 50 60 50 100", None),
    ],
)
def test_paths_are_split_at_the_border(data: str, expected: str | None) -> None:
    if expected is None and data.startswith("M50 0C"):
        before, after = (cut_text(data) or "").split("M")[1:]
        assert before.endswith(" 50 40")
        assert after.startswith("50 60C")
    else:
        assert cut_text(data) == expected


def test_arcs_stay_arcs() -> None:
    circle = SegmentPen()
    draw_ellipse(circle, (50, 50), 20, 20)
    (rest,) = cut(circle.subpaths, IDENTITY, Region([np.array([(60, 0), (100, 0), (100, 100), (60, 100)])])) or []
    half = math.sqrt(300)
    assert [segment.arc is not None for segment in rest.segments] == [True, True]
    np.testing.assert_allclose(rest.start, (60, 50 + half))
    np.testing.assert_allclose(rest.segments[-1].points[-1], (60, 50 - half))
    np.testing.assert_allclose(np.hypot(*(samples([rest]) - 50).T), 20)
    assert rest.text().count("A20 20 0 0 1") == 2


def test_a_region_is_the_union_of_even_odd_polygons() -> None:
    ring = np.array([(0, 0), (30, 0), (30, 30), (0, 30), (0, 0), (10, 10), (20, 10), (20, 20), (10, 20), (10, 10)])
    region = Region([ring, np.array([(12, 12), (14, 12), (14, 14), (12, 14)]), SQUARE, SQUARE + 1])
    points = np.array([(5, 5), (15, 15), (13, 13), (50, 50), (60.5, 60.5), (35, 35), (-1, 5)])
    assert region.contains(points).tolist() == [True, False, True, True, True, False, False]


@pytest.mark.parametrize("bad", [[], [[(0, 0), (1, 1)]], [[(0, 0, 0)] * 3], [[(0, 0), (1, math.nan), (1, 1)]]])
def test_bad_regions_are_refused(bad: list[list[tuple[float, ...]]]) -> None:
    with pytest.raises(UserError, match="region"):
        Region(bad)


coordinates = st.floats(-100, 100).map(lambda value: round(value, 2))
points = st.tuples(coordinates, coordinates)
radii = st.floats(1, 80).map(lambda value: round(value, 2))


@st.composite
def paths(draw: st.DrawFn) -> str:
    words = [f"M{draw(coordinates)} {draw(coordinates)}"]
    for letter in draw(st.lists(st.sampled_from("LQCAT"), min_size=1, max_size=4)):
        count = {"L": 1, "Q": 2, "C": 3, "A": 1, "T": 1}[letter]
        prefix = ""
        if letter == "A":
            flags = f"{draw(st.integers(0, 1))} {draw(st.integers(0, 1))}"
            prefix = f"{draw(radii)} {draw(radii)} {draw(st.integers(-90, 90))} {flags} "
        words.append(letter + prefix + " ".join(f"{x} {y}" for x, y in (draw(points) for _ in range(count))))
    return "".join(words) + draw(st.sampled_from(["", "Z"]))


@st.composite
def polygons(draw: st.DrawFn) -> np.ndarray:
    if draw(st.booleans()):
        (x, y), (width, height) = draw(points), draw(st.tuples(radii, radii))
        return np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])
    return np.array(draw(st.lists(points, min_size=3, max_size=7)))


TRANSFORMS = st.sampled_from(["", "translate(3 4) scale(1.5 .7)", "rotate(30) skewX(20)", "matrix(-1 .2 .3 1 4 5)"])


@calm
@given(paths(), st.lists(polygons(), min_size=1, max_size=2), TRANSFORMS)
def test_visible_strokes_are_exactly_those_outside_the_region(
    data: str, region: list[np.ndarray], transform: str
) -> None:
    matrix, area = parse_transform(transform), Region(region)
    whole = subpaths(data)
    kept = cut(whole, matrix, area)
    before = samples(whole, matrix)
    inside = area.contains(before)
    if kept is None:
        assert not _deep(before, area)[inside].any()
        return
    written = subpaths("".join(subpath.text() for subpath in kept))
    after = samples(written, matrix)
    assert not _deep(after, area)[area.contains(after)].any()  # nothing is left inside
    segments = [segment for path in whole for segment in path.segments]
    step = max(float(np.hypot(*np.diff(apply(matrix, s.at(SHARES)), axis=0).T).max()) for s in segments)
    some = before[~inside & _deep(before, area)][::97]
    assume(len(after) > 0 or not len(some))
    if len(some):
        assert distance(some, after).max() <= step + 1e-6  # all of the outside is kept
    if len(after):
        assert distance(after[::97], before).max() <= step + 1e-6  # and nothing else


def _deep(points: np.ndarray, area: Region) -> np.ndarray:
    """Which points are farther than rounding errors from the border."""
    way = area.end - area.begin
    square = np.maximum((way**2).sum(axis=1), 1e-12)
    deep = np.ones(len(points), bool)
    for begin, along, size in zip(area.begin, way, square, strict=True):
        share = (((points - begin) * along).sum(axis=1) / size).clip(0, 1)[:, None]
        deep &= np.hypot(*(begin + share * along - points).T) > 1e-4
    return deep


@calm
@given(paths(), polygons())
def test_curves_keep_their_points_exactly(data: str, region: np.ndarray) -> None:
    """Every kept segment is a part of one of the original: its points lie on it to rounding errors."""
    whole = subpaths(data)
    originals = [segment for path in whole for segment in path.segments]
    for path in cut(whole, IDENTITY, Region([region])) or []:
        for segment in path.segments:
            middle = segment.at(np.array([0.5]))
            assert min(_nearest(original, middle) for original in originals) < 1e-6


def _nearest(segment: object, point: np.ndarray) -> float:
    """The distance of a point from a segment: sampled, then finer and finer around each of the nearest places."""
    coarse = np.linspace(0, 1, 2001)
    away = np.hypot(*(segment.at(coarse) - point).T)  # type: ignore[attr-defined]
    around = np.concatenate([[np.inf], away, [np.inf]])
    lowest = np.flatnonzero((away <= around[:-2]) & (away <= around[2:]))
    best = math.inf
    for start in lowest[np.argsort(away[lowest])][:8]:
        middle, width = coarse[start], 1 / 1000
        for _ in range(12):
            shares = np.linspace(max(0.0, middle - width), min(1.0, middle + width), 101)
            away = np.hypot(*(segment.at(shares) - point).T)  # type: ignore[attr-defined]
            middle, width = float(shares[away.argmin()]), width / 20
            best = min(best, float(away.min()))
    return best
