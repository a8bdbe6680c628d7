"""Pictures of what a model draws now: original, damaged, healed and redrawn, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gra2seq.data.batches import generator
from gra2seq.model import Model
from gra2seq.sketch.canvas import Canvas, draw, grey_view
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.render import BLANK_VALUE, Picture, contact_sheet, write_png
from gra2seq.sketch.strokes import Sketch

SIDE = 256  # pixels of a picture
TITLES = ("original", "damaged", "healed", "redrawn")


def write_gallery(path: Path, model: Model, sketches: Sequence[Sketch], seed: int) -> None:
    """A row a sketch. The damage is that of training."""
    damages = [model.preparation.damage.draw(sketch, generator(seed, number)) for number, sketch in enumerate(sketches)]
    damaged = [damaged_picture(damage, model.preparation.canvas) for damage in damages]
    healed = model.heal_damages(damages)
    redrawn = model.redraw(sketches)
    rows: list[list[Sketch | Picture | None]] = [
        list(row) for row in zip(sketches, damaged, healed, redrawn, strict=True)
    ]
    write_png(path, contact_sheet(rows, size=128, titles=TITLES))


def damaged_picture(damage: Damage, canvas: Canvas) -> Picture:
    """The canvas that the encoder sees, black on white."""
    return np.asarray(BLANK_VALUE - grey_view(draw(damage, canvas), canvas, SIDE), np.uint8)
