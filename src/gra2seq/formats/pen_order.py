"""The order and direction in which a person would most likely have drawn given strokes.

A picture does not show them, so they are guessed from how people draw. Strokes are sorted by a weighted sum of what
can be seen of each (`PRECEDENCE`); then each is drawn in the likeliest of its ways (`DIRECTION`): from either end, or
a closed one from several places, both ways round. Both sets of weights were fitted to the training split of QuickDraw
by benchmarks/fit_pen_order.py, which also prints how well they predict what people did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gra2seq.sketch.strokes import Doubles, Ints

RING_STARTS = 8  # places around a closed stroke where it may begin
HAND_GAP = 0.12  # of a stroke's length: how far apart the ends of a circle drawn by hand may be
SHORT = 0.02  # of the drawing's longer side, added to lengths before the logarithm: shorter ones are all dots
SAMPLES = 16  # points of a stroke that gaps are measured to

# Lengths in longer sides of the drawing, x to the right, y downwards, both from its centre.
PRECEDENCE = {
    "log_length": -0.25,
    "length_share": 0.54,  # of all strokes together
    "centre_x": -0.47,
    "centre_y": 0.47,
    "left": -1.04,
    "top": -0.66,
    "off_centre": -0.28,  # distance of the stroke's centre from the drawing's
    "width": 1.14,
    "height": 2.26,
    "area": -2.13,  # of the box
    "enclosed": -0.43,  # 1 if the box lies in that of another stroke
    "ring": 0.91,  # 1 if closed
}
DIRECTION = {
    "goes_right": 1.56,  # end minus start
    "goes_down": 1.52,
    "clockwise": -0.38,  # of a closed stroke: 1, or -1 if not
    "ring_start_x": -2.20,  # of a closed stroke: start minus centre
    "ring_start_y": -3.90,
    "pen_distance": -0.05,  # from the end of the stroke before to the start
    "start_gap": -9.91,  # from the start to the nearest stroke already drawn
    "end_gap": 1.81,
}


def in_drawing_order(strokes: Sequence[Doubles]) -> list[Doubles]:
    """The same strokes in the likeliest order and directions."""
    if not strokes:
        return []
    seen = Drawing.of(strokes, 0.0)
    order = np.argsort(-(seen.precedence() @ _weights(PRECEDENCE)), kind="stable")
    hand = Hand(seen)
    ordered = []
    for number in order.tolist():
        ways = seen.ways(number)
        way = ways[int((hand.features(ways, number) @ _weights(DIRECTION)).argmax())] if len(ways) > 1 else ways[0]
        hand.draw(way, number)
        ordered.append(_turned(strokes[number], way))
    return ordered


@dataclass(frozen=True)
class Way:
    """One way to draw a stroke."""

    first: int  # point where it begins
    last: int
    turn: int = 0  # of a closed stroke: 1 clockwise, -1 not
    backwards: bool = False  # against the order of the points


@dataclass(frozen=True)
class Drawing:
    """Strokes scaled to a longer side of 1 around the origin, and what is seen of each."""

    strokes: list[Doubles]
    lengths: Doubles  # (S,)
    boxes: Doubles  # (S, 4) left, top, right, bottom
    rings: NDArray[np.bool_]  # (S,) closed
    samples: Doubles  # (S, SAMPLES, 2) points evenly along each

    @staticmethod
    def of(strokes: Sequence[Doubles], gap: float) -> Drawing:
        """`gap`: ends at most this share of a stroke's length apart count as closed.

        That is 0 for traced strokes, whose ends are seen in the picture, and `HAND_GAP` for people's own.
        """
        every = np.concatenate(strokes).astype(np.float64)
        low, high = every.min(axis=0), every.max(axis=0)
        every = (every - (low + high) / 2) / (float((high - low).max()) or 1.0)
        counts = np.array([len(stroke) for stroke in strokes])
        starts = np.cumsum(counts) - counts
        steps = np.hypot(*np.diff(every, axis=0, prepend=every[:1]).T)
        steps[starts] = 0
        boxes = np.hstack([np.minimum.reduceat(every, starts), np.maximum.reduceat(every, starts)])
        lengths = np.add.reduceat(steps, starts)
        apart = np.hypot(*(every[starts] - every[starts + counts - 1]).T)
        return Drawing(
            np.split(every, starts[1:]),
            lengths,
            boxes,
            (counts > 3) & (apart <= gap * lengths),
            _samples(every, steps, starts, lengths),
        )

    @property
    def centres(self) -> Doubles:
        """(S, 2) of the boxes."""
        return (self.boxes[:, :2] + self.boxes[:, 2:]) / 2

    def precedence(self) -> Doubles:
        """(S, len(PRECEDENCE)) what decides which stroke comes first."""
        boxes, centres = self.boxes, self.centres
        size = boxes[:, 2:] - boxes[:, :2]
        inside = (boxes[:, None, :2] >= boxes[None, :, :2]) & (boxes[:, None, 2:] <= boxes[None, :, 2:])
        return np.column_stack(
            [
                np.log(self.lengths + SHORT),
                self.lengths / (self.lengths.sum() or 1.0),
                centres,
                boxes[:, :2],
                np.hypot(*centres.T),
                size,
                size.prod(axis=1),
                inside.all(axis=2).sum(axis=1) > 1,  # every box lies in itself
                self.rings,
            ]
        )

    def ways(self, number: int) -> list[Way]:
        """All ways to draw a stroke; the first is the order of its points."""
        stroke, last = self.strokes[number], len(self.strokes[number]) - 1
        if self.lengths[number] == 0:
            return [Way(0, last)]
        if not self.rings[number]:
            return [Way(0, last), Way(last, 0, backwards=True)]
        x, y = stroke.T
        turn = 1 if (x * np.roll(y, -1) - np.roll(x, -1) * y).sum() > 0 else -1
        places = np.linspace(0, last, RING_STARTS, endpoint=False).astype(int).tolist()
        return [Way(place, place, way * turn, way < 0) for place in places for way in (1, -1)]


class Hand:
    """Where the pen was last, and how far every stroke is from what has been drawn."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.pen: Doubles | None = None
        self.drawn: list[int] = []

    def features(self, ways: Sequence[Way], number: int) -> Doubles:
        """(W, len(DIRECTION)) what decides in which way a stroke is drawn next."""
        stroke, ring = self.drawing.strokes[number], self.drawing.rings[number]
        start, end = stroke[[way.first for way in ways]], stroke[[way.last for way in ways]]
        turn = np.array([way.turn for way in ways])
        from_centre = (start - self.drawing.centres[number]) * ring
        rows = np.column_stack([(end - start) * (not ring), turn, from_centre, np.zeros((len(ways), 3))])
        if self.pen is not None:
            rows[:, -3] = np.hypot(*(start - self.pen).T)
            near = self.drawing.samples[self.drawn].reshape(-1, 2)
            rows[:, -2], rows[:, -1] = _gaps(start, near), _gaps(end, near)
        return rows

    def draw(self, way: Way, number: int) -> None:
        self.pen = self.drawing.strokes[number][way.last]
        self.drawn.append(number)


def _weights(named: dict[str, float]) -> Doubles:
    return np.array(list(named.values()))


def _gaps(points: Doubles, others: Doubles) -> Doubles:
    """(n,) distance of each point to the nearest of the others."""
    away = points[:, None] - others
    nearest: Doubles = np.sqrt(np.square(away).sum(axis=-1).min(axis=1))
    return nearest


def _samples(points: Doubles, steps: Doubles, starts: Ints, lengths: Doubles) -> Doubles:
    """(S, SAMPLES, 2) points at equal distances along each stroke, both ends included."""
    number = np.arange(len(starts))
    gap = float(lengths.max()) + 1.0  # strokes one after the other on one axis, far enough apart not to touch
    stroke = np.searchsorted(starts, np.arange(len(points)), side="right") - 1
    walked = np.cumsum(steps)
    walked += number[stroke] * gap
    at = walked[starts][:, None] + np.linspace(0, 1, SAMPLES) * lengths[:, None] * (1 - 1e-9)
    return np.stack([np.interp(at, walked, points[:, axis]) for axis in (0, 1)], axis=-1)


def _turned(stroke: Doubles, way: Way) -> Doubles:
    """The points of a stroke in the order in which it is drawn."""
    if way.turn:
        around = np.roll(stroke[:-1], -way.first, axis=0)
        stroke = np.concatenate([around, around[:1]])
    return stroke[::-1] if way.backwards else stroke
