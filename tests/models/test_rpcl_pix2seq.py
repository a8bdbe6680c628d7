"""RPCL-pix2seq: its mixture, its picture term and its loss weights."""

import pytest
import torch
from systems import SKETCHES, batch_for, network_of, tiny

from gra2seq.data.doodles import doodles
from gra2seq.models.registry import build
from gra2seq.models.rpcl_pix2seq import PICTURE_WEIGHT
from gra2seq.models.sketch_model import sampled
from gra2seq.nn import mixture_prior as mixture
from gra2seq.nn.picture_cnn import pixels


@pytest.mark.slow
def test_the_mixture_survives_the_beginning_of_a_training(monkeypatch):
    """The codes of a fresh encoder wander; after the calm steps many components share them still."""
    monkeypatch.setattr(mixture, "CALM", 70)
    config = tiny("rpcl-pix2seq", clusters=20, picture=16)
    torch.manual_seed(0)
    network = network_of(config).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    batches = [batch_for(config, list(doodles(16, seed=seed))) for seed in range(4)]
    living = []
    for step in range(130):
        terms, figures = network(batches[step % 4])
        optimizer.zero_grad()
        (terms["kl"] + terms["picture"]).backward()  # encoder and painter alone
        optimizer.step()
        living.append(int(figures["components"]))
    assert min(living[70:]) > 10


def test_components_are_twice_the_categories_unless_given():
    """Released code."""
    assert tiny("rpcl-pix2seq", preset="small").model.clusters == 0
    unset = tiny("rpcl-pix2seq", clusters=0).model
    assert len(build(unset, 15).encoder.prior.weights) == 30
    assert len(build(unset).encoder.prior.weights) == 2
    assert len(build(tiny("rpcl-pix2seq", clusters=7).model, 15).encoder.prior.weights) == 7


def test_the_picture_term_is_half_the_squared_error_of_the_intact_picture():
    torch.manual_seed(0)
    config = tiny("rpcl-pix2seq", mask=0.5)
    network, batch = network_of(config).eval(), batch_for(config)
    assert not torch.equal(batch.painted, batch.views["picture"])
    terms, _ = network(batch)
    encoding = network.encoder(batch)
    code = sampled(encoding.mean, encoding.log_variance, batch.noise)
    painted = torch.sigmoid(network.extra.paint(code))
    squares = (painted - pixels(batch.painted).squeeze(1)).square().sum() / len(SKETCHES)
    assert PICTURE_WEIGHT == 0.5
    assert terms["picture"].item() == pytest.approx(0.5 * squares.item(), rel=1e-4)


def test_the_mixture_is_updated_with_the_variance_of_the_codes(monkeypatch):
    config = tiny("rpcl-pix2seq")
    torch.manual_seed(0)
    network, batch = network_of(config).train(), batch_for(config)
    updates = []
    monkeypatch.setattr(
        mixture.GaussianMixture, "update_", lambda _, codes, variance: updates.append((codes, variance))
    )
    encoding = network.encoder(batch)
    ((codes, variance),) = updates
    assert torch.equal(codes, encoding.mean)
    assert torch.allclose(variance, encoding.log_variance.exp())
    assert not codes.requires_grad
    network.eval().encoder(batch)
    assert len(updates) == 1, "in use nothing is updated"


def test_the_kl_weight_rises_with_the_steps():
    config = tiny("rpcl-pix2seq")
    torch.manual_seed(0)
    encoder, batch = network_of(config).train().encoder, batch_for(config)
    weights = []
    for step in (0, 1000, 10**6):
        encoder.rising.step.fill_(step)
        weights.append(encoder.rising())
    assert weights == pytest.approx([1 - 0.999, 1 - 0.999 * 0.9999**1000, 1.0], abs=1e-6)
    encoder.eval()
    encoding = encoder(batch)
    kl = encoder.prior.kl(encoding.mean, encoding.log_variance)
    assert encoding.terms["kl"].item() == pytest.approx(16 * kl.item(), rel=1e-5)
