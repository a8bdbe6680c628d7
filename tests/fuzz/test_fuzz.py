"""A short run of the fuzzer in the normal tests, and proof that it notices what it looks for."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from formats import limits
from fuzz import runner
from fuzz.runner import fuzz, make, read_limited
from fuzz.targets import CORPUS, TARGETS, Target, corpus_of

pytestmark = pytest.mark.skipif(not limits.supported, reason="memory cannot be limited here")

STRICT = ("npz", "model-config", "model-weights", "model-header", "store-header")  # nearly every change is noticed


@pytest.mark.parametrize("name", TARGETS)
def test_mutants_are_read_or_refused_within_the_limits(name: str, tmp_path: Path) -> None:
    count = TARGETS[name].short
    report = fuzz(name, count, keep=tmp_path)
    assert report["raw"] == []
    assert report["over"] == []
    assert report["done"] + report["refused"] == count
    assert report["refused"] > count // 10, "mutants are hardly damaged"
    if name not in STRICT:
        assert report["done"] > 0, "no mutant can be read: only the outermost checks are tested"


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_reads_what_its_mutants_are_made_from(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    path = tmp_path / f"seed{target.suffix}"
    outcomes = []
    for seed in target.seeds():
        path.write_bytes(target.wrap(seed) if target.wrap else seed)
        result = read_limited(target, path, len(seed))
        assert result.within_limits, result
        outcomes.append(result.outcome)
    assert set(outcomes) <= {"done", "refused"}, outcomes
    assert outcomes.count("done") >= len(outcomes) // 3, outcomes


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_files_that_once_did_harm_are_read_or_refused(path: Path) -> None:
    (name,) = [name for name in TARGETS if path in corpus_of(name)]
    result = read_limited(TARGETS[name], path, 10 * path.stat().st_size)
    assert result.within_limits, result
    assert result.outcome in ("done", "refused"), result


def read_raw(path: Path) -> None:
    path.read_bytes().decode("ascii")


def test_raw_exceptions_are_found_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target(".txt", lambda: [b"all letters"], function="fuzz.test_fuzz:read_raw")
    monkeypatch.setitem(runner.TARGETS, "raw", target)
    report = fuzz("raw", 50, keep=tmp_path)
    assert report["raw_count"] == len(list(tmp_path.iterdir())) > 0
    assert report["raw"][0]["message"].startswith("UnicodeDecodeError")


@pytest.mark.parametrize("name", TARGETS)
def test_a_mutant_is_made_again_from_its_number(name: str) -> None:
    target = TARGETS[name]
    seeds = target.seeds()
    first, again, other = (make(target, seeds, random.Random(number)) for number in (1, 1, 2))
    if target.wrap is None:
        assert first == again
    assert first[1] == again[1]
    assert first != other
