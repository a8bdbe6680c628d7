"""What infill decoding knows of a damaged drawing: its visible pieces, their open ends, and where the region is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gra2seq.drawing.bridges import bridges
from gra2seq.drawing.merge import AT_BORDER
from gra2seq.sketch.damage import Damage, own_number
from gra2seq.sketch.strokes import Doubles, Floats, Sketch

SAMPLES = 16  # places along a sampled line where the region is looked up
SHARES = np.linspace(0, 1, SAMPLES + 1)[1:, None]
GROWN = 0.006  # longer sides that a line may leave the region: less than the pen is thick


class Scene:
    """One damaged drawing in the decoder's units: `unit` longer sides of the frame are a move of 1.

    `simple` are its visible strokes with as few points as the decoder has learnt from; their ends stay exact.
    """

    def __init__(self, damage: Damage, simple: Sketch, unit: float) -> None:
        self.damage, self.unit = damage, unit
        self.number = own_number(damage.visible)
        self.region = damage.lost_normalised
        self.pieces: list[Floats] = []
        for stroke, exact in zip(simple.strokes, damage.visible.strokes, strict=True):
            points = stroke.copy()
            points[0], points[-1] = exact[0], exact[-1]
            self.pieces.append((damage.normalised(points) / unit).astype(np.float32))
        self.ends, self.owners = self._open_ends()
        self._ends = {owner: number for number, owner in enumerate(self.owners)}
        exact_strokes = [damage.normalised(stroke) for stroke in damage.visible.strokes]
        strokes = [exact_strokes[piece][:: 1 if start else -1] for piece, start in self.owners]
        self.bridges = bridges(self.ends.astype(np.float64) * unit, strokes, self._holds)

    def _open_ends(self) -> tuple[Floats, list[tuple[int, bool]]]:
        """(E, 2) ends of pieces at the border of the region, and of each its piece and whether it is the start.

        A closed line has none; a dot has one.
        """
        dots = [len(piece) == 1 for piece in self.pieces]
        open_ones = [n for n, piece in enumerate(self.pieces) if dots[n] or (piece[0] != piece[-1]).any()]
        owners = [(n, start) for n in open_ones for start in (True, False) if start or not dots[n]]
        ends = np.array([self.pieces[n][0 if start else -1] for n, start in owners], np.float32).reshape(-1, 2)
        near = self.region.distance(ends.astype(np.float64) * self.unit) <= AT_BORDER
        return ends[near], [owner for owner, there in zip(owners, near.tolist(), strict=True) if there]

    def end_of(self, piece: int, direction: int) -> int | None:
        """The open end that a piece leads to when it is followed in this direction."""
        return self._ends.get((piece, direction < 0))

    def owner(self, end: int) -> tuple[int, bool]:
        """The piece of an open end, and whether it is the piece's start."""
        return self.owners[end]

    def contains(self, place: NDArray[np.floating]) -> bool:
        """Whether a place lies in the lost region; without a region, everywhere."""
        if not self.region:
            return True
        return bool(self.region.contains(np.asarray(place, np.float64)[None] * self.unit)[0])

    def _holds(self, places: Doubles) -> NDArray[np.bool_]:
        """Which places (n, 2), in frame units, lie in the region or within a pen's width of it."""
        held = self.region.contains(places)
        outside = ~held
        held[outside] = self.region.distance(places[outside]) <= GROWN
        return held

    def stays_inside(self, start: Floats, goal: Floats) -> tuple[bool, Floats]:
        """Whether the line stays in the region; otherwise also the last place on it that does."""
        if not self.region:
            return True, goal
        places = (start + SHARES * (goal - start)).astype(np.float64) * self.unit
        outside = ~self.region.contains(places)
        if outside.any():
            outside &= self.region.distance(places) > GROWN
        if not outside.any():
            return True, goal
        first = int(outside.argmax())
        return False, start + np.float32(first / SAMPLES) * (goal - start)

    def near_end(self, start: Floats, goal: Floats, excluded: set[int], within: float) -> int | None:
        """The open end nearest to the line from start to goal, if it is within so many longer sides."""
        if not len(self.ends):
            return None
        way = (goal - start).astype(np.float64)
        offset = self.ends - start
        share = (offset @ way / max(float(way @ way), 1e-12)).clip(0, 1)
        away: Doubles = np.hypot(*(offset - share[:, None] * way).T) * self.unit
        away[list(excluded)] = np.inf
        nearest = int(away.argmin())
        return nearest if away[nearest] <= within else None
