"""Moves of the steered pen against a slow twin, and what the decoder makes of them."""

import math
from collections import deque

import numpy as np
import pytest
import torch
from pen_moves import pen_move

from gra2seq.nn.stroke_decoder import draw_rows
from gra2seq.nn.steering import AWAY, DRAWN, FURTHEST, LOOKS, POINTS, PROGRESS, SHARP, SURPRISE, Sight
from gra2seq.sketch.chamfer import Left
from gra2seq.sketch.ink_map import FINE, REACH, SIDE, ink_map, lost_map

CPU = torch.device("cpu")
NOWHERE = np.empty((0, 4))
FAR, DOUBT = 100.0, (0.5, 3.0)  # a mock's two Gaussians


def scribbles(count, seed=0):
    random = np.random.default_rng(seed)
    return [Left(random.uniform(-0.5, 0.5, (9, 2)), NOWHERE) for _ in range(count)]


def slow_sight(left, unit):
    """One sketch, one move after the other, one place at a time: a function that remembers what it has drawn."""
    maps, lost = ink_map(left), lost_map(left)
    ink = left.points
    if len(ink) > POINTS:
        ink = [ink[int(i * (len(ink) - 1) / (POINTS - 1))] for i in range(POINTS)]
    ink = [tuple(np.float32(point).tolist()) for point in ink]
    to_draw = list(ink)

    def cell(x, y):
        column, row = (min(max(int((v + REACH) / (2 * REACH) * SIDE), 0), SIDE - 1) for v in (x, y))
        return row, column

    def beside(point, start, end):
        way = [b - a for a, b in zip(start, end, strict=True)]
        here = [p - a for p, a in zip(point, start, strict=True)]
        length = sum(w * w for w in way)
        share = min(max(sum(h * w for h, w in zip(here, way, strict=True)) / length, 0), 1) if length else 0
        return math.dist(point, [a + share * w for a, w in zip(start, way, strict=True)]) < DRAWN

    def move(place, down, moves, doubts):
        place = [unit * p for p in place]
        ends = [[p + unit * m for p, m in zip(place, move, strict=True)] for move in moves]
        best, least = 0, math.inf
        for number, end in enumerate(ends):
            shares = [step / LOOKS for step in range(1, LOOKS + 1)]
            looks = [cell(*(p + s * (e - p) for p, e in zip(place, end, strict=True))) for s in shares]
            line = sum(int(maps[look]) for look in looks) / LOOKS / FINE * (2 * REACH / SIDE)
            off = min([FURTHEST, *(math.dist(end, point) for point in to_draw)])
            cost = line + PROGRESS * off if down else off
            if not lost[looks[-1]] and cost < least - 1e-9:
                best, least = number, cost
        if lost[cell(*ends[0])]:
            best = 0  # nothing to see there
        end, doubt = ends[best], unit * doubts[best]
        if not lost[cell(*end)]:
            for some in (to_draw, ink):
                near = min(some, key=lambda point: math.dist(point, end), default=None)
                if near is not None and math.dist(near, end) < min(SURPRISE * doubt, FURTHEST):
                    # The mean of two Gaussians' product.
                    trust = (1 / SHARP**2) / (1 / SHARP**2 + 1 / doubt**2)
                    end = [e + trust * (n - e) for e, n in zip(end, near, strict=True)]
                    break
        to_draw[:] = [point for point in to_draw if not beside(point, place if down else end, end)]
        return [(e - p) / unit for e, p in zip(end, place, strict=True)]

    return move


def test_moves_against_a_slow_twin():
    """Forty sketches and tries of them go their ways for some steps, in another order at each."""
    random = np.random.default_rng(0)
    boxes = [NOWHERE, np.array([[-0.4, -0.3, 0.1, 0.2]]), np.array([[-0.6, -0.6, 0.6, 0.6]])]
    left = [Left(random.uniform(-0.5, 0.5, (9 + 20 * i, 2)), boxes[i % 3]) for i in range(10)]
    tries, unit = 4, 0.13
    sight, slow = Sight(left, unit, tries, CPU), [slow_sight(left[i // tries], unit) for i in range(40)]
    at, pulled, drawn, blind = np.zeros((40, 2)), 0, 0, 0
    for step in range(12):
        numbers = random.permutation(40)
        moves, doubt = random.normal(0, 1, (40, 5, 2)), random.uniform(0.01, 0.5, (40, 5))
        down = random.random(40) < 0.6
        before = int((sight.to_draw < AWAY).sum())
        made = sight(*map(torch.from_numpy, (numbers, at[numbers], down, moves, doubt))).numpy()
        expected = [
            slow[number](at[number], *about)
            for number, *about in zip(numbers, down.tolist(), moves.tolist(), doubt.tolist(), strict=True)
        ]
        assert np.allclose(made, expected, atol=1e-4), step
        free = np.abs(moves - made[:, None]).max(axis=2).min(axis=1) < 1e-5  # one of the offers, as it was
        pulled, drawn = pulled + (~free).sum(), drawn + before - int((sight.to_draw < AWAY).sum())
        blind += free[numbers // tries % 3 == 2].sum()
        at[numbers] = np.clip(at[numbers] + made, -3, 3)
    assert 100 < pulled < 400
    assert drawn > 500
    assert blind == 12 * 12, "where all was lost it draws as it would alone"


def test_ink_that_is_drawn_draws_no_more():
    """Two lines side by side: who is in doubt goes to the nearer one first, and to the other one then."""
    lines = [np.column_stack([np.linspace(-0.4, 0.4, 41), np.full(41, y)]) for y in (0.0, 0.1)]
    sight = Sight([Left(np.concatenate(lines), NOWHERE)], 1.0, 1, CPU)
    number, down, doubt = torch.zeros(1, dtype=torch.long), torch.tensor([True]), torch.full((1, 1), 0.05)
    start, there, back = torch.tensor([[-0.3, 0.04]]), torch.tensor([[[0.6, 0.0]]]), torch.tensor([[[-0.3, 0.04]]])
    first = start + sight(number, start, ~down, torch.zeros(1, 1, 2), doubt)
    assert first[0, 1].item() == pytest.approx(0.0, abs=0.001)
    second = first + sight(number, first, down, there, doubt)
    assert second[0, 1].item() == pytest.approx(0.0, abs=0.001)
    turned = second + sight(number, second, down, back, doubt)
    assert turned[0, 1].item() == pytest.approx(0.1, abs=0.001), "though the first one is nearer"


def test_a_decoder_that_is_sure_is_not_moved():
    line = Left(np.column_stack([np.linspace(-0.4, 0.4, 41), np.zeros(41)]), NOWHERE)
    number, down = torch.zeros(1, dtype=torch.long), torch.tensor([False])
    ends = []
    for doubt in (1e-4, SHARP, 0.5):
        sight = Sight([line], 1.0, 1, CPU)
        ends.append(sight(number, torch.zeros(1, 2), down, torch.tensor([[[0.1, 0.01]]]), torch.full((1, 1), doubt)))
    assert [round(end[0, 1].item(), 4) for end in ends] == [0.01, 0.005, 0.0]


def test_where_nothing_is_left_the_pen_goes_where_chance_sends_it():
    sight = Sight([Left(np.empty((0, 2)), NOWHERE)], 0.1, 50, CPU)
    moves, down = torch.randn(50, 4, 2), torch.rand(50) < 0.5
    for doubt in (1.0, 1e9):
        made = sight(torch.arange(50), torch.zeros(50, 2), down, moves, torch.full((50, 4), doubt))
        assert torch.allclose(made, moves[:, 0])


def test_a_move_that_is_no_number_is_no_crash():
    """It is said in plain words where a sketch is made of it."""
    sight = Sight(scribbles(1), 0.1, 1, CPU)
    moves = torch.tensor([[[torch.nan, 0.0], [torch.inf, -torch.inf], [3e38, 3e38]]])
    number, down = torch.zeros(1, dtype=torch.long), torch.ones(1, dtype=torch.bool)
    assert sight(number, torch.zeros(1, 2), down, moves, torch.ones(1, 3)).shape == (1, 2)


def wide(lengths):
    """A decoder that is in little doubt about staying, or in more about going far, with a pen that is lifted at every
    third step.
    """

    def step(row, state):
        count, number = state
        pen = torch.full((len(row), 3), -1000.0, dtype=torch.float64)
        which = torch.where(count >= lengths[number], 2, (count % 3 == 2).long())
        pen[torch.arange(len(row)), which] = 1000
        even = torch.zeros(len(row), 2, dtype=torch.float64)
        mean = torch.tensor([[0.0, 0.0], [FAR, FAR]], dtype=torch.float64).expand(len(row), 2, 2)
        log_std = torch.tensor(DOUBT, dtype=torch.float64).log()[:, None].expand(len(row), 2, 2)
        return pen_move(even, mean, log_std, even, pen), (count + 1, number)

    return step


def drawn(steer, luck, lengths, lanes):
    ended = draw_rows(
        wide(torch.tensor(lengths)),
        lambda numbers: (torch.zeros(len(numbers), dtype=torch.float64), numbers),
        deque(range(len(lengths))),
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

    def last(numbers, place, down, moves, doubt):
        far = (moves[..., 0] > FAR / 2).long()
        assert torch.allclose(doubt, torch.tensor(DOUBT, dtype=doubt.dtype)[far]), "each offer has its own"
        for number, at, on in zip(numbers.tolist(), place.tolist(), down.tolist(), strict=True):
            said.setdefault(number, []).append((at, on))
        return moves[:, -1]

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
        for made, offer in ((rows, 2), (free[number], 0)):  # the last one's place; unsteered, the first one's
            far = (luck[number, :length, offer, :1] >= 0.5).double()
            doubt = torch.tensor(DOUBT, dtype=torch.float64)[far.long()]
            assert torch.allclose(made[:, :2], FAR * far + doubt * luck[number, :length, offer, 2:])
        before = torch.cat([torch.zeros(1, 2, dtype=rows.dtype), rows[:, :2].cumsum(dim=0)])
        places, downs = zip(*said[number][: length + 1], strict=True)
        assert torch.allclose(torch.tensor(places, dtype=rows.dtype), before)
        assert list(downs) == [False, *(rows[:, 2] > 0).tolist()], "the first move draws no line"
        assert not all(downs) or length < 3
