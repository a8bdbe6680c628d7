"""Messages against sums over single nodes; further rounds with links chosen anew."""

import torch

from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodles
from gra2seq.models.registry import build, preparation_of
from gra2seq.nn.graph_conv import GraphConv, GraphRound
from gra2seq.nn.masked_batch_norm import EPSILON
from gra2seq.sketch.damage import Damage
from options_by_name import tiny


def test_messages_against_a_loop():
    torch.manual_seed(0)
    mix = GraphConv(3).double().eval()
    nodes, adjacency, added = (torch.randn(2, 4, size).double() for size in (3, 4, 3))
    result = mix(nodes, adjacency, added)
    for sketch in range(2):
        summed = torch.zeros(3).double()
        for node in range(4):
            message = added[sketch, node] + sum(adjacency[sketch, node, j] * nodes[sketch, j] for j in range(4))
            layer = torch.relu(mix.second.weight @ torch.relu(mix.first.weight @ message))
            summed += message + layer
        normal = (summed - mix.norm.mean) / (mix.norm.variance + EPSILON).sqrt()
        assert torch.allclose(result[sketch], torch.tanh(normal), atol=1e-12)


def test_a_round_leaves_absent_nodes_out():
    torch.manual_seed(0)
    one_round = GraphRound(3).train()
    real = torch.tensor([[True, True, False], [True, False, False]])
    nodes = torch.randn(2, 3, 3) * real.unsqueeze(-1)
    adjacency = torch.rand(2, 3, 3) * (real.unsqueeze(-1) & real.unsqueeze(-2))
    result = one_round(nodes, real, adjacency)
    assert not result[~real].any()
    assert torch.allclose(result[real].mean(dim=0), torch.zeros(3), atol=1e-6)


def test_two_rounds_written_out():
    """The second round is linked by the features after the first, and positions are added once."""
    torch.manual_seed(0)
    config = tiny("gra2seq-plus", rounds=2, node_position="canvas")
    graph = build(config.model).eval().encoder.synonyms.graph
    torch.nn.init.normal_(graph.position.weight)
    damages = [Damage.none(sketch) for sketch in doodles(4, seed=1)]
    patches = prepare(damages, preparation_of(config, 30.0)).views["patches"]
    seen = []
    link = graph.link
    graph.link = lambda nodes: seen.append(nodes.features) or link(nodes)
    result = graph(patches)
    assert len(seen) == 2
    real = torch.cat([patches.valid.new_ones(4, 1), patches.valid], dim=1)
    v = torch.zeros(4 * 9, 16).index_copy(0, patches.places, graph.embed(patches.blocks)).reshape(4, 9, 16)
    position = graph.position(patches.centres, patches.valid)
    mixed = graph.before[0](
        graph.norm(torch.relu(v), real), real, graph._with_whole_view(result.adjacency, patches), position
    )
    assert torch.equal(seen[0], v[:, 1:])
    assert torch.allclose(seen[1], mixed[:, 1:], atol=1e-6)
    links = link(type(result.nodes)(mixed[:, 1:], patches.valid, patches.centres))
    assert not torch.allclose(links, result.adjacency)
    assert torch.allclose(result.feature, graph.mix(mixed, graph._with_whole_view(links, patches)), atol=1e-6)
