from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gra2seq.errors import UserError
from gra2seq.formats import files
from gra2seq.formats.files import check_target, read, read_records, write
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch
from sketch.some_sketches import ANY, WHOLE, assert_same, calm, sketches

CAT = Sketch.from_polylines([[(1, 2), (4, 6)], [(10, 10)]], category="cat", key="7", parts=("ear", "eye"))
PLAIN = Sketch.from_polylines([[(0, 0), (255, 10)], [(3, 4), (5, 6), (9, 9)]])


def lines(path: Path, *texts: str) -> Path:
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def only(path: Path, **options: bool) -> Sketch:
    (sketch,) = read(path, **options)  # type: ignore[arg-type]
    return sketch


# Every format, there and back


@pytest.mark.parametrize("suffix", [".ndjson", ".ndjson.gz", ".NDJSON.GZ", ".json"])
@calm
@given(st.lists(st.tuples(st.sampled_from(["train", "test", ""]), sketches(ANY) | sketches(WHOLE)), max_size=4))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, suffix: str, records: list[Record]) -> None:
    path = tmp_path_factory.mktemp("files") / f"out{suffix}"
    if suffix == ".json" and not records:
        return  # an empty list is no drawing
    assert write(path, iter(records)) == [path]
    labelled = [bool(sketch.parts) for _, sketch in records]
    again = list(read_records(path, labels=all(labelled)))
    assert [split for split, _ in again] == [split for split, _ in records]
    for (_, one), (_, other) in zip(records, again, strict=True):
        assert_same(one, other, names=False)
        assert (one.category, one.key) == (other.category, other.key)
        assert other.parts == (one.parts if all(labelled) else ())


def test_npz_and_svg_round_trip(tmp_path: Path) -> None:
    write(tmp_path / "a.npz", [("", CAT), ("test", PLAIN), ("valid", CAT)])
    assert [split for split, _ in read_records(tmp_path / "a.npz")] == ["train", "valid", "test"]
    assert_same(read(tmp_path / "a.npz")[0], CAT)
    write(tmp_path / "a.svg", [("", CAT)])
    assert_same(only(tmp_path / "a.svg", simplify=False), CAT)


def test_only_svg_is_simplified_by_default(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text('<svg><path d="M10 10C10 90 90 90 90 10"/></svg>')
    simple, curve = only(tmp_path / "a.svg"), only(tmp_path / "a.svg", simplify=False)
    assert simple.box == pytest.approx(curve.box, abs=0.5), "where it lies"
    assert len(simple) < 20 < len(curve)
    assert only(tmp_path / "a.svg", simplify=True).box == (0, 0, 255, 191)
    write(tmp_path / "a.json", [("", curve)])
    assert len(only(tmp_path / "a.json")) == len(curve)
    assert_same(only(tmp_path / "a.json", simplify=True), only(tmp_path / "a.svg", simplify=True))


def test_several_drawings_as_svg_are_a_folder_of_numbered_files(tmp_path: Path) -> None:
    made = write(tmp_path / "out.svg", [("", CAT), ("", PLAIN), ("", CAT)])
    assert made == [tmp_path / "out" / f"out-00{number}.svg" for number in range(3)]
    assert_same(only(made[1], simplify=False), PLAIN)
    assert sorted((tmp_path / "out").iterdir()) == made
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_several_drawings_as_png_are_one_sheet(tmp_path: Path) -> None:
    write(tmp_path / "one.png", [("", CAT)])
    write(tmp_path / "many.png", [("", CAT)] * 5)
    one, many = (cv2.imread(str(tmp_path / name), cv2.IMREAD_GRAYSCALE) for name in ("one.png", "many.png"))
    assert one.shape == (512, 512)
    assert many.shape == (10 + 2 * 170, 10 + 3 * 170)


@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.ndjson", "a.ndjson.gz", "a.npz", "a.json"])
def test_drawings_that_fail_half_way_leave_nothing(tmp_path: Path, name: str) -> None:
    def two_and_a_half() -> Iterator[Record]:
        yield "", CAT
        yield "", CAT
        raise UserError("the third is broken")

    with pytest.raises(UserError, match="the third is broken"):
        write(tmp_path / name, two_and_a_half())
    assert list(tmp_path.iterdir()) == []


def test_svgs_are_all_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_late(sketch: Sketch) -> str:
        if sketch is PLAIN:
            raise OSError(28, "No space left on device")
        return "<svg/>"

    monkeypatch.setattr(files, "write_svg", fail_late)
    with pytest.raises(UserError, match=r"cannot write .*out: No space left"):
        write(tmp_path / "out.svg", [("", CAT), ("", CAT), ("", PLAIN)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.svg", "a.png"])
def test_writing_no_drawing_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="there is no drawing to put into it"):
        write(tmp_path / name, [])


def test_too_many_drawings_for_a_contact_sheet_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"more than 1000 drawings; choose fewer, or write \.ndjson"):
        write(tmp_path / "a.png", [("", CAT)] * 1001)


# Names


def test_an_unknown_suffix_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"must end in one of \.ndjson, \.ndjson\.gz, \.npz, \.svg, \.json, \.png"):
        read(tmp_path / "a.gif")
    with pytest.raises(UserError, match=r"must end in one of .*\.png"):
        write(tmp_path / "a.bmp", [("", CAT)])


@pytest.mark.parametrize("name", ["a.ndjson", "a.ndjson.gz", "a.npz", "a.svg", "a.json"])
def test_a_file_that_cannot_be_opened_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="does not exist: check the name"):
        read(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(UserError, match="is a folder: name a file in it"):
        read(tmp_path / name)
    with pytest.raises(UserError, match="check the name"):
        read(tmp_path / ("x" * 300 + name))


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = lines(tmp_path / "a.json", "[]")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UserError, match="may not be read: ask for permission"):
        read(path)


def test_a_target_is_checked_before_the_work(tmp_path: Path) -> None:
    check_target(tmp_path / "new" / "folder" / "a.svg")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "b.svg").mkdir()
    lines(tmp_path / "file", "")
    for bad, message in (
        ("a.bmp", "must end in"),
        ("b.svg", "is a folder"),
        ("file/a.svg", "cannot be written"),
    ):
        with pytest.raises(UserError, match=message):
            check_target(tmp_path / bad)


@pytest.mark.parametrize("suffix", [".svg", ".ndjson", ".ndjson.gz", ".npz", ".json", ".png"])
def test_a_null_byte_in_a_name_is_one_sentence(suffix: str) -> None:
    with pytest.raises(UserError, match="null byte"):
        read(f"a\0b{suffix}")
