"""What makes each of the eight systems itself."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.model import untrained
from gra2seq.models import build
from gra2seq.models.rpcl_pix2seq import KL_LAG, PICTURE_WEIGHT
from gra2seq.models.rpcl_pix2seq import KL_RATE as RPCL_KL_RATE
from gra2seq.models.sketch_model import Encoding, sampled
from gra2seq.models.sketch_rnn import KL, KL_FREE, KL_RATE, KL_WEIGHT
from gra2seq.nn import gaussian_mixture as mixture
from gra2seq.nn.gaussian import standard_kl
from gra2seq.options import SYSTEMS, options
from gra2seq.sketch import lattice
from gra2seq.sketch.lattice import lattice_centres
from gra2seq.sketch.masking import damage, look_by_lattice
from gra2seq.sketch.strokes import END, Sketch

SKETCHES = list(doodles(8, seed=4))


def tiny(name, **more):
    return options({"preset": "tiny", "model": name, **more})


def batch_for(picked, train=True, sketches=SKETCHES):
    seeds = [(0, i) for i in range(len(sketches))] if train else None
    return prepare(sketches, picked.recipe(30.0), seeds=seeds)


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


# --- sketch-rnn -----------------------------------------------------------------------------------------------------


def test_kl_against_torch():
    torch.manual_seed(0)
    mean, log_variance = torch.randn(5, 7), torch.randn(5, 7)
    one, other = (
        torch.distributions.Normal(mean, torch.exp(0.5 * log_variance)),
        torch.distributions.Normal(torch.zeros(5, 7), torch.ones(5, 7)),
    )
    assert torch.allclose(standard_kl(mean, log_variance), torch.distributions.kl_divergence(one, other).mean())


def test_the_kl_weight_rises_with_the_steps_and_is_whole_in_use():
    kl = KL(steps=10).train()
    mean, log_variance = torch.full((2, 3), 2.0), torch.zeros(2, 3)
    whole = KL_WEIGHT * 10 * 2.0  # KL of a mean of 2 is 2 a dimension
    seen = [kl(mean, log_variance).item() for _ in range(3)]
    assert seen == pytest.approx([0.0, whole * (1 - 0.99995), whole * (1 - 0.99995**2)], abs=1e-4)
    kl.rising.step.fill_(100_000)
    assert kl(mean, log_variance).item() == pytest.approx(whole, rel=0.01)
    kl.rising.step.zero_()
    assert kl.eval()(mean, log_variance).item() == pytest.approx(whole)
    assert int(kl.rising.step) == 0, "use is not training"


def test_a_small_kl_is_free():
    kl = KL(steps=1).eval()
    mean = torch.full((1, 2), 0.1, requires_grad=True)
    term = kl(mean, torch.zeros(1, 2))
    assert term.item() == pytest.approx(KL_WEIGHT * KL_FREE)
    term.backward()
    assert not mean.grad.any()


def test_only_the_points_that_survive_are_read():
    picked = tiny("sketch-rnn")
    recipe = picked.recipe(30.0)
    whole = prepare(SKETCHES, recipe)
    draws = np.ones((8, 8))
    draws[:, 0] = 0
    torn = prepare(SKETCHES, recipe, draws=draws, probability=0.5)
    assert (whole.stroke_rows == torch.tensor([1 + len(s) for s in SKETCHES])).all()
    assert (torn.stroke_rows < whole.stroke_rows).all()
    for sketch, rows, count in zip(SKETCHES, torn.strokes, torn.stroke_rows, strict=True):
        lost = damage(sketch, recipe.canvas, draws[0], 0.5, nodes=8)
        assert int(count) == 1 + int((~lost.hits(lost.walk.points)).sum())
        assert (rows[int(count) :, END] == 1).all()
        assert not rows[: int(count), END].any()
        # What is left lies where it was: the sum of the moves ends at a point of the whole sketch.
        left, top, width, height = sketch.box
        at = rows[1 : int(count), :2].sum(dim=0).numpy() * 30 * max(width, height) / 255
        if int(count) > 1:
            points = sketch.points - (left + width / 2, top + height / 2)
            assert np.abs(points - at).max(axis=1).min() < 1e-2 * max(width, height)


def one_by_one(network, batch, code):
    """What each sketch costs, row by row up to its end: offsets and pen."""
    found = []
    for rows, one in zip(batch.rows, code.split(1), strict=True):
        state, offset, pen = network.decoder.first_state(one), 0.0, 0.0
        for last, row in pairwise(rows):
            move, state = network.decoder.step(last[None], state)
            cost = [-part.item() for part in move.log_prob(row[None])]
            offset, pen = offset + cost[0], pen + cost[1]
            if row[END]:
                break
        found.append((offset, pen))
    return np.array(found)


def test_a_batch_costs_what_its_sketches_do_row_by_row():
    torch.manual_seed(0)
    picked = tiny("sketch-healer")
    network, batch = build(picked).eval(), batch_for(picked)
    with torch.no_grad():
        encoding, (terms, _) = network.encoder(batch), network(batch)
        costs = one_by_one(network, batch, sampled(encoding.mean, encoding.log_variance, batch.noise))
    assert len({len(sketch) for sketch in SKETCHES}) > 1, "else nothing is padded"
    assert [terms["offset"].item(), terms["pen"].item()] == pytest.approx(costs.mean(axis=0).tolist(), rel=1e-4)


# --- RPCL-pix2seq -----------------------------------------------------------------------------------------------------


def test_the_mixture_outlives_the_beginning_of_a_training(monkeypatch):
    """A fresh encoder's codes wander, and one component is left with all; put on codes anew, many share them."""
    monkeypatch.setattr(mixture, "CALM", 70)
    picked = tiny("rpcl-pix2seq", clusters=20, picture=16)
    torch.manual_seed(0)
    network = build(picked).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    batches = [batch_for(picked, sketches=list(doodles(16, seed=seed))) for seed in range(4)]
    living = []
    for step in range(130):
        terms, watch = network(batches[step % 4])
        optimizer.zero_grad()
        (terms["kl"] + terms["picture"]).backward()  # encoder and painter alone
        optimizer.step()
        living.append(int(watch["components"]))
    assert living[65] <= 6, "else this test shows nothing"
    assert living[-1] > 10


# --- Song et al. ------------------------------------------------------------------------------------------------------


def test_each_of_the_four_ways_teaches_its_own_encoder_and_decoder():
    torch.manual_seed(0)
    picked = tiny("song")
    batch = batch_for(picked)
    taught = {
        "offset": ("encoder.see", "decoder"),
        "strokes_offset": ("read", "decoder"),
        "picture": ("encoder.see", "paint"),
        "strokes_picture": ("read", "paint"),
    }
    for term, parts in taught.items():
        network = build(picked).train()
        network(batch)[0][term].backward()
        moved = {
            name.rsplit(".", 2)[0] for name, p in network.named_parameters() if p.grad is not None and p.grad.any()
        }
        for part in ("encoder.see", "read", "decoder", "paint"):
            assert any(name.startswith(part) for name in moved) == (part in parts), (term, part)


def test_the_four_ways_at_once_cost_what_they_do_one_by_one():
    torch.manual_seed(0)
    picked = tiny("song")
    network, batch = build(picked).eval(), batch_for(picked)
    with torch.no_grad():
        terms, _ = network(batch)
        for encoder, prefix in ((network.encoder, ""), (network.read, "strokes_")):
            encoding = encoder(batch)
            code = sampled(encoding.mean, encoding.log_variance, batch.noise)
            costs = [*one_by_one(network, batch, code).mean(axis=0), network.paint.losses(code, batch.painted).mean()]
            found = [terms[prefix + name].item() for name in ("offset", "pen", "picture")]
            assert found == pytest.approx([float(cost) for cost in costs], rel=1e-4), prefix


# --- SketchHealer and SketchHealer 2.0 -------------------------------------------------------------------------------


def test_the_perceptual_gradient_reaches_the_decoder_through_the_drawing():
    torch.manual_seed(0)
    picked = tiny("sketch-healer-2")
    network = build(picked).train()
    network(batch_for(picked))[0]["perception"].backward()
    for name in ("decoder.out.weight", "decoder.lstm.weight_hh_l0", "encoder.graph.embed.weights.0"):
        assert network.get_parameter(name).grad.abs().sum() > 0, name


def test_the_perceptual_term_is_that_of_its_sketches_and_matters():
    """The same twice, and the same for a batch as for its halves: nothing random belongs to a process."""
    picked = tiny("sketch-healer-2", mask=0.0)
    torch.manual_seed(0)
    network = build(picked).eval()
    recipe, seeds = picked.recipe(30.0), [(0, i) for i in range(8)]
    whole, again = (network(prepare(SKETCHES, recipe, seeds=seeds))[0] for _ in range(2))
    halves = [network(prepare(SKETCHES[part], recipe, seeds=seeds[part]))[0] for part in (slice(4), slice(4, 8))]
    assert whole["perception"] == again["perception"]
    mean = sum(half["perception"].item() for half in halves) / 2
    assert whole["perception"].item() == pytest.approx(mean, rel=1e-4)
    assert whole["perception"] > 0.003 * whole["offset"]


def test_the_patch_systems_have_their_own_patches_and_the_same_damage():
    for name in ("sketch-healer", "sketch-healer-2", "sketch-lattice+"):
        picked = options({"model": name})
        canvas = picked.recipe(1.0).canvas
        assert (canvas.side, canvas.pen, canvas.patch) == (512, 12, 128)
    ours = options({}).recipe(1.0).canvas
    assert (ours.side, ours.pen, ours.patch) == (640, 16, 256)
    assert ours.wiped * ours.side == ours.patch
    draws = np.full(20, 0.9)
    draws[:3] = 0
    other = 0
    for sketch in SKETCHES:
        lost = [damage(sketch, used, draws, 0.5) for used in (ours, canvas)]
        hit = [each.hits(each.walk.points) for each in lost]
        other += (hit[0] != hit[1]).sum()
    assert other <= 0.02 * sum(map(len, SKETCHES)), "both lose the same points, but for rounding"


# --- SketchLattice and SketchLattice+ -------------------------------------------------------------------------------


def test_lattice_patches_against_a_double_loop():
    recipe = options({"model": "sketch-lattice+"}).recipe(1.0)
    canvas = recipe.canvas
    for sketch in SKETCHES[:3]:
        lost = damage(sketch, canvas)
        seen = look_by_lattice(lost, 8)
        pixels, expected = seen.canvas, []  # nothing is lost here
        edges = [canvas.pad + i * canvas.inner // 8 for i in range(9)]
        for row in range(8):
            for column in range(8):
                cell = pixels[edges[row] : edges[row + 1], edges[column] : edges[column + 1]]
                if cell.any():
                    expected.append([(edges[i] + edges[i + 1]) // 2 for i in (column, row)])
        assert lattice_centres(pixels, canvas, 8).tolist() == expected
        assert seen.centres.tolist() == expected
        half = canvas.patch // 2
        for (x, y), view in zip(expected, seen.views[1:], strict=True):
            assert (view == pixels[y - half : y + half, x - half : x + half]).all()


def test_a_lattice_patch_does_not_tell_what_was_wiped():
    """Two drawings that differ only under a mask, in a cell whose middle is not masked."""
    picked = options({"model": "sketch-lattice+"})
    recipe = picked.recipe(1.0)
    frame = [[0, 0], [1000, 0], [1000, 1000]]
    scribbles = [[[60, 940], [62, 935], [70, 940]], [[60, 940], [62, 935], [240, 940]]]
    draws = np.full(20, 0.9)
    draws[1] = 0
    seen = [
        look_by_lattice(damage(Sketch.from_strokes([frame, scribble]), recipe.canvas, draws, 0.5), 8)
        for scribble in scribbles
    ]
    assert (seen[0].canvas == seen[1].canvas).all()
    assert seen[0].centres.tolist() == seen[1].centres.tolist()


@pytest.mark.parametrize("name", ["sketch-lattice", "sketch-lattice+"])
def test_absent_lattice_nodes_change_nothing(name):
    picked = tiny(name)
    network = build(picked).eval()
    batch = batch_for(picked, train=False)
    slots = batch.valid.shape[1]
    row, column = batch.places // (1 + slots), batch.places % (1 + slots)
    more = replace(
        batch,
        valid=torch.nn.functional.pad(batch.valid, (0, 7)),
        centres=torch.nn.functional.pad(batch.centres, (0, 0, 0, 7), value=33.0),
        places=row * (1 + slots + 7) + column,
    )
    assert not batch.valid.all()
    assert torch.allclose(network.encode(batch), network.encode(more), atol=1e-6)


def test_lattice_blocks_are_trained_and_saved():
    network = build(tiny("sketch-lattice"))
    names = [name for name, _ in network.named_parameters()]
    assert sum("graph.layers" in name for name in names) == 4


# --- all ------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"glance": True, "model": "sketch-pix2seq"}, "as its authors made it"),
        ({"paint": 0.5, "model": "sketch-healer"}, "as its authors made it"),
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


@pytest.mark.parametrize("links", ["synonymous", "temporal", "spatial", "random", "drawing-order"])
def test_lattice_patches_can_be_linked_in_other_ways(links):
    picked = tiny("sketch-lattice+", links=links)
    assert build(picked).eval().encode(batch_for(picked)).isfinite().all()


def test_long_strokes_are_read_apart_from_short_ones(monkeypatch):
    import gra2seq.model

    monkeypatch.setattr(gra2seq.model, "MOST_ROWS", 100)
    model = untrained(tiny("sketch-rnn"))
    shares = list(model._shares(SKETCHES))
    assert sorted(np.concatenate(shares)) == list(range(8))
    assert all(len(part) == 1 or len(part) * max(len(SKETCHES[i]) for i in part) <= 100 for part in shares)
    apart = model.encode(SKETCHES)
    monkeypatch.setattr(gra2seq.model, "MOST_ROWS", 10**6)
    assert len(list(model._shares(SKETCHES))) == 1
    assert np.allclose(apart, model.encode(SKETCHES), atol=1e-5)


def test_systems_without_kl_have_free_codes():
    for name in ("sketch-pix2seq", "sketch-healer", "sketch-lattice", "sketch-lattice+"):
        picked = tiny(name)
        encoding: Encoding = build(picked).encoder(batch_for(picked))
        assert encoding.terms == {}
