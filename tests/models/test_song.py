"""Song et al.: the four ways."""

import pytest
import torch
from systems import batch_for, network_of, one_by_one, tiny

from gra2seq.models.sketch_model import sampled


def test_each_of_the_four_ways_teaches_its_own_encoder_and_decoder():
    torch.manual_seed(0)
    config = tiny("song")
    batch = batch_for(config)
    taught = {
        "offset": ("encoder.cnn", "decoder"),
        "strokes_offset": ("read", "decoder"),
        "picture": ("encoder.cnn", "paint"),
        "strokes_picture": ("read", "paint"),
    }
    for term, parts in taught.items():
        network = network_of(config).train()
        network(batch)[0][term].backward()
        moved = {
            name.rsplit(".", 2)[0] for name, p in network.named_parameters() if p.grad is not None and p.grad.any()
        }
        for part in ("encoder.cnn", "read", "decoder", "paint"):
            assert any(name.startswith(part) for name in moved) == (part in parts), (term, part)


def test_the_four_ways_at_once_cost_what_they_do_one_by_one():
    torch.manual_seed(0)
    config = tiny("song")
    network, batch = network_of(config).eval(), batch_for(config)
    with torch.no_grad():
        terms, _ = network(batch)
        for encoder, prefix in ((network.encoder, ""), (network.read, "strokes_")):
            encoding = encoder(batch)
            code = sampled(encoding.mean, encoding.log_variance, batch.noise)
            costs = [
                *one_by_one(network, batch, code).mean(axis=0),
                network.paint.cross_entropy(code, batch.painted).mean(),
            ]
            found = [terms[prefix + name].item() for name in ("offset", "pen", "picture")]
            assert found == pytest.approx([float(cost) for cost in costs], rel=1e-4), prefix
