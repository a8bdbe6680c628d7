"""sketch-rnn: its KL term, and what it reads."""

import numpy as np
import pytest
import torch
from systems import SKETCHES, tiny

from gra2seq.data.batches import prepare
from gra2seq.model import untrained
from gra2seq.models.sketch_rnn import KL, KL_FREE, KL_WEIGHT
from gra2seq.nn.gaussian import standard_kl
from gra2seq.sketch.masking import damage
from gra2seq.sketch.strokes import END


def test_kl_against_torch():
    torch.manual_seed(0)
    mean, log_variance = torch.randn(5, 7), torch.randn(5, 7)
    one, other = (
        torch.distributions.Normal(mean, torch.exp(0.5 * log_variance)),
        torch.distributions.Normal(torch.zeros(5, 7), torch.ones(5, 7)),
    )
    assert torch.allclose(standard_kl(mean, log_variance), torch.distributions.kl_divergence(one, other).mean())


def test_the_kl_weight_rises_with_the_steps_and_is_whole_in_use():
    kl = KL(steps=10).train()
    mean, log_variance = torch.full((2, 3), 2.0), torch.zeros(2, 3)
    whole = KL_WEIGHT * 10 * 2.0  # KL of a mean of 2 is 2 a dimension
    seen = [kl(mean, log_variance).item() for _ in range(3)]
    assert seen == pytest.approx([0.0, whole * (1 - 0.99995), whole * (1 - 0.99995**2)], abs=1e-4)
    kl.rising.step.fill_(100_000)
    assert kl(mean, log_variance).item() == pytest.approx(whole, rel=0.01)
    kl.rising.step.zero_()
    assert kl.eval()(mean, log_variance).item() == pytest.approx(whole)
    assert int(kl.rising.step) == 0, "use is not training"


def test_a_small_kl_is_free():
    kl = KL(steps=1).eval()
    mean = torch.full((1, 2), 0.1, requires_grad=True)
    term = kl(mean, torch.zeros(1, 2))
    assert term.item() == pytest.approx(KL_WEIGHT * KL_FREE)
    term.backward()
    assert not mean.grad.any()


def test_only_the_points_that_survive_are_read():
    picked = tiny("sketch-rnn")
    recipe = picked.recipe(30.0)
    whole = prepare(SKETCHES, recipe)
    draws = np.ones((8, 8))
    draws[:, 0] = 0
    torn = prepare(SKETCHES, recipe, draws=draws, probability=0.5)
    assert (whole.stroke_rows == torch.tensor([1 + len(s) for s in SKETCHES])).all()
    assert (torn.stroke_rows < whole.stroke_rows).all()
    for sketch, rows, count in zip(SKETCHES, torn.strokes, torn.stroke_rows, strict=True):
        lost = damage(sketch, recipe.canvas, draws[0], 0.5, nodes=8)
        assert int(count) == 1 + int((~lost.hits(lost.walk.points)).sum())
        assert (rows[int(count) :, END] == 1).all()
        assert not rows[: int(count), END].any()
        # What is left lies where it was: the sum of the moves ends at a point of the whole sketch.
        left, top, width, height = sketch.box
        at = rows[1 : int(count), :2].sum(dim=0).numpy() * 30 * max(width, height) / 255
        if int(count) > 1:
            points = sketch.points - (left + width / 2, top + height / 2)
            assert np.abs(points - at).max(axis=1).min() < 1e-2 * max(width, height)


def test_long_strokes_are_read_apart_from_short_ones(monkeypatch):
    import gra2seq.model

    monkeypatch.setattr(gra2seq.model, "MOST_ROWS", 100)
    model = untrained(tiny("sketch-rnn"))
    shares = list(model._shares(SKETCHES))
    assert sorted(np.concatenate(shares)) == list(range(8))
    assert all(len(part) == 1 or len(part) * max(len(SKETCHES[i]) for i in part) <= 100 for part in shares)
    apart = model.encode(SKETCHES)
    monkeypatch.setattr(gra2seq.model, "MOST_ROWS", 10**6)
    assert len(list(model._shares(SKETCHES))) == 1
    assert np.allclose(apart, model.encode(SKETCHES), atol=1e-5)
