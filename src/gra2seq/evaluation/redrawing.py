"""What a model makes of damaged drawings in an evaluation: drawn anew, healed or completed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gra2seq.config import DrawingConfig
from gra2seq.config.drawing import HEALING_SAMPLES
from gra2seq.errors import UserError
from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.model import Model
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import Floats, Ints, Sketch

GUIDED: dict[str, Any] = {"best_of": 3, "good_enough": 0.015, "candidates": 4}  # chosen on the validation split
CODE_ONLY: dict[str, Any] = {"best_of": 1, "nearest_by": "code", "good_enough": 0.0, "candidates": 1}
DRAWING = ("code", "guided", "infill")  # what a drawing may see beside its code


def drawing_mode(drawing: DrawingConfig, mode: str) -> DrawingConfig:
    """How drawings are made: from the `code` only, `guided` by the visible ink, or by `infill` decoding.

    Of several drawings from the code the one whose own code is nearest is kept: no ink is looked at. Infill keeps the
    visible lines; drawings without damage are then guided.
    """
    if mode not in DRAWING:
        raise UserError(f"--draw {mode!r} is not one of {', '.join(DRAWING)}")
    if mode == "code":
        return replace(drawing, **CODE_ONLY, keep_lines=False, infill=0)
    drawing = replace(drawing, nearest_by="ink")
    guided = drawing if drawing.guided else replace(drawing, **GUIDED)
    if mode == "infill":
        return replace(guided, keep_lines=True, infill=drawing.infill or HEALING_SAMPLES)
    return replace(guided, keep_lines=False, infill=0)


def used_drawing(drawing: DrawingConfig, kind: DamageKind) -> DrawingConfig:
    """The options that matter for this kind of damage, the others as if they were not set.

    Infill decoding neither guides nor compares whole drawings, and an intact drawing has nothing to keep or fill in.
    """
    if kind.complete:
        return replace(drawing, **CODE_ONLY, keep_lines=True, infill=1, repair=False)
    if not kind:
        return replace(drawing, keep_lines=False, infill=0, repair=False)
    return replace(drawing, **CODE_ONLY, keep_lines=True) if drawing.infill else drawing


def predicts_ink(drawing: DrawingConfig, kind: DamageKind) -> bool:
    """Whether predicted ink matters, if the model has learnt it: only where something is lost."""
    lost = kind.mask > 0 or kind.square > 0
    return drawing.predict_ink and lost and (bool(drawing.infill) or drawing.guided)


def redrawn(
    model: Model, sketches: Sequence[Sketch], noise: Floats, kind: DamageKind, seed: int, first: int | Ints
) -> list[Sketch]:
    """What a model makes of each damaged sketch, in its own way of drawing; a dot where nothing was visible.

    `first` is the number of the first sketch in the split, or the numbers of all.
    """
    numbers = first + np.arange(len(sketches)) if isinstance(first, int) else np.asarray(first)
    damages = [kind.damage(sketch, own) for sketch, own in zip(sketches, noise, strict=True)]
    return [own[0] for own in drawings(model, damages, kind, seed, numbers)]


def drawings(
    model: Model,
    damages: Sequence[Damage | None],
    kind: DamageKind,
    seed: int,
    numbers: Ints,
    samples: int = 1,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[list[Sketch]]:
    """As `redrawn`, of damages of one kind, None where nothing is visible.

    Infill decoding gives `samples` drawings of each, the first one the same for any number; other ways give one.
    """
    there = [number for number, damage in enumerate(damages) if damage is not None]
    visible = [damage for damage in damages if damage is not None]
    drawing = replace(model.drawing, seed=seed)
    drawn = [[Sketch(np.zeros((1, 2), np.float32), np.array([1]))] for _ in damages]
    if kind.complete:
        made = [[one] for one in model.complete(visible, drawing=drawing)]
    elif drawing.infill and kind:
        every = model.heal_damages(visible, samples=samples, drawing=drawing)
        made = [every[start : start + samples] for start in range(0, len(every), samples)]
    else:
        codes = model.encode(visible)
        guides = visible if drawing.guided else None
        anew = model.draw_codes(codes, drawing=drawing, visible=guides, first=numbers[there], progress=progress)
        made = [[model.place(one, own, drawing.keep_lines)] for one, own in zip(anew, visible, strict=True)]
    for number, own in zip(there, made, strict=True):
        drawn[number] = own
    return drawn


def is_empty(sketch: Sketch) -> bool:
    """Nothing was drawn, or a dot."""
    return max(sketch.box[2:]) == 0
