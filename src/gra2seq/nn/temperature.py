"""The temperature of sampling: 0 takes the likeliest pen move, 1 samples as the decoder says."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Temperature:
    """Logits are divided by it; sigma is multiplied by its root (Ha and Eck) or by itself (released code, Magenta)."""

    value: float = 1.0
    pen: float | None = None  # of the pen's states; without one, theirs is `value`
    linear_sigma: bool = False  # sigma is multiplied by the temperature itself

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("temperature must not be negative")

    def of_components(self, logits: Tensor) -> Tensor:
        return logits / self.value

    def of_pen(self, logits: Tensor) -> Tensor:
        return logits / (self.value if self.pen is None else self.pen)

    @property
    def of_sigma(self) -> float:
        return self.value if self.linear_sigma else math.sqrt(self.value)


AS_DECODED = Temperature()
