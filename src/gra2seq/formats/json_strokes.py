"""Drawings as JSON: the objects that .ndjson has one to a line, and whole .json files of them.

An object is one drawing: {"word": "cat", "key_id": "1", "split": "test", "drawing": [stroke, ...]}, all but `drawing`
optional. A stroke is QuickDraw's [[x...], [y...]], in raw files followed by a list of times, which is ignored, or in
files with parts by a list of labels, one and the same for every point of the stroke.

Drawing programs for a pen write points instead, [[x, y, pressure], ...]. Which of the two it is, is decided for a
drawing as a whole. QuickDraw's strokes have 2 or 3 rows; points have 2 to 4 numbers, of which the first two are taken.
So a drawing consists of points if all its rows have 2 to 4 numbers and one of its strokes has 1 row or more than 3.
A drawing that fits both is read as QuickDraw's; one that fits neither is refused.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.formats.record import Record
from gra2seq.sketch.simplify import quickdraw_points
from gra2seq.sketch.strokes import MAX_POINTS_READ, Sketch
from gra2seq.system.atomic_files import atomic_write
from gra2seq.system.input_files import RAISE_LIMIT, Limits, read_bytes

DEFAULT_LIMITS = Limits()
DECODER = json.JSONDecoder()  # used directly: `json.loads` first guesses the encoding of bytes
MAX_PARSED = 1 << 30  # bytes of memory that one JSON text may become
# What JSON becomes in memory, in bytes. These are upper bounds for CPython on 64 bits, shown to hold by a test.
LIST_BYTES, ITEM_BYTES, STRING_BYTES = 105, 41, 64
# A drawing has far fewer brackets and keys a byte than JSON that is made to fill memory.
BYTES_PER_BRACKET, BYTES_PER_KEY, SLACK = 4, 10, 100_000


def read_json(
    path: Path,
    labels: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    *,
    simplify: bool = False,
) -> Iterator[Record]:
    """Drawings in plain JSON: one list of strokes, one object with `drawing`, or a list of such objects.

    A list of strokes without an object around it differs from an object in one point: three rows of two numbers are
    three points, because a third row of times or labels only occurs inside objects.
    The file is parsed as a whole; large collections should be .ndjson, which is read line by line.
    """
    try:
        content = parse_json(read_bytes(path, limits.max_bytes, f"split it, or if you trust it {RAISE_LIMIT}"))
    except UserError as error:
        raise UserError(_at(path, error)) from error
    if isinstance(content, list) and content and all(isinstance(item, dict) for item in content):
        drawings: list[Any] = content
    else:
        drawings = [content if isinstance(content, dict) else {"drawing": content}]
    bare = not isinstance(content, dict) and drawings is not content
    for number, item in enumerate(drawings):
        try:
            yield record_from_json(item, labels, bare, simplify=simplify)
        except UserError as error:
            which = f" drawing {number}" if len(drawings) > 1 else ""
            raise UserError(f"{path}{which}: {error}") from error


def write_json(path: Path, records: Iterable[Record]) -> None:
    """A list of objects as in .ndjson, one to a line; written completely or not at all."""
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.write(b"[")
        for number, record in enumerate(records):
            file.write((b",\n" if number else b"\n") + record_to_json(record))
        file.write(b"\n]\n")


def parse_json(text: bytes) -> Any:
    """The value of a JSON text. A text that would need much more memory than a drawing is refused unparsed."""
    if len(text) > SLACK:
        _check_memory(text)
    try:
        return DECODER.decode(text.removeprefix(codecs.BOM_UTF8).decode())
    except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8, and integers of too many digits
        raise UserError(f"not valid JSON, or cut short ({error}): repair it or fetch it again") from error


def _check_memory(text: bytes) -> None:
    """Refuse a text that would become far more memory than drawings of its size."""
    brackets = text.count(b"[") + text.count(b"{")
    keys = text.count(b":")
    if brackets > len(text) // BYTES_PER_BRACKET + SLACK or keys > len(text) // BYTES_PER_KEY + SLACK:
        raise UserError(f"it has {brackets:,} brackets and {keys:,} colons, more than drawings need: check the file")
    size = parsed_size(text)
    if size > MAX_PARSED:
        raise UserError(
            f"it would need about {size / 1e9:.1f} GB of memory, at most {MAX_PARSED / 1e9:.1f} GB are used: "
            "split it, or write one drawing a line as .ndjson"
        )


def parsed_size(text: bytes) -> int:
    """Bytes of memory that the value of a JSON text needs at most, from counts of its punctuation."""
    brackets, strings = text.count(b"[") + text.count(b"{"), text.count(b'"') // 2
    return 2 * len(text) + LIST_BYTES * brackets + ITEM_BYTES * text.count(b",") + STRING_BYTES * strings


def record_from_json(item: Any, labels: bool, bare: bool = False, *, simplify: bool = False) -> Record:
    """A record from one parsed object. All points go through numpy at once: a drawing takes some 30 microseconds.

    `labels`: the third list of a stroke is its part label and must be there. `bare`: the drawing is a list without
    an object around it, so that three rows of two numbers are points. `simplify`: as QuickDraw does, from the
    coordinates in double precision, because single precision moves a vertex now and then.
    """
    if not isinstance(item, dict) or not isinstance(item.get("drawing"), list):
        raise UserError('not an object with a list of strokes: {"drawing": [[[x...], [y...]], ...]}')
    strokes = _rows_of_strokes(item["drawing"], bare)
    parts = tuple(_part_label(stroke, number) for number, stroke in strokes) if labels else ()
    lengths = [len(stroke[0]) for _, stroke in strokes]
    count = sum(lengths)
    if count > MAX_POINTS_READ:
        raise UserError(f"the drawing has {count} points, {MAX_POINTS_READ} are read: simplify it")
    values = [*chain.from_iterable(row[0] for _, row in strokes), *chain.from_iterable(row[1] for _, row in strokes)]
    if not set(map(type, values)) <= {int, float}:  # numpy would turn numbers beside one long text into long texts
        raise UserError("a coordinate is not a number")
    split, word, key = item.get("split", ""), item.get("word", ""), item.get("key_id", "")
    if not isinstance(split, str) or not isinstance(word, str) or not isinstance(key, str | int):
        raise UserError("word, key_id and split must be text")
    try:
        points: NDArray[Any] = np.array(values, np.float64).reshape(2, count).T
    except OverflowError as error:
        raise UserError("a coordinate is beyond all bounds") from error
    counts = np.array(lengths, np.int64)
    sketch = Sketch(points, counts, word, str(key), parts)  # which checks that all points are finite
    if simplify:
        simple, counts = quickdraw_points(points, counts)
        sketch = Sketch(simple.astype(np.float32), counts, word, str(key), parts)
    return Record(split, sketch)


def record_to_json(record: Record) -> bytes:
    """The object of a record on one line; part labels become the third list of a stroke."""
    split, sketch = record
    drawing = _polylines(sketch)
    for stroke, part in zip(drawing, sketch.parts, strict=False):  # without parts there is nothing to add
        stroke.append([part] * len(stroke[0]))
    names = {"word": sketch.category, "key_id": sketch.key, "split": split}
    known = {name: text for name, text in names.items() if text}
    return json.dumps({**known, "drawing": drawing}, separators=(",", ":")).encode()


def _rows_of_strokes(drawing: list[Any], bare: bool) -> list[tuple[int, list[Any]]]:
    """Number and rows [x, y, ...] of every stroke that has a point."""
    if _is_points(drawing, (2,) if bare else (2, 3)):
        drawing = [[[point[0] for point in stroke], [point[1] for point in stroke]] for stroke in drawing]
    for number, stroke in enumerate(drawing):
        if not (
            type(stroke) is list
            and 2 <= len(stroke) <= 3
            and type(stroke[0]) is type(stroke[1]) is list
            and len(stroke[0]) == len(stroke[1])
        ):
            raise UserError(_why_unreadable(drawing, number))
    return [(number, stroke) for number, stroke in enumerate(drawing) if stroke[0]]


def _part_label(stroke: list[Any], number: int) -> str:
    """The one part label of a stroke."""
    if len(stroke) < 3 or type(stroke[2]) is not list or len(stroke[2]) != len(stroke[0]):
        raise UserError(f"stroke {number} has no list of part labels, one for each point: read it without labels")
    first = stroke[2][0]
    if not isinstance(first, str | int):
        raise UserError(f"stroke {number} has a part label that is neither text nor a whole number")
    if stroke[2].count(first) != len(stroke[2]):
        raise UserError(f"stroke {number} has more than one part label: cut it where the part changes")
    try:
        return str(first)
    except ValueError as error:  # an integer of thousands of digits
        raise UserError(f"stroke {number} has a part label of too many digits") from error


def _is_points(drawing: list[Any], quickdraw_rows: tuple[int, ...]) -> bool:
    """Whether strokes are lists of points. If every row has just x and y, a stroke without rows decides it too."""
    counts = {len(stroke) if type(stroke) is list else -1 for stroke in drawing}
    if -1 in counts or counts.issubset(quickdraw_rows) or not all(map(_may_be_points, drawing)):
        return False
    return not counts <= {0, 2, 3} or all(len(row) == 2 for stroke in drawing for row in stroke)


def _may_be_points(stroke: Any) -> bool:
    return type(stroke) is list and all(type(row) is list and 2 <= len(row) <= 4 for row in stroke)


def _why_unreadable(drawing: list[Any], number: int) -> str:
    """What is wrong with a drawing whose stroke `number` is not QuickDraw's and which is not points either."""
    if _may_be_points(drawing[number]) and len(drawing[number]) > 3:
        other = next(n for n, stroke in enumerate(drawing) if not _may_be_points(stroke))
        return f"stroke {other} is not a list of points [[x, y], ...] of 2 to 4 numbers, as stroke {number} is"
    return (
        f"stroke {number} is not a pair of equally long lists [[x...], [y...]], "
        "nor a list of points [[x, y], ...] of 2 to 4 numbers"
    )


def _polylines(sketch: Sketch) -> list[list[Any]]:
    """As `to_quickdraw`, much faster for drawings in whole numbers, which most are."""
    rounded = np.rint(sketch.points)
    if not (rounded == sketch.points).all() or np.abs(rounded).max() > 2**31:
        return [[*stroke] for stroke in sketch.to_quickdraw()]
    x, y = rounded.astype(np.int64).T.tolist()
    ends = np.cumsum(sketch.lengths).tolist()
    return [[x[start:end], y[start:end]] for start, end in zip([0, *ends], ends, strict=False)]


def _at(path: Path, error: UserError) -> str:
    """The message with the file's name, which errors of opening it have already."""
    return str(error) if str(path) in str(error) else f"{path}: {error}"
