"""How a line is drawn: its colour, width, ends, corners, dashes and opacity, with all that it inherits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gra2seq.formats.svg.affine import Affine, scale_of
from gra2seq.formats.svg.layout import Shape
from gra2seq.formats.svg.values import MAX_WORD, fraction, is_length, length
from gra2seq.sketch.strokes import Doubles, Floats

LINE_WIDTH = 1 / 100  # of a line without a width of its own, of the drawing's longer side
NEAR = 1 / 20  # of the drawing's longer side: a new line that begins so near to the end of a line continues it
SAMPLES = 4000  # points of the drawing that are compared with a new line
LINE_SAMPLES = 64  # of its points
MAX_DASHES = 32  # dashes and gaps of a pattern; a longer one is drawn as a line


@dataclass(frozen=True)
class LineStyle:
    stroke: str = "black"
    width: float = 1.0  # in user units of the page
    linecap: str = "round"
    linejoin: str = "round"
    opacity: float = 1.0
    fixed_width: bool = False  # the width is one of the screen, however the drawing is scaled
    dashes: tuple[float, ...] = ()  # lengths of dashes and gaps in turn, in the units of the width

    def attributes(self) -> dict[str, str]:
        """As attributes of an element; defaults of SVG are left out."""
        values = {"fill": "none", "stroke": self.stroke, "stroke-width": f"{self.width:.6g}"}
        if self.linecap != "butt":
            values["stroke-linecap"] = self.linecap
        if self.linejoin != "miter":
            values["stroke-linejoin"] = self.linejoin
        if self.dashes:
            values["stroke-dasharray"] = " ".join(f"{dash:.6g}" for dash in self.dashes)
        if self.opacity < 1:
            values["stroke-opacity"] = f"{self.opacity:.6g}"
        if self.fixed_width:
            values["vector-effect"] = "non-scaling-stroke"
        return values


def style_of(shape: Shape, own_effect: str, root: Affine, side: float) -> LineStyle:
    """The style of a shape's line, or a plain one in the colour of its filling if it has no line.

    `own_effect`: its vector-effect; `root`: from the root's user units to the page; `side`: of the drawing.
    """
    style = shape.style
    paint = style["stroke"] if shape.stroked else style["fill"] if shape.filled else "black"
    if paint.strip().lower() == "currentcolor":
        paint = style["color"] or "currentColor"
    opacity = shape.opacity * fraction(style["stroke-opacity" if shape.stroked else "fill-opacity"])
    if not shape.stroked:
        return LineStyle(paint, (side or 1.0) * LINE_WIDTH / (scale_of(root) or 1.0), opacity=opacity)
    fixed = own_effect.strip() == "non-scaling-stroke"
    text = style["stroke-width"][:MAX_WORD]
    diagonal = float(np.hypot(*shape.viewport) / np.sqrt(2))
    width = length(text, diagonal, "stroke-width") if is_length(text) or text.strip().endswith("%") else 1.0
    scale = 1.0 if fixed else scale_of(shape.matrix) / (scale_of(root) or 1.0)
    dashes = tuple(dash * scale for dash in _dashes(style["stroke-dasharray"]))
    return LineStyle(paint, width * scale, style["stroke-linecap"], style["stroke-linejoin"], opacity, fixed, dashes)


def _dashes(text: str) -> list[float]:
    """The lengths in a stroke-dasharray; none where it cannot be read, as SVG wants."""
    words = text[: MAX_DASHES * MAX_WORD].replace(",", " ").split()
    if len(words) > MAX_DASHES or not all(map(is_length, words)):
        return []
    lengths = [length(word, 0.0, "stroke-dasharray") for word in words]
    return lengths if min(lengths, default=0.0) >= 0 and any(lengths) else []


def most_common(styles: Sequence[LineStyle]) -> LineStyle | None:
    """The style of most lines, the first of them if there are several."""
    return Counter(styles).most_common(1)[0][0] if styles else None


def style_at_ends(stroke: Doubles, ends: Doubles, styles: Sequence[LineStyle], reach: float) -> LineStyle | None:
    """The style of the line whose end is nearest to an end of a new one; None if all are farther than `reach`.

    `ends`: (n, 2), two for each style: the first and the last point of its line.
    """
    if not len(ends):
        return None
    away = np.hypot(*(ends[:, None] - stroke[[0, -1]]).T).min(axis=0)  # (n,)
    nearest = int(away.argmin())
    return styles[nearest // 2] if away[nearest] <= reach else None


def style_nearby(
    stroke: Doubles, points: Floats | Doubles, line: NDArray[np.int64], styles: Sequence[LineStyle]
) -> LineStyle:
    """The style most common among the lines that pass nearest to a new one; `line`: of each point."""
    points, line = points[:: len(points) // SAMPLES + 1], line[:: len(line) // SAMPLES + 1]
    stroke = stroke[:: len(stroke) // LINE_SAMPLES + 1]
    nearest = np.hypot(*(points[:, None] - stroke[None]).transpose(2, 0, 1)).argmin(axis=0)
    found = most_common([styles[index] for index in line[nearest].tolist()])
    return found or LineStyle()
