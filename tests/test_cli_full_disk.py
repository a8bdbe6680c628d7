"""Every command that writes, on a disk that is full: one line, exit code 2, and what was there is intact."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gra2seq.data.doodles import doodles
from gra2seq.formats.files import write

DISK_BYTES = 16_384
OLD = b"the file before"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for some small files, and for none of the answers below."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", place]
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a file system needs root")
    (place / "old").write_bytes(OLD)
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize(
    "words",
    [
        "data convert many.ndjson -o DISK/all.ndjson",
        "data convert many.ndjson -o DISK/all.json",
        "data convert many.ndjson -o DISK/all.npz",
        "data convert many.ndjson -o DISK/all.store",
        "data convert few.ndjson -o DISK/all.svg",
        "data info many.ndjson --sheet DISK/sheet.png",
        "redraw few.ndjson --model MODEL -o DISK/all.ndjson --samples 20",
        "pack MODEL -o DISK/model",
        "graph few.ndjson --model MODEL -o DISK/graph.png --links temporal",
    ],
)
def test_command_on_a_full_disk_is_one_line_and_changes_nothing(  # type: ignore[no-untyped-def]
    words: str, disk: Path, tiny_run: Path, call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("many.ndjson", doodles(300, seed=0))
    write("few.ndjson", doodles(12, seed=0))
    code, out, error = call(*words.replace("DISK", str(disk)).replace("MODEL", str(tiny_run)).split())
    said = " ".join(error.split())
    assert (code, out) == (2, ""), said
    assert "No space left on device" in said
    assert "Traceback" not in said
    assert (disk / "old").read_bytes() == OLD
    assert [path.name for path in disk.iterdir()] == ["old"]
