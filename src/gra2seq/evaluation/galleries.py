"""Pictures beside the tables: sketches of a split, evenly chosen, as they were, damaged and redrawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gra2seq.data.datasets import Dataset
from gra2seq.evaluation.protocol import Progress, check, split_of, stored_draws
from gra2seq.evaluation.damage_kinds import harms
from gra2seq.evaluation.redraw import is_empty, redrawn
from gra2seq.evaluation.sheet import write_sheet
from gra2seq.model import Model
from gra2seq.sketch.render import Picture
from gra2seq.sketch.strokes import Ints, Sketch
from gra2seq.training.gallery import damaged_picture

SHOWN = 10  # sketches of a gallery, and columns of a larger one
ROWS = ("original", "damaged", "redrawn")


def write_galleries(
    model: Model,
    dataset: Dataset,
    folder: Path,
    name: str,
    *,
    split: str = "test",
    masks: Sequence[float] = (0.0, 0.1, 0.3),
    holes: Sequence[float] = (),
    seed: int = 0,
    most: int = SHOWN,
    progress: Progress | None = None,
) -> list[Path]:
    """Original, damaged and redrawn sketches, a column a sketch: for each mask (or hole) a PNG and an SVG.

    The sketches are spread evenly over the split, not chosen; damage and drawings are those that `evaluate` judges.
    More than `SHOWN` go on in further rows, without the names of their categories.
    """
    indices = split_of(dataset, split)
    check(model, dataset, None, masks, "redrawn", holes)
    draws = stored_draws(dataset, split, len(indices), model.recipe.nodes).numbers
    places = spread(len(indices), most)
    sketches = [dataset.store[int(index)] for index in indices[places]]
    bands = [slice(start, start + SHOWN) for start in range(0, len(sketches), SHOWN)]
    titles = [sketch.category if len(bands) == 1 else "" for sketch in sketches[bands[0]]]
    tell = progress or (lambda *_: None)
    written = []
    for number, harm in enumerate(every := harms(masks, holes), 1):
        told = harm.of(sketches, draws[places])
        codes = model.encode(sketches, **told)
        drawn = redrawn(model, sketches, codes, draws[places], harm, seed, places)
        rubbed = told.get("holes", [()] * len(sketches))
        damaged = [
            damaged_picture(sketch, model.recipe, draws[place], harm.mask, holes=own)
            for sketch, place, own in zip(sketches, places, rubbed, strict=True)
        ]
        shown = [None if is_empty(sketch) else sketch for sketch in drawn]
        rows: list[list[Sketch | Picture | None]] = [
            [*row[band]] for band in bands for row in (sketches, damaged, shown)
        ]
        labels = ROWS * len(bands)
        written += write_sheet(folder / f"{name}-{harm.sheet}", rows, titles, labels)
        tell("galleries", number, len(every))
    return written


def spread(count: int, most: int) -> Ints:
    """At most `most` of the numbers 0 … count - 1, evenly: each from the middle of its share."""
    chosen = min(most, count)
    return (2 * np.arange(chosen) + 1) * count // (2 * max(chosen, 1))
