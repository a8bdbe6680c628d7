"""What all systems share, and what their papers say of each."""

import numpy as np
import pytest
import torch
from systems import SKETCHES, batch_for, network_of, one_by_one, tiny, used_batch

from gra2seq.config.systems import SYSTEMS, System
from gra2seq.errors import UserError
from gra2seq.models import registry
from gra2seq.models.registry import build, preparation_of
from gra2seq.models.rpcl_pix2seq import KL_LAG, PICTURE_WEIGHT
from gra2seq.models.rpcl_pix2seq import KL_RATE as RPCL_KL_RATE
from gra2seq.models.sketch_model import sampled
from gra2seq.models.sketch_rnn import KL_FREE, KL_RATE, KL_WEIGHT
from gra2seq.models.sketch_rnn import KL_LAG as RNN_KL_LAG
from gra2seq.nn import mixture_prior as mixture
from gra2seq.sketch import lattice
from gra2seq.sketch.masking import mask
from options_by_name import config_of

FACTS = {  # of each paper or release: (side, pen, patch, links)
    "sketch-healer": (512, 12, 128, "drawing-order"),
    "sketch-healer-2": (512, 12, 128, "drawing-order"),
    "sketch-lattice+": (512, 12, 128, "within-reach"),
    "sp-gra2seq": (640, 16, 256, "synonymous"),
    "dc-gra2seq": (640, 16, 256, "nearest-cosine"),
    "gra2seq-plus": (640, 16, 256, "synonymous"),
}


@pytest.mark.parametrize("name", FACTS)
def test_canvas_patches_and_links_are_those_of_the_papers(name):
    config = config_of(model=name)
    canvas = preparation_of(config, 1.0).canvas
    assert (canvas.side, canvas.pen, canvas.patch, config.model.links) == FACTS[name]
    channels = (8, 32, 64, 128, 256, 512, 512) if "gra2seq" in name else (8, 32, 64, 128, 256, 512)
    assert config.model.channels == channels


def test_sizes_and_rates_are_those_of_the_papers():
    sizes = config_of().model
    assert (sizes.picture, sizes.stroke_hidden, sizes.embedding, sizes.code, sizes.hidden) == (48, 256, 64, 128, 1024)
    assert (KL_WEIGHT, KL_FREE, KL_RATE, RNN_KL_LAG) == (0.5, 0.2, 0.99995, 0.98)
    assert (KL_LAG, RPCL_KL_RATE, PICTURE_WEIGHT) == (0.999, 0.9999, 0.5)
    assert (mixture.RATE, mixture.PENALTY, mixture.CALM, mixture.EVERY) == (0.05, 1e-4, 500, 3)
    assert (lattice.LATTICE, lattice.VIEW, lattice.MAX_POINTS, lattice.CELLS) == (32, 256, 150, 8)


GIVEN = {"given_input": True, "given": 1.0, "rectangle": 1.0}


@pytest.mark.parametrize(("name", "more"), [("sketch-healer", {}), ("gra2seq-plus", GIVEN)])
def test_a_batch_costs_what_its_sketches_do_row_by_row(name, more):
    torch.manual_seed(0)
    config = tiny(name, prefix_noise=2.0, **more)
    network, batch = network_of(config).eval(), batch_for(config)
    with torch.no_grad():
        encoding, (terms, _) = network.encoder(batch), network(batch)
        costs = one_by_one(network, batch, sampled(encoding.mean, encoding.log_variance, batch.noise))
    assert len({len(sketch) for sketch in SKETCHES}) > 1, "else nothing is padded"
    assert [terms["offset"].item(), terms["pen"].item()] == pytest.approx(costs.mean(axis=0).tolist(), rel=1e-4)


def test_only_what_a_system_sees_is_prepared():
    names = {"patches": "patches", "lattice patches": "patches", "lattice points": "points"}
    for name, system in SYSTEMS.items():
        assert set(used_batch(tiny(name)).views) == {names.get(view, view) for view in system.sees}, name
    assert set(used_batch(tiny("gra2seq-plus", code_repair=True)).views) == {"patches", "picture", "lost"}


@pytest.mark.parametrize("name", ["song", "rpcl-pix2seq"])
def test_painters_paint_the_intact_drawing(name):
    config = tiny(name, mask=0.9)
    batch = batch_for(config)
    intact = used_batch(config).views["picture"]
    assert torch.equal(batch.painted, intact)
    assert batch.views["picture"].sum() < intact.sum()
    assert batch_for(tiny("sketch-pix2seq")).painted is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"picture_branch": True, "model": "sketch-pix2seq"}, "is for gra2seq-plus; .* has none"),
        ({"code_repair": True, "model": "song"}, "is for gra2seq-plus; .* has none"),
        ({"model": "song", "picture": 50}, "multiple of 16"),
        ({"model": "rpcl-pix2seq", "picture": 40}, "multiple of 16"),
        ({"model": "sketch-lattice", "links": "synonymous"}, "within-reach"),
        ({"model": "sketch-lattice", "rounds": 2}, "graphs of patches"),
        ({"model": "song", "rounds": 2}, "graphs of patches"),
        ({"links": "best"}, "there is no link rule 'best'"),
        ({"model": "sketch-a-net"}, "is a judge and draws nothing"),
        ({"model": "sketch-rn"}, "there is no model 'sketch-rn': did you mean sketch-rnn"),
    ],
)
def test_impossible_systems_are_refused(values, words):
    with pytest.raises(UserError, match=words):
        build(config_of(preset="tiny", **values).model)


def test_systems_without_kl_have_free_codes():
    for name in ("sketch-pix2seq", "sketch-healer", "sketch-lattice", "sketch-lattice+", "dc-gra2seq"):
        config = tiny(name)
        assert network_of(config).encoder(batch_for(config)).terms == {}


def test_own_systems_can_be_registered(monkeypatch):
    monkeypatch.setattr(registry, "MODELS", dict(registry.MODELS))
    for name in list(SYSTEMS):
        monkeypatch.setitem(SYSTEMS, name, SYSTEMS[name])
    with pytest.raises(UserError, match="already"):
        registry.register_model("song", registry.MODELS["song"], System("nobody", ("patches",)))
    system = System("nobody", ("picture",), {"model": {"picture": 32}})
    registry.register_model("own", registry.MODELS["sketch-pix2seq"], system)
    try:
        config = tiny("own")
        assert config.model.picture == 32
        assert build(config.model).eval().encode(used_batch(config)).shape == (8, 16)
    finally:
        del SYSTEMS["own"]


def test_codes_of_damaged_drawings_differ_from_those_of_intact_ones():
    noise = np.full(20, 0.9)
    noise[0] = 0
    damages = [mask(sketch, noise, 0.5) for sketch in SKETCHES]
    for name in SYSTEMS:
        config = tiny(name)
        torch.manual_seed(0)
        network = network_of(config).eval()
        intact, damaged = (network.encode(used_batch(config, some)) for some in (None, damages))
        assert (intact != damaged).any(dim=1).float().mean() > 0.5, name
