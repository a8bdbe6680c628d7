"""SketchHealer, SketchHealer 2.0 and SketchLattice+: messages, patches of their own, and the perceptual term."""

import numpy as np
import pytest
import torch
from systems import SKETCHES, batch_for, network_of, tiny, used_batch

from gra2seq.data.batches import prepare_training
from gra2seq.models.graph_encoder import SingleProduct
from gra2seq.models.registry import preparation_of
from gra2seq.nn.masked_batch_norm import EPSILON
from gra2seq.sketch.canvas import draw, lost_on
from gra2seq.sketch.masking import MASKED_SIDE, mask
from options_by_name import config_of


@pytest.mark.parametrize("name", ["sketch-healer", "sketch-healer-2", "sketch-lattice+"])
def test_messages_are_one_product_with_the_unnormalised_adjacency(name):
    """tanh(norm(sum over nodes of A X W)), written out node by node (released code)."""
    torch.manual_seed(0)
    config = tiny(name)
    assert config.model.normalise == "none"
    graph = network_of(config).eval().encoder.graph
    assert isinstance(graph.mix, SingleProduct)
    patches = used_batch(config).views["patches"]
    result = graph(patches)
    count = patches.valid.shape[1]
    v = (
        torch.zeros(8 * (1 + count), 16)
        .index_copy(0, patches.places, graph.embed(patches.blocks))
        .reshape(8, 1 + count, 16)
    )
    real = torch.cat([patches.valid.new_ones(8, 1), patches.valid], dim=1)
    x = graph.norm(torch.relu(v), real)
    for sketch in range(8):
        total = 0.5 * x[sketch, 0]  # the whole view hears itself
        for i in range(count):
            if not patches.valid[sketch, i]:
                continue
            total = total + 0.5 * x[sketch, 0]  # and every patch hears the whole view
            for j in range(count):
                total = total + result.adjacency[sketch, i, j] * x[sketch, 1 + j]
        product = graph.mix.weight.weight @ total
        normal = (product - graph.mix.norm.mean) / (graph.mix.norm.variance + EPSILON).sqrt()
        assert torch.allclose(result.feature[sketch], torch.tanh(normal), atol=1e-4)


def test_the_perceptual_gradient_reaches_the_decoder_through_the_drawing():
    torch.manual_seed(0)
    config = tiny("sketch-healer-2")
    network = network_of(config).train()
    network(batch_for(config))[0]["perception"].backward()
    for name in ("decoder.out.weight", "decoder.lstm.weight_hh_l0", "encoder.graph.embed.weights.0"):
        assert network.get_parameter(name).grad.abs().sum() > 0, name


def test_the_perceptual_term_is_that_of_its_sketches_and_matters():
    """The same twice, and the same for a batch as for its halves: nothing random belongs to a process."""
    config = tiny("sketch-healer-2", mask=0.0)
    torch.manual_seed(0)
    network = network_of(config).eval()
    preparation, seeds = preparation_of(config, 30.0), [(0, i) for i in range(8)]
    whole, again = (network(prepare_training(SKETCHES, preparation, seeds))[0] for _ in range(2))
    halves = [
        network(prepare_training(SKETCHES[part], preparation, seeds[part]))[0] for part in (slice(4), slice(4, 8))
    ]
    assert whole["perception"] == again["perception"]
    mean = sum(half["perception"].item() for half in halves) / 2
    assert whole["perception"].item() == pytest.approx(mean, rel=1e-4)
    assert whole["perception"] > 0.003 * whole["offset"]


def test_in_validation_the_perceptual_term_needs_no_randomness():
    config = tiny("sketch-healer-2")
    network, batch = network_of(config).eval(), batch_for(config, validation=True)
    assert batch.gumbel is None
    assert network(batch)[0]["perception"] == network(batch)[0]["perception"]


def test_the_patch_systems_have_their_own_patches_and_the_same_damage():
    for name in ("sketch-healer", "sketch-healer-2", "sketch-lattice+"):
        canvas = preparation_of(config_of(model=name), 1.0).canvas
        assert (canvas.side, canvas.pen, canvas.patch) == (512, 12, 128)
    ours = preparation_of(config_of(), 1.0).canvas
    assert (ours.side, ours.pen, ours.patch) == (640, 16, 256)
    assert MASKED_SIDE * ours.side == ours.patch
    noise = np.full(20, 0.9)
    noise[:3] = 0
    for sketch in SKETCHES:
        damage = mask(sketch, noise, 0.5)
        for used in (ours, canvas):
            gone = np.zeros((used.padded, used.padded), np.uint8)
            lost_on(damage, used).paint(gone, 1)
            assert not (draw(damage, used) & gone).any()
            left, top, right, bottom = lost_on(damage, used).boxes[0]
            assert right - left == pytest.approx(MASKED_SIDE * used.side)
            assert bottom - top == pytest.approx(MASKED_SIDE * used.side)
