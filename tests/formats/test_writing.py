"""Sets of files written completely or not at all, links and devices, targets checked before the work."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gra2seq
from gra2seq.errors import UserError
from gra2seq.formats import files, npz
from gra2seq.formats.files import check_target, read, write
from gra2seq.sketch.strokes import Sketch

CAT = Sketch.from_polylines([[(1, 2), (4, 6)], [(10, 10)]], category="cat", key="7")


# Several files: all or none


def test_an_existing_folder_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "mine.txt").write_text("what was here")
    with pytest.raises(UserError, match=r"d exists already: name another"):
        write(tmp_path / "d.svg", [CAT] * 3)
    with pytest.raises(UserError, match=r"d exists already: name another"):
        check_target(tmp_path / "d.svg", 3)
    check_target(tmp_path / "d.svg", 1)
    assert [path.name for path in tmp_path.rglob("*")] == ["d", "mine.txt"]


def test_files_of_a_set_are_readable_by_all_who_may(tmp_path: Path) -> None:
    made = write(tmp_path / "d.svg", [CAT] * 3)
    mask = os.umask(0)
    os.umask(mask)
    for path in made:
        assert "<svg" in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o666 & ~mask


KILL_WRITERS = """
import os, signal, sys, time
from gra2seq.formats.files import write
from gra2seq.sketch.strokes import Sketch

line = Sketch.from_polylines([[(0, 0), (n, 7)] for n in range(1, 50)])

def start(name):
    child = os.fork()
    if child == 0:
        write(name, [line] * 40)
        os._exit(0)
    return child

begun = time.monotonic()
os.waitpid(start(sys.argv[1] + "/all-undisturbed.svg"), 0)
duration = time.monotonic() - begun
for attempt in range(30):
    child = start(f"{sys.argv[1]}/all-{attempt}.svg")
    time.sleep(duration * 1.2 * attempt / 30)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_set_of_files_is_complete_or_absent_after_sigkill(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILL_WRITERS, str(tmp_path)], check=True)
    assert len(list((tmp_path / "all-undisturbed").iterdir())) == 40
    folders = [tmp_path / f"all-{attempt}" for attempt in range(30)]
    counts = [len(list(folder.iterdir())) if folder.exists() else 0 for folder in folders]
    assert set(counts) <= {0, 40}
    assert 0 in counts, "none was killed while it wrote"
    left_over = {path.name for path in tmp_path.iterdir()} - {folder.name for folder in folders} - {"all-undisturbed"}
    assert all(name.startswith(".") for name in left_over)


# Links, devices and pipes


def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for name in ("a.svg", "a.png", "a.ndjson", "a.ndjson.gz", "a.npz", "a.json"):
        target, link = tmp_path / "real" / f"content-of-{name}.data", tmp_path / name
        target.write_text("old")
        link.symlink_to(target)
        check_target(link)
        assert write(link, CAT) == [link]
        assert link.is_symlink()
        assert target.read_bytes() == link.read_bytes() != b"old"
        if name not in ("a.svg", "a.png"):
            assert len(read(link)) == 1


def test_links_that_lead_nowhere_and_pipes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop.svg").symlink_to(tmp_path / "loop.svg")
    os.mkfifo(tmp_path / "pipe.svg")
    for name, message in (("loop.svg", "symbolic link"), ("pipe.svg", "a device or a pipe")):
        for action in (lambda path: check_target(path), lambda path: write(path, CAT)):
            with pytest.raises(UserError, match=message):
                action(tmp_path / name)


# Targets


def test_a_target_is_checked_for_the_number_of_drawings(tmp_path: Path) -> None:
    check_target(tmp_path / "a.png", 1000)
    check_target(tmp_path / "a.ndjson", 10**6)
    for name, count in (("a.png", 1001), ("a.svg", 10_001)):
        with pytest.raises(UserError, match=rf"{name}: more than {count - 1} drawings; choose fewer"):
            check_target(tmp_path / name, count)
    with pytest.raises(UserError, match="no drawing to put into it"):
        check_target(tmp_path / "a.ndjson", 0)
    (tmp_path / "a").mkdir()
    check_target(tmp_path / "a.svg")
    check_target(tmp_path / "a.svg", 1)
    with pytest.raises(UserError, match=r"a exists already"):
        check_target(tmp_path / "a.svg", 2)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_target_is_checked_for_the_splits(tmp_path: Path) -> None:
    splits = ["", "train", "holdout"]
    message = r"a\.npz: drawing 2 has the split 'holdout', an \.npz has only train, valid, test: write \.ndjson"
    check_target(tmp_path / "a.npz", 2, splits[:2])
    check_target(tmp_path / "a.ndjson", 3, splits)
    with pytest.raises(UserError, match=message):
        check_target(tmp_path / "a.npz", 3, splits)
    with pytest.raises(UserError, match=message):
        write(tmp_path / "a.npz", [(split, CAT) for split in splits])
    with pytest.raises(UserError, match=r"a\.npz: an \.npz has the splits train, valid, test, not 'holdout'"):
        npz.write_npz(tmp_path / "a.npz", {"holdout": [CAT]})
    assert list(tmp_path.iterdir()) == []


def test_targets_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    long = "x" * 300
    for bad in (tmp_path / f"{long}.svg", tmp_path / long / "a.svg", tmp_path / long / "b" / "a.svg"):
        with pytest.raises(UserError, match=r"cannot be written \(File name too long\)"):
            check_target(bad)
    with pytest.raises(UserError, match="must end in one of"):
        check_target(tmp_path / f"{long}.xyz")
    if Path("/proc/self").exists():
        with pytest.raises(UserError, match=r"/proc/x/y\.svg cannot be written \(.*\): choose a place"):
            check_target("/proc/x/y.svg")


# One drawing


@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.ndjson", "a.npz", "a.json"])
def test_a_single_sketch_is_written(tmp_path: Path, name: str) -> None:
    assert gra2seq.write(tmp_path / name, CAT) == [tmp_path / name]
    assert (tmp_path / name).stat().st_size > 50


def test_a_generator_is_written(tmp_path: Path) -> None:
    def two() -> Iterator[Sketch]:
        yield CAT
        yield CAT

    assert len(write(tmp_path / "a.svg", two())) == 2
    assert len(files.write(tmp_path / "a.ndjson", two())) == 1
