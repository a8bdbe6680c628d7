"""sketch-rnn: its KL term, and what it reads."""

import numpy as np
import pytest
import torch
from systems import SKETCHES, tiny

from gra2seq.folder import untrained
from gra2seq.models.codes import batches_of
from gra2seq.models.sketch_rnn import KL, KL_FREE, KL_WEIGHT, MAX_ROWS
from gra2seq.nn.kl import standard_kl
from gra2seq.sketch.damage import Damage


def test_kl_against_torch():
    torch.manual_seed(0)
    mean, log_variance = torch.randn(5, 7), torch.randn(5, 7)
    one, other = (
        torch.distributions.Normal(mean, torch.exp(0.5 * log_variance)),
        torch.distributions.Normal(torch.zeros(5, 7), torch.ones(5, 7)),
    )
    assert torch.allclose(standard_kl(mean, log_variance), torch.distributions.kl_divergence(one, other).mean())


def test_the_kl_weight_starts_at_one_hundredth_and_is_1_in_use():
    """Magenta's release: weight 0.5, of which 1 - 0.98 x 0.99995^step counts at first."""
    kl = KL().train()
    mean, log_variance = torch.full((2, 3), 2.0), torch.zeros(2, 3)
    whole = KL_WEIGHT * MAX_ROWS * 2.0  # KL of a mean of 2 is 2 a dimension
    seen = [kl(mean, log_variance).item() for _ in range(3)]
    expected = [whole * (1 - 0.98 * 0.99995**step) for step in range(3)]
    assert seen == pytest.approx(expected, rel=1e-6)
    assert seen[0] / (MAX_ROWS * 2.0) == pytest.approx(0.01), "the weight starts at 0.01"
    kl.rising.step.fill_(100_000)
    assert kl(mean, log_variance).item() == pytest.approx(whole, rel=0.01)
    kl.rising.step.zero_()
    assert kl.eval()(mean, log_variance).item() == pytest.approx(whole)
    assert int(kl.rising.step) == 0, "use is not training"


def test_a_small_kl_is_free():
    kl = KL().eval()
    mean = torch.full((1, 2), 0.1, requires_grad=True)
    term = kl(mean, torch.zeros(1, 2))
    assert term.item() == pytest.approx(KL_WEIGHT * KL_FREE * MAX_ROWS)
    term.backward()
    assert not mean.grad.any()


def test_long_strokes_are_read_apart_from_short_ones(monkeypatch):

    monkeypatch.setattr("gra2seq.models.codes.MAX_ROWS", 100)
    model = untrained(tiny("sketch-rnn"))
    damages = [Damage.none(sketch) for sketch in SKETCHES]
    batches = list(batches_of(damages, model.preparation))
    assert sorted(np.concatenate(batches)) == list(range(8))
    assert all(len(part) == 1 or len(part) * max(len(SKETCHES[i]) for i in part) <= 100 for part in batches)
    apart = model.encode(SKETCHES)
    monkeypatch.setattr("gra2seq.models.codes.MAX_ROWS", 10**6)
    assert len(list(batches_of(damages, model.preparation))) == 1
    assert np.allclose(apart, model.encode(SKETCHES), atol=1e-5)
