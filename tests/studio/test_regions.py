from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gra2seq.studio.regions import eraser_outline


def distance_to_path(points, path):
    """The slow twin: the distance of each point to each segment."""
    best = np.full(len(points), np.inf)
    for a, b in pairwise(path):
        way = b - a
        share = ((points - a) @ way / max(way @ way, 1e-12)).clip(0, 1)
        best = np.minimum(best, np.linalg.norm(points - a - share[:, None] * way, axis=1))
    return best


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e4])
def test_outline_is_what_lies_within_the_radius(scale):
    random = np.random.default_rng(0)
    turn = np.linspace(0, 5.5, 40)  # nearly a ring, with a hole in its middle
    path = np.stack([np.cos(turn), np.sin(turn)], axis=1) * 60 * scale + 100 * scale
    radius = 12 * scale
    region = eraser_outline([(path, radius)])
    points = random.uniform(0, 200 * scale, (4000, 2))
    away = distance_to_path(points, path)
    clear = np.abs(away - radius) > 0.01 * 144 * scale
    assert (region.contains(points) == (away <= radius))[clear].all()


def test_a_hole_inside_of_an_erased_ring_stays():
    turn = np.linspace(0, 2 * np.pi, 60)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1) * 50
    region = eraser_outline([(ring, 10.0)])
    assert region.contains(np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 55.0], [70.0, 0.0]])).tolist() == [
        False,
        True,
        True,
        False,
    ]


def test_a_tap_is_a_disc():
    region = eraser_outline([([(5.0, 5.0)], 2.0)])
    assert region.contains(np.array([[5.0, 6.5], [5.0, 7.5]])).tolist() == [True, False]


def test_a_long_path_stays_few_polygons():
    path = np.cumsum(np.random.default_rng(1).normal(0, 3, (3000, 2)), axis=0)
    region = eraser_outline([(path, 8.0)])
    assert len(region.polygons) < 10
    assert sum(map(len, region.polygons)) < 1500


def test_no_eraser_is_no_region():
    assert not eraser_outline([])
