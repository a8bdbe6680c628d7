"""Files that were made to hurt are read or refused within the limits on memory and time, never with a raw error."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats import limits
from formats.hostile import DRAWING, HOSTILE, decompressed_size
from formats.limits import Result, run_limited
from gra2seq.errors import UserError
from gra2seq.formats import files
from gra2seq.formats.files import read, read_records

pytestmark = pytest.mark.skipif(not limits.supported, reason="memory cannot be limited here")

FOUND_BEFORE = Path(__file__).parents[3] / "shared" / "hostile"
READ = [  # what is read, not refused
    "one-point-drawings.ndjson",
    "one-point-drawings-pickled.npz",
    "points-with-pressure.json",
    "long-number.ndjson",
    "wide-letters.ndjson",
    "newlines.ndjson",
    "spaced-newlines.ndjson",
    "empty-members.ndjson.gz",
    "header-huge-shape.npz",
    "zigzag.svg",
]


def check(result: Result, name: str) -> None:
    assert result.within_limits, (name, result)
    assert result.outcome in ("done", "refused"), (name, result)
    assert len(result.message) <= 300
    assert result.message.isprintable()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_stay_within_the_limits(tmp_path: Path, name: str) -> None:
    content = HOSTILE[name]()
    path = tmp_path / name
    path.write_bytes(content)
    size = decompressed_size(name, content)
    del content
    result = run_limited("gra2seq.formats.files:read", path, size=size)
    check(result, name)
    assert (result.outcome == "done") == (name in READ), result
    streamed = run_limited("gra2seq.formats.files:read_records", path, size=size)
    check(streamed, name)


@pytest.mark.skipif(not FOUND_BEFORE.exists(), reason="the files that were found before are not here")
def test_files_found_before_stay_within_the_limits() -> None:
    paths = [path for path in FOUND_BEFORE.iterdir() if path.name.endswith((".ndjson", ".ndjson.gz", ".npz"))]
    assert paths
    for path in paths:
        size = decompressed_size(path.name, path.read_bytes())
        for function in ("gra2seq.formats.files:read", "gra2seq.formats.files:read_records"):
            check(run_limited(function, path, size=size), path.name)


def test_a_larger_limit_is_named_in_the_error_and_lifts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ndjson.gz"
    path.write_bytes(HOSTILE["same-drawing.ndjson.gz"]())
    with pytest.raises(UserError, match=r"200 times its size.*--max-bytes N, max_bytes=N or GRA2SEQ_MAX_BYTES=N"):
        read(path)
    assert sum(1 for _ in read_records(path)) == 50_000, "what is streamed is not limited"
    path = tmp_path / "a.ndjson"
    path.write_bytes(DRAWING * 1000)
    with pytest.raises(UserError, match=r"holds more than 0 MB.*--max-bytes N"):
        read(path, max_bytes=1000)
    with pytest.raises(UserError, match="--max-bytes N"):
        list(read_records(path, max_bytes=1000))
    monkeypatch.setenv("GRA2SEQ_MAX_BYTES", "1000")
    with pytest.raises(UserError, match="--max-bytes N"):
        read(path)
    assert len(read(path, max_bytes=len(DRAWING) * 1000)) == 1000
    for wrong in ("many", "1e9", "-1", "0"):
        monkeypatch.setenv("GRA2SEQ_MAX_BYTES", wrong)
        with pytest.raises(UserError, match=r"not a number of bytes|at least 1"):
            read(path)


def test_the_list_that_read_returns_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(DRAWING * 1000)
    monkeypatch.setattr(files, "MAX_LIST_BYTES", 500_000)
    with pytest.raises(UserError, match=r"of memory: read them one by one with read_records"):
        read(path, max_bytes=25_000)
    assert len(read(path, max_bytes=250_000)) == 1000, "who asks for more gets more"
    assert sum(1 for _ in read_records(path)) == 1000


@pytest.mark.slow
@pytest.mark.parametrize("line", [DRAWING, b'{"drawing":[[[1.5,2.5,3.5],[1.5,2.5,3.5]]]}\n', b" \n"])
def test_the_largest_files_stay_below_two_gibibytes(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(line * (250_000_000 // len(line)))
    check(run_limited("gra2seq.formats.files:read", path), path.name)
