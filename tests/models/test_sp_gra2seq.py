"""SP-gra2seq: what can be switched on besides the paper's."""

import numpy as np
import pytest
import torch
from systems import SKETCHES, batch_for, tiny

from gra2seq.data.batches import prepare
from gra2seq.models import build
from gra2seq.models.sketch_model import follow, sampled, unlikely


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
    assert prepare(SKETCHES, chosen.recipe(30.0), learning=False).painted.numel() == 0


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


def test_a_polished_decoder_learns_from_codes_as_they_are_in_use():
    """Each sketch comes once, damaged; its likelihood is told by its mended code, without noise. All else stays."""
    torch.manual_seed(0)
    chosen = tiny("sp-gra2seq", glance=True, mend=True, polish=True, mask=0.3, mask_to=0.9)
    network, batch = build(chosen).train(), batch_for(chosen)
    torch.nn.init.normal_(network.mend.tell.weight, std=0.1)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    assert len(batch) == len(SKETCHES)
    assert batch.lost.any()
    terms, _ = network(batch)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    sum(terms.values()).backward()
    optimizer.step()
    for name, tensor in network.state_dict().items():
        assert name.startswith("decoder.") != torch.equal(tensor, before[name]), name
    network.load_state_dict(before)
    used = build(tiny("sp-gra2seq", glance=True, mend=True)).eval()
    used.load_state_dict(before)
    code = used.encode(batch)
    assert not torch.equal(code, used.encoder(batch).mean)
    twin = unlikely(*follow(used.decoder, batch.rows, code))
    for name, each in twin.items():
        assert terms[name].item() == pytest.approx(each.mean().item(), rel=1e-5), name


def test_mending_is_all_that_is_learnt_and_whole_drawings_keep_their_codes():
    """Of each sketch a damaged and a whole one: the term is how far the mended code is off. All else stays."""
    torch.manual_seed(0)
    chosen = tiny("sp-gra2seq", glance=True, mend=True, mask=0.3, mask_to=0.9)
    network, batch = build(chosen).train(), batch_for(chosen)
    torch.nn.init.normal_(network.mend.tell.weight, std=0.1)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    assert len(batch) == 2 * len(SKETCHES)
    assert batch.lost[: len(SKETCHES)].any()
    assert not batch.lost[len(SKETCHES) :].any()
    terms, figures = network(batch)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    terms["mend"].backward()
    optimizer.step()
    for name, parameter in network.named_parameters():
        if name.startswith("mend."):
            assert parameter.grad.abs().max() > 0, name
        else:
            assert parameter.grad is None, name
    for name, tensor in network.state_dict().items():
        assert name.startswith("mend.") != torch.equal(tensor, before[name]), name
    network.eval()
    codes = network.encoder(batch).mean.detach()
    here, there = codes[: len(SKETCHES)], codes[len(SKETCHES) :]
    assert figures["unmended"].item() == pytest.approx((here - there).square().sum(dim=1).mean().item(), rel=1e-4)
    mended = network.encode(batch).detach()
    assert torch.equal(mended[len(SKETCHES) :], there)
    hurt = batch.lost[: len(SKETCHES)].flatten(1).any(dim=1)
    assert ((mended[: len(SKETCHES)] != here).any(dim=1) == hurt).all()
    off = (mended[: len(SKETCHES)] - there).square().sum(dim=1).mean()
    assert network(batch)[0]["mend"].item() == pytest.approx(off.item(), rel=1e-4)


def test_in_use_what_was_lost_is_told_and_nothing_comes_twice():
    recipe = tiny("sp-gra2seq", mend=True).recipe(30.0)
    draws = np.zeros((8, 8))
    batch = prepare(SKETCHES, recipe, draws=draws, probability=0.5, learning=False)
    assert len(batch) == len(SKETCHES)
    assert batch.lost.flatten(1).any(dim=1).all()
    assert not prepare(SKETCHES, recipe, learning=False).lost.any()
    x, y, width, height = SKETCHES[0].box
    hole = prepare(SKETCHES[:1], recipe, holes=[(x, y, width / 2, height)], learning=False).lost[0]
    assert hole[:, : recipe.picture // 4].float().mean() > 3 * hole[:, -recipe.picture // 4 :].float().mean()
