"""What all systems share, and what their papers say of each."""

import numpy as np
import pytest
import torch
from gra2seq.options import SYSTEMS, options
from systems import SKETCHES, batch_for, one_by_one, tiny

from gra2seq.data.batches import prepare
from gra2seq.errors import UserError
from gra2seq.models import build
from gra2seq.models.rpcl_pix2seq import KL_LAG, PICTURE_WEIGHT
from gra2seq.models.rpcl_pix2seq import KL_RATE as RPCL_KL_RATE
from gra2seq.models.sketch_model import Encoding, sampled
from gra2seq.models.sketch_rnn import KL_FREE, KL_RATE, KL_WEIGHT
from gra2seq.nn import gaussian_mixture as mixture
from gra2seq.sketch import lattice

FACTS = {  # of each paper or release: (side, pen, patch, links)
    "sketch-healer": (512, 12, 128, "drawing-order"),
    "sketch-healer-2": (512, 12, 128, "drawing-order"),
    "sketch-lattice+": (512, 12, 128, "within-reach"),
    "sp-gra2seq": (640, 16, 256, "synonymous"),
}


@pytest.mark.parametrize("name", FACTS)
def test_canvas_patches_and_links_are_those_of_the_papers(name):
    picked = options({"model": name})
    assert (picked.side, picked.pen, picked.patch, picked.links) == FACTS[name]
    channels = (8, 32, 64, 128, 256, 512, 512) if name == "sp-gra2seq" else (8, 32, 64, 128, 256, 512)
    assert picked.channels == channels


def test_sizes_and_rates_are_those_of_the_papers():
    sizes = options({})
    assert (sizes.picture, sizes.stroke_hidden, sizes.embedding, sizes.code, sizes.hidden) == (48, 256, 64, 128, 1024)
    assert (KL_WEIGHT, KL_FREE, KL_RATE) == (0.5, 0.2, 0.99995)
    assert (KL_LAG, RPCL_KL_RATE, PICTURE_WEIGHT) == (0.999, 0.9999, 0.5)
    assert (mixture.RATE, mixture.PENALTY, mixture.CALM, mixture.EVERY) == (0.05, 1e-4, 500, 3)
    assert (lattice.LATTICE, lattice.VIEW, lattice.MOST_POINTS, lattice.CELLS) == (32, 256, 150, 8)


def test_a_batch_costs_what_its_sketches_do_row_by_row():
    torch.manual_seed(0)
    picked = tiny("sketch-healer")
    network, batch = build(picked).eval(), batch_for(picked)
    with torch.no_grad():
        encoding, (terms, _) = network.encoder(batch), network(batch)
        costs = one_by_one(network, batch, sampled(encoding.mean, encoding.log_variance, batch.noise))
    assert len({len(sketch) for sketch in SKETCHES}) > 1, "else nothing is padded"
    assert [terms["offset"].item(), terms["pen"].item()] == pytest.approx(costs.mean(axis=0).tolist(), rel=1e-4)


def test_what_a_system_does_not_see_is_not_prepared():
    for name, system in SYSTEMS.items():
        batch = batch_for(tiny(name), train=False)
        assert (batch.pictures.shape[1] > 0) == ("picture" in system.sees), name
        assert (batch.strokes.shape[1] > 0) == ("strokes" in system.sees), name
        assert (len(batch.places) > 0) == any("patches" in seen for seen in system.sees), name


def test_painters_paint_the_undamaged_drawing():
    for name in ("song", "rpcl-pix2seq"):
        recipe = tiny(name).recipe(30.0)
        damaged = prepare(SKETCHES, recipe, draws=np.zeros((8, 8)), probability=0.5)
        whole = prepare(SKETCHES, recipe)
        assert (damaged.painted == whole.pictures).all()
        assert (damaged.pictures.sum() < whole.pictures.sum()).all()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"glance": True, "model": "sketch-pix2seq"}, "as its authors made it"),
        ({"paint": 0.5, "model": "sketch-healer"}, "as its authors made it"),
        ({"mend": True, "model": "song"}, "as its authors made it"),
        ({"mend": True, "mask": 0.0}, "learns from damage"),
        ({"polish": True, "model": "sketch-rnn"}, "as its authors made it"),
        ({"polish": True, "paint": 1.0}, "learnt by the encoder"),
        ({"paint": 0.5, "picture": 50}, "multiple of 16"),
        ({"model": "song", "picture": 50}, "multiple of 16"),
        ({"model": "rpcl-pix2seq", "picture": 4}, "multiple of 16"),
        ({"model": "rpcl-pix2seq", "clusters": 0}, "mixture"),
        ({"model": "sketch-lattice", "links": "synonymous"}, "within-reach"),
        ({"model": "sketch-lattice", "masking": "crop-by-turns"}, "patches"),
        ({"model": "sketch-rnn", "masking": "crop-by-turns"}, "patches"),
        ({"model": "sketch-lattice", "rounds": 2}, "graphs of patches"),
        ({"model": "song", "rounds": 2}, "graphs of patches"),
    ],
)
def test_what_a_system_cannot_be_asked_is_said(values, said):
    with pytest.raises(UserError, match=said):
        options({"preset": "tiny", **values})


def test_systems_without_kl_have_free_codes():
    for name in ("sketch-pix2seq", "sketch-healer", "sketch-lattice", "sketch-lattice+"):
        picked = tiny(name)
        encoding: Encoding = build(picked).encoder(batch_for(picked))
        assert encoding.terms == {}
