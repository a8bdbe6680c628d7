"""Healing drawings as users have them: an SVG keeps its page, elements and style, other formats their points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from gra2seq.config import DrawingConfig
from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage, lose, missing_end_of
from gra2seq.sketch.region import Box, Region
from gra2seq.sketch.strokes import Doubles, Sketch

if TYPE_CHECKING:
    from gra2seq.formats.svg.document import SvgDocument
    from gra2seq.model import Model

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

    def damage(self, sketch: Sketch) -> Damage:
        """What stays visible of a drawing."""
        if self.end_missing and not self.lost:
            return missing_end_of(sketch, self.frame)
        return lose(sketch, self.lost, self.frame)


def heal_document(model: Model, document: SvgDocument, request: HealRequest) -> list[SvgDocument]:
    """Healed versions of an SVG document: lost lines are cut off, new ones are added in the style of their neighbours.

    Everything outside of the lost region stays byte for byte. Without `keep_lines` all drawn lines are replaced.
    """
    damage = request.damage(document.sketch)
    drawing = request.drawing
    if drawing.keep_lines or drawing.infill:
        cut = document.cut(list(request.lost.rings)) if request.lost else document
        return [cut.add_healed(lines, curves=request.curves) for lines in new_lines(model, damage, request)]
    healed = model.heal_damages([damage], samples=request.samples, drawing=drawing)
    return [document.replace_strokes(one, curves=request.curves) for one in healed]


def redraw_document(model: Model, document: SvgDocument, request: HealRequest) -> list[SvgDocument]:
    """The document with all its lines drawn anew, on the same page and in the same style."""
    return heal_document(
        model, document, replace(request, drawing=replace(request.drawing, keep_lines=False, infill=0))
    )


def new_lines(model: Model, damage: Damage, request: HealRequest) -> list[list[Doubles]]:
    """For each sample the lines that are added to the visible strokes, in the drawing's units."""
    if request.drawing.infill:
        (chosen,) = model.infills([damage], request.samples, request.drawing)
        return [[damage.denormalised(line) for line in result.lines] for result in chosen]
    kept = len(damage.visible.lengths)
    healed = model.heal_damages([damage], samples=request.samples, drawing=request.drawing)
    return [[stroke.astype(np.float64) for stroke in one.strokes[kept:]] for one in healed]


def erased_region(path: str | Path, page: Box) -> Region:
    """A free-form region: the shapes of an SVG in the drawing's units, or the painted part of a picture of the page.

    A picture covers the whole page; painted is what is opaque or, without transparency, darker than the paper.
    """
    path = Path(path)
    if path.suffix.lower() == ".svg":
        from gra2seq.formats.svg.document import SvgDocument

        rings = [stroke for stroke in SvgDocument.read(path).sketch.strokes if len(stroke) > 2]
        if not rings:
            raise UserError(f"{path} has no closed shape: draw the erased region as one")
        return Region.of_polygons(rings)
    pixels = _mask_pixels(path)
    x, y, width, height = page
    scale = np.array([width / pixels.shape[1], height / pixels.shape[0]])
    outlines, _ = cv2.findContours(pixels, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    rings = [cv2.approxPolyDP(outline, MASK_TOLERANCE, True).reshape(-1, 2) * scale + (x, y) for outline in outlines]
    rings = [ring for ring in rings if len(ring) > 2]
    if not rings:
        raise UserError(f"{path} marks nothing: paint the erased region dark on white, or on a transparent ground")
    return Region.of_polygons(rings)


def _mask_pixels(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    from gra2seq.formats.opening import read_bytes

    data = np.frombuffer(read_bytes(path, 50_000_000), np.uint8)
    picture = cv2.imdecode(data, cv2.IMREAD_UNCHANGED)
    if picture is None:
        raise UserError(f"{path} is no picture that can be read: give a .png or .svg")
    if picture.ndim == 3 and picture.shape[2] == 4 and (picture[..., 3] < 255).any():
        return np.asarray(picture[..., 3] >= 128, np.uint8)
    grey = picture if picture.ndim == 2 else picture[..., :3].mean(axis=2)
    return np.asarray(grey < grey.max() / 2, np.uint8)


def check_visible(sketches: Sequence[Sketch], request: HealRequest) -> list[str]:
    """Notes on regions that touch no line; a region that leaves nothing visible is an error."""
    notes = []
    for sketch in sketches:
        damage = request.damage(sketch)
        if request.lost and np.array_equal(damage.visible.points, sketch.points):
            x, y, width, height = sketch.box
            notes.append(f"the hole touches no line (the drawing lies at {x:g},{y:g},{width:g},{height:g})")
    return notes
