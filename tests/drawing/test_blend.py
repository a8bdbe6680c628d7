from __future__ import annotations

import numpy as np

from gra2seq.drawing.blend import blended

SHARE = np.linspace(0, 1, 7)


def codes() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.normal(0, 1, 16).astype(np.float32), 3 * random.normal(0, 1, 16).astype(np.float32)


def test_begins_and_ends_at_the_two_codes_and_is_straight():
    first, second = codes()
    between = blended(first, second, SHARE)
    assert between.dtype == np.float32
    np.testing.assert_allclose(between[[0, -1]], [first, second], atol=1e-5)
    np.testing.assert_allclose(np.diff(between, axis=0), np.tile((second - first) / 6, (6, 1)), atol=1e-5)
