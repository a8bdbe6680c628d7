"""Atomic writes: complete or not at all, whatever fails or is killed meanwhile."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from gra2seq.data.datasets import drawing_files
from gra2seq.errors import UserError
from gra2seq.system import atomic_files
from gra2seq.system.atomic_files import atomic_folder, atomic_write, remove_leftovers, scratch_folder


@pytest.fixture(autouse=True)
def _no_folder_cleaned_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_files, "_cleaned", set())


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a file system needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_file_appears_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "out.svg"
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert temporary.suffix == ".svg", "matplotlib chooses the format by it"
        assert not path.exists()
    assert path.read_text() == "new"
    assert [item.name for item in path.parent.iterdir()] == ["out.svg"]


def fail(make: Callable[[Path], AbstractContextManager[Path]], path: Path, error: BaseException) -> None:
    with make(path) as temporary:
        (temporary / "weights" if temporary.is_dir() else temporary).write_text("new")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, UserError])
def test_failure_keeps_old_file_and_leaves_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(error, match="half way"):
        fail(atomic_write, path, error("half way"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_unusable_places_are_user_errors(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    os.symlink("loop", tmp_path / "loop")
    names = ("file/below", "folder", "x" * 300, "loop", "null\0byte")
    for place in (*(tmp_path / name for name in names), Path("/dev/null")):
        with pytest.raises(UserError, match="cannot write"), atomic_write(place) as temporary:
            temporary.write_text("x")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder", "loop"]
    assert not Path("/dev/null").is_file(), "a device is not replaced by a file"


def test_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real" / "file.txt")
    with atomic_write(tmp_path / "link.txt") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real" / "file.txt").read_text() == "new"


def test_names_that_are_no_text_or_very_long_can_be_written(tmp_path: Path) -> None:
    for name in ("\udcff.txt", "猫" * 80 + ".txt"):
        with atomic_write(tmp_path / name) as temporary:
            temporary.write_text("x")
        assert (tmp_path / name).read_text() == "x"


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "a") as temporary:
            temporary.write_text("x")
        with atomic_write(tmp_path / "weights") as temporary:
            save_file({"a": torch.zeros(1)}, temporary)  # of mode 600 if it has its way
        with atomic_folder(tmp_path / "b") as folder:
            (folder / "c").write_text("x")
    finally:
        os.umask(before)
    assert (tmp_path / "weights").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("links", [True, False])
def test_backup_keeps_the_file_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:

        def no_links(*_: object) -> None:
            raise OSError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", no_links)
    path, backup = tmp_path / "last", tmp_path / "previous"
    for content in ("1", "2", "3"):
        with atomic_write(path, backup) as temporary:
            temporary.write_text(content)
    assert (path.read_text(), backup.read_text()) == ("3", "2")
    with pytest.raises(ValueError, match="half way"):
        fail(partial(atomic_write, backup=backup), path, ValueError("half way"))
    assert (path.read_text(), backup.read_text()) == ("3", "2")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["last", "previous"]


def test_folder_appears_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with atomic_folder(path) as temporary:
        (temporary / "sub").mkdir()
        (temporary / "sub" / "weights").write_text("1")
        assert not path.exists()
    assert (path / "sub" / "weights").read_text() == "1"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_failed_folder_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error, match="half way"):
        fail(atomic_folder, tmp_path / "run", error("half way"))
    assert list(tmp_path.iterdir()) == []


def test_existing_folder_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (
        pytest.raises(UserError, match=r"run exists already: name another folder"),
        atomic_folder(tmp_path / "run"),
    ):
        pytest.fail("must not begin")


def test_folder_is_replaced_when_asked(tmp_path: Path) -> None:
    path, old = tmp_path / "model", tmp_path / "model.old"
    for content in ("1", "2"):
        with atomic_folder(path, replace=True) as temporary:
            (temporary / "weights").write_text(content)
        assert [item.name for item in tmp_path.iterdir()] == ["model"]
        assert (path / "weights").read_text() == content
    with pytest.raises(ValueError, match="half way"):
        fail(partial(atomic_folder, replace=True), path, ValueError("half way"))
    assert (path / "weights").read_text() == "2"
    path.rename(old)  # as a kill between the two renames leaves it
    with pytest.raises(ValueError, match="half way"):
        fail(partial(atomic_folder, replace=True), path, ValueError("half way"))
    assert (path / "weights").read_text() == "2"
    assert not old.exists()


def test_full_disk_keeps_the_old_file_and_says_so(tiny_disk: Path) -> None:
    path = tiny_disk / "out.bin"
    path.write_bytes(b"old")
    for write in (
        lambda temporary: temporary.write_bytes(bytes(300_000)),
        lambda temporary: save_file({"weights": torch.zeros(100_000)}, temporary),  # has an error type of its own
    ):
        with pytest.raises(UserError, match=r"cannot write .*out\.bin: No space left.*free some space") as raised:
            write_with(write, path)
        assert "\n" not in str(raised.value)
        assert path.read_bytes() == b"old"
        assert list(tiny_disk.iterdir()) == [path]
    with pytest.raises(UserError, match=r"cannot write .*run: No space left"), atomic_folder(tiny_disk / "run") as run:
        (run / "points.bin").write_bytes(bytes(300_000))
    assert list(tiny_disk.iterdir()) == [path]


def write_with(write: Callable[[Path], object], path: Path) -> None:
    with atomic_write(path) as temporary:
        write(temporary)


LEAVE_HALF_A_FILE = """
import os, signal, sys
from gra2seq.system.atomic_files import atomic_write, atomic_folder
for number, make in enumerate((atomic_write, atomic_folder)):
    if os.fork() == 0:
        with make(sys.argv[1 + number]) as temporary:
            (temporary / "points.ndjson" if temporary.is_dir() else temporary).write_text('{"half":')
            os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
"""


def test_leftovers_of_killed_writes_are_not_data_and_are_removed_by_the_next_write(tmp_path: Path) -> None:
    targets = [tmp_path / "files" / "cat.ndjson", tmp_path / "stores" / "dog.store"]
    subprocess.run([sys.executable, "-c", LEAVE_HALF_A_FILE, *targets], check=True, timeout=60)
    for target in targets:
        [left] = target.parent.iterdir()
        assert left.name.startswith(".")
        assert left.name.endswith(".tmp")
        with pytest.raises(UserError, match="holds no drawing file"):
            drawing_files([target.parent])
        with atomic_write(target.parent / "other.txt") as temporary:
            temporary.write_text("x")
        assert [path.name for path in target.parent.iterdir()] == ["other.txt"]


def test_only_own_leftovers_of_dead_processes_are_removed(tmp_path: Path) -> None:
    def leftover(name: str, age: float = 0.0) -> Path:
        path = tmp_path / name
        path.mkdir()
        (path / "half").touch()
        os.utime(path, (path.stat().st_mtime - age,) * 2)
        return path

    here, dead = atomic_files._host(), ended_process()
    gone = [
        leftover(f".a.svg.{here}-{dead}-01234567.tmp"),
        leftover(".a.svg.00000000-1-01234567.tmp", age=8 * 86_400),
    ]
    kept = [
        leftover(f".a.svg.{here}-{os.getpid()}-01234567.tmp"),  # still at work
        leftover(".b.svg.00000000-1-01234567.tmp"),  # of another host, and new
        leftover(".cache.tmp", age=8 * 86_400),  # of another program
        leftover("a.tmp"),
    ]
    with scratch_folder(tmp_path / "file") as own:
        assert own.exists()
    assert [path.exists() for path in gone] == [False, False]
    assert all(path.exists() for path in kept)
    assert remove_leftovers(tmp_path / "not there") == []


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
