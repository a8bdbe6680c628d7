"""What is done to the drawings of a split before a model heals them: the paper's masks, or a square lost anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage, lose, mask, square_hole
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Floats, Sketch


@dataclass(frozen=True)
class DamageKind:
    """Patches masked with a probability, or a square of which the side is a share of the longer side."""

    mask: float = 0.0
    square: float = 0.0  # its centre lies anywhere in the drawing's box

    def __bool__(self) -> bool:
        return self.mask > 0 or self.square > 0

    def __str__(self) -> str:
        return f"square {self.square:g}" if self.square else f"mask {self.mask:.0%}"

    @property
    def file(self) -> str:
        """Name of kept results, to the last digit."""
        return f"square-{self.square}" if self.square else f"mask-{self.mask}"

    @property
    def sheet(self) -> str:
        """Name of pictures for people."""
        return f"square-{self.square:g}" if self.square else f"mask-{self.mask:g}"

    def damage(self, sketch: Sketch, noise: Floats) -> Damage | None:
        """The damage of one sketch, from its stored random numbers; None if nothing of it stays visible.

        Of a lost square only the visible strokes and the square are known, not the frame. The numbers' first two say
        where the square lies.
        """
        if not self:
            return Damage.none(sketch)
        try:
            if self.square:
                hole = square_hole(sketch, noise[:2].tolist(), (self.square, self.square))
                return lose(sketch, Region.of_boxes([hole]))
            return mask(sketch, noise, self.mask)
        except UserError:
            return None


def damage_kinds(masks: Sequence[float], squares: Sequence[float]) -> list[DamageKind]:
    """Each once, masks first."""
    for square in squares:
        if not 0 < square <= 1:
            raise UserError(f"square {square} must be a share of the longer side: more than 0, at most 1")
    for probability in masks:
        if not 0 <= probability <= 1:
            raise UserError(f"mask {probability} must be a probability from 0 to 1")
    kinds = [*(DamageKind(mask=one) for one in masks), *(DamageKind(square=one) for one in squares)]
    return list(dict.fromkeys(kinds))
