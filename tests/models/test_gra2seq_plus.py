"""gra2seq-plus: what our system adds to SP-gra2seq, and that it starts as SP-gra2seq does."""

import numpy as np
import pytest
import torch
from systems import SKETCHES, batch_for, network_of, tiny, used_batch

from gra2seq.data.views import PatchView
from gra2seq.errors import UserError
from gra2seq.models.registry import build, preparation_of
from gra2seq.sketch.damage import lose
from gra2seq.sketch.masking import mask
from gra2seq.sketch.region import Region


def test_the_picture_branch_adds_to_the_code_once_it_has_learnt():
    """Before, the code is the graph's; after, the picture of the visible strokes matters, and a gradient reaches it."""
    config = tiny("gra2seq-plus")
    network, batch = network_of(config), batch_for(config)
    encoder, branch = network.encoder.synonyms, network.encoder.branch
    assert batch.views["picture"].shape[1:] == (config.model.picture, config.model.picture)
    feature = encoder.graph(batch.views["patches"]).feature
    assert torch.equal(network.encoder(batch).mean, encoder.code(feature)[0])
    torch.nn.init.normal_(branch.project.weight)
    added = network.encoder(batch).mean - encoder.code(encoder.graph(batch.views["patches"]).feature)[0]
    seen = branch.cnn(batch.views["picture"])
    assert torch.allclose(added, seen @ branch.project.weight.T, atol=1e-3)
    sum(network(batch)[0].values()).backward()
    assert all(weight.grad.abs().max() > 0 for weight in branch.parameters())
    masked = [mask(sketch, np.linspace(0, 1, 20), 0.2) for sketch in SKETCHES]
    assert (used_batch(config, masked).views["picture"] < used_batch(config).views["picture"]).any()


def test_it_starts_with_the_code_of_sp_gra2seq():
    """With the same patches and weights: positions and picture branch start at 0."""
    plus, pure = tiny("gra2seq-plus", spread=False, dense=False), tiny("sp-gra2seq")
    ours, theirs = network_of(plus).eval(), network_of(pure).eval()
    weights = {name.removeprefix("synonyms."): value for name, value in ours.encoder.state_dict().items()}
    theirs.encoder.load_state_dict({name: weights[name] for name in theirs.encoder.state_dict()})
    assert torch.equal(ours.encode(used_batch(plus)), theirs.encode(used_batch(pure)))


def test_its_patches_are_dense_and_spread():
    view = preparation_of(tiny("gra2seq-plus"), 30.0).views["patches"]
    assert isinstance(view, PatchView)
    assert view.dense
    assert view.spread
    pure = preparation_of(tiny("sp-gra2seq"), 30.0).views["patches"]
    assert not pure.dense
    assert not pure.spread


@pytest.mark.parametrize("name", ["node_position", "picture_branch", "relative_edges", "code_repair"])
def test_additions_are_refused_for_the_papers_systems(name):
    value = "canvas" if name == "node_position" else True
    with pytest.raises(UserError, match=f"{name}=.* is for gra2seq-plus; sp-gra2seq has none"):
        build(tiny("sp-gra2seq", **{name: value}).model)


def test_codes_are_repaired_where_a_region_is_lost_and_only_if_asked():
    config = tiny("gra2seq-plus", code_repair=True)
    torch.manual_seed(0)
    network = network_of(config).eval()
    torch.nn.init.normal_(network.repair.project.weight)
    assert not any(parameter.requires_grad for parameter in network.repair.parameters()), (
        "it has an objective of its own"
    )
    damages = []
    for number, sketch in enumerate(SKETCHES):
        left, top, width, height = sketch.box
        hole = [(left, top, width / 3, height / 3)] if number % 2 else []
        damages.append(lose(sketch, Region.of_boxes(hole), sketch.box))
    batch = used_batch(config, damages)
    plain, repaired = network.encode(batch, repair=False), network.encode(batch)
    assert torch.equal(plain, network.encoder(batch).mean)
    assert (plain != repaired).any(dim=1).tolist() == [number % 2 == 1 for number in range(8)]
    expected = network.repair(plain, batch.views["picture"], batch.views["lost"])
    assert torch.equal(repaired, expected)
