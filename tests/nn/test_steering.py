"""Choices of the steered pen against a slow twin, and what the decoder makes of them."""

import numpy as np
import torch

from gra2seq.nn.decoder import draw_rows
from gra2seq.nn.mixture import PenMove
from gra2seq.nn.steering import LOOKS, InkMaps
from gra2seq.sketch.chamfer import Left
from gra2seq.sketch.ink_map import REACH, SIDE, ink_map

CPU = torch.device("cpu")
NOWHERE = np.empty((0, 4))


def scribbles(count, seed=0):
    random = np.random.default_rng(seed)
    return [Left(random.uniform(-0.5, 0.5, (9, 2)), NOWHERE) for _ in range(count)]


def slow_choice(left, unit, place, down, moves):
    """Walk along each line and look at the map, one place at a time."""
    found = ink_map(left)
    costs = []
    for move in moves:
        looks = []
        for step in range(1, LOOKS + 1):
            x, y = ((p + m * step / LOOKS) * unit for p, m in zip(place, move, strict=True))
            column, row = (min(max(int((v + REACH) / (2 * REACH) * SIDE), 0), SIDE - 1) for v in (x, y))
            looks.append(int(found[row, column]))
        costs.append(sum(looks) / LOOKS if down else looks[-1])
    return costs.index(min(costs))


def test_choices_against_a_slow_twin():
    left, tries, unit = scribbles(5), 3, 0.13
    random = torch.Generator().manual_seed(1)
    numbers = torch.randint(0, 15, (200,), generator=random)
    place, moves = torch.randn(200, 2, generator=random) * 3, torch.randn(200, 6, 2, generator=random) * 2
    down = torch.rand(200, generator=random) < 0.5
    chosen = InkMaps(left, unit, tries, CPU)(numbers, place, down, moves)
    slow = [
        slow_choice(left[int(number) // tries], unit, *about)
        for number, *about in zip(numbers, place.tolist(), down.tolist(), moves.tolist(), strict=True)
    ]
    assert chosen.tolist() == slow
    assert len(set(slow)) == 6
    other = InkMaps(left, unit, tries, CPU)(numbers, place, ~down, moves)
    assert (chosen != other).any(), "a line that is drawn is not a pen in the air"


def test_the_first_of_equals_is_taken():
    """Where nothing is left the pen goes where chance alone would have sent it."""
    blank = InkMaps([Left(np.empty((0, 2)), NOWHERE)], 0.1, 1, CPU)
    moves = torch.randn(50, 4, 2)
    numbers, down = torch.zeros(50, dtype=torch.long), torch.ones(50, dtype=torch.bool)
    assert not blank(numbers, torch.zeros(50, 2), down, moves).any()


def test_a_move_that_is_no_number_is_no_crash():
    """It is said in plain words where a sketch is made of it."""
    maps = InkMaps(scribbles(1), 0.1, 1, CPU)
    moves = torch.tensor([[[torch.nan, 0.0], [torch.inf, -torch.inf], [3e38, 3e38]]])
    numbers, down = torch.zeros(1, dtype=torch.long), torch.ones(1, dtype=torch.bool)
    assert 0 <= int(maps(numbers, torch.zeros(1, 2), down, moves)) < 3


def wide(lengths):
    """A decoder whose offers are spread around no move at all, with a pen that is lifted at every third step."""

    def step(row, state):
        count, number = state
        pen = torch.full((len(row), 3), -1000.0, dtype=torch.float64)
        which = torch.where(count >= lengths[number], 2, (count % 3 == 2).long())
        pen[torch.arange(len(row)), which] = 1000
        flat = torch.zeros(len(row), 1, dtype=torch.float64)
        spread = torch.zeros(len(row), 1, 2, dtype=torch.float64)
        return PenMove(flat, spread, spread, flat, pen), (count + 1, number)

    return step


def drawn(steer, luck, lengths, lanes):
    ended = draw_rows(
        wide(torch.tensor(lengths)),
        lambda numbers: (torch.zeros(len(numbers), dtype=torch.float64), numbers),
        len(lengths),
        most=20,
        temperature=1.0,
        noise=lambda numbers: luck[numbers],
        steer=steer,
        lanes=lanes,
    )
    return [rows for _, rows in sorted(ended, key=lambda one: one[0])]


def test_a_steered_pen_goes_where_it_is_told_and_tells_where_it_is():
    """In few lanes, which are filled again, as in many."""
    torch.manual_seed(0)
    lengths = [4, 9, 2, 7, 5, 3, 8]
    luck = torch.rand(7, 20, 3, 4, dtype=torch.float64)
    said = {}

    def last(numbers, place, down, moves):
        for number, at, on in zip(numbers.tolist(), place.tolist(), down.tolist(), strict=True):
            said.setdefault(number, []).append((at, on))
        return torch.full((len(numbers),), moves.shape[1] - 1)

    steered = drawn(last, luck, lengths, 2)
    for one, other in zip(steered, drawn(last, luck, lengths, 99), strict=True):
        assert torch.equal(one, other)
    said.clear()
    steered = drawn(last, luck, lengths, 2)
    free = drawn(None, luck, lengths, 2)
    for number, length in enumerate(lengths):
        rows = steered[number]
        assert len(rows) == len(free[number]) == length
        assert torch.equal(rows[:, 2:], free[number][:, 2:]), "the pen is lifted as chance had it"
        assert torch.allclose(rows[:, :2], luck[number, :length, 2, 2:]), "the last offer's place"
        assert torch.allclose(free[number][:, :2], luck[number, :length, 0, 2:]), "unsteered, the first one's"
        before = torch.cat([torch.zeros(1, 2, dtype=rows.dtype), rows[:, :2].cumsum(dim=0)])
        places, downs = zip(*said[number][: length + 1], strict=True)
        assert torch.allclose(torch.tensor(places, dtype=rows.dtype), before)
        assert list(downs) == [False, *(rows[:, 2] > 0).tolist()], "the first move draws no line"
        assert not all(downs) or length < 3
