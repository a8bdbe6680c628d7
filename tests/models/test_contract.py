"""One contract for every system: shapes, gradients, eval, save and load, padding, masks, use."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from systems import batch_for, network_of, tiny, used_batch

from gra2seq.config.presets import PRESETS
from gra2seq.config.systems import SYSTEMS
from gra2seq.data.batches import Targets, prepare_training
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.folder import untrained
from gra2seq.models.model_files import load_weights, save_weights
from gra2seq.models.registry import MODELS, build, preparation_of
from gra2seq.sketch.centres import centre_points
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import distance_to_visible
from gra2seq.sketch.masking import mask
from gra2seq.sketch.strokes import BOX, Sketch

SKETCHES = list(doodles(8, seed=2))
CASES = [
    *((name, {}) for name in MODELS),
    ("sp-gra2seq", {"links": "temporal"}),
    ("sp-gra2seq", {"links": "spatial"}),
    ("sp-gra2seq", {"links": "random"}),
    ("sp-gra2seq", {"clusters": 0}),
    ("sp-gra2seq", {"cluster_form": "squared", "normalise": "rows", "corner": 1.0, "blank_value": -1.0}),
    ("sp-gra2seq", {"rounds": 3, "pen_position": True, "mask": 0.0, "mask_to": 0.4}),
    ("gra2seq-plus", {"node_position": "canvas", "picture_branch": False}),
    ("gra2seq-plus", {"relative_edges": True, "rounds": 2, "pen_position": True, "given_input": True, "given": 0.5}),
    ("gra2seq-plus", {"rectangle": 0.3, "eraser": 0.3, "end": 0.3, "own_prefixes": 0.5, "prefix_noise": 3.0}),
    ("sketch-lattice+", {"rounds": 1, "links": "spatial"}),
    ("dc-gra2seq", {"rounds": 2}),
]
WAYS = {"kl", "picture", "strokes_kl", "strokes_offset", "strokes_pen", "strokes_picture"}
TERMS = {"sketch-rnn": {"kl"}, "song": WAYS, "rpcl-pix2seq": {"kl", "picture"}, "sketch-healer-2": {"perception"}}
ZERO_AT_FIRST = ("project.weight", "position.weight")  # weights that start at 0, so that what lies below has to wait


@pytest.mark.parametrize(("name", "variant"), CASES, ids=str)
def test_every_parameter_has_a_gradient_and_terms_are_finite(name, variant):
    torch.manual_seed(0)
    config = tiny(name, **variant)
    network = network_of(config).train()
    for parameter_name, parameter in network.named_parameters():
        if parameter_name.endswith(ZERO_AT_FIRST):
            torch.nn.init.normal_(parameter, std=0.1)
    terms, _ = network(batch_for(config, SKETCHES))
    clustering = {"cluster"} if name in ("sp-gra2seq", "gra2seq-plus") and config.model.clusters else set()
    assert set(terms) == {"offset", "pen"} | clustering | TERMS.get(name, set())
    sum(terms.values()).backward()
    for parameter_name, parameter in network.named_parameters():
        if parameter_name.startswith("extra.read.") and name == "sketch-healer-2":
            assert parameter.grad is None  # the reader of the perceptual term is frozen
            continue
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        assert (parameter.grad != 0).any(), parameter_name


@pytest.mark.parametrize(("name", "variant"), CASES, ids=str)
def test_encoding_is_repeatable_and_does_not_depend_on_the_batch(name, variant):
    model = untrained(tiny(name, **variant))
    codes = model.encode(SKETCHES)
    assert codes.shape == (8, 16)
    assert codes.dtype == np.float32
    assert (codes == model.encode(SKETCHES)).all()
    alone = np.concatenate([model.encode([sketch]) for sketch in SKETCHES])
    assert np.allclose(codes, alone, atol=1e-5)
    assert np.allclose(model.encode(SKETCHES[0]), codes[0], atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_save_and_load_give_the_same_codes(name, tmp_path):
    config = tiny(name)
    one, other = network_of(config), network_of(config)
    save_weights(tmp_path / "w.safetensors", one, {"step": 3})
    assert load_weights(tmp_path / "w.safetensors", other) == {"step": 3}
    batch = used_batch(config)
    assert torch.equal(one.eval().encode(batch), other.eval().encode(batch))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("training", [False, True])
def test_padding_in_time_changes_nothing(name, training):
    config = tiny(name)
    torch.manual_seed(0)
    batch = batch_for(config, SKETCHES)
    end = torch.zeros(8, 6, 5)
    end[..., 4] = 1
    targets = batch.targets
    padded = replace(
        batch,
        targets=Targets(
            torch.cat([targets.rows, end], dim=1),
            torch.cat([targets.inputs, end], dim=1),
            torch.nn.functional.pad(targets.given, (0, 6)),
        ),
    )
    losses = []
    for each in (batch, padded):
        torch.manual_seed(1)
        terms, _ = network_of(config).train(training)(each)
        losses.append([value.item() for value in terms.values()])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.parametrize("name", ["sp-gra2seq", "sketch-healer", "sketch-healer-2", "dc-gra2seq", "gra2seq-plus"])
@pytest.mark.parametrize("training", [False, True])
def test_more_room_for_nodes_changes_nothing(name, training):
    """Absent nodes take part in no edge, no centroid, no statistics, no loss."""
    results = []
    simple = doodles(400, categories=("apple", "flower"), seed=3)
    few = [sketch for sketch in simple if len(centre_points(sketch)) <= 8][:6]
    assert len(few) == 6
    for nodes in (8, 12):
        config = tiny(name, nodes=nodes, mask=0.0, **({"dense": False} if name == "gra2seq-plus" else {}))
        torch.manual_seed(1)
        network = network_of(config).train(training)
        batch = prepare_training(few, preparation_of(config, 30.0), [(0, i) for i in range(6)], validation=True)
        assert batch.views["patches"].valid.shape[1] == nodes
        terms, _ = network(batch)
        results.append([value.item() for value in terms.values()])
    assert results[0] == pytest.approx(results[1], rel=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_masked_patch_is_not_seen(name):
    """What lies under a masked patch has no influence on the code; what lies elsewhere has."""
    model = untrained(tiny(name))
    frame = [[0, 0], [1000, 0], [1000, 1000]]
    hidden = [Sketch.from_polylines([frame, [[10, 990], [10 + d, 985 - d], [20, 999 - d]]]) for d in (0, 90)]
    noise = np.full(8, 0.9)
    noise[1] = 0.0  # centres: start of the frame, start of the scribble
    seen = [model.encode([sketch])[0] for sketch in hidden]
    unseen = [model.encode([mask(sketch, noise, 0.5)])[0] for sketch in hidden]
    assert np.abs(seen[0] - seen[1]).max() > 0
    assert (unseen[0] == unseen[1]).all()
    elsewhere = Sketch.from_polylines([[[0, 0], [1000, 400], [1000, 1000]], [[10, 990], [10, 985], [20, 999]]])
    other = model.encode([mask(elsewhere, noise, 0.5)])[0]
    assert np.abs(other - unseen[0]).max() > 0, "a mask does not hide the rest"


@pytest.mark.parametrize("name", MODELS)
def test_codes_of_a_fresh_model_differ_between_sketches(name):
    """A signal that fades from layer to layer leaves one code for all sketches, and training cannot repair it."""
    codes = untrained(tiny(name, preset="small")).encode(SKETCHES)
    assert codes.std(axis=0).mean() > 0.002


@pytest.mark.parametrize(("name", "more"), [*((name, {}) for name in MODELS), ("sp-gra2seq", {"links": "random"})])
def test_masks_of_probability_0_change_nothing(name, more):
    """What `evaluate` counts on."""
    model = untrained(tiny(name, max_points=30, **more))
    noise = np.random.default_rng(0).random((len(SKETCHES), 20))
    masked = [mask(sketch, row, 0.0) for sketch, row in zip(SKETCHES, noise, strict=True)]
    assert (model.encode(masked) == model.encode(SKETCHES)).all()
    for one, other in zip(model.heal(SKETCHES, holes=(), keep_lines=False), model.redraw(SKETCHES), strict=True):
        assert (one.points == other.points).all()


@pytest.mark.parametrize("name", MODELS)
def test_draw_and_heal(name):
    model = untrained(tiny(name, max_points=30))
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
    reported = []
    whole = model.heal(
        SKETCHES, holes=(), keep_lines=False, seed=1, best_of=2, progress=lambda *done: reported.append(done)
    )
    assert reported == sorted(reported)
    assert (reported[-1], len(set(reported)) > 2) == ((8, 8), True)
    for one, other in zip(whole, model.redraw(SKETCHES, seed=1, best_of=2), strict=True):
        assert (one.points == other.points).all(), "without damage healing is redrawing"
    assert model.encode([]).shape == (0, 16)
    assert model.draw(np.empty((0, 16))) == []


def damaged():
    noise = np.random.default_rng(0).random((8, 20))
    return [mask(sketch, row, 0.3) for sketch, row in zip(SKETCHES, noise, strict=True)]


def distances(drawn, damages):
    """Of healed drawings to the visible ink."""
    back = [
        Sketch(damage.normalised(one.points) * BOX, one.lengths) for one, damage in zip(drawn, damages, strict=True)
    ]
    return np.array([distance_to_visible(one, damage, BOX) for one, damage in zip(back, damages, strict=True)])


@pytest.mark.parametrize("name", MODELS)
def test_of_several_drawings_the_nearest_to_the_visible_ink_heals(name):
    model, damages = untrained(tiny(name, max_points=30)), damaged()

    def off(**how):
        return distances(model.heal_damages(damages, temperature=1.0, seed=1, **how), damages)

    tried = [off(best_of=count) for count in (1, 2, 5)]
    assert (tried[1] <= tried[0] + 1e-5).all(), "the first drawing is one of the two"
    assert (tried[2] <= tried[1] + 1e-5).all()
    assert (tried[2] < tried[0] - 1e-4).any(), "and some later one is nearer"
    with pytest.raises(UserError, match="give one for each"):
        model.draw(model.encode(damages), best_of=2, visible=damages[:3])


@pytest.mark.parametrize("name", MODELS)
def test_guided_drawings_lie_nearer_to_the_visible_ink(name):
    model, damages = untrained(tiny(name, max_points=30)), damaged()
    model.network.decoder.out.bias.data[:3] = torch.tensor([3.0, 1.0, -9.0])  # a pen that draws on

    def off(model=model, **how):
        return distances(model.heal_damages(damages, temperature=1.0, seed=1, **how), damages)

    free, guided = off(candidates=1), off(candidates=8)
    assert guided.mean() < 0.9 * free.mean()
    assert (off() == free).all(), "the model's own way is to draw from the code only"
    other = model.with_drawing(replace(model.drawing, candidates=8))
    assert (off(other) == guided).all()
    assert off(other, best_of=4).mean() < guided.mean(), "several drawings, each of them guided"
    codes = model.encode(damages)
    for how in ({}, {"temperature": 0.0, "visible": damages}):  # nothing is visible, or there is one drawing only
        one, many = (model.draw(codes, candidates=count, **how) for count in (1, 8))
        assert all((a.points == b.points).all() for a, b in zip(one, many, strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_of_several_drawings_the_one_with_the_nearest_code_is_kept(name):
    model = untrained(tiny(name, max_points=30))
    codes = model.encode(SKETCHES)

    def off(drawn):
        return np.linalg.norm(model.encode(drawn) - codes, axis=1)

    tried = [off(model.draw(codes, temperature=1.0, seed=1, best_of=count)) for count in (1, 2, 5)]
    assert (off(model.draw(codes, temperature=1.0, seed=1)) == tried[0]).all(), "one drawing unless the model says more"
    assert (tried[1] <= tried[0] + 1e-5).all(), "the first drawing is one of the two"
    assert (tried[2] <= tried[1] + 1e-5).all()
    assert (tried[2] < tried[0] - 1e-4).any(), "and some later one has a nearer code"
    alone = model.draw(codes[2:3], temperature=1.0, seed=1, first=2, best_of=5)
    assert np.allclose(off(alone * 8)[2], tried[2][2], atol=1e-4)
    cold = [model.draw(codes, temperature=0.0, best_of=count) for count in (1, 5)]
    assert all((a.points == b.points).all() for a, b in zip(*cold, strict=True))
    other = model.with_drawing(replace(model.drawing, best_of=5))
    assert (off(other.draw(codes, temperature=1.0, seed=1)) == tried[2]).all(), "the model's own number of drawings"


def test_pen_temperature_has_the_minimum_of_the_model():
    """A lower bound below the temperature changes nothing; a higher one changes the strokes."""
    model = untrained(tiny(max_points=30))
    model.network.decoder.out.bias.data[:3] = torch.tensor([2.0, 0.0, -1.0])  # a pen that tends to stay down
    codes = model.encode(SKETCHES)
    lengths = {
        lowest: [one.lengths.tolist() for one in model.draw(codes, temperature=0.3, seed=1, min_pen_temperature=lowest)]
        for lowest in (0.0, 0.3, 1.5)
    }
    assert lengths[0.0] == lengths[0.3]
    assert lengths[0.0] != lengths[1.5]


def test_impossible_calls_are_refused():
    model = untrained(tiny())
    with pytest.raises(UserError, match="best_of=0 must be at least 1"):
        model.draw(np.zeros((1, 16)), best_of=0)
    for candidates, words in ((0, "at least 1"), (65, "at most 64")):
        with pytest.raises(UserError, match=f"candidates={candidates} must be {words}"):
            model.draw(np.zeros((1, 16)), candidates=candidates)
    with pytest.raises(UserError, match="shape"):
        model.draw(np.zeros((3, 5)))
    with pytest.raises(UserError, match="NaN"):
        model.draw(np.full((1, 16), np.nan))
    with pytest.raises(UserError, match="temperature"):
        model.draw(np.zeros((1, 16)), temperature=-1)
    with pytest.raises(UserError, match="between 0 and 1"):
        model.heal(SKETCHES, mask_prob=1.5)
    with pytest.raises(UserError, match="there is no model"):
        build(tiny("sketch-rn").model)
    with pytest.raises(UserError, match="samples=0"):
        model.heal(SKETCHES, samples=0)


def test_every_system_is_built_and_described():
    assert list(MODELS) == list(SYSTEMS)
    assert len(MODELS) == 11


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_build_and_have_the_papers_sizes(preset):
    config = tiny(preset=preset)
    network = network_of(config)
    if preset in ("paper", "released"):
        assert network.decoder.lstm.hidden_size == 1024
        assert [w.shape[0] for w in network.encoder.graph.embed.weights] == [8, 32, 64, 128, 256, 512, 512]
        assert config.model.patch == 256
        assert network.encoder.centroids.places.shape == (50, 512)
        assert network.encoder.code.mean.weight.shape == (128, 512)
    if preset == "released":
        names = ("blank_value", "ink_value", "corner", "normalise", "cluster_rate", "cluster_form")
        assert [getattr(config.model, name) for name in names] == [-1.0, 1.0, 1.0, "rows", 0.25, "squared"]
        assert config.drawing.sigma_temperature == "linear"


def test_intact_drawings_and_damages_can_be_mixed():
    model = untrained(tiny())
    damage = damaged()[1]
    codes = model.encode([SKETCHES[0], damage, Damage.none(SKETCHES[2])])
    assert (codes[0] == model.encode([SKETCHES[0], damage, SKETCHES[2]])[0]).all()
    assert np.allclose(codes[1], model.encode(damage), atol=1e-5)
