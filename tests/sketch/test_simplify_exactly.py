"""Each rule of QuickDraw's simplification by a small drawing, and all of them on real ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slow_twins import Points, slow_quickdraw

from gra2seq.formats.files import read
from gra2seq.sketch.simplify import quickdraw_points, quickdraw_simplify, rdp, resample

QUICKDRAW = Path(__file__).parents[2].parent / "shared" / "quickdraw"  # real drawings, raw and official


def simplified(strokes: list[Any]) -> list[list[list[int]]]:
    """The strokes after `quickdraw_points`, as lists of [x, y]."""
    points, lengths = quickdraw_points(
        np.concatenate([np.array(s, float) for s in strokes]), np.array([*map(len, strokes)])
    )
    return [stroke.astype(int).tolist() for stroke in np.split(points, np.cumsum(lengths)[:-1])]


def parallel_strokes(seed: int) -> list[Points]:
    """Whole numbers, and segments parallel to the chord: many points are equally far, so the last bit decides."""
    generator = np.random.default_rng(seed)
    strokes: list[Points] = []
    for _ in range(3):
        (x, y), (dx, dy) = generator.integers(0, 300, 2), generator.integers(-90, 90, 2)
        (a, b) = generator.integers(-20, 20, 2)
        corners = [(x, y), (x + a, y + b), (x + a + dx, y + b + dy), (x + dx, y + dy)]
        strokes.append([(float(u), float(v)) for u, v in corners])
    return strokes


def test_simplification_equals_its_slow_twin_to_the_last_bit() -> None:
    for seed in range(60):
        strokes = parallel_strokes(seed)
        assert simplified(strokes) == [[list(point) for point in stroke] for stroke in slow_quickdraw(strokes)]


def test_scale_is_uniform_and_multiplies_before_it_divides() -> None:
    assert simplified([[(10, 20), (110, 20)], [(10, 20), (10, 70)]]) == [[[0, 0], [255, 0]], [[0, 0], [0, 128]]]
    # 103 * 255 / 206 is 127.5 exactly; 103 * (255 / 206) is a bit less and would become 127.
    assert 103 * (255 / 206) < 127.5
    assert simplified([[(0, 0), (206, 0)], [(103, 0), (103, 50)]])[1][0] == [128, 0]


def test_halves_are_rounded_to_the_even_neighbour() -> None:
    frame = [(0, 0), (510, 0)]
    for x, expected in ((1, 0), (3, 2), (5, 2), (7, 4)):
        assert simplified([frame, [(x, 0), (x, 100)]])[1][0] == [expected, 0]


def test_resampling_drops_corners_and_carries_the_distance_on() -> None:
    # 255 px wide, so a unit is a pixel: 10.6 px to the corner, which lies between samples 10 and 11.
    strokes = [[(0, 0), (255, 0)], [(0, 0), (10.6, 0), (10.6, 30)]]
    assert simplified(strokes)[1] == [[0, 0], [11, 0], [11, 30]]
    samples, lengths = resample(np.array(strokes[1]), np.array([3]))
    assert samples[10:12].tolist() == pytest.approx(np.array([[10, 0], [10.6, 0.4]]))
    assert lengths.tolist() == [42]  # 0 to 40 px, and the last point at 40.6


def test_distance_is_to_the_line_and_not_to_the_segment() -> None:
    # The stroke runs 40 px past its own end on the same line, and comes back.
    assert simplified([[(0, 0), (255, 0)], [(0, 10), (140, 10), (100, 10)]])[1] == [[0, 10], [100, 10]]


def test_a_point_at_exactly_two_pixels_is_dropped() -> None:
    frame = [(0, 0), (255, 0)]
    assert simplified([frame, [(0, 50), (50, 50), (50, 52), (51, 52), (51, 50), (100, 50)]])[1] == [[0, 50], [100, 50]]


def test_of_equally_far_points_the_first_is_kept() -> None:
    # Axis-parallel whole numbers: no rounding error, so the 41 points at a height of 10 px are equally far.
    assert simplified([[(0, 0), (255, 0)], [(0, 0), (0, 10), (40, 10), (40, 0)]])[1] == [
        [0, 0],
        [0, 10],
        [40, 10],
        [40, 0],
    ]
    keep = rdp(np.array([[0, 0], [1, 9], [2, 9], [3, 9], [4, 0]]), np.array([5]), 8.0)
    assert keep.tolist() == [True, True, False, False, True]


def test_a_dot_is_two_equal_points_and_points_that_coincide_after_rounding_stay() -> None:
    frame = [(0, 0), (255, 0)]
    assert simplified([frame, [(7, 8)], [(9, 9), (9, 9), (9, 9)], [(20, 20), (20.3, 20)]])[1:] == [
        [[7, 8]] * 2,
        [[9, 9]] * 2,
        [[20, 20]] * 2,
    ]


def test_reading_with_simplification_works_in_double_precision(tmp_path: Path) -> None:
    """As raw files have them: whole numbers plus an offset that single precision cannot hold."""
    differs = 0
    for seed in range(40):
        offset = 85.0999984741211
        strokes = [[(x + 1000, y - offset) for x, y in stroke] for stroke in parallel_strokes(seed)]
        drawing = {"drawing": [[[x for x, _ in s], [y for _, y in s]] for s in strokes]}
        for name in ("a.ndjson", "a.json"):
            (tmp_path / name).write_text(json.dumps(drawing))
            [sketch] = read(tmp_path / name, simplify=True)
            assert [stroke.tolist() for stroke in sketch.strokes] == simplified(strokes)
        [raw] = read(tmp_path / "a.ndjson")
        differs += not np.array_equal(quickdraw_simplify(raw).points, sketch.points)
    assert differs > 0, "else the test shows nothing"


def real_pairs() -> list[tuple[list[Any], list[Any]]]:
    """A few hundred drawings, raw and official."""
    pairs = []
    for path in sorted((QUICKDRAW / "raw").glob("*.ndjson.gz"))[::25]:
        with gzip.open(path) as lines:
            raw = {drawing["key_id"]: drawing["drawing"] for drawing in map(json.loads, lines)}
        with gzip.open(QUICKDRAW / path.name) as lines:
            for official in map(json.loads, lines):
                if official["key_id"] in raw:
                    pairs.append((raw[official["key_id"]], official["drawing"]))
    return pairs


@pytest.mark.skipif(not (QUICKDRAW / "raw").is_dir(), reason="the real drawings are not here")
def test_99_percent_of_real_drawings_are_identical_to_the_official_form() -> None:
    pairs = real_pairs()
    assert len(pairs) >= 200
    same = [
        simplified([list(zip(*stroke[:2], strict=True)) for stroke in raw])
        == [[list(point) for point in zip(*stroke, strict=True)] for stroke in official]
        for raw, official in pairs
    ]
    assert np.mean(same) >= 0.99
