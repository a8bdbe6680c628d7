from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from gra2seq.errors import UserError
from gra2seq.formats import json_strokes, ndjson
from gra2seq.formats.files import read, read_records, write
from gra2seq.sketch.strokes import Sketch
from sketch.some_sketches import assert_same

CAT = Sketch.from_polylines([[(1, 2), (4, 6)], [(10, 10)]], category="cat", key="7", parts=("ear", "eye"))


def lines(path: Path, *texts: str) -> Path:
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def only(path: Path, **options: bool) -> Sketch:
    (sketch,) = read(path, **options)  # type: ignore[arg-type]
    return sketch


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
def test_bad_part_labels_are_refused(tmp_path: Path, stroke: str, message: str) -> None:
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


def test_bytes_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_bytes(b'{"word":"\xff","drawing":[[[1],[2]]]}')
    with pytest.raises(UserError, match=r"line 1: not valid JSON"):
        read(tmp_path / "a.ndjson")


def test_a_line_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lines(tmp_path / "a.ndjson", '{"drawing":[[[1,2,3],[4,5,6]]]}')
    monkeypatch.setattr(json_strokes, "MAX_POINTS_READ", 2)
    with pytest.raises(UserError, match="line 1: the drawing has 3 points, 2 are read: simplify it"):
        read(path)
    monkeypatch.setattr(ndjson, "MAX_LINE", 20)
    monkeypatch.setattr(ndjson, "CHUNK", 8)
    with pytest.raises(UserError, match="line 1: it is longer than"):
        read(path)


def test_lines_before_a_damaged_one_are_yielded(tmp_path: Path) -> None:
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
