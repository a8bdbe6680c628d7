"""Points with a pressure, sets of files written completely or not at all, targets checked before the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import gra2seq
from gra2seq.errors import UserError
from gra2seq.formats import files, npz
from gra2seq.formats.files import check_target, read, write
from gra2seq.sketch.render import contact_sheet, printable
from gra2seq.sketch.strokes import Sketch, from_polylines

CAT = Sketch.from_strokes([[(1, 2), (4, 6)], [(10, 10)]], category="cat", key="7")
PEN = [[[10 * i, 5 * i * i, 0.5] for i in range(50)], [[1, 2, 0.3], [3, 4, 0.6]]]  # what a stylus writes


def points(path: Path, drawing: object, bare: bool = False) -> list[list[float]]:
    content = json.dumps(drawing if bare else {"drawing": drawing})
    path.write_text(content + "\n")
    (sketch,) = read(path)
    return sketch.points.tolist()


# Points with more than x and y


@pytest.mark.parametrize(("name", "bare"), [("a.json", True), ("a.json", False), ("a.ndjson", False)])
def test_a_pen_s_pressure_is_left_out(tmp_path: Path, name: str, bare: bool) -> None:
    expected = [point[:2] for stroke in PEN for point in stroke]
    assert points(tmp_path / name, PEN, bare) == expected
    (sketch,) = read(tmp_path / name)
    assert sketch.lengths.tolist() == [50, 2]
    timed = [[[*point, 17] for point in stroke] for stroke in PEN]
    assert points(tmp_path / name, timed, bare) == expected
    assert points(tmp_path / name, [[*PEN[0], [7, 7]], PEN[1]], bare)[50] == [7, 7], "a point without a pressure"


@pytest.mark.parametrize(("name", "bare"), [("a.json", True), ("a.json", False), ("a.ndjson", False)])
def test_which_form_a_drawing_has(tmp_path: Path, name: str, bare: bool) -> None:
    def got(*drawing: object) -> list[list[float]]:
        return points(tmp_path / name, drawing, bare)

    assert got([[1, 2], [3, 4], [5, 6], [7, 8]]) == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert got([[1, 2], [3, 4]], [[5, 6]]) == [[1, 2], [3, 4], [5, 6]]
    assert got([[1, 2, 9], [3, 4, 9]], [[5, 6, 9]]) == [[1, 2], [3, 4], [5, 6]], "a dot decides too"
    for more in ([], [[0, 9, 20]]):  # both fit: QuickDraw's
        assert got([[1, 2, 3], [4, 5, 6], *more]) == [[1, 4], [2, 5], [3, 6]]
    assert got([[1, 2], [3, 4]]) == [[1, 3], [2, 4]]
    raw = [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [0, 9, 20, 30, 40]]
    assert got(raw, [[1, 2], [3, 4], [0, 9]])[5:] == [[1, 3], [2, 4]], "as in the stroke before"


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ([[[1, 2]] * 4, [[1], [2]]], r"stroke 1 is not a list of points .* of 2 to 4 numbers, as stroke 0 is"),
        ([[[1, 2]] * 4, [[1] * 5, [2] * 5]], "stroke 1 is not a list of points"),
        ([[[1], [2]], [[1, 2, 3, 4, 5]] * 4], "stroke 1 is not a pair of equally long lists .*, nor a list of points"),
        ([[[1, 2, 3], [4, 5, 6]], []], "stroke 1 is not a pair"),
        ([[[1, 2, 3], [4, 5]]], "stroke 0 is not a pair"),
        ([[[1, 2]] * 4, 7], "stroke 1 is not a list of points"),
        ([[[1, "2", 3]] * 4], "a coordinate is not a number"),
    ],
)
def test_what_is_neither_is_refused(tmp_path: Path, drawing: object, message: str) -> None:
    with pytest.raises(UserError, match=rf"a\.json: {message}"):
        points(tmp_path / "a.json", drawing)
    with pytest.raises(UserError, match=rf"a\.ndjson line 1: {message}"):
        points(tmp_path / "a.ndjson", drawing)


def test_points_have_no_part_labels(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(json.dumps({"drawing": PEN}))
    with pytest.raises(UserError, match="stroke 0 has no list of part labels"):
        read(tmp_path / "a.ndjson", labels=True)


def test_strokes_with_a_third_column() -> None:
    sketch = Sketch.from_strokes(PEN)
    assert sketch.points.tolist() == [point[:2] for stroke in PEN for point in stroke]
    assert sketch.lengths.tolist() == [50, 2]
    assert len(Sketch.from_strokes([np.zeros((4, 3)), np.empty((0, 3)), [[], []]])) == 4


@pytest.mark.parametrize(
    "stroke", [[[0, 10, 50, 100], [0, 30, 40, 100]], [1, 2, 3, 4], 7, [[[1, 2]]], np.zeros((9, 4)), np.zeros((5, 1))]
)
def test_strokes_of_another_shape_are_refused(stroke: object) -> None:
    with pytest.raises(UserError, match=r"stroke 1 has shape .*, not \(n, 2\).*pass x and y only.*from_polylines"):
        Sketch.from_strokes([[(0, 0)], stroke])  # type: ignore[list-item]


@pytest.mark.parametrize("stroke", [[[1, 2], [3]], [["a", "b"]], [{}]])
def test_strokes_that_are_no_numbers_are_refused(stroke: object) -> None:
    with pytest.raises(UserError, match="stroke 0 is not a list of points"):
        Sketch.from_strokes([stroke])  # type: ignore[list-item]


def test_a_coordinate_too_large_is_refused_without_a_warning() -> None:
    with pytest.raises(UserError, match="NaN or infinite"):
        Sketch.from_strokes([[(1e99, 0)]])


def test_polylines_are_not_points() -> None:
    with pytest.raises(UserError, match=r"stroke 0 is not a pair.*Sketch\.from_strokes"):
        from_polylines(PEN)
    assert len(from_polylines([[[1, 2], [3, 4], [0, 9]]])) == 2


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

line = Sketch.from_strokes([[(0, 0), (n, 7)] for n in range(1, 50)])

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
    assert left_over, "none was killed after it had begun to write"
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
    for name, message in (("loop.svg", "symbolic link that leads nowhere"), ("pipe.svg", "a device or a pipe")):
        for action in (lambda path: check_target(path), lambda path: write(path, CAT)):
            with pytest.raises(UserError, match=message):
                action(tmp_path / name)


# Targets


def test_a_target_is_told_how_many_will_come(tmp_path: Path) -> None:
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


def test_a_target_is_told_the_splits(tmp_path: Path) -> None:
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


def test_places_where_nothing_can_be_made(tmp_path: Path) -> None:
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
def test_a_lone_sketch_is_written(tmp_path: Path, name: str) -> None:
    assert gra2seq.write(tmp_path / name, CAT) == [tmp_path / name]
    assert (tmp_path / name).stat().st_size > 50


def test_a_generator_is_written(tmp_path: Path) -> None:
    def two() -> Iterator[Sketch]:
        yield CAT
        yield CAT

    assert len(write(tmp_path / "a.svg", two())) == 2
    assert len(files.write(tmp_path / "a.ndjson", two())) == 1


# Words on a sheet


@pytest.mark.parametrize("word", ["a\ud800", "two\nlines\t", "\x00\x1b[31m", "日本", "猫" * 50, ""])
def test_every_word_can_be_put_on_a_sheet(word: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert contact_sheet([[CAT]], 64, [word], [word]).shape[1] > 64


def test_words_as_they_can_be_shown() -> None:
    assert printable("a\ud800b\n\tc\x1bd") == "a�b  c�d"
    assert printable("Käse 🐱 日本") == "Käse 🐱 日本"
