from __future__ import annotations

import numpy as np
import pytest
import torch

from gra2seq.data.doodles import doodle, doodles
from gra2seq.folder import load
from gra2seq.model import Model
from gra2seq.sketch.damage import Damage, damages_of
from gra2seq.sketch.simplify import quickdraw_simplify
from gra2seq.sketch.strokes import Sketch
from gra2seq.studio.signs import INK_PER_STROKE, MAX_ROWS, UNLIKELINESS, signs_of


def signs(model: Model, sketches: list[Sketch]) -> np.ndarray:
    damages = damages_of(sketches)
    return signs_of(model, damages, model.encode(damages))


def test_unlikeliness_is_the_decoder_s_step_by_step(model):
    sketch = quickdraw_simplify(doodle("cat", 1))
    damage, code = Damage.none(sketch), model.encode(sketch)
    decoder, scale = model.network.decoder, model.preparation.scale
    points = damage.normalised(sketch.points) * 255 / scale
    state, row, before, last = decoder.first_state(torch.from_numpy(code[None])), torch.zeros(1, 5), np.zeros(2), False
    row[0, 2] = 1
    ends, total = set(np.cumsum(sketch.lengths) - 1), 0.0
    for number, point in enumerate(points):
        move, state = decoder.step(row, state)
        offset = torch.tensor((point - before)[None], dtype=torch.float32)
        total += float(move.log_prob_offset(offset))
        last = number in ends
        row = torch.cat([offset, torch.tensor([[0.0 if last else 1.0, 1.0 if last else 0.0, 0.0]])], dim=1)
        before = point
    assert signs(model, [sketch])[0, UNLIKELINESS] == pytest.approx(-total / len(points), rel=1e-3)


def test_signs_do_not_depend_on_company_place_or_size(model):
    sketches = [quickdraw_simplify(one) for one in doodles(5, seed=3)]
    together = signs(model, sketches)
    moved = Sketch(sketches[2].points * 3 + 100, sketches[2].lengths)
    np.testing.assert_allclose(signs(model, [moved])[0], together[2], rtol=1e-3)


def test_a_very_long_scribble_is_looked_at_in_part(model):
    walk = np.cumsum(np.random.default_rng(0).normal(0, 1, (20 * MAX_ROWS, 2)), axis=0)
    assert np.isfinite(signs(model, [Sketch.from_polylines([walk])])).all()


def test_the_package_model_finds_scribbles_less_likely_than_drawings():
    random = np.random.default_rng(0)
    walks = [Sketch.from_polylines([np.cumsum(random.normal(0, 40, (30, 2)), axis=0)]) for _ in range(8)]
    angle = np.linspace(0, 40, 300)[:, None]
    spiral = Sketch.from_polylines([np.hstack([np.cos(angle), np.sin(angle)]) * (5 + angle)])
    package = load()
    drawn, walked, round_ = (signs(package, some) for some in ([*doodles(15, seed=1)], walks, [spiral]))
    assert np.median(walked[:, UNLIKELINESS]) > np.median(drawn[:, UNLIKELINESS]) + 0.5
    assert round_[0, INK_PER_STROKE] > drawn[:, INK_PER_STROKE].max()
