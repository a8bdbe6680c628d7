from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from gra2seq.errors import UserError
from gra2seq.system.atomic_files import atomic_folder, atomic_write


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "out.svg"
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert temporary.suffix == ".svg"
        assert temporary.parent == path.parent  # a rename across disks would not be one step
        assert not path.exists()
    assert path.read_text() == "new"
    assert [item.name for item in path.parent.iterdir()] == ["out.svg"]


def fail(make: Callable[[Path], AbstractContextManager[Path]], path: Path, error: BaseException) -> None:
    with make(path) as temporary:
        (temporary / "weights" if temporary.is_dir() else temporary).write_text("new")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, UserError])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(error, match="half way"):
        fail(atomic_write, path, error("half way"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_said_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(UserError, match=r"cannot write .*out\.txt: No space left.*free some space"):
        fail(atomic_write, path, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(UserError, match=r"cannot write .*run: No space left"):
        fail(atomic_folder, tmp_path / "run", OSError(errno.ENOSPC, "No space left on device"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "file" / "below", tmp_path / "folder", tmp_path / ("x" * 300)):
        with pytest.raises(UserError, match="cannot write"), atomic_write(place) as temporary:
            temporary.write_text("x")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder"]


def test_the_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "a") as temporary:
            temporary.write_text("x")
        with atomic_folder(tmp_path / "b") as folder:
            (folder / "c").write_text("x")
    finally:
        assert os.umask(before) == 0o027  # looked at, but not changed
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o750


def test_a_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with atomic_folder(path) as temporary:
        (temporary / "sub").mkdir()
        (temporary / "sub" / "weights").write_text("1")
        assert not path.exists()
    assert (path / "sub" / "weights").read_text() == "1"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_folder_that_fails_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error, match="half way"):
        fail(atomic_folder, tmp_path / "run", error("half way"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (
        pytest.raises(UserError, match=r"run exists already: name another folder"),
        atomic_folder(tmp_path / "run"),
    ):
        pytest.fail("must not begin")
