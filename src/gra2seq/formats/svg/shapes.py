"""The geometry of SVG's shape elements."""

from __future__ import annotations

import math

from gra2seq.errors import UserError
from gra2seq.formats.svg.elements import Element
from gra2seq.formats.svg.geometry import Pen, draw_ellipse, draw_rect
from gra2seq.formats.svg.path_data import coordinates, draw_path
from gra2seq.formats.svg.values import length

GEOMETRY = {  # attributes that say where a shape lies
    "path": ("d",),
    "polyline": ("points",),
    "polygon": ("points",),
    "line": ("x1", "y1", "x2", "y2"),
    "rect": ("x", "y", "width", "height", "rx", "ry"),
    "circle": ("cx", "cy", "r"),
    "ellipse": ("cx", "cy", "rx", "ry"),
}


def draw_shape(element: Element, viewport: tuple[float, float], pen: Pen) -> None:
    """Draw the geometry of a shape element with a pen, in its own units."""
    own, tag = element.attributes, element.tag

    def lengths(x: str, y: str, default: str = "0") -> tuple[float, float]:
        width, height = viewport
        return length(given(own, x) or default, width, x), length(given(own, y) or default, height, y)

    if tag == "path":
        data = own.get("d", "").strip()
        draw_path("" if data == "none" else data, pen)
    elif tag in ("polyline", "polygon"):
        values = coordinates(own.get("points", ""))
        if len(values) % 2:
            raise UserError(f"a <{tag}> has {len(values)} numbers, an odd one: a y is missing")
        for index in range(0, len(values), 2):
            (pen.line if index else pen.move)(values[index], values[index + 1])
        if values and (tag == "polygon" or len(values) == 2):
            pen.close()
    elif tag == "line":
        pen.move(*lengths("x1", "y1"))
        pen.line(*lengths("x2", "y2"))
    elif tag == "rect":
        x, y = lengths("x", "y")
        width, height = lengths("width", "height")
        draw_rect(pen, (x, y, width, height), *lengths("rx", "ry", "-1"))
    elif tag == "circle":
        radius = length(own.get("r", "0"), math.hypot(*viewport) / math.sqrt(2), "r")
        draw_ellipse(pen, lengths("cx", "cy"), radius, radius)
    else:
        draw_ellipse(pen, lengths("cx", "cy"), *lengths("rx", "ry", "-1"))


def given(attributes: dict[str, str], name: str) -> str:
    """An attribute; empty if it is absent or "auto"."""
    text = attributes.get(name, "")
    return "" if name in ("width", "height", "rx", "ry") and text.strip().lower() == "auto" else text
