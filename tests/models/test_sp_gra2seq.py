"""SP-gra2seq: what can be switched on besides the paper's."""

import numpy as np
import torch
from systems import SKETCHES, batch_for, tiny

from gra2seq.data.batches import prepare
from gra2seq.models import build
from gra2seq.models.sketch_model import sampled


def test_sp_gra2seq_can_learn_to_paint_and_does_not_in_use():
    """The term is the painter's own loss times its weight, and its gradient reaches the patches through the code."""
    chosen = tiny("sp-gra2seq", paint=0.5)
    network, batch = build(chosen), batch_for(chosen)
    assert batch.painted.shape[1:] == (chosen.picture, chosen.picture)
    terms, _ = network(batch)
    encoding = network.encoder(batch)
    code = sampled(encoding.mean, encoding.log_variance, batch.noise)
    assert torch.allclose(terms["picture"], 0.5 * network.extra.paint.losses(code, batch.painted).mean(), rtol=1e-4)
    terms["picture"].backward()
    assert network.encoder.graph.embed.weights[0].grad.abs().max() > 0
    assert "picture" not in build(tiny("sp-gra2seq"))(batch_for(tiny("sp-gra2seq")))[0]
    assert prepare(SKETCHES, chosen.recipe(30.0), with_rows=False).painted.numel() == 0


def test_a_glance_adds_to_the_code_once_it_has_learnt():
    """Before, the code is the graph's; after, the picture of the damaged drawing has its say; a gradient reaches it."""
    chosen = tiny("sp-gra2seq", glance=True)
    network, batch = build(chosen), batch_for(chosen)
    assert batch.pictures.shape[1:] == (chosen.picture, chosen.picture)
    graph = network.encoder.graph(batch).feature
    assert torch.equal(network.encoder(batch).mean, network.encoder.code(graph)[0])
    torch.nn.init.normal_(network.encoder.glance.tell.weight)
    added = network.encoder(batch).mean - network.encoder.code(network.encoder.graph(batch).feature)[0]
    seen = network.encoder.glance.see(batch.pictures)
    assert torch.allclose(added, seen @ network.encoder.glance.tell.weight.T, atol=1e-4)
    sum(network(batch)[0].values()).backward()
    assert all(weight.grad.abs().max() > 0 for weight in network.encoder.glance.parameters())
    whole = prepare(SKETCHES, chosen.recipe(30.0)).pictures
    assert (prepare(SKETCHES, chosen.recipe(30.0), draws=np.zeros((8, 8)), probability=0.5).pictures < whole).any()
    assert batch_for(tiny("sp-gra2seq")).pictures.numel() == 0
