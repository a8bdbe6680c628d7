"""Pictures beside the tables: sketches of a split, evenly chosen, as they were, damaged and redrawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gra2seq.data.datasets import Dataset
from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.evaluation.judging import Progress
from gra2seq.evaluation.protocol import Terms, check, split_of, stored_noise
from gra2seq.evaluation.redrawing import is_empty, redrawn
from gra2seq.evaluation.sheet import write_sheet
from gra2seq.model import Model
from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.render import Picture
from gra2seq.sketch.strokes import Floats, Ints, Sketch
from gra2seq.training.pictures import damaged_picture

SHOWN = 10  # sketches of a sheet, and columns of a larger one
ROWS = ("original", "damaged", "redrawn")


def write_galleries(
    model: Model,
    dataset: Dataset,
    folder: Path,
    name: str,
    terms: Terms,
    size: int = SHOWN,
    progress: Progress | None = None,
) -> list[Path]:
    """Original, damaged and redrawn sketches, a column a sketch: for each kind of damage a PNG and an SVG.

    The `size` sketches are spread evenly over the split, not chosen by hand; damage and drawings are those that
    `evaluate` judges with the first seed. More than `SHOWN` continue in further rows, without the names of their
    categories.
    """
    indices = split_of(dataset, terms.split)
    check(model, dataset, terms)
    places = spread(len(indices), size)
    noise = stored_noise(dataset, terms.split, len(indices)).numbers[places]
    sketches = [dataset.store[int(index)] for index in indices[places]]
    bands = [slice(start, start + SHOWN) for start in range(0, len(sketches), SHOWN)]
    titles = [sketch.category if len(bands) == 1 else "" for sketch in sketches[bands[0]]]
    report = progress or (lambda *_: None)
    written = []
    for number, kind in enumerate(terms.kinds, 1):
        drawn = redrawn(model, sketches, noise, kind, terms.seeds[0], places)
        damaged = damaged_pictures(sketches, noise, kind, model.preparation.canvas)
        shown = [None if is_empty(sketch) else sketch for sketch in drawn]
        rows: list[list[Sketch | Picture | None]] = [
            [*row[band]] for band in bands for row in (sketches, damaged, shown)
        ]
        written += write_sheet(folder / f"{name}-{kind.sheet}", rows, titles, ROWS * len(bands))
        report("sheets", number, len(terms.kinds))
    return written


def damaged_pictures(
    sketches: Sequence[Sketch], noise: Floats, kind: DamageKind, canvas: Canvas
) -> list[Sketch | Picture | None]:
    """What models see of each sketch; None where nothing stays visible."""
    damages = [kind.damage(sketch, own) for sketch, own in zip(sketches, noise, strict=True)]
    return [None if damage is None else damaged_picture(damage, canvas) for damage in damages]


def spread(count: int, most: int) -> Ints:
    """At most `most` of the numbers 0 … count - 1, evenly: each from the middle of its share."""
    chosen = min(most, count)
    return (2 * np.arange(chosen) + 1) * count // (2 * max(chosen, 1))
