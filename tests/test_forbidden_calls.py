"""Functions of other libraries that must not meet a stranger's file, and why (SECURITY.md)."""

from __future__ import annotations

import re
from pathlib import Path

import gra2seq

FORBIDDEN = {
    r"cv2\.(imdecode|imread|VideoCapture|FileStorage)": "OpenCV brings an old libpng and FFmpeg: use formats.raster",
    r"torch\.load\(": "it unpickles: use system.tensor_files",
    r"torch\.jit\.": "CVE-2025-3000",
    r"pickle\.loads?\(": "it runs what a file says: use formats.safe_pickle",
    r"allow_pickle=True": "it runs what a file says: use formats.safe_pickle",
    r"yaml\.(unsafe_load|full_load|load)\(": "it builds any object: use yaml.safe_load",
    r"\b(eval|exec)\(": "it runs what a file says",
}


def test_package_does_not_call_what_is_unsafe_with_strangers_files() -> None:
    files = sorted(Path(gra2seq.__file__).parent.rglob("*.py"))
    assert len(files) > 100
    for path in files:
        text = path.read_text(encoding="utf-8")
        for pattern, reason in FORBIDDEN.items():
            found = re.search(rf"(?<![\w.]){pattern}", text)
            assert found is None, f"{path.name}: {found[0] if found else ''}: {reason}"
