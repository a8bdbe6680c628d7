from __future__ import annotations

import numpy as np
import pytest

from gra2seq.studio.guess_name import REASONS, UNLIKE_SHARE, Guesser
from gra2seq.studio.signs import SIGNS

NAMES = ("cat", "bus", "pig", "bee")
CENTRES = np.eye(4, 8, dtype=np.float32) * 10
NO_SIGNS = np.zeros(SIGNS)


def guesser(per_cluster: int = 25) -> Guesser:
    random = np.random.default_rng(0)
    count = 4 * per_cluster
    codes = np.repeat(CENTRES, per_cluster, axis=0) + random.normal(0, 0.3, (count, 8)).astype(np.float32)
    return Guesser(codes, np.repeat(NAMES, per_cluster).tolist(), random.normal(0, 1, (count, SIGNS)))


def test_the_nearest_name_comes_first():
    for centre, name in zip(CENTRES, NAMES, strict=True):
        guess = guesser().guess(centre, NO_SIGNS)
        assert guess.names[0][0] == name
        assert not guess.unlike


def test_a_code_far_from_all_is_unlike():
    guess = guesser().guess(np.full(8, 50, np.float32), NO_SIGNS)
    assert guess.unlike
    assert guess.reasons == [REASONS[0]]


@pytest.mark.parametrize("sign", range(SIGNS))
def test_a_large_sign_makes_a_drawing_unlike(sign):
    signs = NO_SIGNS.copy()
    signs[sign] = 10
    assert guesser().guess(CENTRES[0], signs).reasons == [REASONS[1 + sign]]


def test_a_small_gallery_calls_nothing_unlike():
    assert not guesser(per_cluster=3).guess(np.full(8, 50, np.float32), np.full(SIGNS, 50.0)).unlike


def test_thresholds_together_exclude_the_wanted_share_of_the_gallery():
    random = np.random.default_rng(1)
    codes, signs = random.normal(0, 1, (1000, 4)).astype(np.float32), random.normal(0, 1, (1000, SIGNS))
    made = Guesser(codes, ["cat"] * 1000, signs)
    others = np.linalg.norm(codes[:, None] - codes, axis=2) + np.diag(np.full(1000, np.inf))
    beyond = np.column_stack([others.min(axis=1), signs]) > made.thresholds
    assert beyond.any(axis=1).mean() == pytest.approx(UNLIKE_SHARE, abs=0.005)
