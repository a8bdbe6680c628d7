"""Healing drawings as users have them: an SVG keeps its page, elements and style, other formats their points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from gra2seq.config import DrawingConfig
from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage, lose, missing_end_of
from gra2seq.sketch.distance import dense_points
from gra2seq.sketch.region import Box, Region
from gra2seq.sketch.strokes import Doubles, Sketch

if TYPE_CHECKING:
    from gra2seq.formats.record import Record
    from gra2seq.formats.svg.document import SvgDocument
    from gra2seq.model import Model

REPEATS, REPEATED = 0.02, 0.8  # longer sides, and share of a new line that lies so near to the outline of a filling
MAX_OUTLINE, MAX_LINE = 20_000, 200  # points that are compared
MASK_TOLERANCE = 0.5  # pixels that the outline of a mask picture may be simplified by


@dataclass(frozen=True)
class HealRequest:
    """What is lost of each drawing, in its own units, and how it is healed."""

    lost: Region = field(default_factory=Region)
    frame: Box | None = None
    end_missing: bool = False
    samples: int = 1
    drawing: DrawingConfig = field(default_factory=DrawingConfig)
    curves: bool = True  # new lines of an SVG are smooth curves, or polylines

    @property
    def keeps_lines(self) -> bool:
        """Whether visible lines stay; otherwise all are drawn anew."""
        return bool(self.drawing.keep_lines or self.drawing.infill)

    def damage(self, sketch: Sketch, uncut: Collection[int] = ()) -> Damage:
        """What stays visible of a drawing; the strokes numbered in `uncut` stay whole."""
        if self.end_missing and not self.lost:
            return missing_end_of(sketch, self.frame)
        return lose(sketch, self.lost, self.frame, uncut)


def heal_document(model: Model, document: SvgDocument, request: HealRequest) -> list[SvgDocument]:
    """Healed versions of an SVG document: lost lines are cut off, new ones are added in the style of their neighbours.

    Everything outside of the lost region stays byte for byte, and fillings also inside of it. Without `keep_lines` all
    drawn lines are replaced. The damage is that of the cut document: how a curve becomes points depends on all of it,
    and on the drawing's size.
    """
    cut = document.cut(list(request.lost.rings)) if request.lost else document
    damage = replace(request.damage(cut.sketch, cut.uncut if request.keeps_lines else ()), page=document.page)
    if request.keeps_lines:
        fillings = [damage.normalised(cut.sketch.strokes[number]) for number in sorted(cut.uncut)]
        every = [without_repeats(lines, fillings, damage) for lines in new_lines(model, damage, request)]
        return [cut.add_healed(lines, curves=request.curves) for lines in every]
    healed = model.heal_damages([damage], samples=request.samples, drawing=request.drawing)
    return [cut.replace_strokes(one, curves=request.curves) for one in healed]


def visible_of(path: Path, lost: Region, whole: Sequence[Record]) -> list[Sketch]:
    """The drawings of a file without a lost region. SVG and pictures, in which hidden lines could have a part in how
    curves and pixels become points, are read again without it; `whole` are the drawings as they were read."""
    from gra2seq.formats.files import is_traced, read

    return read(path, lost=lost) if lost and is_traced(path) else [sketch for _, sketch in whole]


def new_lines(model: Model, damage: Damage, request: HealRequest) -> list[list[Doubles]]:
    """For each sample the lines that are added to the visible strokes, in the drawing's units."""
    if request.drawing.infill:
        (chosen,) = model.infills([damage], request.samples, request.drawing)
        return [[damage.denormalised(line) for line in result.lines] for result in chosen]
    kept = len(damage.visible.lengths)
    healed = model.heal_damages([damage], samples=request.samples, drawing=request.drawing)
    return [[stroke.astype(np.float64) for stroke in one.strokes[kept:]] for one in healed]


def without_repeats(lines: Sequence[Doubles], fillings: Sequence[Doubles], damage: Damage) -> list[Doubles]:
    """The new lines without those that run along outlines of fillings in the lost region, which have stayed.

    `lines` are in the drawing's units, `fillings` in frame units.
    """
    outlines = dense_points(fillings)
    region = damage.lost_normalised
    outlines = outlines[region.contains(outlines)]
    outlines = outlines[:: len(outlines) // MAX_OUTLINE + 1]
    if not len(outlines):
        return list(lines)
    kept = []
    for line in lines:
        points = dense_points([damage.normalised(line)])
        points = points[:: len(points) // MAX_LINE + 1]
        away = np.hypot(*(points[:, None] - outlines).transpose(2, 0, 1)).min(axis=1)
        if (away > REPEATS).mean() > 1 - REPEATED:
            kept.append(line)
    return kept


@dataclass(frozen=True)
class Healed:
    """A healed drawing: all of its lines, and apart the visible ones that stayed and the new ones."""

    whole: Sketch
    visible: Sketch | None
    new: Sketch | None


def heal_sketches(
    model: Model, sketches: Sequence[Sketch], requests: Sequence[HealRequest | None]
) -> list[list[Healed]]:
    """The samples of each drawing, healed as its request says; one whose request is None stays as it is.

    All requests must ask for the same number of samples and the same way of drawing.
    """
    samples = next((request.samples for request in requests if request), 1)
    healed = [[Healed(sketch, sketch, None)] * samples for sketch in sketches]
    chosen = [(number, request) for number, request in enumerate(requests) if request is not None]
    if not chosen:
        return healed
    drawing = chosen[0][1].drawing
    damages = [request.damage(sketches[number]) for number, request in chosen]
    drawn = iter(model.heal_damages(damages, samples=samples, drawing=drawing))
    for (number, _), damage in zip(chosen, damages, strict=True):
        visible = damage.visible if drawing.keep_lines or drawing.infill else None
        healed[number] = [_healed(next(drawn), visible) for _ in range(samples)]
    return healed


def _healed(whole: Sketch, visible: Sketch | None) -> Healed:
    """The visible strokes come first in a healed drawing that keeps them."""
    kept = len(visible.lengths) if visible else 0
    new = whole.strokes[kept:]
    return Healed(whole, visible, Sketch.from_polylines(new) if new else None)


def erased_region(path: str | Path, page: Box | Callable[[], Box]) -> Region:
    """A free-form region: the shapes of an SVG in the drawing's units, or the painted part of a picture of the page.

    A picture covers the whole page (found only then, where it is a function); painted is what is opaque or, without
    transparency, darker than the paper.
    """
    path = Path(path)
    if path.suffix.lower() == ".svg":
        from gra2seq.formats.svg.document import SvgDocument

        rings = [stroke for stroke in SvgDocument.read(path).sketch.strokes if len(stroke) > 2]
        if not rings:
            raise UserError(f"{path} has no closed shape: draw the erased region as one")
        return Region.of_polygons(rings)
    from gra2seq.formats.raster import read_mask

    pixels = read_mask(path).astype(np.uint8)
    x, y, width, height = page() if callable(page) else page
    scale = np.array([width / pixels.shape[1], height / pixels.shape[0]])
    outlines, _ = cv2.findContours(pixels, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    rings = [cv2.approxPolyDP(outline, MASK_TOLERANCE, True).reshape(-1, 2) * scale + (x, y) for outline in outlines]
    rings = [ring for ring in rings if len(ring) > 2]
    if not rings:
        raise UserError(f"{path} marks nothing: paint the erased region dark on white, or on a transparent ground")
    return Region.of_polygons(rings)


def check_visible(sketch: Sketch, request: HealRequest, uncut: Collection[int] = ()) -> str:
    """A note on a region that touches no line ("" if it does); one that leaves nothing visible is an error.

    The strokes numbered in `uncut`, outlines of fillings, are never cut.
    """
    visible = request.damage(sketch, uncut).visible
    if request.lost and np.array_equal(visible.points, sketch.points):
        x, y, width, height = sketch.box
        if np.array_equal(request.damage(sketch).visible.points, sketch.points):
            return f"the hole touches no line (the drawing lies at {x:g},{y:g},{width:g},{height:g})"
        return "the hole touches filled shapes only, which are never cut"
    return ""
