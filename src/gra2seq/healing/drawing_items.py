"""Pieces of work of the commands that draw: each can be done here or sent to another machine with the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gra2seq.healing.documents import Healed, HealRequest, heal_document, heal_sketches
from gra2seq.sketch.strokes import Sketch

if TYPE_CHECKING:
    from gra2seq.formats.svg.document import SvgDocument
    from gra2seq.model import Model

DRAWINGS = 128  # of a file that are drawn together


@dataclass(frozen=True)
class DocumentItem:
    """An SVG that keeps its page and style; without a request it stays as it is."""

    document: SvgDocument
    request: HealRequest | None
    samples: int

    def draw(self, model: Callable[[], Model]) -> list[SvgDocument]:
        if self.request is None:
            return [self.document] * self.samples
        return heal_document(model(), self.document, self.request)


@dataclass(frozen=True)
class SketchesItem:
    """Some drawings of a file, each with its request; None leaves one as it is."""

    sketches: Sequence[Sketch]
    requests: Sequence[HealRequest | None]
    samples: int

    def draw(self, model: Callable[[], Model]) -> list[list[Healed]]:
        if not any(self.requests):
            return [[Healed(sketch, sketch, None)] * self.samples for sketch in self.sketches]
        return heal_sketches(model(), self.sketches, self.requests)


@dataclass(frozen=True)
class RedrawItem:
    """Some drawings that are drawn anew. `options` are arguments of `Model.heal`."""

    sketches: Sequence[Sketch]
    options: dict[str, Any]

    def draw(self, model: Callable[[], Model]) -> list[Sketch]:
        return model().heal(self.sketches, **self.options)


Item = DocumentItem | SketchesItem | RedrawItem


@dataclass(frozen=True)
class Drawer:
    """Draws items with a model that is loaded: what is sent to other machines."""

    model: Model

    def __call__(self, item: Item) -> list[Any]:
        return item.draw(lambda: self.model)


def parts_of(sketches: Sequence[Sketch]) -> list[slice]:
    """The drawings that are drawn together."""
    return [slice(start, start + DRAWINGS) for start in range(0, len(sketches), DRAWINGS)]
