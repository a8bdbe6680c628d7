"""Drawings as SVG text."""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.svg.bezier_fit import TOLERANCE, decimals, line_data
from gra2seq.formats.svg.elements import NAMESPACE
from gra2seq.formats.svg.layout import MAX_SIZE
from gra2seq.formats.svg.reader import FAR
from gra2seq.sketch.strokes import Floats, Sketch

LINE_WIDTH = 1 / 100  # of a written line, of the drawing's longer side
MARGIN = 1 / 20  # around a written drawing, of its longer side

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_svg(sketch: Sketch, curves: bool = False) -> str:
    """One <path> for each stroke, a dot for a stroke of one point.

    As polylines `read_svg` gives back the same sketch; `curves` are smooth, and as near as TOLERANCE to the points.
    A drawing too large to be read again is refused.
    """
    left, top, width, height = sketch.box
    side = max(width, height)
    line = side * LINE_WIDTH or 1.0
    margin = max(side * MARGIN, line)
    box = (left - margin, top - margin, width + 2 * margin, height + 2 * margin)
    reach = float(np.abs(sketch.points).max())
    if not max(reach, *map(abs, box)) <= MAX_SIZE:
        raise UserError(f"a drawing beyond {MAX_SIZE:,.0f} px could not be read again from SVG: scale it down")
    head = {"xmlns": NAMESPACE, "viewBox": " ".join(f"{value:.9g}" for value in box)}
    head |= {"data-category": sketch.category, "data-key": sketch.key}
    pen = {"fill": "none", "stroke": "black", "stroke-width": f"{line:.6g}"}
    pen |= {"stroke-linecap": "round", "stroke-linejoin": "round"}
    lines = [f"<svg{_attributes(head)}>", f"<g{_attributes(pen)}>"]
    parts = sketch.parts or ("",) * len(sketch.lengths)
    for stroke, part in zip(sketch.strokes, parts, strict=True):
        if curves:
            data = line_data(stroke.astype(np.float64), side * TOLERANCE, decimals(side))
        else:
            data = _polyline_data(stroke, reach > FAR)
        lines.append(f"<path{_attributes({'data-part': part, 'd': data})}/>")
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _polyline_data(stroke: Floats, exactly: bool) -> str:
    # numpy writes the shortest number that reads back as the same float32; far from 0 that one is too rough
    values = stroke.astype(np.float64) if exactly else stroke
    text = [value.removesuffix(".0") for value in values.astype(str).ravel().tolist()]
    pairs = [f"{x} {y}" for x, y in zip(text[::2], text[1::2], strict=True)]
    return f"M{pairs[0]}z" if len(pairs) == 1 else f"M{pairs[0]}L{' '.join(pairs[1:])}"


def _attributes(values: dict[str, str]) -> str:
    """Attributes of a tag, without empty ones; characters that XML cannot hold are replaced."""
    return "".join(f" {name}={quoteattr(NOT_XML.sub(chr(0xFFFD), value))}" for name, value in values.items() if value)
