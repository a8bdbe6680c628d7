"""Sketches that tests write to stores."""

from __future__ import annotations

import numpy as np

from gra2seq.data.store_format import SPLITS
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch


def scribble(number: int, *, whole: bool = True, category: str = "cat", parts: bool = False) -> Sketch:
    """A drawing of two to four strokes that depends on its number only."""
    random = np.random.default_rng(number)
    lengths = random.integers(1, 9, size=random.integers(2, 5))
    points = random.normal(0, 50, size=(lengths.sum(), 2))
    labels = tuple(random.choice(["ear", "", "tail"], len(lengths)).tolist()) if parts else ()
    return Sketch(np.rint(points) if whole else points, lengths, category, f"key-ü-{number}", labels)


def mixed(count: int) -> list[Record]:
    names = ["cat", "The Great Wall of China", "pig"]
    return [(SPLITS[n % 4], scribble(n, category=names[n % 3], parts=n % 5 == 0)) for n in range(count)]
