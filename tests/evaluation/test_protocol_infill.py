"""Infill decoding in the tables."""

import numpy as np

from gra2seq.data.doodles import doodles
from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.evaluation.protocol import drawing_mode, redrawn
from gra2seq.folder import load


def test_infill_keeps_the_visible_strokes_of_damaged_sketches_only(tiny_run):
    model = load(tiny_run)
    model = model.with_drawing(drawing_mode(model.drawing, "infill"))
    sketches = list(doodles(4, seed=2))
    noise = np.full((4, 20), 0.4, np.float32)
    kind = DamageKind(square=0.4)
    for sketch, drawn in zip(sketches, redrawn(model, sketches, noise, kind, 0, 0), strict=True):
        damage = kind.damage(sketch, noise[0])
        assert np.array_equal(drawn.points[: len(damage.visible)], damage.visible.points)
    whole = redrawn(model, sketches, noise, DamageKind(), 0, 0)
    assert not any(np.array_equal(a.points[:5], b.points[:5]) for a, b in zip(whole, sketches, strict=True))
