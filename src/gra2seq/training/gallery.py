"""Pictures of what a model draws now: original, damaged and healed, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gra2seq.data.batches import Recipe, as_learnt
from gra2seq.model import Model
from gra2seq.sketch.canvas import grey_view
from gra2seq.sketch.masking import Hole, damage, wiped
from gra2seq.sketch.render import BLANK_VALUE, Picture, contact_sheet, write_png
from gra2seq.sketch.strokes import Sketch

TITLES = ("original", "damaged", "healed", "redrawn")


def write_gallery(path: Path, model: Model, sketches: Sequence[Sketch], draws: NDArray[np.floating]) -> None:
    """A row a sketch. The damage is that of training (on average, at least 10 %)."""
    mask = max(model.recipe.mean_mask, 0.1)
    damaged = [damaged_picture(s, model.recipe, d, mask) for s, d in zip(sketches, draws, strict=True)]
    healed = model.heal(sketches, mask_prob=mask, draws=draws)
    redrawn = model.redraw(sketches)
    rows: list[list[Sketch | Picture | None]] = [
        list(row) for row in zip(sketches, damaged, healed, redrawn, strict=True)
    ]
    write_png(path, contact_sheet(rows, size=128, titles=TITLES))


def damaged_picture(
    sketch: Sketch,
    recipe: Recipe,
    draws: NDArray[np.floating] | None,
    probability: float,
    holes: Sequence[Hole] = (),
    size: int = 256,
) -> Picture:
    """What the encoder sees of a sketch: its wiped canvas, black on white."""
    canvas = recipe.canvas
    seen = as_learnt(sketch, recipe)
    pixels = wiped(damage(seen, canvas, draws, probability, nodes=recipe.nodes, holes=holes))
    return np.asarray(BLANK_VALUE - grey_view(pixels, canvas, size), np.uint8)
