"""Standard input and output in the place of files: `-` on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gra2seq.errors import UserError

STREAM = Path("-")  # as an input standard input, as an output standard output
MAX_BYTES = 256_000_000  # of standard input

_MAGIC = {
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"PK\x03\x04": ".npz",
    b"\x1f\x8b": ".ndjson.gz",
}


def save_stdin(folder: Path) -> Path:
    """Standard input as a file in `folder`, with the suffix of what it holds."""
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UserError(f"standard input holds more than {MAX_BYTES / 1e6:.0f} MB: save it as a file and split that")
    path = folder / f"stdin{sniffed_suffix(data)}"
    path.write_bytes(data)
    return path


def sniffed_suffix(data: bytes) -> str:
    """The suffix of the format that bytes are in: by their first ones; text that is not JSON is taken for SVG."""
    if not data.strip():
        raise UserError("standard input is empty: pipe a drawing into it, or name a file")
    for magic, suffix in _MAGIC.items():
        if data.startswith(magic):
            return suffix
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith((b"{", b"[")):
        return ".svg"
    try:
        first = json.loads(start.split(b"\n", 1)[0])
    except ValueError:  # an object over several lines
        return ".json"
    return ".ndjson" if isinstance(first, dict) and "drawing" in first else ".json"


def send_to_stdout(path: Path) -> None:
    """The bytes of a file to standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(path.read_bytes())
    sys.stdout.buffer.flush()
