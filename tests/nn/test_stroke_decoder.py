"""The decoder against a step-by-step twin, and the sampler on a mock that says what it is asked to."""

from collections import deque
from dataclasses import replace

import pytest
import torch
from pen_moves import pen_move

from gra2seq.nn.stroke_decoder import StrokeDecoder, draw_rows, first_row


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("position", [False, True])
def test_forward_equals_stepping(position, layer_norm):
    torch.manual_seed(0)
    decoder = StrokeDecoder(code=6, hidden=12, mixtures=3, least_log_std=-2.0, position=position, layer_norm=layer_norm)
    decoder = decoder.double()
    rows, code = torch.randn(4, 7, 5, dtype=torch.float64), torch.randn(4, 6, dtype=torch.float64)
    at_once = decoder(rows, code, torch.full((4,), 7))
    state = decoder.first_state(code)
    for t in range(7):
        move, state = decoder.step(rows[:, t], state)
        assert torch.allclose(move.raw, at_once.raw[4 * t : 4 * t + 4], atol=1e-12)
        assert move.least_log_std == at_once.least_log_std == -2.0


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
        assert torch.equal(row[count == 0], first_row(int((count == 0).sum()), row)), "each begins as one does alone"
        told = row[count > 0].double()
        assert torch.allclose(told[:, 1], i[count > 0].clamp(max=1e3), atol=0.1), "and goes on with its own rows"
        ends = (count >= self.lengths[i.long()]).double()
        pen = torch.stack([1 - ends, torch.zeros_like(ends), ends], dim=-1) * 1000
        mean = torch.stack([count + 1, i], dim=-1).unsqueeze(1)
        shape = (len(row), 1)
        move = pen_move(torch.zeros(shape), mean, torch.full((*shape, 2), -20.0), torch.zeros(shape), pen)
        return move, (count + 1, i)


def begin(numbers):
    return torch.zeros(len(numbers)).double(), numbers.double()


def run(ends, most=20, mock=None, **more):
    mock = mock or Mock(ends)
    ended = list(draw_rows(mock, begin, deque(range(len(ends))), most=most, **{"temperature": 0.0, **more}))
    assert sorted(number for number, _ in ended) == list(range(len(ends))), "each comes once"
    return [rows for _, rows in sorted(ended, key=lambda one: one[0])], mock


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
            return replace(move, raw=torch.cat([pen, move.raw[:, 3:]], dim=-1)), state

    lengths = list(range(20))
    rows, mock = run(lengths, most=90, mock=Again(lengths))
    assert [len(r) for r in rows] == lengths
    assert len(mock.seen) == 20, "it stops when all have ended"


def test_lengths_are_bounded():
    rows, mock = run([10**6, 2], most=9)
    assert [len(r) for r in rows] == [9, 2]
    assert len(mock.seen) == 9


def test_forced_lengths():
    rows, mock = run([10**6] * 3, lengths=torch.tensor([4, 1, 2]))
    assert [len(r) for r in rows] == [4, 1, 2]
    assert len(mock.seen) == 4


def test_temperature_zero_needs_no_noise_and_noise_belongs_to_a_sketch():
    asked = []

    def noise(numbers):
        asked.extend(numbers.tolist())
        return torch.full((len(numbers), 20, 1, 4), 0.5)

    run([2] * 5, noise=noise, lanes=2)
    assert not asked
    run([2] * 5, noise=noise, lanes=2, temperature=0.5)
    assert asked == [0, 1, 2, 3, 4], "each has its own, once, when it begins"


@pytest.mark.parametrize("lanes", [1, 2, 3, 7, 40, 100])
@pytest.mark.parametrize("forced", [False, True])
def test_where_sketches_end_the_next_begin(lanes, forced):
    """Each is what it is alone, in any number of lanes; and lanes are not left idle."""
    torch.manual_seed(0)
    lengths = torch.randint(0 if not forced else 1, 20, (60,))
    luck = torch.rand(60, 25, 1, 4)
    ways = {"temperature": 0.7, "noise": lambda numbers: luck[numbers], "lengths": lengths if forced else None}
    mock = Mock([10**6] * 60 if forced else lengths.tolist())
    rows, _ = run(lengths.tolist(), most=15, mock=mock, lanes=lanes, **ways)
    assert [len(drawn) for drawn in rows] == lengths.clamp(max=15).tolist()
    assert max(mock.seen) == min(lanes, 60)
    for number in (0, 17, 59):
        alone = Mock([10**6] * 60 if forced else lengths.tolist())
        (_, drawn), *_ = draw_rows(
            alone,
            lambda _, number=number: begin(torch.tensor([number])),
            deque([0]),
            most=15,
            temperature=0.7,
            noise=lambda _, number=number: luck[number : number + 1],
            lengths=lengths[number : number + 1] if forced else None,
        )
        assert torch.equal(drawn, rows[number])
    if lanes <= 7:  # as good as all steps are full ones, until none is waiting
        least = (lengths.clamp(max=15) + (not forced) * (lengths < 15)).clamp(min=1).sum().item()
        assert sum(mock.seen) <= least + lanes * 16


def test_no_sketch_is_no_drawing():
    assert list(draw_rows(Mock([]), begin, deque(), most=5, temperature=0.0)) == []


@pytest.mark.parametrize("lanes", [1, 2, 5])
def test_whoever_hears_of_an_end_may_let_more_wait(lanes):
    """Of 8 sketches those with an even number bring the next one along: also the last one that is drawn."""
    ends = [3, 0, 7, 5, 1, 2, 6, 4]
    waiting, found = deque([0, 2, 4]), {}
    for number, rows in draw_rows(Mock(ends), begin, waiting, most=9, temperature=0.0, lanes=lanes):
        found[number] = len(rows)
        waiting.extend([number + 1] if number % 2 == 0 else [])
        waiting.extend([6] if number == 3 else [])
    assert found == dict(enumerate(ends))


def test_first_row_is_the_start_of_a_sketch():
    assert first_row(2, torch.zeros(1)).tolist() == [[0, 0, 1, 0, 0]] * 2
