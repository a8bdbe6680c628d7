from __future__ import annotations

import numpy as np

from gra2seq.studio.guess import Guesser


def clusters(random):
    centres = np.eye(4, 8, dtype=np.float32) * 10
    codes = np.repeat(centres, 25, axis=0) + random.normal(0, 0.3, (100, 8)).astype(np.float32)
    return centres, codes, np.repeat(["cat", "bus", "pig", "bee"], 25).tolist()


def test_the_nearest_name_comes_first():
    centres, codes, names = clusters(np.random.default_rng(0))
    guesser = Guesser(codes, names)
    for centre, name in zip(centres, ("cat", "bus", "pig", "bee"), strict=True):
        guess = guesser.guess(centre)
        assert guess.names[0][0] == name
        assert not guess.unlike


def test_a_code_far_from_all_is_unlike():
    _, codes, names = clusters(np.random.default_rng(0))
    assert Guesser(codes, names).guess(np.full(8, 50, np.float32)).unlike


def test_a_small_gallery_calls_nothing_unlike():
    _, codes, names = clusters(np.random.default_rng(0))
    assert not Guesser(codes[:10], names[:10]).guess(np.full(8, 50, np.float32)).unlike
