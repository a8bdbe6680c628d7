"""Messages against sums over single nodes; further rounds with links chosen anew."""

import torch
from gra2seq.options import options

from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodles
from gra2seq.models import build
from gra2seq.nn.graph_conv import GraphConv, GraphRound


def test_messages_against_a_loop():
    torch.manual_seed(0)
    mix = GraphConv(3).double().eval()
    nodes, adjacency, where = (torch.randn(2, 4, size).double() for size in (3, 4, 3))
    result = mix(nodes, adjacency, where)
    for sketch in range(2):
        summed = torch.zeros(3).double()
        for node in range(4):
            heard = where[sketch, node] + sum(adjacency[sketch, node, j] * nodes[sketch, j] for j in range(4))
            layer = torch.relu(mix.second.weight @ torch.relu(mix.first.weight @ heard))
            summed += heard + layer
        normal = (summed - mix.norm.mean) / (mix.norm.variance + mix.norm.epsilon).sqrt()
        assert torch.allclose(result[sketch], torch.tanh(normal), atol=1e-12)


def test_a_round_leaves_absent_nodes_out():
    torch.manual_seed(0)
    talk = GraphRound(3).train()
    real = torch.tensor([[True, True, False], [True, False, False]])
    nodes = torch.randn(2, 3, 3) * real.unsqueeze(-1)
    adjacency = torch.rand(2, 3, 3) * (real.unsqueeze(-1) & real.unsqueeze(-2))
    result = talk(nodes, real, adjacency)
    assert not result[~real].any()
    assert torch.allclose(result[real].mean(dim=0), torch.zeros(3), atol=1e-6)


def test_two_rounds_written_out():
    """The second round's links come from what the nodes have become, and where they are is told once."""
    torch.manual_seed(0)
    picked = options({"preset": "tiny", "rounds": 2, "where": "canvas"})
    graph = build(picked).eval().encoder.graph
    torch.nn.init.normal_(graph.where.weight)
    batch = prepare(list(doodles(4, seed=1)), picked.recipe(30.0))
    seen = []
    link = graph.link
    graph.link = lambda nodes: seen.append(nodes.features) or link(nodes)
    result = graph(batch)
    assert len(seen) == 2
    real = torch.cat([batch.valid.new_ones(4, 1), batch.valid], dim=1)
    v = torch.zeros(4 * 9, 16).index_copy(0, batch.places, graph.embed(batch.blocks)).reshape(4, 9, 16)
    where = graph.where(batch.centres, batch.valid)
    become = graph.before[0](graph.norm(torch.relu(v), real), real, graph._whole(result.adjacency, batch), where)
    assert torch.equal(seen[0], v[:, 1:])
    assert torch.allclose(seen[1], become[:, 1:], atol=1e-6)
    links = link(type(result.nodes)(become[:, 1:], batch.valid, batch.centres))
    assert not torch.allclose(links, result.adjacency)
    assert torch.allclose(result.feature, graph.mix(become, graph._whole(links, batch)), atol=1e-6)
