"""DC-gra2seq: links, positions after the aggregation, relative edges, and a patch CNN with biases."""

import math
from dataclasses import replace

import torch
from systems import SKETCHES, network_of, tiny, used_batch

from gra2seq.models.graph_encoder import RelativeEdges
from gra2seq.models.registry import preparation_of
from gra2seq.models.sp_gra2seq import SynonymEncoder
from gra2seq.nn.links import nearest_cosine
from gra2seq.nn.masked_batch_norm import EPSILON
from gra2seq.nn.node_position import SinusoidPosition
from gra2seq.sketch.canvas import draw
from gra2seq.sketch.damage import Damage


def fresh():
    torch.manual_seed(0)
    config = tiny("dc-gra2seq", nodes=12)
    graph = network_of(config).eval().encoder.graph
    for bias in graph.embed.biases:
        torch.nn.init.normal_(bias, std=0.1)
    graph.norm.mean.uniform_(0, 0.2)
    return config, graph, used_batch(config).views["patches"]


def test_its_defaults():
    model = tiny("dc-gra2seq", preset="paper").model
    assert (model.links, model.corner, model.normalise, model.clusters) == ("nearest-cosine", 1.0, "rows", 0)
    _, graph, _ = fresh()
    assert graph.link is nearest_cosine
    assert isinstance(graph.position, SinusoidPosition)
    assert len(graph.embed.biases) == len(graph.embed.weights)
    assert not any(isinstance(part, SynonymEncoder) for part in network_of(tiny("dc-gra2seq")).modules())


def test_links_weigh_one_a_half_and_a_fifth():
    _, graph, patches = fresh()
    for row in graph(patches).adjacency[patches.valid]:
        assert sorted(row[row != 0].tolist(), reverse=True) == [1.0, 0.5, torch.tensor(0.2).item()]


def test_relative_edges_against_a_double_loop():
    """A scalar a node: sum over neighbours of the link's weight times tanh(x_i . E[|i - j|])."""
    torch.manual_seed(0)
    edges = RelativeEdges(6, farthest=4).requires_grad_(False)
    x, adjacency = torch.randn(2, 7, 6), torch.rand(2, 7, 7)
    result = edges(x, adjacency)
    assert result.shape == (2, 7, 6)
    for sketch in range(2):
        assert not result[sketch, 0].any(), "the whole view has no number"
        for i in range(6):
            total = 0.0
            for j in range(6):
                vector = edges.table[min(abs(i - j), 3)]
                total += adjacency[sketch, 1 + i, 1 + j].item() * math.tanh(float(x[sketch, 1 + i] @ vector))
            assert torch.allclose(result[sketch, 1 + i], torch.full((6,), total), atol=1e-5)


def test_the_graph_written_out():
    """Positions and relative edges are added after the aggregation, before the two layers."""
    _, graph, patches = fresh()
    result = graph(patches)
    batch, count = patches.valid.shape
    v = torch.zeros(batch * (1 + count), 16).index_copy(0, patches.places, graph.embed(patches.blocks))
    v = v.reshape(batch, 1 + count, 16)
    real = torch.cat([patches.valid.new_ones(batch, 1), patches.valid], dim=1)
    x = graph.norm(torch.relu(v), real)
    for sketch in range(batch):
        full = torch.zeros(1 + count, 1 + count)
        full[0, 0] = 1.0
        full[1:, 0] = 0.5 * patches.valid[sketch]
        full[1:, 1:] = result.adjacency[sketch]
        full = full / full.sum(dim=1, keepdim=True).clamp(min=1e-12)
        position = graph.position(patches.centres, patches.valid)[sketch]
        relative = graph.relative(x, full.expand(batch, -1, -1))[sketch]
        messages = full @ x[sketch] + position + relative
        layers = torch.relu(graph.mix.second(torch.relu(graph.mix.first(messages))))
        summed = (messages + layers).sum(dim=0)
        normal = (summed - graph.mix.norm.mean) / (graph.mix.norm.variance + EPSILON).sqrt()
        assert torch.allclose(result.feature[sketch], torch.tanh(normal), atol=1e-4)


def test_blank_blocks_are_computed_where_the_cnn_has_biases():
    """The blocks of a batch for it hold blank ones: the distinct blocks give what plain convolutions give."""
    config, graph, patches = fresh()
    view = preparation_of(config, 30.0).views["patches"]
    assert not view.skip_blank
    pixels = [view.cut(damage, draw(damage, view.canvas))[0] for damage in map(Damage.none, SKETCHES)]
    with torch.no_grad():
        plain = torch.cat([graph.embed.plain(torch.from_numpy(one)) for one in pixels])
        assert torch.allclose(graph.embed(patches.blocks), plain, atol=1e-5)


def test_absent_nodes_have_no_influence():
    _, graph, patches = fresh()
    assert not patches.valid.all()
    result = graph(patches)
    moved = patches.centres + (~patches.valid).unsqueeze(-1) * 7.0
    assert torch.equal(result.feature, graph(replace(patches, centres=moved)).feature)
