"""Synonym rates against loops and by hand: parts of patches, overlaps, links, chance."""

import copy

import numpy as np
import pytest
import torch

from gra2seq.config import parse_config
from gra2seq.data.doodles import doodles
from gra2seq.data.views import PatchView
from gra2seq.errors import UserError
from gra2seq.evaluation import synonyms as measuring
from gra2seq.evaluation.synonyms import (
    PROXIMITIES,
    Meanings,
    chosen_pairs,
    overlap,
    patch_parts,
    pooled,
    synonyms,
)
from gra2seq.folder import untrained
from gra2seq.nn.links import LINKS
from gra2seq.sketch.canvas import Canvas, draw
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch

CANVAS = Canvas(side=80, pen=2, patch=32)
SKETCHES = list(doodles(12, categories=("cat", "bus", "flower"), seed=3))


@pytest.fixture(scope="module")
def model():
    return untrained(parse_config({"preset": "tiny"}))


def centres_of(sketch, nodes=20, canvas=CANVAS):
    """Patch centres along a sketch, on the padded canvas."""
    damage = Damage.none(sketch)
    return PatchView(canvas, nodes).cut(damage, draw(damage, canvas))[1]


def slow_parts(sketch, centres, canvas):
    """Pixel by pixel, stroke by stroke."""
    found = []
    for x, y in centres.tolist():
        ink = {}
        for name in dict.fromkeys(sketch.parts):
            pixels = np.zeros((canvas.padded, canvas.padded), np.uint8)
            for stroke, part in zip(sketch.strokes, sketch.parts, strict=True):
                if part == name:
                    pixels |= draw(Damage(Sketch(stroke, np.array([len(stroke)])), Region(), sketch.box), canvas)
            half = canvas.patch // 2
            ink[name] = sum(
                int(pixels[row, column]) for row in range(y - half, y + half) for column in range(x - half, x + half)
            )
        found.append(max(ink, key=ink.get))
    return tuple(found)


@pytest.mark.parametrize("number", range(3))
def test_parts_equal_counting_pixels(number):
    sketch = SKETCHES[number]
    at = centres_of(sketch, 6)
    parts = patch_parts(sketch, at, CANVAS)
    assert parts == slow_parts(sketch, at, CANVAS)
    assert len(parts) == 6
    assert set(parts) <= set(sketch.parts)


def test_part_with_most_ink_is_that_of_the_patch():
    """A dot's patch that is crossed by a long line shows the line; far from it the dot shows itself."""
    line, near, far = [(0, 0), (100, 0)], [(50, 3)], [(50, 100)]
    sketch = Sketch.from_polylines([line, near, far], parts=("line", "dot", "dot"))
    assert patch_parts(sketch, centres_of(sketch), CANVAS) == ("line", "line", "dot")


def test_overlap_of_known_places():
    at = np.array([[0, 0], [16, 0], [16, 16], [31, 31], [32, 0], [200, 5]])
    shares = overlap(at, CANVAS)
    assert shares[0].tolist() == pytest.approx([1, 0.5, 0.25, (1 / 32) ** 2, 0, 0])
    assert (shares == shares.T).all()
    assert overlap(np.empty((0, 2)), CANVAS).shape == (0, 0)


def test_overlap_equals_counting_pixels():
    at = np.random.default_rng(0).integers(40, 90, (6, 2))
    masks = np.zeros((6, 130, 130), bool)
    for mask, (x, y) in zip(masks, at, strict=True):
        mask[y - 16 : y + 16, x - 16 : x + 16] = True
    expected = (masks[:, None] & masks[None]).sum(axis=(2, 3)) / 32**2
    np.testing.assert_allclose(overlap(at, CANVAS), expected)


def test_chosen_pairs_are_the_two_largest_weights():
    weights = np.array([[1, 0.5, -0.1, 0], [0.9, 1, 0.2, 0.4], [0, 0, 1, 0], [0.3, 0.3, 0.1, 0]])
    pairs = chosen_pairs(weights).tolist()
    assert pairs == [[0, 1], [0, 2], [1, 0], [1, 3], [3, 0], [3, 1]]
    assert chosen_pairs(np.ones((1, 1))).shape == (0, 2)
    assert chosen_pairs(np.empty((0, 0))).shape == (0, 2)


def rates(weights, labels, overlaps):
    """Of several sketches."""
    each = zip(weights, labels, overlaps, strict=True)
    return pooled([Meanings.of(label, shared).count(weight) for weight, label, shared in each])


def slow_rates(links, labels, overlaps):
    edges = same = far = same_far = 0
    chance = chance_far = chance_same_far = 0.0
    for pairs, label, shared in zip(links, labels, overlaps, strict=True):
        every = [(i, j) for i in range(len(label)) for j in range(len(label)) if i != j]
        for i, j in pairs:
            edges += 1
            same += label[i] == label[j]
            if shared[i, j] < 0.25:
                far += 1
                same_far += label[i] == label[j]
            for a, b in every:  # a random link instead of this one
                chance += (label[a] == label[b]) / len(every)
                chance_far += (shared[a, b] < 0.25) / len(every)
                chance_same_far += (label[a] == label[b] and shared[a, b] < 0.25) / len(every)
    return same / edges, same_far / far, edges, far, chance / edges, chance_same_far / chance_far


def some_sketches(seed=0):
    random = np.random.default_rng(seed)
    links, labels, overlaps = [], [], []
    for count in (1, 2, 5, 9, 12):
        labels.append([str(name) for name in random.choice(["ear", "eye", "leg"], count)])
        overlaps.append(overlap(random.integers(0, 60, (count, 2)), CANVAS))
        links.append(random.random((count, count)))
    return links, labels, overlaps


@pytest.mark.parametrize("seed", range(3))
def test_rates_equal_a_loop(seed):
    weights, labels, overlaps = some_sketches(seed)
    pairs = [chosen_pairs(w) for w in weights]
    found = rates(weights, labels, overlaps)
    assert tuple(vars(found).values()) == pytest.approx(slow_rates(pairs, labels, overlaps))


def test_rates_of_three_known_patches():
    """Two ears far apart and an eye beside the first."""
    shared = overlap(np.array([[0, 0], [100, 0], [4, 0]]), CANVAS)
    weights = np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]])
    found = rates([weights], [["ear", "ear", "eye"]], [shared])
    assert (found.edges, found.edges_far) == (3, 2)
    assert (found.rate, found.rate_far) == (pytest.approx(2 / 3), 1.0)
    assert (found.chance, found.chance_far) == (pytest.approx(1 / 3), pytest.approx(1 / 2))


def test_random_links_have_the_rate_of_chance():
    random = np.random.default_rng(1)
    _, labels, overlaps = some_sketches()
    many = 400
    links = [random.random((len(label), len(label))) for _ in range(many) for label in labels]
    found = rates(links, labels * many, overlaps * many)
    assert found.rate == pytest.approx(found.chance, abs=0.01)
    assert found.rate_far == pytest.approx(found.chance_far, abs=0.015)


def test_rates_without_links_are_none():
    found = rates([np.ones((1, 1))], [["ear"]], [np.ones((1, 1))])
    assert found.edges == 0
    assert found.rate is found.rate_far is found.chance is found.chance_far is None


def test_rows_of_categories_add_up_to_the_row_of_all(model):
    done = []
    rows = synonyms(model, SKETCHES, progress=done.append)
    assert done == list(range(1, 13))
    assert [(row["links"], row["category"]) for row in rows] == [
        (name, category) for name in PROXIMITIES for category in ("all", "bus", "cat", "flower")
    ]
    assert set(rows[0]) == {"links", "category", "rate", "rate_far", "edges", "edges_far", "chance", "chance_far"}
    for name in PROXIMITIES:
        total, *parts = [row for row in rows if row["links"] == name]
        assert total["edges"] == sum(row["edges"] for row in parts)
        mean = sum(row["rate"] * row["edges"] for row in parts) / total["edges"]
        assert total["rate"] == pytest.approx(mean)


@pytest.fixture(scope="module")
def mixed():
    """Doodles, a dot, a sketch of one part, and one with parts at the very edge of the canvas."""
    dot = Sketch.from_polylines([[(3, 3)]], category="dot", parts=("dot",))
    same = Sketch.from_polylines([[(0, 0), (9, 9)], [(9, 0), (0, 9)]], category="cross", parts=("bar", "bar"))
    corners = Sketch.from_polylines([[(0, 0)], [(0, 99), (99, 99)], [(99, 0)]], category="cross", parts=("a", "b", "a"))
    return [dot, *SKETCHES[:5], same, corners]


@pytest.fixture(scope="module")
def one_at_a_time(model, mixed):
    """The rows of `synonyms` from a graph a sketch and a proximity, with nothing shared."""
    canvas, rows = model.preparation.canvas, []
    for name in PROXIMITIES:
        graphs = [model.graph(sketch, name) for sketch in mixed]
        at = [on_canvas(graph, sketch, canvas) for graph, sketch in zip(graphs, mixed, strict=True)]
        labels = [slow_parts(sketch, own, canvas) for sketch, own in zip(mixed, at, strict=True)]
        links, overlaps = [graph.adjacency for graph in graphs], [overlap(own, canvas) for own in at]
        for category in ("all", *sorted({sketch.category for sketch in mixed})):
            chosen = [i for i, sketch in enumerate(mixed) if category in ("all", sketch.category)]
            found = rates(*([every[i] for i in chosen] for every in (links, labels, overlaps)))
            rows.append({"links": name, "category": category, **vars(found)})
    return rows


def on_canvas(graph, sketch, canvas):
    """The patch centres of a graph, which are in the drawing's units, in pixels."""
    placed = Damage.none(sketch).normalised(graph.centres) * canvas.side + canvas.padded / 2
    return np.rint(placed).astype(np.int32)


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_rows_do_not_depend_on_the_batch_size(model, mixed, one_at_a_time, monkeypatch, batch):
    monkeypatch.setattr(measuring, "BATCH", batch)
    assert synonyms(model, mixed) == one_at_a_time


@pytest.mark.parametrize("name", PROXIMITIES)
def test_measured_links_are_those_of_the_graph(model, name):
    """All link rules are applied to the nodes of one encoding; the model's own graphs have the same links."""
    damages = [Damage.none(sketch) for sketch in SKETCHES]
    with torch.inference_mode():
        again = LINKS[name](model.graphs(damages, "random").nodes)
    assert torch.equal(model.graphs(damages, name).adjacency, again)


def test_missing_labels_unknown_rules_and_diverged_models_are_errors(model):
    bare = Sketch(SKETCHES[0].points, SKETCHES[0].lengths, "cat", "abc")
    with pytest.raises(UserError, match=r"sketch 1 \(abc\) has no part labels"):
        synonyms(model, [SKETCHES[0], bare])
    with pytest.raises(UserError, match="no part labels"):
        patch_parts(bare, centres_of(bare), CANVAS)
    with pytest.raises(UserError, match="there is no link rule 'magic'"):
        synonyms(model, SKETCHES, ("magic",))
    with pytest.raises(UserError, match="no sketch"):
        synonyms(model, [])
    broken = copy.deepcopy(model)
    with torch.no_grad():
        next(broken.network.parameters()).fill_(float("nan"))
    with pytest.raises(UserError, match=r"sketch 0 .* NaN .* the model has diverged"):
        synonyms(broken, SKETCHES)


def test_model_without_a_graph_is_refused(model):
    blind = copy.copy(model)
    blind.network = torch.nn.Linear(1, 1)
    with pytest.raises(UserError, match="links no patches"):
        synonyms(blind, SKETCHES)
