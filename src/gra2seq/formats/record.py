"""A drawing as files of collections hold it: with the split it belongs to."""

from __future__ import annotations

from typing import NamedTuple

from gra2seq.sketch.strokes import Sketch


class Record(NamedTuple):
    """A sketch and its split: "train", "valid", "test", or "" if the file does not say."""

    split: str
    sketch: Sketch
