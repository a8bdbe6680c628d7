"""Damage: all that may be known of a drawing of which a part is lost.

`Damage` holds the visible strokes, the lost region and the frame, and is the only value that encoders, guidance,
infill and tables receive: what is hidden cannot reach them. It is made here from holes, erased regions and missing
ends, which is what users have, and in `masking` from the paper's masks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError
from gra2seq.sketch.region import Box, Piece, Region, pieces
from gra2seq.sketch.strokes import Doubles, Sketch

Holes = Sequence[Box] | Sequence[Sequence[Box]]  # the same for all sketches, or a list for each
Frames = Box | Sequence[Box]
OVERHANG = 0.3  # share of a lost region beyond the visible strokes that the frame is assumed to reach into
INSIDE_FRAME = 1e-4  # of the longer side: by how much strokes may stick out of a given frame


@dataclass(frozen=True, eq=False)
class Damage:
    """The visible strokes, the lost region, and the frame (x, y, width, height), in the drawing's units.

    The frame is the box that the whole drawing is taken to have had: it gives scale and placement. `centres` are the
    surviving patch centres where the paper's protocol gives them; without them, patches lie along the visible strokes.
    A begun drawing is not expected to reach beyond its `page`, a box like the frame.
    `lose` makes damage from a drawing and a lost region.

    >>> import gra2seq
    >>> visible = gra2seq.Sketch.from_polylines([[(0, 0), (100, 0)], [(0, 80), (40, 80)]])
    >>> damage = gra2seq.Damage(visible, gra2seq.Region.of_boxes([(40, 60, 60, 40)]), frame=(0, 0, 100, 100))
    >>> gra2seq.load().heal(damage, keep_lines=True).strokes[0].tolist()
    [[0.0, 0.0], [100.0, 0.0]]
    """

    visible: Sketch
    lost: Region = field(default_factory=Region)
    frame: Box = (0.0, 0.0, 0.0, 0.0)
    centres: Doubles | None = None  # (n, 2)
    page: Box | None = None
    framed: bool = False  # the frame is known, even if it is the box of the visible strokes

    @staticmethod
    def none(sketch: Sketch) -> Damage:
        """An intact drawing."""
        return Damage(sketch, Region(), sketch.box)

    @cached_property
    def middle(self) -> Doubles:
        """(2,) centre of the frame."""
        x, y, width, height = self.frame
        return np.array([x + width / 2, y + height / 2])

    @property
    def side(self) -> float:
        """Longer side of the frame; 1 for a drawing without extent."""
        return max(self.frame[2:]) or 1.0

    def normalised(self, points: NDArray[Any]) -> Doubles:
        """(n, 2) points of the drawing in frames' units: the longer side is 1, the frame's centre the origin."""
        return (points.astype(np.float64) - self.middle) / self.side

    def denormalised(self, points: NDArray[Any]) -> Doubles:
        """The inverse of `normalised`."""
        return points.astype(np.float64) * self.side + self.middle

    @cached_property
    def lost_normalised(self) -> Region:
        """The lost region in the units of `normalised`."""
        return self.lost.moved(self.middle, 1 / self.side)

    def of_whole(self, sketch: Sketch) -> Damage:
        """The intact drawing in the frame of this damage: what a damaged one should become."""
        return Damage(sketch, Region(), self.frame)


Drawable = Sketch | Damage


def lose(sketch: Sketch, lost: Region, frame: Box | None = None, uncut: Collection[int] = ()) -> Damage:
    """What stays visible of a drawing when a region is lost; the strokes numbered in `uncut` stay whole.

    The result depends on the strokes outside of the region only, so handing in a drawing in which these lines are
    already missing gives the same. Without a frame it is guessed from the visible strokes and the region.
    """
    if not lost:
        return _framed(sketch, frame)
    parts = [part for part in pieces(sketch, lost) if part.stroke not in uncut]
    parts += [Piece(sketch.strokes[number], number, False, False) for number in uncut]
    parts.sort(key=lambda part: part.stroke)
    if not parts:
        raise UserError(
            f"{name_of(sketch)} has no stroke outside of the lost region: nothing is visible to draw it from "
            f"(the drawing lies at {_numbers(sketch.box)})"
        )
    lengths = np.array([len(part.points) for part in parts])
    labels = tuple(sketch.parts[part.stroke] for part in parts) if sketch.parts else ()
    visible = Sketch(np.concatenate([part.points for part in parts]), lengths, sketch.category, sketch.key, labels)
    return Damage(visible, lost, checked_frame(frame, visible) if frame is not None else guessed_frame(visible, lost))


def damages_of(sketches: Sequence[Drawable], holes: Holes = (), frame: Frames | None = None) -> list[Damage]:
    """What stays visible of each sketch when the regions in `holes` are lost. `Damage` is taken as it is."""
    every = checked_drawables(sketches)
    regions = one_each(holes, len(every), "holes")
    frames = one_each(frame, len(every), "frame")
    return [
        one if isinstance(one, Damage) else lose(one, Region.of_boxes(lost or ()), own)
        for one, lost, own in zip(every, regions, frames, strict=True)
    ]


def as_list(sketches: Drawable | Sequence[Drawable]) -> list[Drawable]:
    """One sketch or several, as a list."""
    return [sketches] if isinstance(sketches, Sketch | Damage) else list(sketches)


def check_samples(samples: int) -> None:
    """Raise a `UserError` unless so many drawings of each sketch can be made."""
    if not 1 <= samples <= 10_000:
        raise UserError(f"samples={samples} must be from 1 to 10,000")


def like_given(sketches: Drawable | Sequence[Drawable], drawn: list[Sketch], samples: int) -> Sketch | list[Sketch]:
    """One drawing for one sample of one sketch, otherwise the list."""
    return drawn[0] if isinstance(sketches, Sketch | Damage) and samples == 1 else drawn


def checked_drawables(values: Iterable[Any]) -> list[Drawable]:
    """Sketches and damages as a list; anything else among them is an error."""
    every = list(values)
    for value in every:
        if not isinstance(value, Sketch | Damage):
            raise UserError(f"a sketch is wanted, not {type(value).__name__}: gra2seq.read gives some")
    return every


def guessed_frame(visible: Sketch, lost: Region) -> Box:
    """The box of the visible strokes, grown a share of the way towards where the lost region sticks out of it.

    The share is the one that has the smallest error of scale and place on real drawings (docs/results.md).
    """
    left, top, width, height = visible.box
    right, bottom = left + width, top + height
    if lost:
        from_x, from_y, to_x, to_y = lost.bounds
        left, top = left - OVERHANG * max(left - from_x, 0), top - OVERHANG * max(top - from_y, 0)
        right, bottom = right + OVERHANG * max(to_x - right, 0), bottom + OVERHANG * max(to_y - bottom, 0)
    return left, top, right - left, bottom - top


def checked_frame(frame: Box, visible: Sketch) -> Box:
    """A frame given by the user; it must contain the visible strokes."""
    x, y, width, height = (float(number) for number in frame)
    if not np.isfinite(frame).all() or width < 0 or height < 0 or (width == 0 and height == 0 and len(visible) > 1):
        raise UserError(f"frame {_numbers(frame)} needs a finite place and a positive size: x,y,width,height")
    left, top, wide, high = visible.box
    spare = INSIDE_FRAME * max(width, height)
    if left < x - spare or top < y - spare or left + wide > x + width + spare or top + high > y + height + spare:
        raise UserError(
            f"the frame {_numbers(frame)} does not contain the drawing, which lies at {_numbers(visible.box)}: "
            "give a larger one, in the drawing's units"
        )
    return x, y, width, height


def own_number(sketch: Sketch) -> int:
    """A number that strokes keep when they are moved or scaled, so that their randomness stays the same."""
    return crc32(sketch.lengths.tobytes())


def missing_end(sketch: Sketch, share: float, frame: Box | None = None) -> Damage:
    """The drawing without the last `share` of its points, as if the pen had stopped there."""
    kept = max(round(len(sketch) * (1 - share)), 1)
    ends = np.minimum(np.cumsum(sketch.lengths), kept)
    lengths = np.diff(ends, prepend=0)
    drawn = lengths > 0
    labels = tuple(np.array(sketch.parts)[drawn].tolist()) if sketch.parts else ()
    visible = Sketch(sketch.points[:kept], lengths[drawn], sketch.category, sketch.key, labels)
    return _framed(visible, frame)


def missing_end_of(sketch: Sketch, frame: Box | None = None) -> Damage:
    """A drawing whose end is missing already: all of it is visible, and it may go on anywhere."""
    return _framed(sketch, frame)


def _framed(visible: Sketch, frame: Box | None) -> Damage:
    """Nothing of a region is lost; without a frame it is the box of the visible strokes."""
    if frame is None:
        return Damage(visible, Region(), visible.box)
    return Damage(visible, Region(), checked_frame(frame, visible), framed=True)


def square_hole(sketch: Sketch, place: Sequence[float], size: Sequence[float]) -> Box:
    """A hole around `place`, in shares of the sketch's box; its width and height are shares of the longer side."""
    left, top, width, height = sketch.box
    side = max(width, height) or 1.0
    (x, y), (wide, high) = place, size
    return left + x * width - wide * side / 2, top + y * height - high * side / 2, wide * side, high * side


def one_each(values: Any, count: int, what: str) -> list[Any]:
    """One value (a tuple of four numbers, or a list of them) for each of `count` sketches, where one may serve all."""
    if values is None:
        return [None] * count
    if _is_box_list(values) if what == "holes" else _is_box(values):
        return [values] * count
    each = list(values)
    fits = _is_box_list if what == "holes" else _is_box
    if len(each) != count or not all(value is None or fits(value) for value in each):
        form = "a list of (x, y, width, height)" if what == "holes" else "(x, y, width, height)"
        raise UserError(f"{what} must be {form}, or a list of such for each of {count} sketches")
    return each


def _is_box(value: Any) -> bool:
    return _shape(value) == (4,)


def _is_box_list(value: Any) -> bool:
    shape = _shape(value)
    return shape == (0,) or (len(shape) == 2 and shape[1] == 4)


def _shape(value: Any) -> tuple[int, ...]:
    try:
        return cast(tuple[int, ...], np.shape(value))
    except ValueError:  # lists of different lengths
        return (-1,)


def name_of(sketch: Sketch) -> str:
    return f"sketch {sketch.key!r}" if sketch.key else "the sketch"


def _numbers(box: Sequence[float]) -> str:
    return ",".join(f"{number:g}" for number in box)
