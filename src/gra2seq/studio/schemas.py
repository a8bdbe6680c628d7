"""What requests hold. Names, forms and bounds are those of the OpenAPI document at /api/openapi.json."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, model_validator

from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage, lose
from gra2seq.sketch.region import Region
from gra2seq.sketch.simplify import simplify_in_place
from gra2seq.sketch.strokes import Doubles, Sketch
from gra2seq.studio import limits
from gra2seq.studio.regions import eraser_outline

Coordinate = Annotated[float, Field(ge=-limits.MAX_COORDINATE, le=limits.MAX_COORDINATE, allow_inf_nan=False)]
Size = Annotated[float, Field(ge=limits.MIN_SIZE, le=limits.MAX_COORDINATE, allow_inf_nan=False)]
Point = tuple[Coordinate, Coordinate]
BoxIn = tuple[Coordinate, Coordinate, Size, Size]
FrameSize = Annotated[float, Field(ge=0, le=limits.MAX_COORDINATE, allow_inf_nan=False)]
FrameIn = tuple[Coordinate, Coordinate, FrameSize, FrameSize]
Strokes = Annotated[list[list[Point]], Field(description="Polylines of points [x, y]; y grows downwards.")]
Samples = Annotated[int, Field(ge=1, le=limits.MAX_SAMPLES, description="Different drawings that are wanted.")]
Seed = Annotated[int, Field(ge=0, le=limits.MAX_SEED, description="The same seed gives the same drawings.")]
Temperature = Annotated[
    float, Field(ge=0, le=limits.MAX_TEMPERATURE, allow_inf_nan=False, description="0: the likeliest lines; 1: all.")
]
LinkName = Literal["synonymous", "temporal", "spatial"]


class Request(BaseModel):
    """No name that is not known: a misspelt one would be ignored without a word."""

    model_config = ConfigDict(extra="forbid")


class EraserIn(Request):
    """The path of an eraser: all within `radius` of it is lost."""

    path: Annotated[list[Point], Field(min_length=1)]
    radius: Size


class RegionIn(Request):
    """What was erased: the union of boxes, polygons and eraser paths."""

    boxes: list[BoxIn] = Field(default=[], max_length=limits.MAX_SHAPES, description="[x, y, width, height]")
    polygons: list[Annotated[list[Point], Field(min_length=3)]] = Field(default=[], max_length=limits.MAX_SHAPES)
    erasers: list[EraserIn] = Field(default=[], max_length=limits.MAX_SHAPES)

    def region(self) -> Region:
        """The region in the drawing's units. Eraser paths become the outline of what they cover."""
        points = sum(map(len, self.polygons)) + sum(len(eraser.path) for eraser in self.erasers)
        limits.check_count("points in its region", points, limits.MAX_POINTS)
        region = Region.of_boxes(self.boxes) | Region.of_polygons([_not_tiny(ring) for ring in self.polygons])
        return region | eraser_outline([(eraser.path, eraser.radius) for eraser in self.erasers])


class DrawingIn(Request):
    """One drawing."""

    strokes: Strokes

    def sketch(self) -> Sketch:
        """The drawing, if it is not too large."""
        limits.check_count("strokes", len(self.strokes), limits.MAX_STROKES)
        limits.check_count("points", sum(map(len, self.strokes)), limits.MAX_POINTS)
        return Sketch.from_polylines([_not_tiny(stroke) for stroke in self.strokes])


class DamagedIn(DrawingIn):
    """A drawing of which a region may be lost. `frame` is the box of the whole drawing, where it is known."""

    region: RegionIn | None = None
    frame: FrameIn | None = None

    def damage(self) -> Damage:
        """What stays visible."""
        sketch = self.sketch()
        frame = self.frame and tuple(_not_tiny(self.frame).tolist())
        return lose(sketch, self.region.region() if self.region else Region(), frame)


class DrawIn(DamagedIn):
    """A request for drawings. A drawing that is to be finished is not expected to reach beyond the `page`."""

    samples: Samples = 9
    page: FrameIn | None = None
    seed: Seed = 0
    temperature: Temperature | None = None


class HealIn(DrawIn):
    """What is to be healed: without a lost region there is nothing to do."""

    def damage(self) -> Damage:
        damage = super().damage()
        if not damage.lost:
            raise UserError("nothing was erased: give a region, or ask /api/complete to finish the drawing")
        return damage


class GraphIn(DamagedIn):
    """A drawing whose graph is wanted."""

    links: LinkName = "synonymous"


class MorphIn(Request):
    """Two drawings and the number of steps between them; or four, for a sheet of 4 x 4."""

    drawings: Annotated[list[Strokes], Field(min_length=2, max_length=4)]
    steps: Annotated[int, Field(ge=2, le=limits.MAX_STEPS)] = 8
    seed: Seed = 0
    temperature: Temperature | None = None

    def sketches(self) -> list[Sketch]:
        if len(self.drawings) == 3:
            raise UserError("three drawings cannot be blended: give two or four")
        return [DrawingIn(strokes=strokes).sketch() for strokes in self.drawings]


class SearchIn(DamagedIn):
    """A drawing whose like is wanted."""

    count: Annotated[int, Field(ge=1, le=50)] = 12


class ReadIn(Request):
    """The text of an SVG file, or a PNG or JPEG picture in base64."""

    svg: str | None = None
    picture: Base64Bytes | None = None

    @model_validator(mode="after")
    def one_of_both(self) -> Self:
        if bool(self.svg) == bool(self.picture):
            raise ValueError("give either svg or picture")
        return self

    def sketch(self) -> Sketch:
        """The drawing that was sent. The readers are imported now: they bring in much that nothing else needs."""
        if self.svg:
            from gra2seq.formats.svg import read_svg

            sketch = read_svg(self.svg.encode("utf-8", "replace"))
        else:
            from gra2seq.formats.tracing import read_picture

            sketch = read_picture(self.picture or b"")
        if len(sketch) > limits.MAX_POINTS // 4:
            sketch = simplify_in_place(sketch)
        limits.check_count("points", len(sketch), limits.MAX_POINTS)
        return sketch


def _not_tiny(values: ArrayLike) -> Doubles:
    """Numbers so small that arithmetic with them overflows become 0."""
    array = np.asarray(values, np.float64)
    return np.where(np.abs(array) < limits.MIN_SIZE, 0.0, array)
