"""JSON that a stranger may have written."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gra2seq.errors import UserError
from gra2seq.system.json_files import MAX_BYTES, MAX_DEPTH, parse_json, read_json_lines, read_json_object


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ('{"a": NaN}', "NaN is not a finite number"),
        ('{"a": -Infinity}', "-Infinity is not a finite number"),
        ('{"a": 1e999}', "1e999 is too large a number"),
        ('{"a": ' + "9" * 5000 + "}", "limit"),
        ("[" * 100_000, "nested more than"),
        ("[" * 100_000 + "]" * 100_000, "nested more than"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested more than"),
        ('{"a":' * 500 + "1" + "}" * 500, "nested more than"),
        (b"\xff\xfe\x00", "decode"),
    ],
    ids=range(10),
)
def test_what_is_no_reasonable_json_is_a_value_error(text: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(text)


def test_reasonable_json_is_parsed() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert parse_json('{"a": [1, 2.5, "x", null, true]}') == {"a": [1, 2.5, "x", None, True]}
    assert parse_json('{"best": Infinity}', infinity=True) == {"best": math.inf}


def test_object_is_bounded_in_size(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": "' + "x" * MAX_BYTES + '"}')
    with pytest.raises(ValueError, match="more than 1,000,000 bytes"):
        read_json_object(path)
    assert len(read_json_object(path, 2 * MAX_BYTES)["a"]) == MAX_BYTES
    path.write_text("[1]")
    with pytest.raises(ValueError, match="not a JSON object"):
        read_json_object(path)


def test_broken_lines_of_a_log_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(
        b'{"step": 1}\n{"step": Infinity}\n\n[3]\nx\xff\n' + b"[" * 10_000 + b'\n{"step": 2}\n{"step": 3, "lo'
    )
    assert read_json_lines(path) == [{"step": 1}, {"step": 2}]
    with pytest.raises(UserError, match="cannot read"):
        read_json_lines(tmp_path / "none.jsonl")
