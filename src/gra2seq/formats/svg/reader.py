"""Reading an SVG drawing: every drawn subpath becomes a stroke, in document order, flattened but not simplified.

Elements, nesting and points are bounded, and so are time and memory (SECURITY.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.svg.centre_lines import Band, find_bands
from gra2seq.formats.svg.elements import parse_svg
from gra2seq.formats.svg.geometry import TOO_MANY_POINTS, flatten
from gra2seq.formats.svg.layout import MAX_SIZE, SLACK, Layout, Shape, batches
from gra2seq.sketch.strokes import MAX_POINTS_READ, Doubles, Floats, Ints, Sketch
from gra2seq.system.input_files import read_bytes

MAX_BYTES = 50_000_000
FAR = 1e6  # px; beyond this from 0, single precision may be too coarse for a small drawing
FLATNESS = 1 / 5000  # largest distance of a polyline from its curve, of the drawing's longer side

NOTHING = "nothing is drawn in it: it needs a path, line or shape (text and images are not read)"


def read_svg(source: str | Path | bytes) -> Sketch:
    """The drawing in an SVG file, or in its bytes.

    What a browser would not show is left out: display none, hidden, opacity 0, inside <defs>, <symbol>, <clipPath>
    and the like, and a shape with neither fill nor stroke to see. So is the background: a filled rectangle that
    covers the page, or a white <rect>, without stroke. If that leaves nothing, such shapes count after all. Text and
    images are ignored. Units are those of the page's viewBox, however large it is shown (but for
    preserveAspectRatio="none", which stretches it).
    """
    name = "the SVG" if isinstance(source, bytes) else str(source)
    data = source if isinstance(source, bytes) else read_bytes(source, MAX_BYTES)
    try:
        layout = Layout(parse_svg(data))
        shapes = drawn_shapes(layout)
        if not shapes:
            raise UserError(NOTHING)
        return to_sketch(layout, shapes)[0]
    except UserError as error:
        raise UserError(f"{name}: {error}") from error


def drawn_shapes(layout: Layout) -> list[Shape]:
    """The shapes whose outlines are strokes of the drawing."""
    shapes = layout.shapes
    visible = [shape for shape in shapes if (shape.stroked or shape.filled) and not shape.background]
    return visible or shapes


def to_sketch(layout: Layout, shapes: Sequence[Shape]) -> tuple[Sketch, list[int], dict[int, Band]]:
    """The outlines of shapes as strokes, and of a line that is drawn by its outline the centre line.

    Also how many strokes each shape has, and which of them, by number, are such bands.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused by its size
        low, high = layout.extent(shapes)
        reach, side = float(np.abs([low, high]).max()), float((high - low).max())
        if not reach <= MAX_SIZE:
            raise UserError(f"a point lies beyond {MAX_SIZE:,.0f} px: scale the drawing down")
        blocks, lengths = _flatten(layout, shapes, side)
    if reach > FAR and side and not _is_precise(blocks, side):
        raise UserError(f"it is {side:.3g} px large and lies {reach:.3g} px from 0, too far: move it nearer to 0")
    points = np.concatenate([some.astype(np.float32) for some in blocks])
    counts = [layout.stroke_count(shape) for shape in shapes]
    bands = find_bands(shapes, points, lengths, np.array(counts, np.int64))
    if bands:
        points, lengths, counts = _with_centre_lines(points, lengths, counts, bands)
    parts: tuple[str, ...] = ()
    if any(shape.style["data-part"] for shape in shapes):
        parts = tuple(shape.style["data-part"] for shape, own in zip(shapes, counts, strict=True) for _ in range(own))
    about = {name: layout.page.root.attributes.get(f"data-{name}", "") for name in ("category", "key")}
    return Sketch(points, lengths, parts=parts, **about), counts, bands


def _with_centre_lines(
    points: Floats, lengths: Ints, counts: list[int], bands: dict[int, Band]
) -> tuple[Floats, Ints, list[int]]:
    """Points, lengths and counts with centre lines in the place of the outlines of bands."""
    outlines = np.split(points, np.cumsum(lengths)[:-1])
    strokes: list[Doubles | Floats] = []
    changed, first = list(counts), 0
    for number, count in enumerate(counts):
        own = bands[number].lines if number in bands else outlines[first : first + count]
        strokes += own
        changed[number] = len(own)
        first += count
    joined = np.concatenate([stroke.astype(np.float32) for stroke in strokes])
    return joined, np.array([len(stroke) for stroke in strokes], np.int64), changed


def _flatten(layout: Layout, shapes: Sequence[Shape], side: float) -> tuple[list[Doubles | Floats], Ints]:
    """The polylines of the shapes, in blocks; in single precision unless they lie far from 0."""
    blocks: list[Doubles | Floats] = []
    lengths: list[Ints] = []
    total = 0
    for batch in batches(shapes):
        points, some = flatten(layout.on_page(batch), side * FLATNESS)
        total += len(points)
        if total > MAX_POINTS_READ:
            raise UserError(TOO_MANY_POINTS)
        blocks.append(points if np.abs(points).max() > FAR else points.astype(np.float32))
        lengths.append(some)
    return blocks, np.concatenate(lengths)


def _is_precise(blocks: Sequence[Doubles | Floats], side: float) -> bool:
    """Whether single precision keeps the shape of the drawing."""
    return all(float(np.abs(points.astype(np.float32) - points).max()) <= side * SLACK for points in blocks)
