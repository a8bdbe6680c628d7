"""Which drawings are for training, validation and test, where a file does not say it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch

VALID_SHARE, TEST_SHARE = 5, 5  # per cent of the drawings that come without a split


def with_splits(records: Iterable[Record]) -> Iterator[Record]:
    """Give a split to the drawings that have none."""
    for split, sketch in records:
        yield Record(split or hashed_split(sketch), sketch)


def hashed_split(sketch: Sketch) -> str:
    """Train, valid or test by a hash of what the drawing is, so that no drawing ever changes sides."""
    content = hashlib.sha256(f"{sketch.category}\n{sketch.key}".encode("utf-8", "surrogatepass"))
    if not sketch.key:
        content.update(sketch.points.tobytes() + sketch.lengths.tobytes())
    share = int.from_bytes(content.digest()[:8], "big") % 100
    return "test" if share < TEST_SHARE else "valid" if share < TEST_SHARE + VALID_SHARE else "train"
