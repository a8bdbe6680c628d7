"""The sampler on a mock decoder, and its randomness."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
import torch

from gra2seq.config import DrawingConfig
from gra2seq.drawing.sampler import Sampler, first_row, sample_noise
from pen_moves import pen_move


class Mock:
    """Sketch i ends after `lengths[i]` rows; row t moves by (t + 1, i). Its state: how many rows, i."""

    def __init__(self, lengths):
        self.lengths = torch.tensor(lengths)
        self.seen = []  # how many sketches each step worked on

    def __call__(self, row, state):
        count, i = state
        self.seen.append(len(row))
        assert torch.equal(row[count == 0], first_row(int((count == 0).sum()), row)), (
            "every sketch begins with the first row"
        )
        last = row[count > 0].double()
        assert torch.allclose(last[:, 1], i[count > 0].clamp(max=1e3), atol=0.1), "and goes on with its own rows"
        ends = (count >= self.lengths[i.long()]).double()
        pen = torch.stack([1 - ends, torch.zeros_like(ends), ends], dim=-1) * 1000
        mean = torch.stack([count + 1, i], dim=-1).unsqueeze(1)
        shape = (len(row), 1)
        move = pen_move(torch.zeros(shape), mean, torch.full((*shape, 2), -20.0), torch.zeros(shape), pen)
        return move, (count + 1, i)


def begin(numbers):
    return torch.zeros(len(numbers)).double(), numbers.double()


def sampler(step, waiting, max_rows=20, temperature=0.0, **more):
    return Sampler(step, begin, deque(waiting), max_rows, DrawingConfig(temperature=temperature), **more)


def run(ends, max_rows=20, mock=None, **more):
    mock = mock or Mock(ends)
    ended = list(sampler(mock, range(len(ends)), max_rows, **more).run())
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
    """Whatever the pen says afterwards while other sketches go on: the first END counts."""

    class Again(Mock):
        def __call__(self, row, state):
            move, state = super().__call__(row, state)
            count, i = state
            now = (count - 1 == self.lengths[i.long()]) | (count - 1 == 3 + self.lengths[i.long()])
            pen = torch.stack([(~now).double(), torch.zeros(len(now)).double(), now.double()], dim=-1) * 1000
            return replace(move, raw=torch.cat([pen, move.raw[:, 3:]], dim=-1)), state

    lengths = list(range(20))
    rows, mock = run(lengths, max_rows=90, mock=Again(lengths))
    assert [len(r) for r in rows] == lengths
    assert len(mock.seen) == 20, "it stops when all have ended"


def test_lengths_are_bounded():
    rows, mock = run([10**6, 2], max_rows=9)
    assert [len(r) for r in rows] == [9, 2]
    assert len(mock.seen) == 9


def test_lengths_can_be_forced():
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
def test_waiting_sketches_fill_lanes_that_have_ended(lanes, forced):
    """Each is drawn as it would be alone, in any number of lanes, and lanes are not left idle."""
    torch.manual_seed(0)
    lengths = torch.randint(0 if not forced else 1, 20, (60,))
    noise = torch.rand(60, 25, 1, 4)
    ways = {"temperature": 0.7, "noise": lambda numbers: noise[numbers], "lengths": lengths if forced else None}
    mock = Mock([10**6] * 60 if forced else lengths.tolist())
    rows, _ = run(lengths.tolist(), max_rows=15, mock=mock, lanes=lanes, **ways)
    assert [len(drawn) for drawn in rows] == lengths.clamp(max=15).tolist()
    assert max(mock.seen) == min(lanes, 60)
    for number in (0, 17, 59):
        alone = Mock([10**6] * 60 if forced else lengths.tolist())
        one = sampler(alone, [number], 15, **ways)
        ((_, drawn),) = one.run()
        assert torch.equal(drawn, rows[number])
    if lanes <= 7:  # as good as all steps are full ones, until none is waiting
        least = (lengths.clamp(max=15) + (not forced) * (lengths < 15)).clamp(min=1).sum().item()
        assert sum(mock.seen) <= least + lanes * 16


def test_without_sketches_nothing_is_drawn():
    assert list(sampler(Mock([]), []).run()) == []


@pytest.mark.parametrize("lanes", [1, 2, 5])
def test_further_sketches_can_be_added_while_drawing(lanes):
    """Of 8 sketches those with an even number bring the next one along: also the last one that is drawn."""
    ends = [3, 0, 7, 5, 1, 2, 6, 4]
    drawing, found = sampler(Mock(ends), [0, 2, 4], max_rows=9, lanes=lanes), {}
    for number, rows in drawing.run():
        found[number] = len(rows)
        drawing.waiting.extend([number + 1] if number % 2 == 0 else [])
        drawing.waiting.extend([6] if number == 3 else [])
    assert found == dict(enumerate(ends))


def test_first_row_is_the_start_of_a_sketch():
    assert first_row(2, torch.zeros(1)).tolist() == [[0, 0, 1, 0, 0]] * 2


def test_noise_depends_only_on_seed_number_and_attempt():
    numbers, attempts = np.array([7, 7, 9, 7]), np.array([0, 1, 0, 0])
    noise = sample_noise(3, numbers, attempts, max_rows=5, candidates=4)
    table = noise(torch.arange(4))
    assert table.shape == (4, 5, 4, 4)
    assert torch.equal(table[0], table[3]), "the same sketch, wherever it stands"
    assert not torch.equal(table[0], table[1])
    assert not torch.equal(table[0], table[2])
    assert torch.equal(noise(torch.tensor([2])), table[2:3])
    alone = sample_noise(3, numbers, attempts, max_rows=5, candidates=1)(torch.arange(4))
    assert torch.equal(alone, table[:, :, :1]), "further candidates do not change the first one"
    assert not torch.equal(sample_noise(4, numbers, attempts, 5, 4)(torch.arange(4)), table)
    many = sample_noise(0, np.arange(400), np.zeros(400, int), 50, 1)(torch.arange(400))
    assert many[..., :2].min() >= 0
    assert many[..., :2].max() < 1
    assert many[..., 2:].std() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(("rule", "factor"), [("root", 0.5), ("linear", 0.25)])
def test_temperature_and_its_rule_for_sigma_reach_the_samples(rule, factor):
    """Pen and sigma as `DrawingConfig` says; a pen that would never end at its own temperature is held warmer."""

    def step(row, state):
        count = len(row)
        pen = torch.tensor([[4.0, 0.0, -60.0]]).expand(count, 3)
        shape = (count, 1)
        move = pen_move(torch.zeros(shape), torch.zeros(*shape, 2), torch.zeros(*shape, 2), torch.zeros(shape), pen)
        return move, state

    drawing = DrawingConfig(temperature=0.25, sigma_temperature=rule, min_pen_temperature=2.0)
    noise = sample_noise(0, np.arange(200), np.zeros(200, int), 40, 1)
    start = partial_state
    rows = [rows for _, rows in Sampler(step, start, deque(range(200)), 40, drawing, noise).run()]
    moves = torch.cat(rows)
    assert moves[:, :2].std().item() == pytest.approx(factor, rel=0.02)
    lifted = torch.softmax(torch.tensor([4.0, 0.0, -60.0]) / 2.0, dim=0)[1].item()
    assert moves[:, 3].mean().item() == pytest.approx(lifted, rel=0.1)


def partial_state(numbers):
    return (torch.zeros(len(numbers), 1),)
