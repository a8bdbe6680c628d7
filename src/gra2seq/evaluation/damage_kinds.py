"""What is done to the sketches of a split before a model heals them: the paper's masks, or a hole anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gra2seq.errors import UserError
from gra2seq.sketch.masking import hole_at
from gra2seq.sketch.strokes import Floats, Sketch


@dataclass(frozen=True)
class Harm:
    """What is done to each sketch of a split before it is healed: patches masked, or a square rubbed out somewhere."""

    mask: float = 0.0  # probability that a patch is wiped
    hole: float = 0.0  # side of the square, in longer sides of the sketch; its middle lies anywhere in it

    def __bool__(self) -> bool:
        return self.mask > 0 or self.hole > 0

    def __str__(self) -> str:
        return f"hole {self.hole:g}" if self.hole else f"mask {self.mask:.0%}"

    @property
    def file(self) -> str:
        """What kept results are called by, to the last digit."""
        return f"hole-{self.hole}" if self.hole else f"mask-{self.mask}"

    @property
    def sheet(self) -> str:
        """What pictures for people are called by."""
        return f"hole-{self.hole:g}" if self.hole else f"mask-{self.mask:g}"

    def of(self, sketches: Sequence[Sketch], draws: Floats) -> dict[str, Any]:
        """How `Model.encode` and `what_is_left` are told. A sketch's first two numbers say where its hole lies."""
        if not self.hole:
            return {"draws": draws, "mask_prob": self.mask}
        size = (self.hole, self.hole)
        return {"holes": [[hole_at(one, lot[:2], size)] for one, lot in zip(sketches, draws, strict=True)]}


def harms(masks: Sequence[float], holes: Sequence[float]) -> list[Harm]:
    """Each once, masks first."""
    for hole in holes:
        if not 0 < hole <= 1:
            raise UserError(f"hole {hole} must be a share of the longer side: more than 0, at most 1")
    return list(dict.fromkeys([*(Harm(mask=mask) for mask in masks), *(Harm(hole=hole) for hole in holes)]))
