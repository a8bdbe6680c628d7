"""One contract for every system: shapes, gradients, eval, save and load, padding, masks, use."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from gra2seq.options import PRESETS, SYSTEMS, options
from gra2seq.sketch.chamfer import off_what_is_left

from gra2seq.data.batches import prepare
from gra2seq.data.datasets import BOX
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.model import untrained
from gra2seq.models import MODELS, build
from gra2seq.sketch.strokes import Sketch
from gra2seq.training.checkpoint import load_weights, save_weights

SKETCHES = list(doodles(8, seed=2))
CASES = [
    *((name, {}) for name in MODELS),
    ("sp-gra2seq", {"links": "temporal"}),
    ("sp-gra2seq", {"links": "spatial"}),
    ("sp-gra2seq", {"links": "random"}),
    ("sp-gra2seq", {"clusters": 0}),
    ("sp-gra2seq", {"cluster_form": "squared", "normalise": "rows", "corner": 1.0, "paper": -1.0}),
    ("sp-gra2seq", {"position": True, "where": "canvas"}),
    ("sp-gra2seq", {"glance": True}),
    ("sketch-healer", {"where": "canvas-and-order"}),
    ("sp-gra2seq", {"rounds": 3, "where": "canvas-and-order", "layer_norm": True, "position": True, "shuffle": 0.5}),
    ("sketch-lattice+", {"rounds": 2}),
    ("sketch-rnn", {"layer_norm": True}),
    ("sp-gra2seq", {"links": "synonymous-4", "cluster_form": "cosine", "mask": 0.0, "mask_to": 0.4}),
]
WAYS = {"kl", "picture", "strokes_kl", "strokes_offset", "strokes_pen", "strokes_picture"}
TERMS = {"sketch-rnn": {"kl"}, "song": WAYS, "rpcl-pix2seq": {"kl", "picture"}, "sketch-healer-2": {"perception"}}


def chosen(name="sp-gra2seq", **more):
    return options({"preset": "tiny", "model": name, **more})


def batch_for(picked, sketches=SKETCHES, **more):
    return prepare(sketches, picked.recipe(30.0), **more)


@pytest.mark.parametrize(("name", "variant"), CASES, ids=str)
def test_every_parameter_has_a_gradient_and_terms_are_finite(name, variant):
    torch.manual_seed(0)
    picked = chosen(name, **variant)
    network = build(picked).train()
    if picked.glance:
        torch.nn.init.normal_(network.encoder.glance.tell.weight)  # it starts at 0, and what lies below it has to wait
    batch = batch_for(picked, seeds=[(0, i) for i in range(8)])
    terms, _ = network(batch)
    clustering = {"cluster"} if name == "sp-gra2seq" and picked.clusters else set()
    assert set(terms) == {"offset", "pen"} | clustering | TERMS.get(name, set())
    sum(terms.values()).backward()
    for parameter_name, parameter in network.named_parameters():
        if parameter_name.startswith("extra.read.") and name == "sketch-healer-2":
            assert parameter.grad is None  # the reader of the perceptual term stays as it was made
            continue
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        assert (parameter.grad != 0).any(), parameter_name


@pytest.mark.parametrize(("name", "variant"), CASES, ids=str)
def test_use_is_the_same_twice_and_alone_and_in_company(name, variant):
    model = untrained(chosen(name, **variant))
    codes = model.encode(SKETCHES)
    assert codes.shape == (8, 16)
    assert codes.dtype == np.float32
    assert (codes == model.encode(SKETCHES)).all()
    alone = np.concatenate([model.encode([sketch]) for sketch in SKETCHES])
    assert np.allclose(codes, alone, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_save_and_load_give_the_same_codes(name, tmp_path):
    picked = chosen(name)
    one, other = build(picked), build(picked)
    save_weights(tmp_path / "w.safetensors", one, {"step": 3})
    assert load_weights(tmp_path / "w.safetensors", other) == {"step": 3}
    batch = batch_for(picked)
    assert torch.equal(one.eval().encode(batch), other.eval().encode(batch))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("training", [False, True])
def test_padding_in_time_changes_nothing(name, training):
    picked = chosen(name)
    torch.manual_seed(0)
    batch = batch_for(picked, seeds=[(0, i) for i in range(8)])
    end = torch.zeros(8, 6, 5)
    end[..., 4] = 1
    padded = replace(batch, rows=torch.cat([batch.rows, end], dim=1))
    losses = []
    for each in (batch, padded):
        torch.manual_seed(1)
        terms, _ = build(picked).train(training)(each)
        losses.append([value.item() for value in terms.values()])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.parametrize("name", ["sp-gra2seq", "sketch-healer", "sketch-healer-2"])
@pytest.mark.parametrize("training", [False, True])
def test_more_room_for_nodes_changes_nothing(name, training):
    """Absent nodes take part in no edge, no centroid, no statistics, no loss."""
    results = []
    simple = doodles(400, categories=("apple", "flower"), seed=3)
    few = [s for s in simple if len(prepare([s], chosen().recipe(30.0)).places) <= 8][:6]
    assert len(few) == 6
    for nodes in (8, 12):
        picked = chosen(name, nodes=nodes, mask=0.0)
        torch.manual_seed(1)
        network = build(picked).train(training)
        batch = prepare(few, picked.recipe(30.0))
        assert batch.valid.shape[1] == nodes
        terms, _ = network(batch)
        results.append([value.item() for value in terms.values()])
    assert results[0] == pytest.approx(results[1], rel=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_masked_patch_is_not_seen(name):
    """What lies under a masked patch has no influence on the code; what lies elsewhere has."""
    from gra2seq.sketch.strokes import Sketch

    model = untrained(chosen(name))
    frame = [[0, 0], [1000, 0], [1000, 1000]]
    hidden = [Sketch.from_strokes([frame, [[10, 990], [10 + d, 985 - d], [20, 999 - d]]]) for d in (0, 90)]
    draws = np.full((1, 8), 0.9)
    draws[0, 1] = 0.0  # centres: start of the frame, start of the scribble
    seen = [model.encode([s])[0] for s in hidden]
    unseen = [model.encode([s], draws=draws, mask_prob=0.5)[0] for s in hidden]
    assert np.abs(seen[0] - seen[1]).max() > 0
    assert (unseen[0] == unseen[1]).all()
    elsewhere = Sketch.from_strokes([[[0, 0], [1000, 400], [1000, 1000]], [[10, 990], [10, 985], [20, 999]]])
    other = model.encode([elsewhere], draws=draws, mask_prob=0.5)[0]
    assert np.abs(other - unseen[0]).max() > 0, "a mask does not blind it to the rest"


@pytest.mark.parametrize("name", MODELS)
def test_a_fresh_model_sees_what_it_is_shown(name):
    """A signal that fades from layer to layer leaves one code for all sketches, and training cannot wake it."""
    codes = untrained(options({"preset": "small", "model": name})).encode(SKETCHES)
    assert codes.std(axis=0).mean() > 0.002


@pytest.mark.parametrize(("name", "more"), [*((name, {}) for name in MODELS), ("sp-gra2seq", {"links": "random"})])
def test_no_damage_is_no_damage(name, more):
    """What `evaluate` counts on: with nothing to mask, the numbers that would have said where do not matter."""
    model = untrained(chosen(name, **more))
    draws = np.random.default_rng(0).random((len(SKETCHES), 8))
    assert (model.encode(SKETCHES, draws=draws, mask_prob=0.0) == model.encode(SKETCHES)).all()


@pytest.mark.parametrize("name", MODELS)
def test_draw_and_heal(name):
    model = untrained(chosen(name, max_points=30))
    codes = model.encode(SKETCHES)
    drawn = model.draw(codes, seed=1)
    assert len(drawn) == 8
    again, other = model.draw(codes, seed=1), model.draw(codes, seed=2)
    assert all((a.points == b.points).all() for a, b in zip(drawn, again, strict=True))
    assert any(len(a) != len(b) or (a.points != b.points).any() for a, b in zip(drawn, other, strict=True))
    first = model.draw(codes[:1], seed=1)[0]
    assert np.allclose(first.points, drawn[0].points, atol=1e-2), "a sketch does not depend on its company"
    assert all(len(sketch) <= 30 for sketch in drawn)
    cold = model.draw(codes, temperature=0.0, seed=1), model.draw(codes, temperature=0.0, seed=2)
    assert all((a.points == b.points).all() for a, b in zip(*cold, strict=True))
    healed = model.heal(SKETCHES, mask_prob=0.3, seed=0, samples=2)
    assert [s.category for s in healed] == [s.category for s in SKETCHES for _ in range(2)]
    heard = []
    whole = model.heal(SKETCHES, seed=1, tries=2, progress=lambda *done: heard.append(done))
    assert heard == sorted(heard)
    assert (heard[-1], len(set(heard)) > 2) == ((8, 8), True)
    for one, other in zip(whole, model.redraw(SKETCHES, seed=1, tries=2), strict=True):
        assert (one.points == other.points).all(), "nobody asked for damage"
    assert model.encode([]).shape == (0, 16)
    assert model.draw(np.empty((0, 16))) == []


@pytest.mark.parametrize("name", MODELS)
def test_of_several_tries_the_one_that_lies_best_on_what_is_left_heals(name):
    model = untrained(chosen(name, max_points=30))
    draws = np.random.default_rng(0).random((8, 8))
    damage = {"draws": draws, "mask_prob": 0.4, "holes": [(0.0, 0.0, 40.0, 40.0)]}
    left = model.what_is_left(SKETCHES, **damage)

    def off(drawn):
        return off_what_is_left([_back(one, sketch) for one, sketch in zip(drawn, SKETCHES, strict=True)], left, BOX)

    tried = [off(model.heal(SKETCHES, temperature=1.0, seed=1, tries=count, **damage)) for count in (1, 2, 5)]
    assert (tried[1] <= tried[0] + 1e-5).all(), "the first try is one of the two"
    assert (tried[2] <= tried[1] + 1e-5).all()
    assert (tried[2] < tried[0] - 1e-4).any(), "and some later try lay better"
    codes = model.encode(SKETCHES, **damage)
    with pytest.raises(UserError, match="give one for each"):
        model.draw(codes, tries=2, left=left[:3])


@pytest.mark.parametrize("name", MODELS)
def test_a_steered_pen_lies_better_on_what_is_left(name):
    model = untrained(chosen(name, max_points=30))
    model.network.decoder.out.bias.data[:3] = torch.tensor([3.0, 1.0, -9.0])  # a pen that draws on
    damage = {"draws": np.random.default_rng(0).random((8, 8)), "mask_prob": 0.3}
    left = model.what_is_left(SKETCHES, **damage)

    def off(**how):
        drawn = model.heal(SKETCHES, temperature=1.0, seed=1, **damage, **how)
        back = [_back(one, sketch) for one, sketch in zip(drawn, SKETCHES, strict=True)]
        return off_what_is_left(back, left, BOX)

    free, steered = off(steer=1), off(steer=8)
    assert steered.mean() < 0.9 * free.mean()
    assert (off() == free).all(), "chance alone unless the model says more"
    model.options = replace(model.options, steer=8)
    assert (off() == steered).all()
    assert off(tries=4).mean() < steered.mean(), "several tries, each steered"
    codes = model.encode(SKETCHES, **damage)
    for how in ({}, {"temperature": 0.0, "left": left}):  # there is nothing to see, or nothing to choose from
        one, other = (model.draw(codes, steer=count, **how) for count in (1, 8))
        assert all((a.points == b.points).all() for a, b in zip(one, other, strict=True))


def _back(drawn, original):
    """Where `draw` had drawn it: in the model's own box."""
    left, top, width, height = original.box
    middle = np.array([left + width / 2, top + height / 2])
    return Sketch((drawn.points - middle) * (BOX / max(width, height)), drawn.lengths)


@pytest.mark.parametrize("name", MODELS)
def test_of_several_tries_the_one_that_reads_best_is_kept(name):
    model = untrained(chosen(name, max_points=30))
    codes = model.encode(SKETCHES)

    def off(drawn):
        return np.linalg.norm(model.encode(drawn) - codes, axis=1)

    tried = [off(model.draw(codes, temperature=1.0, seed=1, tries=count)) for count in (1, 2, 5)]
    assert (off(model.draw(codes, temperature=1.0, seed=1)) == tried[0]).all(), "one try unless the model says more"
    assert (tried[1] <= tried[0] + 1e-5).all(), "the first try is one of the two"
    assert (tried[2] <= tried[1] + 1e-5).all()
    assert (tried[2] < tried[0] - 1e-4).any(), "and some later try read better"
    alone = model.draw(codes[2:3], temperature=1.0, seed=1, first=2, tries=5)
    assert np.allclose(off(alone * 8)[2], tried[2][2], atol=1e-4)
    cold = [model.draw(codes, temperature=0.0, tries=count) for count in (1, 5)]
    assert all((a.points == b.points).all() for a, b in zip(*cold, strict=True))
    model.options = replace(model.options, tries=5)
    assert (off(model.draw(codes, temperature=1.0, seed=1)) == tried[2]).all(), "the model's own number of tries"


def test_the_pen_is_never_colder_than_the_model_says():
    """With a pen that is as warm as the offsets at most, nothing changes; a warmer one changes the strokes."""
    model = untrained(chosen("sp-gra2seq", max_points=30))
    model.network.decoder.out.bias.data[:3] = torch.tensor([2.0, 0.0, -1.0])  # a pen that would rather stay down
    codes = model.encode(SKETCHES)
    drawn = {}
    for least in (0.0, 0.3, 1.5):
        model.options = replace(model.options, least_pen_temperature=least)
        drawn[least] = model.draw(codes, temperature=0.3, seed=1)
    lengths = {least: [sketch.lengths.tolist() for sketch in sketches] for least, sketches in drawn.items()}
    assert lengths[0.0] == lengths[0.3]
    assert lengths[0.0] != lengths[1.5]


def test_bad_calls_are_said():
    model = untrained(chosen())
    with pytest.raises(UserError, match="tries"):
        model.draw(np.zeros((1, 16)), tries=0)
    for steer in (0, 65):
        with pytest.raises(UserError, match=f"steer={steer} must be from 1 to 64"):
            model.draw(np.zeros((1, 16)), steer=steer)
    with pytest.raises(UserError, match="shape"):
        model.draw(np.zeros((3, 5)))
    with pytest.raises(UserError, match="NaN"):
        model.draw(np.full((1, 16), np.nan))
    with pytest.raises(UserError, match="temperature"):
        model.draw(np.zeros((1, 16)), temperature=-1)
    with pytest.raises(UserError, match="between 0 and 1"):
        model.heal(SKETCHES, mask_prob=1.5)
    with pytest.raises(UserError, match="unknown model"):
        build(options({"model": "sketch-rn"}))


def test_every_system_is_built_and_described():
    assert list(MODELS) == list(SYSTEMS)


@pytest.mark.parametrize("name", MODELS)
def test_of_a_drawing_rubbed_out_there_is_still_a_code(name):
    model = untrained(chosen(name))
    codes = model.encode(SKETCHES, holes=[(-1e4, -1e4, 3e4, 3e4)])
    assert np.isfinite(codes).all()
    assert np.allclose(codes, codes[0], atol=1e-6), "nothing is left to tell them by"


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_build_and_have_the_papers_sizes(preset):
    picked = options({"preset": preset})
    network = build(picked)
    if preset in ("paper", "released"):
        assert network.decoder.lstm.hidden_size == 1024
        assert [w.shape[0] for w in network.encoder.graph.embed.weights] == [8, 32, 64, 128, 256, 512, 512]
        assert picked.patch == 256
        assert network.encoder.centroids.places.shape == (50, 512)
        assert network.encoder.code.mean.weight.shape == (128, 512)
    if preset == "released":
        chosen_ones = ("paper", "ink", "corner", "normalise", "cluster_rate", "cluster_form")
        assert [getattr(picked, name) for name in chosen_ones] == [-1.0, 1.0, 1.0, "rows", 0.25, "squared"]
