"""The helper itself: it must notice what it is there to notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats import limits
from formats.limits import MB, run_limited

pytestmark = pytest.mark.skipif(not limits.supported, reason="needs Linux")


def use_memory(path: Path, amount: int) -> None:
    assert len(bytearray(path.read_bytes() * amount)) == amount


def use_time(_path: Path) -> None:
    while True:
        pass


def fail(_path: Path) -> None:
    raise KeyError("raw")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "a").write_bytes(b"x")
    return tmp_path / "a"


def test_memory_is_measured_and_limited(path: Path) -> None:
    result = run_limited("formats.test_limits:use_memory", path, amount=30 * MB)
    assert result.outcome == "done"
    assert 50 * MB < result.memory < 70 * MB
    result = run_limited("formats.test_limits:use_memory", path, amount=100 * MB)
    assert result.outcome == "done"
    assert not result.within_limits
    result = run_limited("formats.test_limits:use_memory", path, amount=1000 * MB)
    assert (result.outcome, result.message[:11]) == ("raw", "MemoryError")


def test_a_call_without_end_is_killed(path: Path) -> None:
    result = run_limited("formats.test_limits:use_time", path, max_seconds=0.1)
    assert (result.outcome, result.message) == ("killed", "SIGPROF")
    assert 0.1 < result.seconds < 2
    assert not result.within_limits


def test_raw_exceptions_are_distinguished_from_user_errors(path: Path) -> None:
    assert run_limited("formats.test_limits:fail", path).message == "KeyError: 'raw'"
    result = run_limited("gra2seq.formats.files:read", path)
    assert result.outcome == "refused"
    assert "unknown kind of file" in result.message
