"""From strokes to what a network sees, and how training damages and changes drawings."""

from __future__ import annotations

from dataclasses import dataclass

from gra2seq.config.fields import option
from gra2seq.errors import UserError


@dataclass(frozen=True)
class PreparationConfig:
    """The defaults are the paper's: canvas 640, pen 16, 20 patches, masks of 10 % in training."""

    side: int = option(640, "pixels of the canvas along the drawing's longer side", at_least=16, at_most=8192)
    pen: int = option(16, "pixels of the pen's thickness", at_least=1, at_most=1024)
    nodes: int = option(20, "patches of a drawing at most", at_least=1, at_most=1024)
    spread: bool = option(False, "of more patches some evenly along the strokes, not the first ones")
    dense: bool = option(False, "patches are counted along densified strokes: long straight lines have several")
    max_points: int = option(250, "longer drawings are left out of training; drawings have at most so many points",
                             at_least=1, at_most=100_000)  # fmt: skip
    mask: float = option(0.1, "probability that a patch is wiped in training (released code)", at_least=0, below=1)
    mask_to: float | None = option(None, "each drawing has a rate of its own, from `mask` to this", at_least=0, below=1)
    rectangle: float = option(
        0.0, "share of the drawings of training that lose a rectangle instead", at_least=0, at_most=1
    )
    eraser: float = option(0.0, "share that loses a free-form region instead", at_least=0, at_most=1)
    end: float = option(0.0, "share that loses its end instead", at_least=0, at_most=1)
    end_from: float = option(0.1, "smallest share of the points that is missing at the end", at_least=0, below=1)
    end_to: float = option(0.6, "largest share of the points that is missing at the end", at_least=0, below=1)
    true_frame: float = option(
        0.5, "probability that the frame of a damaged drawing is that of the whole in training", at_least=0, at_most=1
    )
    given: float = option(0.0, "share whose visible rows are given to the decoder in training", at_least=0, at_most=1)
    stretch: float = option(0.0, "each axis grows or shrinks by up to this share in training", at_least=0, below=1)
    jitter: float = option(0.0, "units of 255; 0.5 dequantises whole-numbered drawings", at_least=0, at_most=255)
    prefix_noise: float = option(
        0.0, "units of 255: the rows before are off the true ones by up to this deviation in training",
        at_least=0, at_most=255,
    )  # fmt: skip

    def check(self) -> None:
        """Conditions that involve several fields."""
        if self.pen >= self.side:
            raise UserError(f"pen={self.pen} is as thick as the canvas of side={self.side}: make it thinner")
        if self.mask_to is not None and self.mask_to < self.mask:
            raise UserError(f"mask_to={self.mask_to} must not be less than mask={self.mask}")
        if self.end_to < self.end_from:
            raise UserError(f"end_to={self.end_to} must not be less than end_from={self.end_from}")
        if self.rectangle + self.eraser + self.end > 1:
            raise UserError("rectangle, eraser and end are shares of the drawings: together at most 1")
