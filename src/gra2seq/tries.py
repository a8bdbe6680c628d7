"""Several drawings of each sketch, and which of them is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from gra2seq.data.datasets import BOX
from gra2seq.sketch.chamfer import Left, off_what_is_left
from gra2seq.sketch.strokes import Floats, Sketch


class Tries:
    """Of several tries at each sketch the one that lies best on what is left or, where that is not known, reads best.

    A drawing's number is sketch * tries + try. Where a first one lies well there is no other try.
    """

    def __init__(self, sketches: int, tries: int, left: Sequence[Left] | None, well: float) -> None:
        self.tries, self.left, self.well = tries, left, well
        self.first_alone = tries > 1 and left is not None and well > 0
        self.waiting = deque(range(0, sketches * tries, tries if self.first_alone else 1))
        self.made: list[Sketch | None] = [None] * (sketches * tries)
        self.off = np.full((sketches, tries), np.inf)
        self.open = np.full(sketches, 1 if self.first_alone else tries)  # drawings of each that are still to come
        self.settled = 0  # sketches

    def add(self, number: int, drawn: Sketch) -> None:
        """A drawing has ended. If it calls for others, they wait now."""
        sketch, attempt = divmod(number, self.tries)
        self.made[number] = drawn
        if self.left is not None and self.tries > 1:
            self.off[sketch, attempt] = off_what_is_left([drawn], [self.left[sketch]], BOX)[0]
        self.open[sketch] -= 1
        if self.first_alone and attempt == 0 and self.off[sketch, 0] >= self.well:
            self.waiting.extend(range(number + 1, number + self.tries))
            self.open[sketch] = self.tries - 1
        self.settled += int(self.open[sketch] == 0)

    def best(self, off_code: Callable[[list[Sketch]], Floats]) -> list[Sketch]:
        """The first, if equal. `off_code` says how far off all drawings read; it is asked where nothing else tells."""
        if self.left is None and self.tries > 1:
            self.off[:] = off_code([one for one in self.made if one is not None]).reshape(self.off.shape)
        chosen = self.off.argmin(axis=1) + self.tries * np.arange(len(self.off))
        return [one for one in (self.made[number] for number in chosen.tolist()) if one is not None]
