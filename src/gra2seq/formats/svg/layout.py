"""Which shapes of a document are drawn, where and how: groups, <use>, transforms, viewports and styles followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.svg.affine import IDENTITY, Affine, apply, compose, parse_transform, shift
from gra2seq.formats.svg.elements import DRAWN, MAX_DEPTH, MAX_ELEMENTS, SHAPES, Element, Page
from gra2seq.formats.svg.geometry import (
    TOO_MANY_POINTS,
    Outline,
    OutlinePen,
    Span,
    is_covering_rectangle,
)
from gra2seq.formats.svg.shapes import draw_shape, given
from gra2seq.formats.svg.stylesheet import INHERITED, Declarations
from gra2seq.formats.svg.values import (
    fraction,
    is_length,
    is_visible,
    length,
    numbers,
    paint,
    transform_origin,
)
from gra2seq.sketch.strokes import MAX_POINTS_READ, Doubles

MAX_SIZE = 1e12  # px; a page or a point beyond this is taken for an attack or a mistake; maps are within it
PAGE_SIZE = (300.0, 150.0)  # px, of an SVG without size (CSS 2.1, 10.3.2)
SLACK = 1 / 1000  # of the longer side: an error that is not visible
BATCH = 1 << 14  # points worked out at a time
MAX_RECTANGLE = 100  # segments of a shape that may be a rectangle
ANY_VIEWPORT = (0.0, 0.0)  # key of an outline without percentages

Size = tuple[float, float]


@dataclass(frozen=True, eq=False, slots=True)
class UseInstance:
    """One place where a <use> draws its target; `within` is the <use> whose target holds this one."""

    use: Element
    target: Element
    shift: tuple[float, float]  # its x and y
    within: UseInstance | None


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """A shape as it is drawn."""

    element: Element
    span: Span  # of its outline, in its own units
    matrix: Affine  # to the page
    style: Declarations  # inherited
    opacity: float  # of the shape and all groups around it
    viewport: Size
    instance: UseInstance | None
    stroked: bool
    filled: bool
    background: bool = False


class Place(NamedTuple):
    """Where and how an element is drawn."""

    matrix: Affine  # to the page
    style: Declarations  # inherited
    viewport: Size  # width and height, for percentages
    opacity: float = 1.0
    depth: int = 0
    instance: UseInstance | None = None


class Layout:
    """All visible shapes of a page in document order."""

    def __init__(self, page: Page) -> None:
        self.shapes: list[Shape] = []
        self.skipped: Counter[str] = Counter()  # what is not read: "text", "image", "hidden"
        self.root_matrix = IDENTITY  # from the user units of the root to the page
        self._corners = ((0.0, 0.0), (0.0, 0.0))  # of the page
        self.page = page
        self._pen = OutlinePen()
        self._visited = self._points = 0
        self._visit(page.root, Place(IDENTITY, INHERITED, PAGE_SIZE))
        self.outline = self._pen.outline()  # of all shapes, each in its own units
        with np.errstate(over="ignore", invalid="ignore"):
            self._mark_backdrop()

    def on_page(self, shapes: Sequence[Shape]) -> Outline:
        """The outlines of some shapes on the page."""
        kinds = np.concatenate([self.outline.kinds[shape.span.first : shape.span.last] for shape in shapes])
        spans = [shape.span for shape in shapes]
        points = np.concatenate([self.outline.points[span.first_point : span.last_point] for span in spans])
        if len(shapes) == 1:
            a, b, c, d, e, f = shapes[0].matrix
        else:
            sizes = [span.last_point - span.first_point for span in spans]
            a, b, c, d, e, f = np.repeat(np.array([shape.matrix for shape in shapes]), sizes, axis=0).T
        x = points[:, 0] * a + points[:, 1] * c + e
        points[:, 1] = points[:, 0] * b + points[:, 1] * d + f
        points[:, 0] = x
        return Outline(kinds, points)

    def extent(self, shapes: Sequence[Shape]) -> tuple[Doubles, Doubles]:
        """The smallest and the largest x and y of all points and controls of some shapes, on the page."""
        corners = [
            (points.min(axis=0), points.max(axis=0))
            for points in (self.on_page(some).points for some in batches(shapes))
        ]
        return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)

    def stroke_count(self, shape: Shape) -> int:
        """How many strokes a shape is drawn by: one for each subpath."""
        kinds = self.outline.kinds[shape.span.first : shape.span.last]
        return len(kinds) - int(np.count_nonzero(kinds))

    def _visit(self, element: Element, place: Place, use: Element | None = None) -> None:
        """Draw an element. `use` is the <use> that refers to it, the only way to see a <symbol>."""
        self._visited += 1
        if self._visited > MAX_ELEMENTS:
            raise UserError(f"it draws more than {MAX_ELEMENTS:,} elements: simplify it, use fewer <use>")
        if place.depth > MAX_DEPTH:
            raise UserError(f"it is nested more than {MAX_DEPTH} deep, or a <use> draws itself: ungroup it")
        own, tag = self.page.style(element), element.tag
        if tag not in DRAWN or own.get("display") == "none" or not is_visible(own.get("opacity", "1")):
            self._skip(element)
            return
        place = _place(element, own, place)
        if tag in SHAPES:
            if place.style["visibility"] == "visible":
                self._add(element, place)
            else:
                self.skipped["hidden"] += 1
        elif tag == "use":
            self._follow(element, place)
        elif tag == "svg" or (tag == "symbol" and use is not None):
            inside = self._viewport(element, place, use.attributes if use else {})
            for child in element.children if inside else ():
                self._visit(child, inside or place)
        elif tag != "symbol":
            for child in element.children:
                self._visit(child, place)

    def _follow(self, use: Element, place: Place) -> None:
        target = self.page.by_id.get(use.attributes.get("href", "")[1:])
        if target is None:
            return
        x, y = (length(use.attributes.get(a, "0"), w, a) for a, w in zip("xy", place.viewport, strict=True))
        moved = compose(place.matrix, shift(x, y)) if x or y else place.matrix
        self._visit(
            target, place._replace(matrix=moved, instance=UseInstance(use, target, (x, y), place.instance)), use
        )

    def _skip(self, element: Element) -> None:
        if element.tag in ("text", "image"):
            self.skipped[element.tag] += 1
        elif element.tag in DRAWN and element.tag != "symbol":
            self.skipped["hidden"] += 1

    def _add(self, element: Element, place: Place) -> None:
        span = self._span(element, place.viewport)
        self._points += span.last - span.first
        if self._points > MAX_POINTS_READ:
            raise UserError(TOO_MANY_POINTS)
        if span.first == span.last:
            return
        style = place.style
        stroked = paint(style["stroke"]) != "none" and is_visible(style["stroke-width"])
        stroked = stroked and is_visible(style["stroke-opacity"])
        fill = paint(style["fill"]) if is_visible(style["fill-opacity"]) else "none"
        background = fill != "none" and (not stroked or not self.shapes) and self._covers_page(span, place.matrix)
        background = background or (fill == "white" and not stroked and element.tag == "rect")
        self.shapes.append(
            Shape(element, span, place.matrix, style, place.opacity, place.viewport, place.instance,
                  stroked, fill != "none", background)
        )  # fmt: skip

    def _span(self, element: Element, viewport: Size) -> Span:
        """The outline of a shape, drawn once for each viewport that its percentages may refer to."""
        if element.tag in ("path", "polyline", "polygon"):
            viewport = ANY_VIEWPORT
        if element.spans is None:
            element.spans = {}
        elif viewport in element.spans:
            return element.spans[viewport]
        draw_shape(element, viewport, self._pen)
        span = element.spans[viewport] = self._pen.take()
        return span

    def _covers_page(self, span: Span, matrix: Affine) -> bool:
        """Whether an outline is a rectangle that covers the whole page."""
        if not 4 <= span.last - span.first <= MAX_RECTANGLE:
            return False
        kinds, points = self._pen.drawn(span)
        a, b, c, d, e, f = matrix
        points = [(a * x + c * y + e, b * x + d * y + f) for x, y in points]
        (left, top), (right, bottom) = self._corners
        slack = max(right - left, bottom - top) * SLACK
        return is_covering_rectangle(kinds, points, (left, top), (right, bottom), slack)

    def _mark_backdrop(self) -> None:
        """A filled <rect> without stroke below all that is drawn is background, though smaller than the page."""
        first = self.shapes[0] if len(self.shapes) > 1 else None
        if first is None or first.stroked or first.background or not first.filled or first.element.tag != "rect":
            return
        kinds = self.outline.kinds[first.span.first : first.span.last]
        points = [(x, y) for x, y in self.on_page([first]).points.tolist()]
        low, high = self.extent(self.shapes[1:])
        if is_covering_rectangle(kinds.tobytes(), points, (low[0], low[1]), (high[0], high[1]), 0.0):
            self.shapes[0] = replace(first, background=True)

    def _viewport(self, element: Element, place: Place, use: dict[str, str]) -> Place | None:
        """Inside an <svg> or <symbol>: its position, size, viewBox and aspect ratio. None: it has no area."""
        own, is_page = element.attributes, place.depth == 1
        box = numbers(own.get("viewBox", ""), "viewBox")
        if box and len(box) != 4:
            raise UserError(f"its viewBox has {len(box)} numbers, it needs 4: x y width height")
        sizes = []
        for index, name in enumerate(("width", "height")):
            text, whole = given(use, name) or given(own, name) or "100%", place.viewport[index]
            if is_page and box and not is_length(text):
                text, whole = "100%", box[2 + index]  # a page as large as its viewBox: units stay as they are
            sizes.append(length(text, whole, name))
        if max(*sizes, *box, 0) > MAX_SIZE:
            raise UserError(f"its size is beyond {MAX_SIZE:,.0f} px: scale the drawing down")
        if min(*sizes, *box[2:]) <= 0:
            return None
        x, y = (
            (0.0, 0.0)
            if is_page
            else (length(own.get(a, "0"), w, a) for a, w in zip("xy", place.viewport, strict=True))
        )
        inner = shift(x, y)
        if box:
            align = own.get("preserveAspectRatio", "xMidYMid meet")
            inner = _fit(box, sizes, align, (x, y), is_page)
        box = box or [0.0, 0.0, *sizes]
        matrix = compose(place.matrix, inner)
        if is_page:
            self.root_matrix = matrix
            corners = apply(matrix, np.array([box[:2], np.add(box[:2], box[2:])]))
            (left, top), (right, bottom) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
            self._corners = (left, top), (right, bottom)
        return place._replace(matrix=matrix, viewport=(box[2], box[3]))


def batches(shapes: Sequence[Shape]) -> Iterator[list[Shape]]:
    """The shapes in groups of about BATCH points, so that temporary arrays stay small."""
    batch: list[Shape] = []
    count = 0
    for shape in shapes:
        batch.append(shape)
        count += shape.span.last_point - shape.span.first_point
        if count >= BATCH:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def _place(element: Element, own: Declarations, place: Place) -> Place:
    """The place of an element inside that of its parent."""
    matrix, style, viewport, opacity, depth, instance = place
    if own:
        if element.matrix is None:
            element.matrix = parse_transform(own.get("transform", ""))
        if element.matrix is not IDENTITY:
            matrix = compose(matrix, _about_origin(element.matrix, own, place))
        inherited = {name: value for name, value in own.items() if name in INHERITED}
        if inherited:
            style = style | inherited
        if "opacity" in own:
            opacity *= fraction(own["opacity"])
    return Place(matrix, style, viewport, opacity, depth + 1, instance)


def _about_origin(matrix: Affine, own: Declarations, place: Place) -> Affine:
    """The transform of an element about its transform-origin."""
    box, origin = own.get("transform-box", "view-box"), own.get("transform-origin", "0 0")
    if (box, origin) == ("view-box", "0 0") or place.depth == 0 or matrix[:4] == IDENTITY[:4]:
        return matrix  # that of the page would only shift the drawing as a whole
    if box != "view-box":
        raise UserError(f"transform-box {box[:20]!r} cannot be read: save the drawing again as plain SVG")
    x, y = transform_origin(origin, *place.viewport)
    return compose(shift(x, y), compose(matrix, shift(-x, -y)))


def _fit(box: list[float], sizes: list[float], ratio: str, at: tuple[float, float], is_page: bool) -> Affine:
    """From a viewBox to a viewport at `at`. The page's own size is how large it is shown: its units stay."""
    align, _, meet = ratio.strip().partition(" ")
    scale = [sizes[0] / box[2], sizes[1] / box[3]]
    if align != "none":
        scale = [1.0 if is_page else max(scale) if meet.strip() == "slice" else min(scale)] * 2
    x, y = at
    if not is_page:
        x += (sizes[0] - box[2] * scale[0]) * _share(align, "xMin", "xMax") - box[0] * scale[0]
        y += (sizes[1] - box[3] * scale[1]) * _share(align, "YMin", "YMax") - box[1] * scale[1]
    return (scale[0], 0.0, 0.0, scale[1], x, y)


def _share(align: str, low: str, high: str) -> float:
    """How much of the spare room lies before the drawing."""
    return 0.0 if low in align else 1.0 if high in align else 0.5
