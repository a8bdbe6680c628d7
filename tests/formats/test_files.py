from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gra2seq.errors import UserError
from gra2seq.formats import files, json_strokes, ndjson
from gra2seq.formats.files import check_target, read, read_records, write
from gra2seq.formats.record import Record
from gra2seq.sketch.render import BLANK_VALUE, contact_sheet, render, write_png
from gra2seq.sketch.strokes import Sketch
from sketch.some_sketches import ANY, WHOLE, assert_same, calm, sketches

CAT = Sketch.from_strokes([[(1, 2), (4, 6)], [(10, 10)]], category="cat", key="7", parts=("ear", "eye"))
PLAIN = Sketch.from_strokes([[(0, 0), (255, 10)], [(3, 4), (5, 6), (9, 9)]])


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


def test_npz_and_svg_go_through_the_front_door(tmp_path: Path) -> None:
    write(tmp_path / "a.npz", [("", CAT), ("test", PLAIN), ("valid", CAT)])
    assert [split for split, _ in read_records(tmp_path / "a.npz")] == ["train", "valid", "test"]
    assert_same(read(tmp_path / "a.npz")[0], CAT)
    write(tmp_path / "a.svg", [("", CAT)])
    assert_same(only(tmp_path / "a.svg", simplify=False), CAT)


def test_svg_alone_is_simplified_by_default(tmp_path: Path) -> None:
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
def test_no_drawing_makes_no_picture(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="there is no drawing to put into it"):
        write(tmp_path / name, [])


def test_too_many_drawings_for_pictures(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"more than 1000 drawings; choose fewer, or write \.ndjson"):
        write(tmp_path / "a.png", [("", CAT)] * 1001)


# Names


def test_unknown_endings_are_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"must end in one of \.ndjson, \.ndjson\.gz, \.npz, \.svg, \.json, \.png"):
        read(tmp_path / "a.gif")
    with pytest.raises(UserError, match=r"must end in one of .*\.png"):
        write(tmp_path / "a.gif", [("", CAT)])


@pytest.mark.parametrize("name", ["a.ndjson", "a.ndjson.gz", "a.npz", "a.svg", "a.json"])
def test_what_cannot_be_opened_is_said_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="does not exist: check the name"):
        read(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(UserError, match="is a folder: name a file in it"):
        read(tmp_path / name)
    with pytest.raises(UserError, match="check the name"):
        read(tmp_path / ("x" * 300 + name))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        ("a.gif", "must end in"),
        ("b.svg", "is a folder"),
        ("file/a.svg", "cannot be written"),
    ):
        with pytest.raises(UserError, match=message):
            check_target(tmp_path / bad)


# .ndjson


def test_quickdraw_simplified_and_raw(tmp_path: Path) -> None:
    simple = '{"word":"cat","recognized":true,"key_id":"5","drawing":[[[1,4],[2,6]],[[10],[10]]]}'
    raw = '{"key_id":5,"split":"test","drawing":[[[1.5,4],[2,6],[0,99]],[[],[],[]],[[10],[10],[120]]]}'
    (first_split, first), (second_split, second) = read_records(lines(tmp_path / "a.ndjson", simple, "", raw))
    assert_same(first, CAT, names=False)
    assert (first_split, first.category, first.key, first.parts) == ("", "cat", "5", ())
    assert (second_split, second.key) == ("test", "5")
    assert second.points.tolist() == [[1.5, 2], [4, 6], [10, 10]]
    assert second.lengths.tolist() == [2, 1]


def test_part_labels_are_text_or_numbers(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.ndjson", '{"drawing":[[[1,4],[2,6],[3,3]],[[],[],[]],[[9],[9],["ear"]]]}')
    assert only(path, labels=True).parts == ("3", "ear")
    assert only(path).parts == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON, or cut short"),
        ('{"drawing":[[[1,2],[3', "not valid JSON, or cut short"),
        ("[" * 100_000, "not valid JSON"),
        ('{"drawing":[[[%s],[1]]]}' % ("9" * 5000), "not valid JSON"),
        ("[1]", "not an object with a list of strokes"),
        ("7", "not an object with a list of strokes"),
        ('{"word":"cat"}', "not an object with a list of strokes"),
        ('{"drawing":{}}', "not an object with a list of strokes"),
        ('{"drawing":[]}', "is empty: it needs at least one stroke"),
        ('{"drawing":[[[],[]]]}', "is empty"),
        ('{"drawing":[[[1,2],[3]]]}', "stroke 0 is not a pair of equally long lists"),
        ('{"drawing":[[[1],[3]],[[1]]]}', "stroke 1 is not a pair"),
        ('{"drawing":[[1,2]]}', "stroke 0 is not a pair"),
        ('{"drawing":[7]}', "stroke 0 is not a pair"),
        ('{"drawing":[[[1],["2"]]]}', "a coordinate is not a number"),
        ('{"drawing":[[[1],[null]]]}', "a coordinate is not a number"),
        ('{"drawing":[[[1],[[2]]]]}', "a coordinate is not a number"),
        ('{"drawing":[[[[1]],[[2]]]]}', "a coordinate is not a number"),
        ('{"drawing":[[[1],[{}]]]}', "a coordinate is not a number"),
        ('{"drawing":[[[1],[true]],[[true],[true]]]}', "a coordinate is not a number"),
        ('{"drawing":[[[true],[true]]]}', "a coordinate is not a number"),
        ('{"drawing":[[[1],[%s]]]}' % ("9" * 400), "beyond all bounds"),
        ('{"drawing":[[[1],[NaN]]]}', "NaN or infinite"),
        ('{"drawing":[[[1],[-Infinity]]]}', "NaN or infinite"),
        ('{"drawing":[[[1],[1e99]]]}', "NaN or infinite"),
        ('{"word":7,"drawing":[[[1],[2]]]}', "word, key_id and split must be text"),
        ('{"split":null,"drawing":[[[1],[2]]]}', "word, key_id and split must be text"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    good = '{"drawing":[[[1],[2]]]}'
    path = lines(tmp_path / "cat.ndjson", good, "", line, good)
    records = read_records(path)
    next(records)  # what comes before is given
    with pytest.raises(UserError, match=rf"cat\.ndjson line 3: .*{message}"):
        next(records)


@pytest.mark.parametrize(
    ("stroke", "message"),
    [
        ("[[1,2],[3,4]]", "stroke 0 has no list of part labels, one for each point: read it without labels"),
        ("[[1,2],[3,4],[1]]", "no list of part labels"),
        ("[[1,2],[3,4],7]", "no list of part labels"),
        ("[[1,2],[3,4],[1,2]]", "stroke 0 has more than one part label: cut it"),
        ("[[1,2],[3,4],[0.5,0.5]]", "neither text nor a whole number"),
        ("[[1,2],[3,4],[null,null]]", "neither text nor a whole number"),
    ],
)
def test_bad_part_labels(tmp_path: Path, stroke: str, message: str) -> None:
    path = lines(tmp_path / "a.ndjson", f'{{"drawing":[{stroke}]}}')
    assert len(read(path)) == 1
    with pytest.raises(UserError, match=f"line 1: .*{message}"):
        read(path, labels=True)


def test_a_gzip_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    drawings = [("", Sketch(generator.integers(0, 255, (20, 2)), np.array([20]))) for _ in range(30)]
    write(tmp_path / "a.ndjson.gz", drawings)
    whole = (tmp_path / "a.ndjson.gz").read_bytes()
    for size in (1, 5, 10, 20, len(whole) // 2, len(whole) - 9, len(whole) - 4, len(whole) - 1):
        (tmp_path / "cut.ndjson.gz").write_bytes(whole[:size])
        with pytest.raises(UserError, match=r"cut\.ndjson\.gz.*(cut short|damaged).*again"):
            read(tmp_path / "cut.ndjson.gz")
    (tmp_path / "plain.ndjson.gz").write_bytes(gzip.decompress(whole))
    with pytest.raises(UserError, match=r"damaged at its beginning \(Not a gzipped file"):
        read(tmp_path / "plain.ndjson.gz")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_bytes(b'{"word":"\xff","drawing":[[[1],[2]]]}')
    with pytest.raises(UserError, match=r"line 1: not valid JSON"):
        read(tmp_path / "a.ndjson")


def test_a_line_or_drawing_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lines(tmp_path / "a.ndjson", '{"drawing":[[[1,2,3],[4,5,6]]]}')
    monkeypatch.setattr(json_strokes, "MAX_POINTS_READ", 2)
    with pytest.raises(UserError, match="line 1: the drawing has 3 points, 2 are read: simplify it"):
        read(path)
    monkeypatch.setattr(ndjson, "MAX_LINE", 20)
    monkeypatch.setattr(ndjson, "CHUNK", 8)
    with pytest.raises(UserError, match="line 1: it is longer than"):
        read(path)


def test_lines_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    """Constant memory: a file whose end is broken gives all that comes before."""
    path = tmp_path / "a.ndjson"
    path.write_text('{"drawing":[[[1],[2]]]}\n' * 5000 + "broken")
    records = read_records(path)
    assert sum(1 for _, _ in zip(range(5000), records, strict=False)) == 5000


def test_the_same_drawings_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.ndjson.gz", "b.ndjson.gz"):
        write(tmp_path / name, [("train", CAT)])
        os.utime(tmp_path / name, (0, 0))
    assert (tmp_path / "a.ndjson.gz").read_bytes() == (tmp_path / "b.ndjson.gz").read_bytes()


# .json


@pytest.mark.parametrize(
    "content",
    [
        [[[1, 4, 5], [2, 6, 7]], [[10], [10]]],  # [[x...], [y...]]
        [[[1, 2], [4, 6], [5, 7]], [[10, 10]]],  # [[x, y], ...]
        {"drawing": [[[1, 4, 5], [2, 6, 7]], [[10], [10]]]},
        {"drawing": [[[1, 2], [4, 6], [5, 7]], [[10, 10]]]},
        [{"drawing": [[[1, 4, 5], [2, 6, 7], [0, 9, 20]], [[10], [10], [70]]]}],
    ],
)
def test_plain_json_in_all_its_forms(tmp_path: Path, content: object) -> None:
    sketch = only(lines(tmp_path / "a.json", json.dumps(content)))
    assert sketch.points.tolist() == [[1, 2], [4, 6], [5, 7], [10, 10]]
    assert sketch.lengths.tolist() == [3, 1]


def test_which_form_a_short_drawing_has(tmp_path: Path) -> None:
    def points(content: object) -> list[list[float]]:
        return only(lines(tmp_path / "a.json", json.dumps(content))).points.tolist()

    assert points([[[1, 2], [3, 4]]]) == [[1, 3], [2, 4]]  # ambiguous: QuickDraw's
    assert points([[[1, 2], [3, 4], [5, 6]]]) == [[1, 2], [3, 4], [5, 6]]  # a bare list: three points
    assert points({"drawing": [[[1, 2], [3, 4], [5, 6]]]}) == [[1, 3], [2, 4]]  # an object: times
    assert points([[[1, 2], [3, 4]], [[5, 6]]]) == [[1, 2], [3, 4], [5, 6]]  # one stroke decides for all


def test_a_list_of_objects_is_many_drawings(tmp_path: Path) -> None:
    about = {"word": "cat", "key_id": "7", "split": "test", "drawing": [[[1, 4], [2, 6], [1, 1]]]}
    path = lines(tmp_path / "a.json", json.dumps([about, about]))
    records = list(read_records(path, labels=True))
    assert [(split, sketch.category, sketch.key, sketch.parts) for split, sketch in records] == [
        ("test", "cat", "7", ("1",))
    ] * 2
    lines(path, json.dumps([about, {"drawing": []}]))
    with pytest.raises(UserError, match=r"a\.json drawing 1: sketch is empty"):
        read(path)


@pytest.mark.parametrize(
    "content", ["", "[", "7", '"x"', "null", "[]", "{}", "[1]", "[[1, 2]]", "[[[1, 2, 3], [4]]]", "[[]]"]
)
def test_bad_json(tmp_path: Path, content: str) -> None:
    with pytest.raises(UserError, match=r"a\.json: "):
        read(lines(tmp_path / "a.json", content))


@pytest.mark.parametrize(
    "item",
    [
        b"1",
        b"123456",
        b"1.5",
        b'""',
        b'"ab"',
        b"[]",
        b"[1]",
        b"[[1]]",
        b"{}",
        b'{"a":1}',
        b"[1,2]",
        b"[[1,2],[3,4]]",
        b"null",
    ],
)
def test_the_memory_of_parsed_json_is_estimated_from_above(item: bytes) -> None:
    text = b"[" + b",".join([item] * 20_000) + b"]"
    json_strokes.parse_json(text)
    tracemalloc.start()
    value = json_strokes.parse_json(text)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(value) == 20_000
    assert used <= json_strokes.parsed_size(text) <= 60 * len(text)


# Pictures


@pytest.mark.parametrize("size", [1, 8, 64, 257])
@pytest.mark.parametrize("shape", [[(0, 0), (1000, 3)], [(5, 5)], [(1e-20, 0), (0, 1e-20)], [(1e30, 0), (-1e30, 1e30)]])
def test_every_drawing_has_a_picture(size: int, shape: list[tuple[float, float]]) -> None:
    image = render(Sketch.from_strokes([shape]), size)
    assert image.shape == (size, size)
    assert image.dtype == np.uint8
    assert image.min() < 200  # a dot of one pixel may lie between four


def test_a_picture_is_centred_keeps_its_aspect_and_its_margin() -> None:
    image = render(Sketch.from_strokes([[(0, 0), (100, 0), (100, 50), (0, 50), (0, 0)]]), 256)
    rows, columns = np.nonzero(image < 128)
    left, right, top, bottom = columns.min(), columns.max(), rows.min(), rows.max()
    assert abs(left + right - 255) <= 1
    assert abs(top + bottom - 255) <= 1
    assert (bottom - top) / (right - left) == pytest.approx(0.5, abs=0.02)
    assert 12 <= left <= 18  # 1/16 of 256, and half a line
    assert ((image > 0) & (image < 255)).any()  # smooth
    np.testing.assert_array_equal(image[128, 40:200], 255)  # nothing is filled


def test_the_line_has_its_width() -> None:
    image = render(Sketch.from_strokes([[(0, 0), (100, 0)]]), 256, width=6)
    assert (255 - image[:, 128].astype(float)).sum() / 255 == pytest.approx(6, abs=0.6)


def test_a_sheet_has_rows_columns_and_words() -> None:
    bare = contact_sheet([[CAT, None], [PLAIN]], 64)
    assert bare.shape == (4 + 2 * 68, 4 + 2 * 68)
    np.testing.assert_array_equal(bare[4:68, 4:68], render(CAT, 64))
    np.testing.assert_array_equal(bare[:, 72:], 255)
    titled = contact_sheet([[CAT, None], [PLAIN]], 64, ["original", "healed"], ["cat", "Käse" * 20])
    assert titled.shape[0] == bare.shape[0] + 20
    assert bare.shape[1] < titled.shape[1] <= bare.shape[1] + 64 + 4
    assert titled[:20].min() < 200  # words above
    np.testing.assert_array_equal(titled[-136:, -136:], bare[-136:, -136:])
    shown = contact_sheet([[render(CAT, 64)]], 64)
    np.testing.assert_array_equal(shown, contact_sheet([[CAT]], 64))


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([], {}, "no drawing"),
        ([[]], {}, "no drawing"),
        ([[CAT]], {"titles": ["a", "b"]}, "2 titles for 1 columns"),
        ([[CAT]], {"labels": []}, "0 labels for 1 rows"),
        ([[CAT] * 200], {}, "too large: show fewer"),
        ([[CAT]], {"size": 0}, "0 px is not drawn"),
        ([[CAT]], {"size": 10**6}, "is not drawn: choose 1 to 5000"),
    ],
)
def test_sheets_that_cannot_be(rows: list[list[Sketch]], options: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        contact_sheet(rows, **options)  # type: ignore[arg-type]


def test_png_holds_every_pixel(tmp_path: Path) -> None:
    image = render(CAT, 50)
    write_png(tmp_path / "new" / "a.png", image)
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "new" / "a.png"), cv2.IMREAD_GRAYSCALE), image)
    assert image[0, 0] == BLANK_VALUE
