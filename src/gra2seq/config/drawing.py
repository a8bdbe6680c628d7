"""How a trained model draws."""

from __future__ import annotations

from dataclasses import dataclass

from gra2seq.config.fields import option

MAX_CANDIDATES = 64  # memory grows with them
HEALING_SAMPLES = 96  # of a lost region, by infill decoding, of which the best are kept
COMPLETION_SAMPLES = 24  # of what follows the strokes


@dataclass(frozen=True)
class DrawingConfig:
    """Passed through `Model`, the commands, the page and the tables; the defaults draw from the code only.

    >>> import gra2seq
    >>> from gra2seq.data.doodles import doodle
    >>> likeliest, cat = gra2seq.DrawingConfig(temperature=0), doodle("cat", seed=1)
    >>> model = gra2seq.load()
    >>> model.redraw(cat, drawing=likeliest) == model.redraw(cat, drawing=likeliest, seed=7)
    True
    """

    temperature: float = option(
        0.24, "0 draws the likeliest line, 1 the full variety (released code: 0.24)", at_least=0
    )
    min_pen_temperature: float = option(0.0, "of the pen's states: below it drawings may not end", at_least=0)
    sigma_temperature: str = option(
        "root", "sigma is multiplied by the root of the temperature (Ha and Eck) or by it (released code)",
        choices=("root", "linear"),
    )  # fmt: skip
    best_of: int = option(1, "drawings of each sketch, of which the nearest is kept", at_least=1, at_most=1024)
    nearest_by: str = option(
        "ink", "what the best of several is nearest to: the visible ink, or the code it was drawn from (encoded again)",
        choices=("ink", "code"),
    )  # fmt: skip
    good_enough: float = option(
        0.0, "longer sides: a first drawing nearer than this to the visible ink is kept at once", at_least=0
    )
    candidates: int = option(
        1, "guided sampling: pen moves compared by distance to the visible ink at every step",
        at_least=1, at_most=MAX_CANDIDATES,
    )  # fmt: skip
    keep_lines: bool = option(False, "the visible lines of a damaged drawing stay; only the lost region is drawn")
    infill: int = option(
        0,
        "infill decoding: samples of the lost region, of which the best is kept; 0: drawn anew",
        at_least=0,
        at_most=1024,
    )
    repair: bool = option(True, "codes of damaged drawings are repaired, if the model has learnt it")
    predict_ink: bool = option(True, "predicted ink helps to draw what is lost, if the model has learnt it")
    seed: int = option(0, "the same seed draws the same sketch", at_least=0, at_most=2**63 - 1)

    @property
    def guided(self) -> bool:
        """Whether the visible ink helps to draw, beside the code."""
        return self.nearest_by == "ink" and (self.candidates > 1 or self.best_of > 1)

    @property
    def sees(self) -> str:
        """What a drawing depends on: `infill` (visible rows), `guided` (visible ink) or the `code` only."""
        if self.infill:
            return "infill"
        return "guided" if self.guided else "code"
