"""What is done to the drawings of a split: the paper's masks, a square lost anywhere, or an end that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage, lose, missing_end, square_hole
from gra2seq.sketch.masking import mask
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Floats, Sketch


@dataclass(frozen=True)
class DamageKind:
    """Patches masked with a probability, a lost square (side: a share of the longer side), or only the first points."""

    mask: float = 0.0
    square: float = 0.0  # its centre lies anywhere in the drawing's box
    complete: float = 0.0  # share of the points, from the first one on, that are handed in

    def __bool__(self) -> bool:
        return self.mask > 0 or self.square > 0 or self.complete > 0

    def __str__(self) -> str:
        if self.complete:
            return f"first {self.complete:.0%}"
        return f"square {self.square:g}" if self.square else f"mask {self.mask:.0%}"

    @property
    def file(self) -> str:
        """Name of kept results, to the last digit."""
        if self.complete:
            return f"complete-{self.complete}"
        return f"square-{self.square}" if self.square else f"mask-{self.mask}"

    @property
    def sheet(self) -> str:
        """Name of pictures for people."""
        if self.complete:
            return f"complete-{self.complete:g}"
        return f"square-{self.square:g}" if self.square else f"mask-{self.mask:g}"

    def damage(self, sketch: Sketch, noise: Floats) -> Damage | None:
        """The damage of one sketch, from its stored random numbers; None if nothing of it stays visible.

        Of a lost square only the visible strokes and the square are known, not the frame. The numbers' first two say
        where the square lies. Of a drawing whose end is missing nothing but the first points is known.
        """
        if not self:
            return Damage.none(sketch)
        if self.complete:
            return missing_end(sketch, 1 - self.complete)
        try:
            if self.square:
                hole = square_hole(sketch, noise[:2].tolist(), (self.square, self.square))
                return lose(sketch, Region.of_boxes([hole]))
            return mask(sketch, noise, self.mask)
        except UserError:
            return None


def damage_kinds(
    masks: Sequence[float], squares: Sequence[float], completions: Sequence[float] = ()
) -> list[DamageKind]:
    """Each once: masks, then squares, then drawings that are to be completed."""
    for square in squares:
        if not 0 < square <= 1:
            raise UserError(f"square {square} must be a share of the longer side: more than 0, at most 1")
    for probability in masks:
        if not 0 <= probability <= 1:
            raise UserError(f"mask {probability} must be a probability from 0 to 1")
    for share in completions:
        if not 0 < share < 1:
            raise UserError(f"complete {share} must be the share of the points that is handed in: between 0 and 1")
    kinds = [*(DamageKind(mask=one) for one in masks), *(DamageKind(square=one) for one in squares)]
    kinds += [DamageKind(complete=one) for one in completions]
    return list(dict.fromkeys(kinds))
