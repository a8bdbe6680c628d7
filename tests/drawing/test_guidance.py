"""Guided moves against a slow twin, and what the sampler makes of them."""

import math
from collections import deque

import numpy as np
import pytest
import torch

from gra2seq.config import DrawingConfig
from gra2seq.drawing.guidance import AWAY, DRAWN, FARTHEST, POINTS, PROGRESS, SAMPLES, SHARP, SURPRISE, Guidance
from gra2seq.drawing.ink_map import FINE, REACH, SIDE, ink_map, lost_map, visible_ink
from gra2seq.drawing.sampler import Sampler
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import visible_points
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch
from pen_moves import pen_move

CPU = torch.device("cpu")
UNIT = (-0.5, -0.5, 1.0, 1.0)  # a frame in which drawings are in longer sides
FAR, DEVIATION = 100.0, (0.5, 3.0)  # a mock's two Gaussians


def dots(points, boxes=()):
    """Ink at these points alone; boxes (left, top, right, bottom) are lost."""
    sketch = Sketch(np.asarray(points), np.ones(len(points), np.int64))
    return Damage(sketch, Region(np.array(boxes, float).reshape(-1, 4)), UNIT)


def slow_guidance(damage, unit):
    """One sketch, one move after the other, one place at a time: a function that remembers what it has drawn."""
    maps, lost = ink_map(damage), lost_map(damage)
    ink = visible_points(damage)
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

    def move(place, down, moves, deviations):
        place = [unit * p for p in place]
        ends = [[p + unit * m for p, m in zip(place, move, strict=True)] for move in moves]
        best, least = 0, math.inf
        for number, end in enumerate(ends):
            shares = [step / SAMPLES for step in range(1, SAMPLES + 1)]
            samples = [cell(*(p + s * (e - p) for p, e in zip(place, end, strict=True))) for s in shares]
            line = sum(int(maps[sample]) for sample in samples) / SAMPLES / FINE * (2 * REACH / SIDE)
            off = min([FARTHEST, *(math.dist(end, point) for point in to_draw)])
            cost = line + PROGRESS * off if down else off
            if not lost[samples[-1]] and cost < least - 1e-9:
                best, least = number, cost
        if lost[cell(*ends[0])]:
            best = 0  # nothing is visible there
        end, deviation = ends[best], unit * deviations[best]
        if not lost[cell(*end)]:
            for some in (to_draw, ink):
                near = min(some, key=lambda point: math.dist(point, end), default=None)
                if near is not None and math.dist(near, end) < min(SURPRISE * deviation, FARTHEST):
                    # The mean of two Gaussians' product.
                    trust = (1 / SHARP**2) / (1 / SHARP**2 + 1 / deviation**2)
                    end = [e + trust * (n - e) for e, n in zip(end, near, strict=True)]
                    break
        to_draw[:] = [point for point in to_draw if not beside(point, place if down else end, end)]
        return [(e - p) / unit for e, p in zip(end, place, strict=True)]

    return move


def test_moves_against_a_slow_twin():
    """Four attempts at each of ten sketches for some steps, in another order at each."""
    random = np.random.default_rng(0)
    boxes = [[], [[-0.4, -0.3, 0.1, 0.2]], [[-0.6, -0.6, 0.6, 0.6]]]
    damages = [dots(random.uniform(-0.5, 0.5, (9 + 20 * i, 2)), boxes[i % 3]) for i in range(10)]
    attempts, unit = 4, 0.13
    guide = Guidance([visible_ink(one) for one in damages], unit, attempts, CPU)
    slow = [slow_guidance(damages[i // attempts], unit) for i in range(40)]
    at, pulled, drawn, unguided = np.zeros((40, 2)), 0, 0, 0
    for step in range(12):
        numbers = random.permutation(40)
        moves, deviation = random.normal(0, 1, (40, 5, 2)), random.uniform(0.01, 0.5, (40, 5))
        down = random.random(40) < 0.6
        before = int((guide.to_draw < AWAY).sum())
        made = guide(*map(torch.from_numpy, (numbers, at[numbers], down, moves, deviation))).numpy()
        expected = [
            slow[number](at[number], *about)
            for number, *about in zip(numbers, down.tolist(), moves.tolist(), deviation.tolist(), strict=True)
        ]
        assert np.allclose(made, expected, atol=1e-4), step
        free = np.abs(moves - made[:, None]).max(axis=2).min(axis=1) < 1e-5  # one of the candidates, as it was
        pulled, drawn = pulled + (~free).sum(), drawn + before - int((guide.to_draw < AWAY).sum())
        unguided += free[numbers // attempts % 3 == 2].sum()
        at[numbers] = np.clip(at[numbers] + made, -3, 3)
    assert 100 < pulled < 400
    assert drawn > 500
    assert unguided == 12 * 12, "where all is lost the decoder draws alone"


def test_ink_that_is_drawn_attracts_no_more():
    """Two lines side by side: an uncertain decoder goes to the nearer one first, then to the other one."""
    lines = [np.column_stack([np.linspace(-0.4, 0.4, 41), np.full(41, y)]) for y in (0.0, 0.1)]
    guide = Guidance([visible_ink(dots(np.concatenate(lines)))], 1.0, 1, CPU)
    number, down, deviation = torch.zeros(1, dtype=torch.long), torch.tensor([True]), torch.full((1, 1), 0.05)
    start, there, back = torch.tensor([[-0.3, 0.04]]), torch.tensor([[[0.6, 0.0]]]), torch.tensor([[[-0.3, 0.04]]])
    first = start + guide(number, start, ~down, torch.zeros(1, 1, 2), deviation)
    assert first[0, 1].item() == pytest.approx(0.0, abs=0.001)
    second = first + guide(number, first, down, there, deviation)
    assert second[0, 1].item() == pytest.approx(0.0, abs=0.001)
    turned = second + guide(number, second, down, back, deviation)
    assert turned[0, 1].item() == pytest.approx(0.1, abs=0.001), "though the first one is nearer"


def test_a_certain_decoder_is_not_moved():
    line = dots(np.column_stack([np.linspace(-0.4, 0.4, 41), np.zeros(41)]))
    number, down = torch.zeros(1, dtype=torch.long), torch.tensor([False])
    ends = []
    for deviation in (1e-4, SHARP, 0.5):
        guide = Guidance([visible_ink(line)], 1.0, 1, CPU)
        ends.append(
            guide(number, torch.zeros(1, 2), down, torch.tensor([[[0.1, 0.01]]]), torch.full((1, 1), deviation))
        )
    assert [round(end[0, 1].item(), 4) for end in ends] == [0.01, 0.005, 0.0]


def test_far_from_all_ink_the_first_candidate_is_drawn():
    guide = Guidance([visible_ink(dots([[0.0, 0.0]]))], 0.1, 50, CPU)
    at, moves, down = torch.full((50, 2), 50.0), torch.randn(50, 4, 2), torch.rand(50) < 0.5
    made = guide(torch.arange(50), at, down, moves, torch.full((50, 4), 1.0))
    assert torch.allclose(made, moves[:, 0], atol=1e-3)


def test_moves_that_are_not_finite_do_not_crash():
    """They are reported where a sketch is made of them."""
    guide = Guidance([visible_ink(dots(np.random.default_rng(0).uniform(-0.5, 0.5, (9, 2))))], 0.1, 1, CPU)
    moves = torch.tensor([[[torch.nan, 0.0], [torch.inf, -torch.inf], [3e38, 3e38]]])
    number, down = torch.zeros(1, dtype=torch.long), torch.ones(1, dtype=torch.bool)
    assert guide(number, torch.zeros(1, 2), down, moves, torch.ones(1, 3)).shape == (1, 2)


def wide(lengths):
    """A decoder that stays with little uncertainty, or goes far with more; the pen is lifted at every third step."""

    def step(row, state):
        count, number = state
        pen = torch.full((len(row), 3), -1000.0, dtype=torch.float64)
        which = torch.where(count >= lengths[number], 2, (count % 3 == 2).long())
        pen[torch.arange(len(row)), which] = 1000
        even = torch.zeros(len(row), 2, dtype=torch.float64)
        mean = torch.tensor([[0.0, 0.0], [FAR, FAR]], dtype=torch.float64).expand(len(row), 2, 2)
        log_std = torch.tensor(DEVIATION, dtype=torch.float64).log()[:, None].expand(len(row), 2, 2)
        return pen_move(even, mean, log_std, even, pen), (count + 1, number)

    return step


def drawn(guide, noise, lengths, lanes):
    sampler = Sampler(
        wide(torch.tensor(lengths)),
        lambda numbers: (torch.zeros(len(numbers), dtype=torch.float64), numbers),
        deque(range(len(lengths))),
        20,
        DrawingConfig(temperature=1.0),
        noise=lambda numbers: noise[numbers],
        guide=guide,
        lanes=lanes,
    )
    return [rows for _, rows in sorted(sampler.run(), key=lambda one: one[0])]


def test_the_guide_makes_the_moves_and_is_given_the_place_of_the_pen():
    """In few lanes, which are filled again, as in many."""
    torch.manual_seed(0)
    lengths = [4, 9, 2, 7, 5, 3, 8]
    noise = torch.rand(7, 20, 3, 4, dtype=torch.float64)
    seen = {}

    def last(numbers, place, down, moves, deviation):
        far = (moves[..., 0] > FAR / 2).long()
        assert torch.allclose(deviation, torch.tensor(DEVIATION, dtype=deviation.dtype)[far]), "each candidate's own"
        for number, at, on in zip(numbers.tolist(), place.tolist(), down.tolist(), strict=True):
            seen.setdefault(number, []).append((at, on))
        return moves[:, -1]

    guided = drawn(last, noise, lengths, 2)
    for one, other in zip(guided, drawn(last, noise, lengths, 99), strict=True):
        assert torch.equal(one, other)
    seen.clear()
    guided = drawn(last, noise, lengths, 2)
    free = drawn(None, noise, lengths, 2)
    for number, length in enumerate(lengths):
        rows = guided[number]
        assert len(rows) == len(free[number]) == length
        assert torch.equal(rows[:, 2:], free[number][:, 2:]), "the pen is lifted as without a guide"
        for made, candidate in ((rows, 2), (free[number], 0)):  # the last one's place; unguided, the first one's
            far = (noise[number, :length, candidate, :1] >= 0.5).double()
            deviation = torch.tensor(DEVIATION, dtype=torch.float64)[far.long()]
            assert torch.allclose(made[:, :2], FAR * far + deviation * noise[number, :length, candidate, 2:])
        before = torch.cat([torch.zeros(1, 2, dtype=rows.dtype), rows[:, :2].cumsum(dim=0)])
        places, downs = zip(*seen[number][: length + 1], strict=True)
        assert torch.allclose(torch.tensor(places, dtype=rows.dtype), before)
        assert list(downs) == [False, *(rows[:, 2] > 0).tolist()], "the first move draws no line"
        assert not all(downs) or length < 3
