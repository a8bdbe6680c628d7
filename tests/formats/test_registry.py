"""Formats of other packages, and the examples in the documentation of the front door."""

from __future__ import annotations

import doctest
import importlib.util
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import gra2seq
from gra2seq.data.info import convert, describe
from gra2seq.errors import UserError
from gra2seq.formats import files, registry
from gra2seq.formats.files import read_records, write
from gra2seq.formats.record import Record
from gra2seq.formats.registry import FORMATS, register_format
from gra2seq.sketch.strokes import Sketch

LINE = Sketch.from_polylines([[(0, 0), (30, 40)], [(5, 5)]])


def read_pairs(path: Path) -> Iterator[Sketch | Record]:
    for line in path.read_text().splitlines():
        split, *values = line.split()
        numbers = list(map(float, values))
        sketch = Sketch.from_polylines([list(zip(numbers[::2], numbers[1::2], strict=True))])
        yield Record(split, sketch) if split != "-" else sketch


def write_pairs(path: Path, records: Iterable[Record]) -> None:
    with path.open("w") as file:
        for split, sketch in records:
            file.write(f"{split or '-'} {' '.join(map(str, sketch.points.ravel()))}\n")


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, ".pairs", registry.Format())  # the fixture removes it in the end
    register_format(".pairs", read=read_pairs, write=write_pairs)


@pytest.mark.usefixtures("pairs")
def test_a_registered_format_is_read_and_written_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "a.PAIRS"
    assert write(path, [Record("test", LINE), LINE]) == [path]
    assert [(split, len(sketch)) for split, sketch in read_records(path)] == [("test", 3), ("", 3)]
    assert [sketch.points.tolist() for sketch in gra2seq.read(path)] == [LINE.points.tolist()] * 2
    assert describe(tmp_path)["sketches"] == 2
    assert convert(path, tmp_path / "b.ndjson") == (2, [tmp_path / "b.ndjson"])
    assert len(gra2seq.read(tmp_path / "b.ndjson")) == 2
    with pytest.raises(UserError, match="max_bytes=N"):
        gra2seq.read(path, max_bytes=3)


@pytest.mark.usefixtures("pairs")
def test_a_writer_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pairs"
    path.write_text("old")

    def fail_late() -> Iterator[Sketch]:
        yield LINE
        raise UserError("the second is broken")

    with pytest.raises(UserError, match="the second is broken"):
        write(path, fail_late())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_format_that_is_only_read_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, ".pairs", registry.Format())
    register_format(".pairs", read=read_pairs)
    with pytest.raises(UserError, match=r"a\.pairs: unknown kind of file"):
        write(tmp_path / "a.pairs", LINE)


@pytest.mark.parametrize("suffix", ["", ".", "dots", ".DOTS"])
def test_what_is_no_suffix_is_refused(suffix: str) -> None:
    with pytest.raises(UserError, match="is no suffix"):
        register_format(suffix, read=read_pairs)
    with pytest.raises(UserError, match="give a function"):
        register_format(".dots")
    assert ".dots" not in FORMATS


@pytest.mark.parametrize("module", [files, registry])
def test_examples_in_docstrings(module: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FORMATS, ".dots", registry.Format())
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.skipif(importlib.util.find_spec("gra2seq.formats.raster") is None, reason="pictures are not traced yet")
@pytest.mark.parametrize("suffix", [".png", ".jpg", ".jpeg"])
def test_pictures_are_read_by_their_suffix(tmp_path: Path, suffix: str) -> None:
    import cv2

    from gra2seq.sketch.render import render

    corner = Sketch.from_polylines([[(0, 0), (100, 0), (100, 100)]])
    cv2.imwrite(str(tmp_path / f"a{suffix}"), render(corner, 256))
    (sketch,) = gra2seq.read(tmp_path / f"a{suffix}")
    assert len(sketch) >= 3
    width, height = sketch.box[2:]
    assert width == pytest.approx(height, rel=0.1)
