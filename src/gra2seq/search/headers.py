"""Small JSON files that describe large ones: with a checksum of their own, so that a changed byte is noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gra2seq.data.store_format import header_checksum
from gra2seq.system.json_files import read_json_object

MAX_BYTES = 64_000_000  # a checksum for every 16,384 codes, and the names of all sources


def write_header(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps({**value, "checksum": header_checksum(value)}), encoding="utf-8")


def read_header(path: Path, version: int) -> dict[str, Any]:
    """OSError if there is no such file, ValueError if it is damaged or of another version."""
    value = read_json_object(path, MAX_BYTES)
    if value.get("version") != version:
        raise ValueError(f"version {value.get('version')!r}, this program reads {version}")
    if value.pop("checksum", None) != header_checksum(value):
        raise ValueError("its checksum does not match")
    return value
