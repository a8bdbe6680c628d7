"""Approximate search: the recall that is reported is the recall that is found."""

from __future__ import annotations

import numpy as np
import pytest

from gra2seq.errors import UserError
from gra2seq.search import ann, exact

pytest.importorskip("faiss", reason="faiss is not installed: pip install 'gra2seq[search]'")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    random = np.random.default_rng(0)
    centres = random.normal(0, 2, (100, 16))
    codes = (centres[random.integers(0, 100, 4000)] + random.normal(0, 0.7, (4000, 16))).astype(np.float16)
    path = tmp_path_factory.mktemp("index") / "index.faiss"
    norms = exact.squared_norms(codes)
    return codes, norms, path, ann.build(codes, norms, path)


def test_recall_is_measured_and_high(built):
    codes, norms, path, tuning = built
    assert 0.9 <= tuning.recall <= 1
    random = np.random.default_rng(5)
    queries = (codes[random.choice(len(codes), 100)] + random.normal(0, 0.1, (100, 16))).astype(np.float32)
    true, true_far = exact.nearest(queries, codes, norms, 10)
    found, far = ann.nearest(ann.load(path, *codes.shape), queries, codes, 10, tuning.probes)
    recall = np.mean([len(set(one) & set(other)) / 10 for one, other in zip(true, found, strict=True)])
    assert recall > tuning.recall - 0.1
    same = true == found
    np.testing.assert_array_equal(true_far[same], far[same])


def test_recall_leaves_the_query_itself_out():
    true = np.array([[0, 1, 2]])
    assert ann._recall(true, np.array([[0, 1, 2]]), np.array([0])) == 1
    assert ann._recall(true, np.array([[0, 9, 8]]), np.array([0])) == 0
    assert ann._recall(true, np.array([[0, 9, 2]]), np.array([0])) == 0.5


def test_damaged_or_foreign_index_is_refused(built, tmp_path):
    codes, _, path, _ = built
    with pytest.raises(UserError, match="not the index"):
        ann.load(path, 7, 16)
    broken = tmp_path / "index.faiss"
    broken.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UserError, match="damaged"):
        ann.load(broken, *codes.shape)


def test_few_codes_have_no_approximate_index(mixture, tmp_path):
    codes = mixture(100)
    with pytest.raises(UserError, match="--method exact"):
        ann.build(codes, exact.squared_norms(codes), tmp_path / "index.faiss")
