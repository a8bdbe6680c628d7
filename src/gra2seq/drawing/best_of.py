"""Several drawings of each sketch, of which the best is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from gra2seq.drawing.likely_ink import LikelyInk
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.distance import distance_to_visible
from gra2seq.sketch.strokes import BOX, Floats, Sketch


class BestOf:
    """Of several drawings of each sketch the one nearest to the visible (and likely) ink or, without it, to the code.

    A drawing's number is sketch * count + attempt. Where a first one is nearer than `good_enough`, there is no other.
    """

    def __init__(
        self,
        sketches: int,
        count: int,
        damages: Sequence[Damage] | None,
        good_enough: float,
        likely: Sequence[LikelyInk | None] | None = None,
    ) -> None:
        self.count, self.damages, self.good_enough = count, damages, good_enough
        self.likely = likely or [None] * sketches
        self.first_alone = count > 1 and damages is not None and good_enough > 0
        self.waiting = deque(range(0, sketches * count, count if self.first_alone else 1))
        self.made: list[Sketch | None] = [None] * (sketches * count)
        self.distance = np.full((sketches, count), np.inf)
        self.open = np.full(sketches, 1 if self.first_alone else count)  # drawings of each that are still to come
        self.settled = 0  # sketches

    def add(self, number: int, drawn: Sketch) -> None:
        """A drawing has ended. If it is not good enough, further attempts wait now."""
        sketch, attempt = divmod(number, self.count)
        self.made[number] = drawn
        if self.damages is not None and self.count > 1:
            self.distance[sketch, attempt] = distance_to_visible(drawn, self.damages[sketch], BOX)
            likely = self.likely[sketch]
            if likely is not None:
                self.distance[sketch, attempt] += likely.expected_distance(
                    [line.astype(np.float64) / BOX for line in drawn.strokes]
                )
        self.open[sketch] -= 1
        if self.first_alone and attempt == 0 and self.distance[sketch, 0] >= self.good_enough:
            self.waiting.extend(range(number + 1, number + self.count))
            self.open[sketch] = self.count - 1
        self.settled += int(self.open[sketch] == 0)

    def best(self, code_distance: Callable[[list[Sketch]], Floats]) -> list[Sketch]:
        """The best of each sketch; the first, if equal. `code_distance` measures all drawings without visible ink."""
        if self.damages is None and self.count > 1:
            every = [one for one in self.made if one is not None]
            self.distance[:] = code_distance(every).reshape(self.distance.shape)
        chosen = self.distance.argmin(axis=1) + self.count * np.arange(len(self.distance))
        return [one for one in (self.made[number] for number in chosen.tolist()) if one is not None]
