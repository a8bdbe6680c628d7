import math

import pytest
import torch

from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodles
from gra2seq.models import build
from gra2seq.nn.node_position import WAVES, Where
from gra2seq.options import options


@pytest.mark.parametrize("order", [False, True])
def test_where_against_a_loop(order):
    torch.manual_seed(0)
    where = Where(5, side=100, nodes=4, order=order)
    torch.nn.init.normal_(where.weight)
    centres = torch.randint(0, 100, (2, 4, 2)).float()
    valid = torch.tensor([[True, True, False, True], [False, True, True, True]])
    told = where(centres, valid)
    assert told.shape == (2, 5, 5)
    assert not told[:, 0].any(), "the whole view lies nowhere"
    for sketch in range(2):
        for node in range(4):
            at = [*(centres[sketch, node] / 100).tolist(), *([node / 4] if order else [])]
            waves = [f(math.pi * k * x) for f in (math.sin, math.cos) for x in at for k in WAVES]
            expected = where.weight @ torch.tensor(waves) * valid[sketch, node]
            assert torch.allclose(told[sketch, 1 + node], expected, atol=1e-5)


def test_more_room_does_not_move_a_node():
    where = Where(3, side=10, nodes=4, order=True)
    torch.nn.init.normal_(where.weight)
    centres, valid = torch.rand(1, 4, 2) * 10, torch.ones(1, 4, dtype=torch.bool)
    wide = where(torch.nn.functional.pad(centres, (0, 0, 0, 3)), torch.nn.functional.pad(valid, (0, 3)))
    assert torch.equal(wide[:, :5], where(centres, valid))
    assert not wide[:, 5:].any()


@pytest.mark.parametrize("where", ["canvas", "canvas-and-order"])
def test_a_model_starts_as_one_that_is_not_told_and_learns_to_listen(where):
    codes = {}
    for told in ("untold", where):
        picked = options({"preset": "tiny", "where": told})
        torch.manual_seed(0)
        network = build(picked).eval()
        batch = prepare(list(doodles(4, seed=1)), picked.recipe(30.0))
        codes[told] = network.encode(batch)
    assert torch.equal(codes["untold"], codes[where])
    torch.nn.init.normal_(network.encoder.graph.where.weight)
    batch.centres.copy_(batch.centres.flip(0))
    moved = network.encode(batch)
    batch.centres.copy_(batch.centres.flip(0))
    assert not torch.allclose(moved, network.encode(batch))
