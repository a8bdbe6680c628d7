"""What nodes know of their place: learnt waves, and DC-gra2seq's fixed sinusoid."""

import math

import pytest
import torch

from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodles
from gra2seq.models.registry import build, preparation_of
from gra2seq.nn.node_position import NODES, WAVES, WHOLE_VIEW, NodePosition, SinusoidPosition
from gra2seq.sketch.damage import Damage
from options_by_name import tiny


@pytest.mark.parametrize("order", [False, True])
def test_waves_against_a_loop(order):
    torch.manual_seed(0)
    position = NodePosition(5, order=order)
    torch.nn.init.normal_(position.weight)
    centres = torch.rand(2, 4, 2)
    valid = torch.tensor([[True, True, False, True], [False, True, True, True]])
    result = position(centres, valid)
    assert result.shape == (2, 5, 5)
    assert not result[:, 0].any(), "the whole view has no place"
    for sketch in range(2):
        for node in range(4):
            at = [*centres[sketch, node].tolist(), *([node / NODES] if order else [])]
            waves = [f(math.pi * k * x) for f in (math.sin, math.cos) for x in at for k in WAVES]
            expected = position.weight @ torch.tensor(waves) * valid[sketch, node]
            assert torch.allclose(result[sketch, 1 + node], expected, atol=1e-5)


@pytest.mark.parametrize("position", [NodePosition(4, order=True), SinusoidPosition(4)])
def test_more_room_for_nodes_does_not_move_one(position):
    for parameter in position.parameters():
        torch.nn.init.normal_(parameter)
    centres, valid = torch.rand(1, 4, 2), torch.ones(1, 4, dtype=torch.bool)
    wide = position(torch.nn.functional.pad(centres, (0, 0, 0, 3)), torch.nn.functional.pad(valid, (0, 3)))
    assert torch.equal(wide[:, :5], position(centres, valid))
    assert not wide[:, 5:].any()


def test_sinusoid_against_a_loop():
    """sin and cos of number / 10000^(2k / D) by turns; the whole view has -1.1 everywhere, absent nodes 0."""
    valid = torch.tensor([[True, False, True], [True, True, True]])
    result = SinusoidPosition(6)(torch.rand(2, 3, 2), valid)
    assert (result[:, 0] == WHOLE_VIEW).all()
    assert WHOLE_VIEW == -1.1
    for sketch in range(2):
        for node in range(3):
            angles = [node / 10_000 ** (2 * k / 6) for k in range(3)]
            expected = [f(angle) for angle in angles for f in (math.sin, math.cos)]
            expected = expected if valid[sketch, node] else [0.0] * 6
            assert result[sketch, 1 + node].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", ["canvas", "canvas-and-order"])
def test_a_model_starts_as_one_without_positions_and_learns_to_use_them(kind):
    codes = {}
    for chosen in ("none", kind):
        config = tiny("gra2seq-plus", node_position=chosen)
        torch.manual_seed(0)
        network = build(config.model).eval()
        batch = prepare([Damage.none(sketch) for sketch in doodles(4, seed=1)], preparation_of(config, 30.0))
        codes[chosen] = network.encode(batch)
    assert torch.equal(codes["none"], codes[kind])
    torch.nn.init.normal_(network.encoder.synonyms.graph.position.weight)
    before, centres = network.encode(batch), batch.views["patches"].centres
    centres.copy_(centres.flip(0))
    assert not torch.allclose(network.encode(batch), before)
