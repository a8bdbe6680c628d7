"""The drawings that are judged: of each damaged sketch what the model makes of it, in the way it draws by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gra2seq.evaluation.damage_kinds import Harm
from gra2seq.model import Model
from gra2seq.sketch.strokes import Floats, Ints, Sketch


def redrawn(
    model: Model,
    sketches: Sequence[Sketch],
    codes: Floats,
    draws: Floats,
    harm: Harm,
    seed: int,
    first: int | Ints,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[Sketch]:
    """All anew, in a box of 255 around the origin or, of sketches that keep their lines, only what was missing.

    `codes` are those of the damaged sketches; `first` is the number of the first one in the split, or those of all.
    """
    keep = keeps_lines(model, harm)
    helps = model.options.tries > 1 or model.options.steer > 1
    left = model.what_is_left(sketches, **harm.of(sketches, draws)) if helps or keep else None
    drawn = model.draw(codes, seed=seed, first=first, left=left, progress=progress)
    if left is None or not keep:
        return drawn
    return [model.lay(*three) for three in zip(drawn, sketches, left, strict=True)]


def keeps_lines(model: Model, harm: Harm) -> bool:
    """Lines that are left stay; where nothing is lost, all are drawn anew."""
    return model.options.keep and bool(harm)


def is_empty(sketch: Sketch) -> bool:
    """Nothing was drawn, or a dot."""
    return max(sketch.box[2:]) == 0
