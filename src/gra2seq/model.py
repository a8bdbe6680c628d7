"""A trained model in the user's hands: sketches in, codes and sketches out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar, overload
from zlib import crc32

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from gra2seq.config import DrawingConfig, RunConfig, as_dict, parse_config
from gra2seq.data.batches import Batch, Preparation, generator, prepare
from gra2seq.data.views import PatchView, StrokeView
from gra2seq.drawing.best_of import BestOf
from gra2seq.drawing.blend import blended
from gra2seq.drawing.guidance import Guidance
from gra2seq.drawing.infill import InfillResult, healed_sketch, infill
from gra2seq.drawing.infill_choice import representatives
from gra2seq.drawing.infill_scene import Scene
from gra2seq.drawing.merge import keep_lines
from gra2seq.drawing.sampler import Sampler, sample_noise
from gra2seq.errors import UserError
from gra2seq.models.graph_encoder import Graph, GraphEncoder
from gra2seq.models.registry import build, preparation_of
from gra2seq.models.sketch_model import SketchModel
from gra2seq.nn.links import link_rule
from gra2seq.nn.stroke_decoder import State
from gra2seq.sketch.centres import NODES
from gra2seq.sketch.damage import Damage, Frames, Holes, lose, mask, one_each
from gra2seq.sketch.detection import detected
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import BOX, Floats, Ints, Sketch, from_stroke5
from gra2seq.sketch_graph import SketchGraph
from gra2seq.system.processes import make_forks_safe

MAX_ROWS = 50_000  # of strokes that are read together, padding counted
BATCH = 64  # sketches that are encoded together: memory stays flat and small however many there are
STREAM = 4096  # drawings that are made one after the other without a pause, all attempts counted

Made = TypeVar("Made")
Drawable = Sketch | Damage
Progress = Callable[[int, int], None]  # sketches drawn, of how many


def no_progress(_done: int, _total: int) -> None:
    """Report nothing."""


class Model:
    """`encode`, `draw`, `redraw`, `heal`, `graph` over one sketch or any number. `gra2seq.load` makes one.

    Wherever sketches are taken, `Damage` values are too. No method changes the model (`to` moves it to a device), so
    threads may share one; a process forked after its use computes on one thread.
    """

    def __init__(
        self, network: SketchModel, config: RunConfig, preparation: Preparation, categories: tuple[str, ...]
    ) -> None:
        make_forks_safe()
        self.network, self.config, self.preparation, self.categories = network.eval(), config, preparation, categories

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    @property
    def drawing(self) -> DrawingConfig:
        """How the model draws unless a call says otherwise."""
        return self.config.drawing

    def to(self, device: str | torch.device) -> Model:
        self.network.to(device)
        return self

    def with_drawing(self, drawing: DrawingConfig) -> Model:
        """The same network with another way of drawing."""
        return Model(self.network, replace(self.config, drawing=drawing), self.preparation, self.categories)

    def encode(
        self,
        sketches: Drawable | Sequence[Drawable],
        *,
        holes: Holes = (),
        frame: Frames | None = None,
        repair: bool | None = None,
    ) -> Floats:
        """Codes (N, code), or (code,) of a single sketch: to rounding the same alone and in company.

        `holes` are lost regions (x, y, width, height) in the drawing's units, a list for all sketches or one for each;
        `frame` is the box of the whole drawing, where it is known. The code depends on the visible strokes alone.
        Codes of damaged drawings are repaired unless `repair` is False.
        """
        if isinstance(sketches, Sketch | Damage):
            return np.asarray(self._encode(self.damages([sketches], holes, frame), repair)[0])
        return self._encode(self.damages(sketches, holes, frame), repair)

    def damages(self, sketches: Sequence[Drawable], holes: Holes = (), frame: Frames | None = None) -> list[Damage]:
        """What stays visible of each sketch. Damage is taken as it is."""
        every = _checked(sketches)
        regions = one_each(holes, len(every), "holes")
        frames = one_each(frame, len(every), "frame")
        return [
            one if isinstance(one, Damage) else lose(one, Region.of_boxes(lost or ()), own)
            for one, lost, own in zip(every, regions, frames, strict=True)
        ]

    @torch.inference_mode()
    def _encode(self, damages: Sequence[Damage], repair: bool | None = None) -> Floats:
        repair = self.drawing.repair if repair is None else repair
        codes = np.empty((len(damages), self.preparation.code), np.float32)

        def prepared(part: Ints) -> tuple[Ints, Batch]:
            return part, prepare([damages[i] for i in part], self.preparation)

        threaded = self.device.type != "cpu" or torch.get_num_threads() > 1
        for part, batch in _made(prepared, self._batches(damages), threaded):
            codes[part] = self.network.encode(batch.to(self.device), repair).cpu().numpy()
        return codes

    def _batches(self, damages: Sequence[Damage]) -> Iterator[Ints]:
        """Numbers of sketches that are encoded together. Strokes are padded to the longest: like goes with like."""
        order = np.arange(len(damages))
        if not any(isinstance(view, StrokeView) for view in self.preparation.views.values()):
            yield from (order[part] for part in _parts(len(order)))
            return
        lengths = np.array([len(damage.visible) for damage in damages], np.int64)
        order = np.argsort(lengths, kind="stable")
        start = 0
        for stop in range(1, len(order) + 1):
            if stop == len(order) or (stop + 1 - start) * lengths[order[stop]] > MAX_ROWS or stop - start == BATCH:
                yield order[start:stop]
                start = stop

    def draw(
        self,
        codes: ArrayLike | Tensor,
        *,
        drawing: DrawingConfig | None = None,
        visible: Sequence[Damage] | None = None,
        first: int | Ints = 0,
        max_points: int | None = None,
        lengths: NDArray[np.integer] | None = None,
        progress: Progress = no_progress,
        **options: Any,
    ) -> list[Sketch]:
        """A sketch for each code (N, code), in a box of about 255 around the origin. Sketch i depends on its code, seed
        and i.

        `drawing` says how (default: the model's own way); single options of it can be given by name, as in
        `draw(codes, temperature=0.5, seed=1)`. With `visible`, what is visible of each drawing helps: candidates and
        the best of several are chosen by the distance to it. `first` is the number of the first sketch, or the numbers
        of all; `lengths` are fixed numbers of points.
        """
        drawing = self.changed_drawing(drawing, options)
        array = _checked_codes(codes, self.preparation.code)
        most = self.config.preparation.max_points if max_points is None else max_points
        if not 1 <= most <= 100_000:
            raise UserError(f"max_points={most} must be from 1 to 100,000")
        if visible is not None and len(visible) != len(array):
            raise UserError(f"{len(visible)} visible drawings for {len(array)} codes: give one for each")
        numbers = first + np.arange(len(array)) if isinstance(first, int | np.integer) else np.asarray(first)
        if numbers.shape != (len(array),) or (lengths is not None and np.shape(lengths) != (len(array),)):
            raise UserError(f"first and lengths must be one number for each of the {len(array)} codes")
        if (numbers < 0).any() or (lengths is not None and (np.asarray(lengths) < 1).any()):
            raise UserError("first must not be negative, and lengths must be at least 1")
        if drawing.temperature == 0:  # there is one drawing
            drawing = replace(drawing, best_of=1, candidates=1)
        drawn: list[Sketch] = []
        for part in _parts(len(array), max(STREAM // drawing.best_of, 1)):
            damages = None if visible is None else visible[part]
            fixed = None if lengths is None else np.asarray(lengths)[part]

            def report(settled: int, before: int = len(drawn)) -> None:
                progress(before + settled, len(array))

            drawn += self._draw_part(array[part], numbers[part], drawing, damages, most, fixed, report)
        return drawn

    @torch.inference_mode()
    def _draw_part(
        self,
        codes: Tensor,
        numbers: Ints,
        drawing: DrawingConfig,
        damages: Sequence[Damage] | None,
        most: int,
        lengths: NDArray[np.integer] | None,
        report: Callable[[int], None],
    ) -> list[Sketch]:
        """The best drawing of each code, of `best_of` attempts."""
        count = drawing.best_of
        candidates = 1 if damages is None else drawing.candidates
        repeated, repeated_numbers = codes.repeat_interleave(count, dim=0), np.repeat(numbers, count)
        attempts = np.tile(np.arange(count), len(codes))
        choice = BestOf(len(codes), count, damages, drawing.good_enough)
        guide = None
        if damages and candidates > 1:
            guide = Guidance(damages, self.preparation.scale / BOX, count, self.device)
        sampler = Sampler(
            self.network.decoder.step,
            partial(self._begin, repeated),
            choice.waiting,
            most,
            drawing,
            sample_noise(drawing.seed, repeated_numbers, attempts, most, candidates),
            None if lengths is None else torch.as_tensor(np.repeat(lengths, count)),
            guide,
        )
        for place, rows in sampler.run():
            choice.add(place, self._sketch(rows))
            report(choice.settled)

        def code_distance(drawn: list[Sketch]) -> Floats:
            distance: Floats = np.linalg.norm(self.encode(drawn) - repeated.numpy(), axis=1)
            return distance

        return choice.best(code_distance)

    def _begin(self, codes: Tensor, places: Tensor) -> State:
        return self.network.decoder.first_state(codes[places].to(self.device))

    @overload
    def redraw(self, sketches: Sketch, **options: Any) -> Sketch: ...
    @overload
    def redraw(self, sketches: Sequence[Sketch], **options: Any) -> list[Sketch]: ...
    def redraw(self, sketches: Sketch | Sequence[Sketch], **options: Any) -> Sketch | list[Sketch]:
        """Each sketch drawn again from its code, where the original lies. Options are those of `heal`."""
        if isinstance(sketches, Sketch):
            return self.heal_damages(self.damages([sketches]), **options)[0]
        return self.heal_damages(self.damages(sketches), **options)

    @overload
    def heal(self, sketches: Sequence[Drawable], **options: Any) -> list[Sketch]: ...
    @overload
    def heal(self, sketches: Drawable, **options: Any) -> Sketch | list[Sketch]: ...
    def heal(
        self,
        sketches: Drawable | Sequence[Drawable],
        *,
        holes: Holes | Literal["detect"] = (),
        frame: Frames | None = None,
        mask_prob: float = 0.0,
        samples: int = 1,
        drawing: DrawingConfig | None = None,
        progress: Progress = no_progress,
        **options: Any,
    ) -> Sketch | list[Sketch]:
        """Each sketch drawn whole again from what is visible of it, where the original lies.

        `holes` and `frame` as in `encode`; holes="detect" finds the damage (`find_damage`), and a sketch in which none
        is found comes back as it is. With `mask_prob` each patch is hidden with this probability, as the paper
        does. What a sketch becomes depends on its visible strokes, the lost region, the frame and the seed, not on its
        place in the list. With several samples a sketch's drawings follow each other. `drawing` and single options of
        it as in `draw`; with `keep_lines` the visible lines stay and only the lost region is drawn.
        """
        chosen = self.changed_drawing(drawing, options)
        single = isinstance(sketches, Sketch | Damage)
        every = [sketches] if isinstance(sketches, Sketch | Damage) else list(sketches)
        intact: list[bool] = [False] * len(every)
        if isinstance(holes, str):
            every, intact = detected(_checked(every), holes, one_each(frame, len(every), "frame"))
            holes, frame = (), None
        damages = self.masked(every, mask_prob, chosen.seed) if mask_prob else self.damages(every, holes, frame)
        damaged = [damage for damage, whole in zip(damages, intact, strict=True) if not whole]
        draw = partial(self.heal_damages, samples=samples, drawing=chosen, progress=progress)
        drawn = iter(draw(damaged) if damaged else [])
        healed = [
            damage.visible if whole else next(drawn)
            for damage, whole in zip(damages, intact, strict=True)
            for _ in range(samples)
        ]
        return healed[0] if single and samples == 1 else healed

    def masked(self, sketches: Sequence[Drawable], probability: float, seed: int) -> list[Damage]:
        """Each sketch with patches masked at random, from the seed and the drawing, wherever and however large."""
        if not 0 <= probability <= 1:
            raise UserError(f"mask probability {probability} must lie between 0 and 1")
        whole = [one for one in _checked(sketches) if isinstance(one, Sketch)]
        if len(whole) < len(sketches):
            raise UserError("masks are for sketches: these are damaged already")
        noise = [generator(seed, crc32(one.lengths.tobytes())).random(NODES) for one in whole]
        return [mask(one, numbers, probability) for one, numbers in zip(whole, noise, strict=True)]

    def heal_damages(
        self,
        damages: Sequence[Damage],
        *,
        samples: int = 1,
        drawing: DrawingConfig | None = None,
        progress: Progress = no_progress,
        **options: Any,
    ) -> list[Sketch]:
        """As `heal`, of damage: the drawings of damage 0, then those of damage 1, …"""
        drawing = self.changed_drawing(drawing, options)
        if not 1 <= samples <= 10_000:
            raise UserError(f"samples={samples} must be from 1 to 10,000")
        if drawing.infill:
            return [one for many in self.infilled(damages, samples, drawing) for one in many]
        codes = self._encode(damages, drawing.repair)
        every = [damage for damage in damages for _ in range(samples)]
        numbers = [_own_number(damage) + sample for damage in damages for sample in range(samples)]
        drawn = self.draw(
            np.repeat(codes, samples, axis=0),
            drawing=drawing,
            visible=every if drawing.guided else None,
            first=np.array(numbers, np.int64),
            progress=progress,
        )
        return [self.place(one, damage, drawing.keep_lines) for one, damage in zip(drawn, every, strict=True)]

    def complete(
        self,
        sketches: Sketch | Sequence[Sketch],
        *,
        samples: int = 1,
        frame: Frames | None = None,
        drawing: DrawingConfig | None = None,
        **options: Any,
    ) -> Sketch | list[Sketch]:
        """Go on where the pen has stopped: the strokes stay, and the decoder draws what may follow them.

        `frame` is the box of the finished drawing, where it is known. With several samples a sketch's drawings follow
        each other; a single sketch and sample comes back as a single sketch.
        """
        single = isinstance(sketches, Sketch)
        chosen = replace(self.changed_drawing(drawing, options), infill=samples)
        damages = self.damages([sketches] if isinstance(sketches, Sketch) else sketches, frame=frame)
        done = [one for many in self.infilled(damages, samples, chosen) for one in many]
        return done[0] if single and samples == 1 else done

    def morph(
        self,
        first: Sketch,
        second: Sketch,
        steps: int = 9,
        *,
        drawing: DrawingConfig | None = None,
        **options: Any,
    ) -> list[Sketch]:
        """`steps` drawings on the way from one to the other: their codes are blended, their frames as well."""
        if not 2 <= steps <= 1000:
            raise UserError(f"steps={steps} must be from 2 to 1000")
        damages = self.damages([first, second])
        share = np.linspace(0, 1, steps)
        start, stop = self._encode(damages)
        codes = blended(start, stop, share)
        drawn = self.draw(codes, drawing=drawing, first=np.zeros(steps, np.int64), **options)
        middles = np.stack([damage.middle for damage in damages])
        sides = np.array([damage.side for damage in damages])
        weights = np.stack([1 - share, share], axis=1)
        return [
            Sketch(one.points / BOX * (weight @ sides) + weight @ middles, one.lengths)
            for one, weight in zip(drawn, weights, strict=True)
        ]

    def infilled(self, damages: Sequence[Damage], samples: int, drawing: DrawingConfig) -> list[list[Sketch]]:
        """`samples` drawings of each damage: the visible strokes, and sampled lines where some are missing."""
        return [
            [healed_sketch(damage, result) for result in chosen]
            for damage, chosen in zip(damages, self.infills(damages, samples, drawing), strict=True)
        ]

    def infills(self, damages: Sequence[Damage], samples: int, drawing: DrawingConfig) -> list[list[InfillResult]]:
        """The sampled lines of `samples` different drawings of each damage, the best first."""
        return self.infills_each(damages, [samples] * len(damages), [drawing] * len(damages))

    def infills_each(
        self, damages: Sequence[Damage], samples: Sequence[int], drawings: Sequence[DrawingConfig]
    ) -> list[list[InfillResult]]:
        """As `infills`, each damage with its own number of samples, temperature, seed and lanes."""
        drawings = [replace(one, infill=max(one.infill, count)) for one, count in zip(drawings, samples, strict=True)]
        if len({replace(one, temperature=0.0, seed=0, infill=0) for one in drawings}) > 1:
            raise ValueError("drawings of one batch may differ in temperature, seed and lanes only")
        codes = torch.from_numpy(self._encode(damages, drawings[0].repair if drawings else None))
        unit, lanes = self.preparation.scale / BOX, max((one.infill for one in drawings), default=1)
        chosen: list[list[InfillResult]] = []
        for part in _parts(len(damages), max(STREAM // lanes, 1)):
            scenes = [Scene(one, self.preparation.simplified(one).visible, unit) for one in damages[part]]
            with torch.inference_mode():
                state = self.network.decoder.first_state(codes[part].to(self.device))
            results = infill(
                self.network.decoder.step,
                state,
                scenes,
                drawings[part],
                self.config.preparation.max_points,
            )
            chosen += [representatives(own, count) for own, count in zip(results, samples[part], strict=True)]
        return chosen

    def place(self, drawn: Sketch, damage: Damage, keep: bool = False) -> Sketch:
        """A drawing of the model in the frame of the damage; with `keep`, its lost region beside the visible lines."""
        visible = damage.visible
        points = damage.denormalised(drawn.points / BOX).astype(np.float32)
        healed = Sketch(points, drawn.lengths, visible.category, visible.key)
        return keep_lines(damage, healed) if keep and damage.lost else healed

    def graph(
        self, sketch: Drawable, links: str | None = None, *, holes: Holes = (), frame: Frames | None = None
    ) -> SketchGraph:
        """The sketch as a graph of patches, linked as trained or by another link rule, as numpy arrays."""
        (damage,) = self.damages([sketch], holes, frame)
        centroids = getattr(getattr(self._graph_owner(), "centroids", None), "assign", None)
        return SketchGraph.of(self.graphs([damage], links), damage, self.preparation.canvas, centroids)

    def _graph_owner(self) -> Any:
        """The part of the encoder that holds the graph encoder."""
        for part in self.network.modules():
            if isinstance(getattr(part, "graph", None), GraphEncoder):
                return part
        raise UserError(f"{self.config.model.name} links no patches: it has no graph")

    @torch.inference_mode()
    def graphs(self, damages: Sequence[Damage], links: str | None = None) -> Graph:
        """The graphs of a batch of damaged drawings, as tensors."""
        encoder = self._graph_owner().graph
        view = self.preparation.views["patches"]
        if isinstance(view, PatchView):
            view = replace(view, random_links=view.random_links or links == "random")
        batch = prepare(damages, replace(self.preparation, views={"patches": view})).to(self.device)
        graph: Graph = encoder(batch.views["patches"], link_rule(links) if links else None)
        return graph

    def changed_drawing(self, drawing: DrawingConfig | None, options: dict[str, Any]) -> DrawingConfig:
        """A checked `DrawingConfig`: the given one or the model's, with single options changed."""
        drawing = self.drawing if drawing is None else drawing
        given = {name: value for name, value in options.items() if value is not None}
        if not given and drawing is self.drawing:
            return drawing
        return parse_config({"drawing": {**as_dict(drawing), **given}}).drawing

    def _sketch(self, rows: Tensor) -> Sketch:
        array = rows.cpu().numpy().astype(np.float64)
        if len(array) == 0:  # END at once: the smallest drawing there is
            return Sketch(np.zeros((1, 2), np.float32), np.array([1]))
        array[:, :2] *= self.preparation.scale
        return from_stroke5(array)


def _own_number(damage: Damage) -> int:
    """A number that visible strokes keep when they are moved or scaled: what is random about them belongs to them."""
    return crc32(damage.visible.lengths.tobytes())


def untrained(config: RunConfig, scale: float = 30.0, categories: tuple[str, ...] = ()) -> Model:
    """A model with fresh weights from `config.seed`: what training starts from."""
    torch.manual_seed(config.seed)
    network = build(config.model, len(categories))
    return Model(network, config, preparation_of(config, scale), categories)


def _checked(sketches: Iterable[Any]) -> list[Drawable]:
    every = list(sketches)
    for sketch in every:
        if not isinstance(sketch, Sketch | Damage):
            raise UserError(f"a sketch is wanted, not {type(sketch).__name__}: gra2seq.read gives some")
    return every


def _checked_codes(codes: ArrayLike | Tensor, size: int) -> Tensor:
    array = torch.as_tensor(np.asarray(codes), dtype=torch.float32)
    if array.ndim != 2 or array.shape[1] != size:
        raise UserError(f"codes must have shape (n, {size}), got {tuple(array.shape)}")
    if not torch.isfinite(array).all():
        raise UserError("codes hold NaN or infinite numbers: encode the sketches again")
    return array


def _parts(count: int, most: int = BATCH) -> Iterator[slice]:
    for start in range(0, count, most):
        yield slice(start, min(start + most, count))


def _made(make: Callable[[Ints], Made], parts: Iterable[Ints], threaded: bool) -> Iterator[Made]:
    """What is made of each part; `threaded`: the next one already in a thread of its own while one is used.

    On one core there is nothing to gain: the two threads would only take it from each other.
    """
    if not threaded:
        yield from map(make, parts)
        return
    with ThreadPoolExecutor(1) as thread:
        waiting: Future[Made] | None = None
        for part in parts:
            last, waiting = waiting, thread.submit(make, part)
            if last is not None:
                yield last.result()
        if waiting is not None:
            yield waiting.result()
