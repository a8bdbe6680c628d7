"""The model behind the service: loaded in the background, used by two threads.

One thread draws (heal, complete, redraw, morph), which takes up to a second; the other looks (encode, graph), which
takes some hundredths, so that a guess need not wait for somebody's nine drawings.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gra2seq.errors import UserError
from gra2seq.healing.model_source import ModelSource
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.simplify import EPSILON, SIDE, rdp_sketch
from gra2seq.sketch.strokes import Sketch
from gra2seq.studio.batching import Batcher, Job
from gra2seq.studio.known_drawings import Gallery
from gra2seq.studio.limits import MAX_SAMPLES, BusyError
from gra2seq.studio.signs import signs_of

if TYPE_CHECKING:
    from gra2seq.config import DrawingConfig
    from gra2seq.model import Model
    from gra2seq.models.sketch_graph import SketchGraph

LANES = MAX_SAMPLES  # samples of the decoder, of which the best are shown
PREVIEW_LANES = 2  # samples behind the provisional drawing
PREVIEW_BATCH = 3  # requests at a time that get one: for more, it would delay the drawings themselves
ROOM = 0.6  # share of the points a model can draw that the visible strokes may take
SHEET = 4  # rows and columns of the sheet between four drawings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DrawRequest:
    """What is to be drawn, and how."""

    kind: str  # heal, complete, redraw, morph
    drawn: Any  # the damage; for morph the sketches
    samples: int
    seed: int
    temperature: float | None  # None: the model's own

    @property
    def key(self) -> Hashable:
        """Requests with the same key are drawn in one batch: all that go on from given strokes, however."""
        return "infill" if self.is_infill else (self.kind, self.samples, self.seed, self.temperature)

    @property
    def is_infill(self) -> bool:
        """Whether the given strokes stay, and the decoder goes on from them."""
        return self.kind in ("heal", "complete")


@dataclass(frozen=True)
class Drawn:
    """One drawing of the model."""

    number: int
    strokes: list[list[list[float]]]
    first_new: int = 0  # number of the first stroke that the model drew
    provisional: bool = False  # it will be replaced by the drawing with the same number


class Engine:
    """Loads a model and a gallery in the background; `draw` and `look` take jobs once `model` is there."""

    def __init__(self, model: ModelSource | str | Path | None = None, gallery: str | None = None) -> None:
        self._loads = model if isinstance(model, ModelSource) else ModelSource(model)
        self._source = gallery
        self._model: Model | None = None
        self.gallery: Gallery | None = None
        self.error = self.gallery_error = ""
        self._closed = threading.Event()
        self.draw = Batcher(self._draw, "draw")
        self.look = Batcher(self._look, "look")
        self._loader = threading.Thread(target=self._load, name="load", daemon=True)

    def start(self) -> None:
        """Begin to load."""
        self._loader.start()

    def use(self, model: Model) -> None:
        """Take a model that is loaded already."""
        self._model = model

    def close(self) -> None:
        """End all threads after the work at hand."""
        self._closed.set()
        self.draw.close()
        self.look.close()
        if self._loader.ident:
            self._loader.join()

    @property
    def status(self) -> str:
        """loading, ready or failed"""
        return "failed" if self.error else "ready" if self._model else "loading"

    @property
    def model(self) -> Model:
        """The model; an error that says so while it is not there."""
        if self._model is None:
            raise BusyError(self.error or "the model is loading: try again in a few seconds")
        return self._model

    def _load(self) -> None:
        """The model, then the gallery: without a gallery all works but Find and Guess."""
        self.error = _error_of(self._load_model)
        if not self.error:
            self.gallery_error = _error_of(self._load_gallery)

    def _load_model(self) -> None:
        if self._model is None:
            model = self._loads.load()  # and with it torch: the page is there before
            model.encode(Sketch(np.zeros((1, 2), np.float32), np.array([1])))  # the first call is slow
            self._model = model

    def _load_gallery(self) -> None:
        self.gallery = Gallery.open(self._source)
        self.gallery.encode(self.model, self._closed)

    def _draw(self, jobs: Sequence[Job]) -> None:
        request = jobs[0].item
        assert isinstance(request, DrawRequest)
        if request.is_infill:
            self._infill(jobs)
        elif request.kind == "morph":
            for job in jobs:
                _deliver_sketches(job, morph(self.model, job.item.drawn, request.samples, self.drawing_of(request)))
        else:
            self._redraw(jobs, request.samples, self.drawing_of(request))

    def _redraw(self, jobs: Sequence[Job], samples: int, drawing: DrawingConfig) -> None:
        damages = [coarse(job.item.drawn, self.model.config.preparation.max_points) for job in jobs]
        drawn = self.model.heal_damages(damages, samples=samples, drawing=drawing)
        for number, job in enumerate(jobs):
            _deliver_sketches(job, drawn[number * samples : (number + 1) * samples])

    def _infill(self, jobs: Sequence[Job]) -> None:
        """Heal and complete: of a few requests, first a provisional drawing each; then all drawings."""
        damages = [coarse(job.item.drawn, self.model.config.preparation.max_points) for job in jobs]
        drawings = [self.drawing_of(job.item) for job in jobs]
        early = [number for number, job in enumerate(jobs) if job.item.samples > 1]
        if early and len(jobs) <= PREVIEW_BATCH:
            self._deliver_infilled(
                [jobs[number] for number in early],
                [damages[number] for number in early],
                [1] * len(early),
                [replace(drawings[number], infill=PREVIEW_LANES) for number in early],
                provisional=True,
            )
            if all(job.cancelled.is_set() for job in jobs):
                return
        self._deliver_infilled(jobs, damages, [job.item.samples for job in jobs], drawings, provisional=False)

    def _deliver_infilled(
        self,
        jobs: Sequence[Job],
        damages: Sequence[Damage],
        samples: Sequence[int],
        drawings: Sequence[DrawingConfig],
        provisional: bool,
    ) -> None:
        from gra2seq.drawing.infill import healed_sketch

        results = self.model.infills_each(damages, samples, drawings)
        for job, damage, own in zip(jobs, damages, results, strict=True):
            given = plain_strokes(job.item.drawn.visible)
            for number, result in enumerate(own):
                new = plain_strokes(healed_sketch(damage, result))[len(damage.visible.lengths) :]
                job.deliver(Drawn(number, given + new, len(given), provisional))

    def drawing_of(self, request: DrawRequest) -> DrawingConfig:
        """How the drawings of a request are made."""
        drawing = self.model.drawing
        return replace(
            drawing,
            infill=LANES if request.is_infill else 0,
            seed=request.seed,
            temperature=drawing.temperature if request.temperature is None else request.temperature,
        )

    def _look(self, jobs: Sequence[Job]) -> None:
        key, items = jobs[0].key, [job.item for job in jobs]
        if key == "encode":
            found: list[Any] = list(self.model.encode(items))
        elif key == "guess":
            codes = self.model.encode(items)
            found = list(zip(codes, signs_of(self.model, items, codes), strict=True))
        else:
            found = [self._graph(damage, str(key)) for damage in items]
        for job, answer in zip(jobs, found, strict=True):
            job.deliver(answer)

    def _graph(self, damage: Damage, links: str) -> SketchGraph:
        return self.model.graph(damage, links)


def _error_of(load: Callable[[], None]) -> str:
    """What went wrong, in words for the page; empty if nothing did."""
    try:
        load()
    except UserError as error:
        return str(error)
    except Exception:  # the page says that something failed; the terminal says what
        log.exception("loading failed")
        return "it could not be loaded: see the terminal of the studio"
    return ""


def coarse(damage: Damage, max_points: int) -> Damage:
    """The damage with as few points as drawings of the training data have; ends of strokes stay where they are.

    A drawing with very many strokes is simplified more, until the model has points left to draw with.
    """
    epsilon = EPSILON
    while True:
        simple = rdp_sketch(damage.visible, epsilon * damage.side / SIDE)
        if len(simple) <= ROOM * max_points or epsilon > SIDE:
            return replace(damage, visible=simple)
        epsilon *= 1.5


def morph(model: Model, sketches: Sequence[Sketch], steps: int, drawing: DrawingConfig) -> list[Sketch]:
    """`steps` drawings between two; of four, a sheet of 4 x 4, row by row, with the four at its corners."""
    if len(sketches) == 2:
        return model.morph(sketches[0], sketches[1], steps, drawing=drawing)
    from gra2seq.drawing.blend import blended

    share = np.linspace(0, 1, SHEET)
    codes = model.encode(sketches)
    edges = [blended(codes[top], codes[top + 1], share) for top in (0, 2)]
    columns = [blended(upper, lower, share) for upper, lower in zip(*edges, strict=True)]
    sheet = np.stack(columns, axis=1).reshape(SHEET * SHEET, -1)
    return model.draw_codes(sheet, drawing=drawing, first=np.zeros(len(sheet), np.int64))


def _deliver_sketches(job: Job, sketches: Sequence[Sketch]) -> None:
    for number, sketch in enumerate(sketches):
        job.deliver(Drawn(number, plain_strokes(sketch)))


def plain_strokes(sketch: Sketch) -> list[list[list[float]]]:
    """Lists of points [x, y], with as many decimals as can be seen: 1/100,000 of the longer side."""
    side = max(sketch.box[2:]) or 1.0
    decimals = int(np.clip(5 - np.ceil(np.log10(side)), 0, 12))
    points = np.round(sketch.points.astype(np.float64), decimals)
    return [part.tolist() for part in np.split(points, sketch.starts[1:])]
