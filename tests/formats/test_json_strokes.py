from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from gra2seq.errors import UserError
from gra2seq.formats import json_strokes
from gra2seq.formats.files import read, read_records
from gra2seq.sketch.strokes import Sketch

PEN = [[[10 * i, 5 * i * i, 0.5] for i in range(50)], [[1, 2, 0.3], [3, 4, 0.6]]]  # what a stylus writes


def lines(path: Path, *texts: str) -> Path:
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def only(path: Path, **options: bool) -> Sketch:
    (sketch,) = read(path, **options)  # type: ignore[arg-type]
    return sketch


def points(path: Path, drawing: object, bare: bool = False) -> list[list[float]]:
    content = json.dumps(drawing if bare else {"drawing": drawing})
    path.write_text(content + "\n")
    (sketch,) = read(path)
    return sketch.points.tolist()


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
def test_every_form_of_plain_json_is_read(tmp_path: Path, content: object) -> None:
    sketch = only(lines(tmp_path / "a.json", json.dumps(content)))
    assert sketch.points.tolist() == [[1, 2], [4, 6], [5, 7], [10, 10]]
    assert sketch.lengths.tolist() == [3, 1]


def test_the_form_of_a_short_drawing_is_decided(tmp_path: Path) -> None:
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
def test_bad_json_is_refused(tmp_path: Path, content: str) -> None:
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


@pytest.mark.parametrize(("name", "bare"), [("a.json", True), ("a.json", False), ("a.ndjson", False)])
def test_the_pressure_of_a_pen_is_ignored(tmp_path: Path, name: str, bare: bool) -> None:
    expected = [point[:2] for stroke in PEN for point in stroke]
    assert points(tmp_path / name, PEN, bare) == expected
    (sketch,) = read(tmp_path / name)
    assert sketch.lengths.tolist() == [50, 2]
    timed = [[[*point, 17] for point in stroke] for stroke in PEN]
    assert points(tmp_path / name, timed, bare) == expected
    assert points(tmp_path / name, [[*PEN[0], [7, 7]], PEN[1]], bare)[50] == [7, 7], "a point without a pressure"


@pytest.mark.parametrize(("name", "bare"), [("a.json", True), ("a.json", False), ("a.ndjson", False)])
def test_the_form_of_a_drawing_is_decided(tmp_path: Path, name: str, bare: bool) -> None:
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
def test_a_drawing_of_neither_form_is_refused(tmp_path: Path, drawing: object, message: str) -> None:
    with pytest.raises(UserError, match=rf"a\.json: {message}"):
        points(tmp_path / "a.json", drawing)
    with pytest.raises(UserError, match=rf"a\.ndjson line 1: {message}"):
        points(tmp_path / "a.ndjson", drawing)


def test_points_have_no_part_labels(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(json.dumps({"drawing": PEN}))
    with pytest.raises(UserError, match="stroke 0 has no list of part labels"):
        read(tmp_path / "a.ndjson", labels=True)
