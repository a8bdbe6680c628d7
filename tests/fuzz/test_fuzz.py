"""A short run of the fuzzer in the normal tests, and proof that it notices what it looks for."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from formats import limits
from fuzz import runner
from fuzz.runner import fuzz, make
from fuzz.targets import TARGETS, Target

pytestmark = pytest.mark.skipif(not limits.supported, reason="memory cannot be limited here")

SHORT = 150  # mutants of each target


@pytest.mark.parametrize("name", TARGETS)
def test_mutants_are_read_or_refused_within_the_limits(name: str, tmp_path: Path) -> None:
    report = fuzz(name, SHORT, keep=tmp_path)
    assert report["raw"] == []
    assert report["over"] == []
    assert report["done"] + report["refused"] == SHORT
    assert report["refused"] > SHORT // 10, "mutants are hardly damaged"
    if name != "npz":  # there the archive's checksums notice nearly every change
        assert report["done"] > 0, "no mutant can be read: only the outermost checks are tested"


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
