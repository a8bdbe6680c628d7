"""Exact search against a plain comparison with every code."""

from __future__ import annotations

import numpy as np
import pytest

from gra2seq.search import exact


def plainly(query, codes, k):
    distances = np.linalg.norm(codes.astype(np.float64) - query, axis=1)
    order = np.argsort(distances, kind="stable")[:k]
    return order, distances[order]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize(("rows", "k"), [(1, 1), (7, 7), (500, 9), (20_000, 50)])
def test_nearest_equals_plain_search(mixture, rows, k, dtype, monkeypatch):
    monkeypatch.setattr(exact, "QUERIES", 3)
    codes = mixture(rows, dtype=dtype)
    queries = mixture(5, seed=1, dtype=np.float32)
    numbers, distances = exact.nearest(queries, codes, exact.squared_norms(codes), k)
    for query, own, far in zip(queries, numbers, distances, strict=True):
        expected, true = plainly(query, codes, k)
        np.testing.assert_array_equal(own, expected)
        np.testing.assert_array_equal(far, true)


def test_rounding_far_from_the_origin_does_not_lose_the_nearest(mixture):
    """|g|² - 2 q·g has few digits left where codes are long and close together; the spare candidates make up for it."""
    codes = (mixture(20_000, dtype=np.float32) * 0.01 + 30).astype(np.float32)
    query = codes[123] + np.float32(1e-4)
    numbers, _ = exact.nearest(query[None], codes, exact.squared_norms(codes), 1)
    assert numbers[0, 0] == 123


def test_equal_codes_come_in_order_of_their_numbers():
    codes = np.zeros((20, 8), np.float16)
    numbers, distances = exact.nearest(np.zeros((1, 8), np.float32), codes, exact.squared_norms(codes), 20)
    assert numbers[0].tolist() == list(range(20))
    assert not distances.any()
