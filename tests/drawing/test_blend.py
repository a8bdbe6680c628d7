from __future__ import annotations

import numpy as np
import pytest

from gra2seq.drawing.blend import along_great_circle, along_line, blended

SHARE = np.linspace(0, 1, 7)


def codes() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.normal(0, 1, 16).astype(np.float32), 3 * random.normal(0, 1, 16).astype(np.float32)


@pytest.mark.parametrize("way", [along_line, along_great_circle, blended])
def test_begins_and_ends_at_the_two_codes(way):
    first, second = codes()
    between = way(first, second, SHARE)
    assert between.dtype == np.float32
    np.testing.assert_allclose(between[[0, -1]], [first, second], atol=1e-5)


def test_great_circle_turns_and_grows_evenly():
    between = along_great_circle(*codes(), SHARE).astype(np.float64)
    length = np.linalg.norm(between, axis=1)
    np.testing.assert_allclose(np.diff(length), np.diff(length)[0], rtol=1e-4)
    unit = between / length[:, None]
    angles = np.arccos(np.clip((unit[1:] * unit[:-1]).sum(axis=1), -1, 1))
    np.testing.assert_allclose(angles, angles[0], rtol=1e-3)


@pytest.mark.parametrize("factor", [0.0, 2.0, -1.0])
def test_great_circle_is_the_line_where_the_angle_has_no_plane(factor):
    first, _ = codes()
    between = along_great_circle(first, factor * first, SHARE)
    np.testing.assert_allclose(between, along_line(first, factor * first, SHARE), atol=1e-5)
