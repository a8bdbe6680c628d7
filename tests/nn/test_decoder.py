"""The decoder against a step-by-step twin, and the sampler on a mock that says what it is asked to."""

from dataclasses import replace

import pytest
import torch

from gra2seq.nn.decoder import StrokeDecoder, draw_rows, first_row
from gra2seq.nn.mixture import PenMove


@pytest.mark.parametrize("position", [False, True])
def test_forward_equals_stepping(position):
    torch.manual_seed(0)
    decoder = StrokeDecoder(code=6, hidden=12, mixtures=3, position=position).double()
    rows, code = torch.randn(4, 7, 5, dtype=torch.float64), torch.randn(4, 6, dtype=torch.float64)
    at_once = decoder(rows, code)
    state = decoder.first_state(code)
    for t in range(7):
        move, state = decoder.step(rows[:, t], state)
        for name, value in vars(move).items():
            assert torch.allclose(value, getattr(at_once, name)[:, t], atol=1e-12), name


def test_the_first_state_comes_from_the_code():
    decoder = StrokeDecoder(code=6, hidden=12)
    code = torch.randn(2, 6)
    hidden, cell, place, _ = decoder.first_state(code)
    assert not place.any()
    both = torch.tanh(decoder.start.weight @ code.T + decoder.start.bias.unsqueeze(-1)).T
    assert torch.allclose(torch.cat([hidden, cell], dim=-1), both, atol=1e-6)


def test_a_decoder_with_position_knows_where_the_pen_is():
    """Two ways to the same last move that end in different places: only with `position` can one step tell them."""
    for position in (False, True):
        torch.manual_seed(0)
        decoder = StrokeDecoder(code=2, hidden=4, mixtures=2, position=position)
        hidden, cell, _, told = decoder.first_state(torch.zeros(2, 2))
        row, place = torch.tensor([[1.0, 0, 1, 0, 0]] * 2), torch.tensor([[0.0, 0.0], [5.0, -3.0]])
        move, (_, _, place, _) = decoder.step(row, (hidden, cell, place, told))
        assert place.tolist() == [[1, 0], [6, -3]]
        assert torch.equal(move.mean[0], move.mean[1]) is not position


class Mock:
    """Sketch i ends after `lengths[i]` rows; row t moves by (t + 1, i). Its state: how many rows, i."""

    def __init__(self, lengths):
        self.lengths = torch.tensor(lengths)
        self.seen = []  # how many sketches each step worked on

    def __call__(self, row, state):
        count, i = state
        self.seen.append(len(row))
        ends = (count >= self.lengths[i.long()]).double()
        pen = torch.stack([1 - ends, torch.zeros_like(ends), ends], dim=-1) * 1000
        mean = torch.stack([count + 1, i], dim=-1).unsqueeze(1)
        shape = (len(row), 1)
        move = PenMove(torch.zeros(shape), mean, torch.full((*shape, 2), -20.0), torch.zeros(shape), pen)
        return move, (count + 1, i)


def start(count):
    return torch.zeros(count).double(), torch.arange(count).double()


def run(lengths, most=20, temperature=0.0, noise=None, forced=None):
    mock = Mock(lengths)
    rows = draw_rows(
        mock,
        start(len(lengths)),
        most=most,
        temperature=temperature,
        noise=noise,
        lengths=forced,
    )
    return rows, mock


def test_each_sketch_ends_where_it_says_and_keeps_its_own_rows():
    lengths = [3, 0, 7, 5, 1, 2, 6, 4]
    rows, mock = run(lengths)
    assert [len(r) for r in rows] == lengths
    for i, drawn in enumerate(rows):
        assert drawn[:, 0].tolist() == [t + 1 for t in range(lengths[i])]
        assert (drawn[:, 1] == i).all()
    assert len(mock.seen) == 8, "drawing stops when all sketches have ended"
    assert mock.seen[-1] < mock.seen[0], "finished sketches leave the batch"


def test_a_sketch_that_has_ended_stays_ended():
    """The pen may say END again, or not, while the sketch waits in the batch: the first END counts."""

    class Again(Mock):
        def __call__(self, row, state):
            move, state = super().__call__(row, state)
            count, i = state
            now = (count - 1 == self.lengths[i.long()]) | (count - 1 == 3 + self.lengths[i.long()])
            pen = torch.stack([(~now).double(), torch.zeros(len(now)).double(), now.double()], dim=-1) * 1000
            return replace(move, pen=pen), state

    lengths = list(range(20))
    mock = Again(lengths)
    rows = draw_rows(mock, start(20), most=90, temperature=0.0)
    assert [len(r) for r in rows] == lengths
    assert len(mock.seen) == 20, "it stops when all have ended"


def test_lengths_are_bounded():
    rows, mock = run([10**6, 2], most=9)
    assert [len(r) for r in rows] == [9, 2]
    assert len(mock.seen) == 9


def test_forced_lengths():
    rows, mock = run([10**6] * 3, forced=torch.tensor([4, 1, 2]))
    assert [len(r) for r in rows] == [4, 1, 2]
    assert len(mock.seen) == 4


def test_temperature_zero_needs_no_noise_and_noise_is_asked_for_by_step():
    asked = []

    def noise(t):
        asked.append(t)
        return torch.full((3, 4), 0.5)

    run([2, 2, 2], temperature=0.0, noise=noise)
    assert not asked
    run([2, 2, 2], temperature=0.5, noise=noise)
    assert asked == [0, 1, 2]


def test_first_row_is_the_start_of_a_sketch():
    assert first_row(2, torch.zeros(1)).tolist() == [[0, 0, 1, 0, 0]] * 2
