"""A user's SVG document: its lines are cut, continued or replaced, and everything else stays byte for byte.

An edit gives a new document. Points, regions and widths are in the units of the root's viewBox, as those of
`read_svg` are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from gra2seq.errors import UserError
from gra2seq.formats.svg import splitting
from gra2seq.formats.svg.affine import Affine, apply, invert, scale_of
from gra2seq.formats.svg.bezier_fit import TOLERANCE, decimals, line_data
from gra2seq.formats.svg.centre_lines import Band
from gra2seq.formats.svg.editing import Editor, prefixed
from gra2seq.formats.svg.elements import parse_svg
from gra2seq.formats.svg.layout import Layout, Shape
from gra2seq.formats.svg.line_style import NEAR, LineStyle, most_common, style_at_ends, style_nearby, style_of
from gra2seq.formats.svg.reader import MAX_BYTES, NOTHING, drawn_shapes, to_sketch
from gra2seq.formats.svg.region import Region
from gra2seq.formats.svg.shapes import draw_shape
from gra2seq.formats.svg.source import Edit, Source
from gra2seq.formats.svg.values import is_length, length, numbers
from gra2seq.sketch.region import Box
from gra2seq.sketch.strokes import Doubles, Sketch
from gra2seq.system.input_files import read_bytes

HEALED = "gra2seq-healed"  # class of the group of new lines


@dataclass(frozen=True)
class DrawnElement:
    """A shape of the document and the strokes of the sketch that it is."""

    tag: str
    id: str
    strokes: range
    matrix: Affine  # from its own units to those of the sketch
    style: LineStyle
    stroked: bool
    filled: bool


class SvgDocument:
    """An SVG file as its author wrote it, with the drawing that it shows."""

    def __init__(self, source: Source, default_style: LineStyle | None = None) -> None:
        self._source = source
        self._page = parse_svg(source.data, "utf-8")
        self._layout = Layout(self._page)
        self._shapes = drawn_shapes(self._layout)
        self._default = default_style

    @classmethod
    def read(cls, source: str | Path | bytes) -> SvgDocument:
        """From a file, or from the text (it contains "<svg") or bytes of one."""
        name = str(source) if isinstance(source, Path) else "the SVG"
        if isinstance(source, str) and "<" not in source:
            name = source
        try:
            if isinstance(source, bytes):
                return cls(Source.decode(source))
            if isinstance(source, str) and "<" in source:
                return cls(Source(source.removeprefix("\ufeff").encode(errors="replace")))
        except UserError as error:
            raise UserError(f"{name}: {error}") from error
        data = read_bytes(source, MAX_BYTES)
        try:
            return cls(Source.decode(data))
        except UserError as error:
            raise UserError(f"{name}: {error}") from error

    def text(self) -> str:
        """The document. Line ends are as they were: write it with newline="", or write `to_bytes`."""
        return self._source.data.decode()

    def to_bytes(self) -> bytes:
        """The document in the encoding it was read in."""
        return self._source.encode()

    @cached_property
    def sketch(self) -> Sketch:
        """The drawing, as `read_svg` reads it."""
        return self._drawn[0]

    @cached_property
    def _drawn(self) -> tuple[Sketch, list[int], dict[int, Band]]:
        """The drawing, how many strokes each of its shapes has, and which are lines drawn by their outlines."""
        if not self._shapes:
            raise UserError(NOTHING)
        return to_sketch(self._layout, self._shapes)

    @cached_property
    def elements(self) -> list[DrawnElement]:
        """The shapes that the strokes of the sketch come from, in their order."""
        found: list[DrawnElement] = []
        first = 0
        if not self._shapes:
            return found
        _, counts, bands = self._drawn
        for number, (shape, count) in enumerate(zip(self._shapes, counts, strict=True)):
            element = shape.element
            effect = self._layout.page.style(element).get("vector-effect", "")
            style = style_of(shape, effect, self._layout.root_matrix, self._side)
            if number in bands:
                style = replace(style, width=bands[number].width / (scale_of(self._layout.root_matrix) or 1.0))
            strokes = range(first, first + count)
            name = element.attributes.get("id", "")
            found.append(DrawnElement(element.tag, name, strokes, shape.matrix, style, shape.stroked, shape.filled))
            first += count
        return found

    @cached_property
    def styles(self) -> list[LineStyle]:
        """The style of each stroke of the sketch."""
        return [element.style for element in self.elements for _ in element.strokes]

    @cached_property
    def uncut(self) -> set[int]:
        """Numbers of the strokes that `cut` leaves whole: those of fillings."""
        return {
            number for element in self.elements if element.filled and not element.stroked for number in element.strokes
        }

    @property
    def page(self) -> Box | None:
        """x, y, width and height of the page: its viewBox, or its size; None where it has neither."""
        own = self._page.root.attributes
        box = numbers(own.get("viewBox", ""), "viewBox")
        if len(box) == 4:
            return box[0], box[1], box[2], box[3]
        sizes = [length(own[name], 0.0, name) for name in ("width", "height") if is_length(own.get(name, ""))]
        return (0.0, 0.0, sizes[0], sizes[1]) if len(sizes) == 2 else None

    @cached_property
    def notes(self) -> list[str]:
        """What the user should know about how the document is read."""
        bands = len(self._drawn[2]) if self._shapes else 0
        fills = sum(shape.filled and not shape.stroked for shape in self._shapes) - bands
        skipped, notes = self._layout.skipped, []
        if fills == 1:
            notes.append("1 filled shape has no stroke: its outline is read as lines")
        elif fills:
            notes.append(f"{fills} filled shapes have no stroke: their outlines are read as lines")
        if bands == 1:
            notes.append("1 filled shape is a line drawn by its outline: its centre line is read")
        elif bands:
            notes.append(f"{bands} filled shapes are lines drawn by their outlines: their centre lines are read")
        if kinds := [name for name, tag in (("text", "text"), ("images", "image")) if skipped[tag]]:
            notes.append(f"{' and '.join(kinds)} {'is' if kinds == ['text'] else 'are'} left alone")
        if skipped["hidden"]:
            notes.append("hidden layers stay hidden")
        if any(shape.background for shape in self._layout.shapes) and not any(s.background for s in self._shapes):
            notes.append("a background rectangle is not a drawn line")
        return notes

    def cut(self, region: Sequence[ArrayLike]) -> SvgDocument:
        """Without the lines inside a region: the union of polygons, each an array (n, 2), filled even-odd.

        A line that crosses the border is split there; outside it keeps its exact curve and all attributes. An element
        wholly inside is removed. Fillings, text and images stay.
        """
        area = Region(region)
        editor = Editor(self._source, self._layout)
        for shape in self._lines():
            low, high = self._layout.extent([shape])
            if not area.may_touch(*low.tolist(), *high.tolist()):
                continue
            pen = splitting.SegmentPen()
            draw_shape(shape.element, shape.viewport, pen)
            kept = splitting.cut(pen.subpaths, shape.matrix, area)
            if kept:
                editor.redraw(shape, "".join(subpath.text() for subpath in kept))
            elif kept is not None:
                editor.remove(shape)
        return self._edited(editor.edits())

    def add_healed(self, strokes: Sketch | Iterable[ArrayLike], curves: bool = True) -> SvgDocument:
        """With new lines as the last group of the page, <g class="gra2seq-healed">: smooth `curves` or polylines.

        Each has the style of the line with the nearest end, which it continues, or the most common style.
        """
        lines = _polylines(strokes)
        styles = [self._continued(line) for line in lines]
        return self._edited(self._group(HEALED, lines, styles, curves))

    def replace_strokes(self, strokes: Sketch | Iterable[ArrayLike], curves: bool = True) -> SvgDocument:
        """With new lines, <g class="gra2seq-redrawn">, in place of all drawn ones, each in the style of those nearby.

        The page, fillings, text, images and the background stay. If no line of the document has a stroke, its
        filled shapes are the drawing, and are replaced.
        """
        lines = _polylines(strokes)
        editor = Editor(self._source, self._layout)
        drawn = self._lines()
        for shape in drawn or self._shapes:
            if drawn:
                editor.remove_stroke(shape)
            else:
                editor.remove(shape)
        styles = [self._default_style] * len(lines)
        if self._shapes:
            owner = np.repeat(np.arange(len(self.styles)), self.sketch.lengths)
            styles = [style_nearby(line, self.sketch.points, owner, self.styles) for line in lines]
        group = self._group("gra2seq-redrawn", lines, styles, curves)
        return self._edited([*editor.edits(), *group])

    def _lines(self) -> list[Shape]:
        """The shapes that are lines; those without any paint are, where nothing else is drawn."""
        return [shape for shape in self._shapes if shape.stroked or not shape.filled]

    @cached_property
    def _side(self) -> float:
        """The longer side of the drawing."""
        if not self._shapes:
            return 0.0
        low, high = self._layout.extent(self._shapes)
        return float((high - low).max())

    @cached_property
    def _default_style(self) -> LineStyle:
        stroked = [element.style for element in self.elements if element.stroked for _ in element.strokes]
        return most_common(stroked) or most_common(self.styles) or self._default or LineStyle()

    @cached_property
    def _ends(self) -> Doubles:
        """The first and the last point of each stroke, (2 S, 2)."""
        points, starts = self.sketch.points.astype(np.float64), self.sketch.starts
        return np.stack([points[starts], points[starts + self.sketch.lengths - 1]], axis=1).reshape(-1, 2)

    def _continued(self, line: Doubles) -> LineStyle:
        """The style of the line that a new one continues."""
        if not self._shapes:
            return self._default_style
        side = max(self._side, float(np.ptp(line, axis=0).max()))
        return style_at_ends(line, self._ends, self.styles, side * NEAR) or self._default_style

    def _edited(self, edits: Sequence[Edit]) -> SvgDocument:
        return SvgDocument(self._source.edited(edits), self._default_style) if edits else self

    def _group(self, name: str, lines: list[Doubles], styles: list[LineStyle], curves: bool) -> list[Edit]:
        """New lines as the last child of the root."""
        if not lines:
            return []
        back = invert(self._layout.root_matrix)
        if back is None:
            raise UserError("its page is transformed to a line or a point: remove the transform of its <svg>")
        lines = [apply(back, line) for line in lines]
        side = max(self._side * scale_of(back), float(np.ptp(np.concatenate(lines), axis=0).max())) or 1.0
        tolerance = side * TOLERANCE if curves else 0
        ruled = bool(self._layout.page.sheet.rules)
        shared = styles[0].attributes() if len(set(styles)) == 1 and not ruled else {}
        rows = [f"<g class={quoteattr(name)}{self._attributes(shared)}>"]
        for line, style in zip(lines, styles, strict=True):
            own = {} if shared else style.attributes()
            rows.append(f'<path d="{line_data(line, tolerance, decimals(side))}"{self._attributes(own)}/>')
        return [self._last_child([*rows, "</g>"])]

    def _attributes(self, values: dict[str, str]) -> str:
        """As attributes, or as one `style` where rules of a style sheet would overrule attributes."""
        if values and self._layout.page.sheet.rules:
            return f" style={quoteattr(';'.join(f'{name}:{value}' for name, value in values.items()))}"
        return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())

    def _last_child(self, rows: Sequence[str]) -> Edit:
        source, root = self._source, self._layout.page.root
        tag = source.tag(root)
        if tag.endswith(b"/>"):
            name = tag[1:].split()[0].removesuffix(b"/>")
            text = prefixed("".join(rows).encode(), tag)
            return Edit(root.start, root.start + len(tag), tag[:-2] + b">" + text + b"</" + name + b">")
        line = source.data.rfind(b"\n", 0, root.end) + 1
        own_line = line > root.start and not source.data[line : root.end].strip()
        end = source.newline if own_line else b""
        text = prefixed(end.join(row.encode() for row in rows) + end, tag)
        place = line if own_line else root.end
        return Edit(place, place, text)


def _polylines(strokes: Sketch | Iterable[ArrayLike]) -> list[Doubles]:
    every: Iterable[ArrayLike] = strokes.strokes if isinstance(strokes, Sketch) else strokes
    lines = [np.asarray(line, np.float64) for line in every]
    for line in lines:
        if line.ndim != 2 or line.shape[1] != 2 or not np.isfinite(line).all():
            raise UserError(f"a new line needs finite points (x, y), not an array of shape {line.shape}")
    return [line for line in lines if len(line)]
