"""JSON from files that a stranger may have written: bounded in size and depth, finite numbers only."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from gra2seq.errors import UserError

MAX_BYTES = 1_000_000
MAX_DEPTH = 20  # lists and objects inside each other


def parse_json(text: str | bytes, *, infinity: bool = False) -> Any:
    """Parse JSON; ValueError says in a few words what is wrong. With `infinity`, NaN and Infinity are accepted."""
    try:
        value = json.loads(text) if infinity else json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError(f"lists or objects are nested more than {MAX_DEPTH} deep") from None
    if _depth_exceeds(value, MAX_DEPTH):
        raise ValueError(f"lists or objects are nested more than {MAX_DEPTH} deep")
    return value


def read_json_object(path: Path, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Read a JSON object. A missing file is an OSError, anything else that is wrong with it a ValueError."""
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"it has more than {max_bytes:,} bytes")
    value = parse_json(data)
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Read the objects of a log, one a line; a line that holds none, such as a last one cut by a kill, is skipped."""
    rows = []
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    for line in text.splitlines():
        try:
            row = parse_json(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a finite number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:20]} is too large a number")
    return value


def _depth_exceeds(value: Any, depth: int) -> bool:
    """Are lists or objects nested more than `depth` times? Level by level, without recursion."""
    level = [value]
    for _ in range(depth):
        containers = [inner for inner in level if isinstance(inner, dict | list)]
        level = [inner for one in containers for inner in (one.values() if isinstance(one, dict) else one)]
    return any(isinstance(inner, dict | list) for inner in level)
