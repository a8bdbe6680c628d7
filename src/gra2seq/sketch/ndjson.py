"""QuickDraw's .ndjson, simplified or raw, plain or gzipped; and drawings in plain .json.

A line of .ndjson is one drawing: {"word": "cat", "key_id": "1", "split": "test", "drawing": [stroke, ...]},
all but `drawing` optional. A stroke is [[x...], [y...]], in raw files followed by a list of times, which is
ignored, or in files with parts by a list of labels, one and the same for every point of the stroke.

Programs for a pen write points instead, [[x, y, pressure], ...]. Which of the two it is, is decided for a drawing
as a whole. QuickDraw's strokes have 2 or 3 rows, points 2 to 4 numbers, of which the first two are taken: so a
drawing is points if all its rows have 2 to 4 numbers and one of its strokes has 1 row or more than 3. What fits
both is taken for QuickDraw's, what fits neither is refused.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gra2seq.errors import UserError
from gra2seq.sketch.reading import opened, read_bytes
from gra2seq.sketch.simplify import quickdraw_points
from gra2seq.sketch.strokes import MAX_POINTS_READ, Sketch, to_polylines
from gra2seq.system.atomic_files import atomic_write

Record = tuple[str, Sketch]  # split ("train", "valid", "test" or "" if not known) and drawing

DECODER = json.JSONDecoder()  # used directly: `json.loads` first guesses the encoding of bytes
MAX_LINE = 100_000_000  # bytes; a million raw points with times have about 40 MB
MAX_JSON = 500_000_000  # bytes of a .json, which is read in one piece


def read_ndjson(path: str | Path, labels: bool = False, simplify: bool = False) -> Iterator[Record]:
    """One drawing after the other, in constant memory. Blank lines are skipped; an error names its line.

    With `labels` the third list of a stroke is its part label and must be there; without, it is ignored.
    With `simplify` drawings are simplified as QuickDraw's, from the coordinates in double precision.
    """
    path = Path(path)
    with opened(path) as file:
        stream = io.BufferedReader(gzip.GzipFile(fileobj=file), 1 << 20) if path.suffix.lower() == ".gz" else file
        number = 0
        try:
            while line := stream.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise UserError(f"it is longer than {MAX_LINE // 1_000_000} MB: simplify the drawing")
                if not line.isspace():
                    yield _record(_parsed(line), labels, simplify)
        except UserError as error:
            raise UserError(f"{path} line {number}: {error}") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            after = f"after line {number}" if number else "at its beginning"
            raise UserError(f"{path} is cut short or damaged {after} ({error}): fetch it again") from error


def write_ndjson(path: str | Path, records: Iterable[Record]) -> None:
    """Whole or not at all, gzipped if `path` ends in .gz; parts become the third list of a stroke."""
    path = Path(path)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        if path.suffix.lower() == ".gz":
            # No name and no time inside: the same drawings always give the same bytes.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
                _write_lines(packed, records)
        else:
            _write_lines(file, records)


def read_json(path: str | Path, labels: bool = False, simplify: bool = False) -> Iterator[Record]:
    """Drawings in plain JSON: one list of strokes, one object with `drawing`, or a list of such objects.

    A stroke is QuickDraw's [[x...], [y...]] or a list of points, as in .ndjson (see above), with one difference:
    in a list of strokes without an object around it three rows of two numbers are points, because a third row
    that is times or labels stands in an object. [[[1, 2], [3, 4]]] fits both: it is taken for QuickDraw's.
    """
    content = _json_of(path)
    if isinstance(content, list) and content and all(isinstance(item, dict) for item in content):
        drawings: list[Any] = content
    else:
        drawings = [content if isinstance(content, dict) else {"drawing": content}]
    bare = not isinstance(content, dict) and drawings is not content
    for number, about in enumerate(drawings):
        try:
            yield _record(about, labels, simplify, bare)
        except UserError as error:
            which = f" drawing {number}" if len(drawings) > 1 else ""
            raise UserError(f"{path}{which}: {error}") from error


def write_json(path: str | Path, records: Iterable[Record]) -> None:
    """A list of objects as in .ndjson, one to a line."""
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.write(b"[")
        for number, record in enumerate(records):
            file.write((b",\n" if number else b"\n") + _line(record))
        file.write(b"\n]\n")


def _json_of(path: str | Path) -> Any:
    data = read_bytes(path, MAX_JSON)
    try:
        return _parsed(data)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _parsed(text: bytes) -> Any:
    try:
        return DECODER.decode(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8, and numbers without end
        raise UserError(f"not valid JSON, or cut short ({error}): mend or fetch it again") from error


def _record(about: Any, labels: bool, simplify: bool, bare: bool = False) -> Record:
    """From one object. All points go through numpy at once: a drawing takes some 30 microseconds."""
    if not isinstance(about, dict) or not isinstance(about.get("drawing"), list):
        raise UserError('not an object with a list of strokes: {"drawing": [[[x...], [y...]], ...]}')
    drawing = about["drawing"]
    if _is_points(drawing, (2,) if bare else (2, 3)):
        drawing = [[[point[0] for point in stroke], [point[1] for point in stroke]] for stroke in drawing]
    for number, stroke in enumerate(drawing):
        if not (
            type(stroke) is list
            and 2 <= len(stroke) <= 3
            and type(stroke[0]) is type(stroke[1]) is list
            and len(stroke[0]) == len(stroke[1])
        ):
            raise UserError(_neither(drawing, number))
    kept = [(number, stroke) for number, stroke in enumerate(drawing) if stroke[0]]
    parts = tuple(_label(stroke, number) for number, stroke in kept) if labels else ()
    xs, ys = [stroke[0] for _, stroke in kept], [stroke[1] for _, stroke in kept]
    lengths = [len(x) for x in xs]
    count = sum(lengths)
    if count > MAX_POINTS_READ:
        raise UserError(f"the drawing has {count} points, {MAX_POINTS_READ} are read: simplify it")
    try:
        flat = np.array([*chain.from_iterable(xs), *chain.from_iterable(ys)])
    except ValueError as error:  # lists inside, of several lengths
        raise UserError("a coordinate is not a number") from error
    if flat.dtype.kind not in "if" or flat.ndim != 1:  # text, null, lists, or a number of more than 64 bits
        raise UserError("a coordinate is not a number, or beyond all bounds")
    split, word, key = about.get("split", ""), about.get("word", ""), about.get("key_id", "")
    if not isinstance(split, str) or not isinstance(word, str) or not isinstance(key, str | int):
        raise UserError("word, key_id and split must be text")
    with np.errstate(over="ignore"):  # Sketch refuses what becomes infinite
        sketch = Sketch(flat.reshape(2, count).T.astype(np.float32), np.array(lengths, np.int64), word, str(key), parts)
    if not simplify:
        return split, sketch
    points, counts = quickdraw_points(flat.reshape(2, count).T, sketch.lengths)
    return split, Sketch(points.astype(np.float32), counts, word, str(key), parts)


def _label(stroke: list[Any], number: int) -> str:
    """The one part label of a stroke."""
    if len(stroke) < 3 or type(stroke[2]) is not list or len(stroke[2]) != len(stroke[0]):
        raise UserError(f"stroke {number} has no list of part labels, one for each point: read it without labels")
    first = stroke[2][0]
    if not isinstance(first, str | int):
        raise UserError(f"stroke {number} has a part label that is neither text nor a whole number")
    if stroke[2].count(first) != len(stroke[2]):
        raise UserError(f"stroke {number} has more than one part label: cut it where the part changes")
    return str(first)


def _is_points(drawing: list[Any], quickdraw_rows: tuple[int, ...]) -> bool:
    """Whether the strokes are lists of points. Where all have just x and y, a stroke without rows says so too."""
    counts = {len(stroke) if type(stroke) is list else -1 for stroke in drawing}
    if -1 in counts or counts.issubset(quickdraw_rows) or not all(map(_may_be_points, drawing)):
        return False
    return not counts <= {0, 2, 3} or all(len(row) == 2 for stroke in drawing for row in stroke)


def _may_be_points(stroke: Any) -> bool:
    return type(stroke) is list and all(type(row) is list and 2 <= len(row) <= 4 for row in stroke)


def _neither(drawing: list[Any], number: int) -> str:
    """What is wrong with a drawing whose stroke `number` is not QuickDraw's and which is not points either."""
    if _may_be_points(drawing[number]) and len(drawing[number]) > 3:
        other = next(n for n, stroke in enumerate(drawing) if not _may_be_points(stroke))
        return f"stroke {other} is not a list of points [[x, y], ...] of 2 to 4 numbers, as stroke {number} is"
    return (
        f"stroke {number} is not a pair of equally long lists [[x...], [y...]], "
        "nor a list of points [[x, y], ...] of 2 to 4 numbers"
    )


def _line(record: Record) -> bytes:
    split, sketch = record
    drawing = _polylines(sketch)
    for stroke, part in zip(drawing, sketch.parts, strict=False):  # no parts: nothing to add
        stroke.append([part] * len(stroke[0]))
    about = {"word": sketch.category, "key_id": sketch.key, "split": split}
    known = {name: text for name, text in about.items() if text}
    return json.dumps({**known, "drawing": drawing}, separators=(",", ":")).encode()


def _polylines(sketch: Sketch) -> list[list[Any]]:
    """As `to_polylines`, much faster for drawings in whole numbers, which most are."""
    whole = np.rint(sketch.points)
    if not (whole == sketch.points).all() or np.abs(whole).max() > 2**31:
        return [[*stroke] for stroke in to_polylines(sketch)]
    x, y = whole.astype(np.int64).T.tolist()
    ends = np.cumsum(sketch.lengths).tolist()
    return [[x[start:end], y[start:end]] for start, end in zip([0, *ends], ends, strict=False)]


def _write_lines(file: BinaryIO | gzip.GzipFile, records: Iterable[Record]) -> None:
    for record in records:
        file.write(_line(record) + b"\n")
