"""The decoder against a step-by-step twin, and its extra inputs."""

import pytest
import torch

from gra2seq.nn.stroke_decoder import StrokeDecoder


@pytest.mark.parametrize("position", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_forward_equals_stepping(position, given):
    torch.manual_seed(0)
    decoder = StrokeDecoder(code=6, hidden=12, mixtures=3, min_log_std=-2.0, position=position, given=given).double()
    rows, code = torch.randn(4, 7, 5, dtype=torch.float64), torch.randn(4, 6, dtype=torch.float64)
    flags = (torch.rand(4, 7) < 0.5).double()
    at_once = decoder(rows, flags, code, torch.full((4,), 7))
    state = decoder.first_state(code)
    for t in range(7):
        move, state = decoder.step(rows[:, t], state, flags[:, t])
        assert torch.allclose(move.raw, at_once.raw[4 * t : 4 * t + 4], atol=1e-12)
        assert move.min_log_std == at_once.min_log_std == -2.0


def test_the_first_state_comes_from_the_code():
    decoder = StrokeDecoder(code=6, hidden=12)
    code = torch.randn(2, 6)
    hidden, cell, place, _ = decoder.first_state(code)
    assert not place.any()
    both = torch.tanh(decoder.start.weight @ code.T + decoder.start.bias.unsqueeze(-1)).T
    assert torch.allclose(torch.cat([hidden, cell], dim=-1), both, atol=1e-6)


def test_a_decoder_with_position_knows_where_the_pen_is():
    """Two pens in different places make the same last move: only with `position` can one step tell them apart."""
    for position in (False, True):
        torch.manual_seed(0)
        decoder = StrokeDecoder(code=2, hidden=4, mixtures=2, position=position)
        hidden, cell, _, constant = decoder.first_state(torch.zeros(2, 2))
        row, place = torch.tensor([[1.0, 0, 1, 0, 0]] * 2), torch.tensor([[0.0, 0.0], [5.0, -3.0]])
        move, (_, _, place, _) = decoder.step(row, (hidden, cell, place, constant))
        assert place.tolist() == [[1, 0], [6, -3]]
        assert torch.equal(move.mean[0], move.mean[1]) is not position


def test_a_decoder_with_given_input_knows_which_rows_were_given():
    row = torch.tensor([[1.0, 0, 1, 0, 0]] * 2)
    for given in (False, True):
        torch.manual_seed(0)
        decoder = StrokeDecoder(code=2, hidden=4, mixtures=2, given=given)
        state = decoder.first_state(torch.zeros(2, 2))
        move, _ = decoder.step(row, state, torch.tensor([False, True]))
        assert torch.equal(move.mean[0], move.mean[1]) is not given
        own, _ = decoder.step(row, state)
        assert torch.equal(own.mean[0], move.mean[0]), "rows are the decoder's own unless said otherwise"
