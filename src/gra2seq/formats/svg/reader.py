"""SVG drawings in and out.

Read: every drawn subpath becomes a stroke, in document order, flattened but not simplified (`files.read` does
that). Elements, nesting and points are bounded, and so are time and memory: see also `svg_tree`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.svg.elements import (
    DRAWN,
    INHERITED,
    MAX_DEPTH,
    MAX_ELEMENTS,
    SHAPES,
    Node,
    Page,
    parse_svg,
)
from gra2seq.formats.svg.geometry import Doubles, Outline, Pen, flatten, join
from gra2seq.formats.svg.path_data import (
    is_length,
    length,
    numbers,
    paint,
    path_outline,
    shows,
    transform,
    transform_origin,
)
from gra2seq.sketch.reading import read_bytes
from gra2seq.sketch.strokes import MAX_POINTS_READ, Sketch

MAX_BYTES = 50_000_000
MAX_SIZE = 1e12  # px; a page or a point beyond this is taken for an attack or a mistake; maps are in it
FAR = 1e6  # px; beyond this from 0, single precision may be too coarse for a small drawing
PAGE = (300.0, 150.0)  # px, the page of an SVG that does not say its size (CSS 2.1, 10.3.2)
FLATNESS = 1 / 5000  # largest distance of a polyline from its curve, of the drawing's longer side
SLACK = 1 / 1000  # of the longer side: an error that is not seen


def read_svg(source: str | Path | bytes) -> Sketch:
    """The drawing in an SVG file, or in its bytes.

    What a browser would not show is left out: display none, hidden, opacity 0, inside <defs>, <symbol>, <clipPath>
    and the like, a shape with neither fill nor stroke to see, and the paper: a white <rect>, or any white shape that
    fills the page, without stroke. If that leaves nothing, unpainted shapes count after all. Text and images are
    ignored. Units are those of the page's viewBox, however large it is shown (but for preserveAspectRatio="none",
    which stretches it).
    """
    name = "the SVG" if isinstance(source, bytes) else str(source)
    data = source if isinstance(source, bytes) else read_bytes(source, MAX_BYTES)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by its size
            return _draw(parse_svg(data))
    except UserError as error:
        raise UserError(f"{name}: {error}") from error


@dataclass(frozen=True)
class _Shape:
    outline: Outline  # on the page
    part: str
    painted: bool


@dataclass(frozen=True)
class _Place:
    """Where and how a node is drawn."""

    matrix: Doubles  # (3, 3), to the page
    style: dict[str, str]  # what is inherited
    width: float  # of the viewport, for percentages
    height: float
    page: Doubles = field(default_factory=lambda: np.zeros((2, 2)))  # its corners
    depth: int = 0


def _draw(page: Page) -> Sketch:
    shapes = _Walk(page).shapes()
    shapes = [shape for shape in shapes if shape.painted] or shapes
    if not shapes:
        raise UserError("nothing is drawn in it: it needs a path, line or shape (text and images are not read)")
    outline = join([shape.outline for shape in shapes])
    corners = np.concatenate([outline.starts, outline.cubics.reshape(-1, 2)])
    reach, side = float(np.abs(corners).max()), float(np.ptp(corners, axis=0).max())
    if not reach <= MAX_SIZE:
        raise UserError(f"a point lies beyond {MAX_SIZE:,.0f} px: scale the drawing down")
    points, lengths = flatten(outline, side * FLATNESS)
    if reach > FAR and side and np.abs(points.astype(np.float32) - points).max() > side * SLACK:
        raise UserError(f"it is {side:.3g} px large and lies {reach:.3g} px from 0, too far: move it nearer to 0")
    parts = tuple(shape.part for shape in shapes for _ in shape.outline.counts)
    about = {name: page.root.attributes.get(f"data-{name}", "") for name in ("category", "key")}
    return Sketch(points.astype(np.float32), lengths, parts=parts if any(parts) else (), **about)


class _Walk:
    """Through all that is drawn, in document order, <use> followed."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._shapes: list[_Shape] = []
        self._visited = self._points = 0

    def shapes(self) -> list[_Shape]:
        self._visit(self._page.root, _Place(np.eye(3), INHERITED, *PAGE))
        return self._shapes

    def _visit(self, node: Node, place: _Place, symbol: Node | None = None) -> None:
        """Draw a node. `symbol` is the <use> that called it, the only way to see a <symbol>."""
        self._visited += 1
        if self._visited > MAX_ELEMENTS:
            raise UserError(f"it draws more than {MAX_ELEMENTS:,} elements: simplify it, use fewer <use>")
        if place.depth > MAX_DEPTH:
            raise UserError(f"it is nested more than {MAX_DEPTH} deep, or a <use> draws itself: ungroup it")
        own = self._page.style(node)
        if node.tag not in DRAWN or own.get("display") == "none" or not shows(own.get("opacity", "1")):
            return
        place = replace(
            place,
            matrix=place.matrix @ _own_matrix(node, own, place),
            style={name: own.get(name, place.style[name]) for name in INHERITED},
            depth=place.depth + 1,
        )
        if node.tag == "svg" or (node.tag == "symbol" and symbol is not None):
            inside = _viewport(node, place, symbol.attributes if symbol else {})
            if inside is not None:
                self._visit_all(node.children, inside)
        elif node.tag in ("g", "a", "switch"):
            self._visit_all(node.children, place)
        elif node.tag == "use":
            target = self._page.by_id.get(node.attributes.get("href", "")[1:])
            if target is not None:
                x, y = (length(node.attributes.get(a, "0"), w, a) for a, w in _axes("x", "y", place))
                self._visit(target, replace(place, matrix=place.matrix @ _shift_scale(x, y)), node)
        elif node.tag in SHAPES and place.style["visibility"] == "visible":
            self._add(node, place)

    def _visit_all(self, nodes: list[Node], place: _Place) -> None:
        for node in nodes:
            self._visit(node, place)

    def _add(self, node: Node, place: _Place) -> None:
        if node.outline is not None:
            outline = node.outline
        else:
            outline = _outline(node, place)
            if node.tag in ("path", "polyline", "polygon"):  # the long ones; they know no percentages
                node.outline = outline
        self._points += len(outline.starts) + len(outline.cubics)
        if self._points > MAX_POINTS_READ:
            raise UserError(f"it has more than {MAX_POINTS_READ:,} points: simplify it in a drawing program")
        if len(outline.starts):
            outline = outline.moved(place.matrix[:2])
            self._shapes.append(_Shape(outline, place.style["data-part"], _painted(node, outline, place)))


def _painted(node: Node, outline: Outline, place: _Place) -> bool:
    """Whether a shape is seen; `outline` is on the page."""
    style = place.style
    if shows(style["stroke-opacity"]) and shows(style["stroke-width"]) and paint(style["stroke"]) != "none":
        return True
    fill = paint(style["fill"]) if shows(style["fill-opacity"]) else "none"
    if fill == "white":
        return node.tag != "rect" and not outline.fills(place.page, float(np.ptp(place.page, axis=0).max()) * SLACK)
    return fill != "none"


def _viewport(node: Node, place: _Place, use: dict[str, str]) -> _Place | None:
    """Inside an <svg> or <symbol>: its position, size, viewBox and aspect ratio. None: it has no area."""
    own, is_page = node.attributes, place.depth == 1
    box = numbers(own.get("viewBox", ""), "viewBox")
    if box and len(box) != 4:
        raise UserError(f"its viewBox has {len(box)} numbers, it needs 4: x y width height")
    sizes = []
    for index, (name, whole) in enumerate(_axes("width", "height", place)):
        text = _given(use, name) or _given(own, name) or "100%"
        if is_page and box and not is_length(text):
            text, whole = "100%", box[2 + index]  # a page as large as its viewBox: units stay as they are
        sizes.append(length(text, whole, name))
    if max(*sizes, *box, 0) > MAX_SIZE:
        raise UserError(f"its size is beyond {MAX_SIZE:,.0f} px: scale the drawing down")
    if min(*sizes, *box[2:]) <= 0:
        return None
    x, y = (0.0, 0.0) if is_page else (length(own.get(a, "0"), w, a) for a, w in _axes("x", "y", place))
    if not box:
        return _inside(place, _shift_scale(x, y), [0.0, 0.0, *sizes])
    scale = [sizes[0] / box[2], sizes[1] / box[3]]
    align, _, meet = own.get("preserveAspectRatio", "xMidYMid meet").strip().partition(" ")
    if align != "none":  # the page's own size is how large it is shown: units stay those of its viewBox
        scale = [1.0 if is_page else max(scale) if meet.strip() == "slice" else min(scale)] * 2
    if not is_page:
        shares = [_share(align, "xMin", "xMax"), _share(align, "YMin", "YMax")]
        x += (sizes[0] - box[2] * scale[0]) * shares[0] - box[0] * scale[0]
        y += (sizes[1] - box[3] * scale[1]) * shares[1] - box[1] * scale[1]
    return _inside(place, _shift_scale(x, y, *scale), box)


def _inside(place: _Place, matrix: Doubles, box: list[float]) -> _Place:
    """In a viewport that shows this box: x, y, width, height."""
    matrix, page = place.matrix @ matrix, place.page
    if place.depth == 1:
        page = np.array([box[:2], np.add(box[:2], box[2:])]) @ matrix[:2, :2].T + matrix[:2, 2]
    return replace(place, matrix=matrix, width=box[2], height=box[3], page=page)


def _share(align: str, low: str, high: str) -> float:
    """How much of the spare room lies before the drawing."""
    return 0.0 if low in align else 1.0 if high in align else 0.5


def _outline(node: Node, place: _Place) -> Outline:
    """The geometry of a shape element, in its own units."""
    own, pen = node.attributes, Pen()

    def axes(x: str, y: str, default: str = "0") -> list[float]:
        return [length(_given(own, name) or default, whole, name) for name, whole in _axes(x, y, place)]

    if node.tag == "path":
        data = own.get("d", "").strip()
        return path_outline("" if data == "none" else data)
    if node.tag in ("polyline", "polygon"):
        values = numbers(own.get("points", ""), "points")
        if len(values) % 2:
            raise UserError(f"a <{node.tag}> has {len(values)} numbers, an odd one: a y is missing")
        for index, corner in enumerate(zip(values[::2], values[1::2], strict=True)):
            (pen.line if index else pen.move)(*corner)
        if values and (node.tag == "polygon" or len(values) == 2):
            pen.close()
    elif node.tag == "line":
        pen.move(*axes("x1", "y1"))
        pen.line(*axes("x2", "y2"))
    elif node.tag == "rect":
        pen.rect(*axes("x", "y"), *axes("width", "height"), *axes("rx", "ry", "-1"))
    else:
        diagonal = math.hypot(place.width, place.height) / math.sqrt(2)
        radius = length(own.get("r", "0"), diagonal, "r")
        pen.ellipse(*axes("cx", "cy"), *([radius, radius] if node.tag == "circle" else axes("rx", "ry", "-1")))
    return pen.outline()


def _axes(x: str, y: str, place: _Place) -> tuple[tuple[str, float], tuple[str, float]]:
    return (x, place.width), (y, place.height)


def _given(attributes: dict[str, str], name: str) -> str:
    """Empty if it is left to the reader."""
    text = attributes.get(name, "")
    return "" if name in ("width", "height", "rx", "ry") and text.strip().lower() == "auto" else text


def _own_matrix(node: Node, own: dict[str, str], place: _Place) -> Doubles:
    """The transform of a node about its origin, inside `place`."""
    if node.matrix is None:
        node.matrix = np.vstack([transform(own.get("transform", "")), [0, 0, 1]])
    box, origin = own.get("transform-box", "view-box"), own.get("transform-origin", "0 0")
    if (box, origin) == ("view-box", "0 0") or place.depth == 0 or (node.matrix[:2, :2] == np.eye(2)).all():
        return node.matrix  # that of the page would only shift the drawing as a whole
    if box != "view-box":
        raise UserError(f"transform-box {box[:20]!r} cannot be read: save the drawing again as plain SVG")
    x, y = transform_origin(origin, place.width, place.height)
    return _shift_scale(x, y) @ node.matrix @ _shift_scale(-x, -y)


def _shift_scale(x: float, y: float, scale_x: float = 1.0, scale_y: float = 1.0) -> Doubles:
    return np.array([[scale_x, 0, x], [0, scale_y, y], [0, 0, 1]])
