"""Ranks against a double loop in whole numbers or fractions; ties, crowds, collapsed codes, bad input."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from gra2seq.errors import UserError
from gra2seq.evaluation.retrieval import ranks


def slow_ranks(queries, gallery, targets=None):
    """One pair after the other, in fractions: no rounding at all."""
    targets = range(len(queries)) if targets is None else targets
    exact = [[Fraction(float(x)) for x in code] for code in gallery]
    found = []
    for query, target in zip(queries, targets, strict=True):
        q = [Fraction(float(x)) for x in query]
        away = [sum((a - b) ** 2 for a, b in zip(q, g, strict=True)) for g in exact]
        found.append(sum(d <= away[target] for i, d in enumerate(away) if i != target))
    return found


def codes(count, size, seed, spread=1.0, dtype=np.float32):
    return (np.random.default_rng(seed).standard_normal((count, size)) * spread).astype(dtype)


@pytest.mark.parametrize("block", [1, 7, 64, 2048])
@pytest.mark.parametrize("noise", [0.05, 0.6, 5.0])
def test_ranks_equal_a_double_loop(noise, block):
    gallery = codes(60, 5, 0)
    queries = gallery + codes(60, 5, 1, noise)
    assert ranks(queries, gallery, block=block).tolist() == slow_ranks(queries, gallery)


def retrieval(queries, gallery, ks=(1, 10, 50)):
    """Ret@k as the protocol counts it."""
    rank = ranks(queries, gallery, most=max(ks))
    return {k: float((rank < k).mean()) for k in ks}


def test_targets_may_be_given_by_number():
    gallery = codes(40, 4, 0)
    targets = np.random.default_rng(2).integers(0, 40, 25)
    queries = gallery[targets] + codes(25, 4, 1, 0.7)
    assert ranks(queries, gallery, targets, block=8).tolist() == slow_ranks(queries, gallery, targets)


def test_ties_on_a_grid_count_against_the_query():
    """Small whole numbers: many codes at exactly the same distance, none of them equal."""
    random = np.random.default_rng(0)
    gallery = random.integers(-1, 2, (80, 6)).astype(np.float32)
    queries = random.integers(-1, 2, (80, 6)).astype(np.float32)
    found = ranks(queries, gallery, block=16)
    assert found.tolist() == slow_ranks(queries, gallery)


def test_equal_codes_are_ties_despite_rounding():
    """Duplicates of the target count against us, far from the origin and far from the query."""
    gallery = codes(30, 128, 3) + np.float32(1000)
    gallery = np.concatenate([gallery, gallery, gallery])
    queries = gallery + codes(90, 128, 4, 0.01)
    assert ranks(queries, gallery).tolist() == [2] * 90
    assert retrieval(queries, gallery, (1, 2, 3)) == {1: 0.0, 2: 0.0, 3: 1.0}


def test_codes_at_the_same_distance_are_ties():
    """Another code at the same distance: the sums of squares are those of the same numbers in another order."""
    target = codes(1, 128, 0)[0]
    gallery = np.stack([target, target[::-1], -target, 1.01 * target, 0.99 * target])
    assert ranks(np.zeros((1, 128), np.float32), gallery, [0]).tolist() == [3]


def test_collapsed_codes_have_ret_0():
    same = np.ones((500, 16), np.float32)
    assert (ranks(same, same) == 499).all()
    assert retrieval(same, same) == {1: 0.0, 10: 0.0, 50: 0.0}


def test_ranks_are_exact_where_single_precision_is_not_enough():
    """Four tight balls far from each other: distances inside a ball are a millionth of those between them."""
    random = np.random.default_rng(0)
    balls = random.standard_normal((4, 8))[random.integers(0, 4, 60)]
    gallery = balls + random.standard_normal((60, 8)) * 1e-6
    queries = gallery + random.standard_normal((60, 8)) * 1e-6
    assert ranks(queries, gallery, block=32).tolist() == slow_ranks(queries, gallery)


@pytest.mark.parametrize("scale", [1e-30, 1e-10, 1e30, 1e150])
def test_scale_of_the_codes_does_not_change_ranks(scale):
    gallery = codes(50, 6, 0, dtype=np.float64)
    queries = gallery + codes(50, 6, 1, 0.5, np.float64)
    assert (ranks(queries * scale, gallery * scale) == ranks(queries, gallery)).all()


def test_outlier_does_not_change_other_ranks():
    gallery = codes(50, 6, 0)
    gallery[7] = 1e8
    queries = gallery + codes(50, 6, 1, 0.5)
    assert ranks(queries, gallery).tolist() == slow_ranks(queries, gallery)


@pytest.mark.parametrize("noise", [0.1, 0.8, 3.0])
@pytest.mark.parametrize("decay", [0.0, 0.05])
def test_search_by_leading_directions_changes_no_rank(noise, decay):
    """Codes of 128 are looked at in their leading directions first; plain float64 distances are the twin."""
    shape = np.exp(-decay * np.arange(128)).astype(np.float32)
    gallery = codes(250, 128, 0) * shape
    queries = gallery + codes(250, 128, 1, noise) * shape
    way = queries.astype(np.float64)[:, None] - gallery.astype(np.float64)[None]
    squares = (way**2).sum(axis=-1)
    expected = (squares <= np.diagonal(squares)[:, None]).sum(axis=1) - 1
    assert (ranks(queries, gallery, block=64) == expected).all()
    assert (ranks(queries, gallery, block=50, most=20) == np.minimum(expected, 20)).all()
    assert retrieval(queries, gallery) == {k: float((expected < k).mean()) for k in (1, 10, 50)}


def test_k_beyond_the_gallery_has_ret_1():
    gallery = codes(5, 4, 0)
    assert retrieval(-gallery, gallery, (5, 50)) == {5: 1.0, 50: 1.0}


def test_top_10_counts_ten_codes():
    """The target is the tenth nearest: found among ten, not among nine."""
    gallery = np.arange(1, 31, dtype=np.float32)[:, None]
    queries = np.zeros((1, 1), np.float32)
    assert ranks(queries, gallery, [9]).tolist() == [9]
    shares = retrieval(np.zeros((30, 1)), gallery, (9, 10))
    assert shares == {9: 9 / 30, 10: 10 / 30}


SEARCH_AND_MEASURE = """
import numpy as np
from gra2seq.system.memory import peak_memory
from gra2seq.evaluation.retrieval import ranks
random = np.random.default_rng(0)
gallery = random.standard_normal((10_000, 32), np.float32)
queries = gallery + 0.3 * random.standard_normal(gallery.shape, np.float32)
ranks(queries[:64], gallery[:64], most=50)
before = peak_memory()
ranks(queries, gallery, most=50)
print(peak_memory() - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_square_of_the_codes():
    """10,000 x 10,000 would be 400 MB in single precision. In a process of its own, which has not been larger."""
    line = subprocess.run([sys.executable, "-c", SEARCH_AND_MEASURE], capture_output=True, text=True, check=True)
    assert float(line.stdout) < 200  # MB


def test_no_queries_have_no_ranks():
    assert ranks(np.empty((0, 4)), codes(5, 4, 0), np.empty(0, np.int64)).shape == (0,)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["query", "gallery"])
def test_codes_with_nan_or_infinity_are_refused(bad, where):
    good, spoilt = codes(5, 4, 0), codes(5, 4, 0)
    spoilt[3, 1] = bad
    pair = (spoilt, good) if where == "query" else (good, spoilt)
    with pytest.raises(UserError, match=rf"1 of 5 {where} codes .* number 3.*earlier checkpoint"):
        ranks(*pair)
