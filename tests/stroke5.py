"""The stroke-5 form of a sketch, as sketch-rnn has it."""

from __future__ import annotations

import numpy as np

from gra2seq.sketch.strokes import DOWN, END, LIFT, UP, Doubles, Sketch


def to_stroke5(sketch: Sketch, length: int | None = None) -> Doubles:
    """Offsets and one-hot pen states, (T, 5): DOWN inside a stroke, UP at its end, then END rows up to `length`.

    There is always at least one END row.
    """
    rows3 = sketch.to_stroke3()
    rows = np.zeros((len(rows3) + 1 if length is None else length, 5))
    assert len(rows) > len(rows3)
    rows[: len(rows3), :2] = rows3[:, :2]
    rows[: len(rows3), UP] = rows3[:, LIFT]
    rows[: len(rows3), DOWN] = 1 - rows3[:, LIFT]
    rows[len(rows3) :, END] = 1
    return rows
