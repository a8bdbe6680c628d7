"""A trained model in the user's hands: sketches in, codes and sketches out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from gra2seq.config import DrawingConfig, RunConfig, as_dict, parse_config
from gra2seq.config.drawing import COMPLETION_SAMPLES, HEALING_SAMPLES
from gra2seq.data.batches import Preparation
from gra2seq.drawing.blend import blended, placed_between
from gra2seq.drawing.from_codes import CodeDrawer, Progress, infill_each, no_progress
from gra2seq.drawing.infill import InfillResult, healed_sketch
from gra2seq.drawing.merge import keep_lines
from gra2seq.errors import UserError
from gra2seq.models.codes import encode_damages
from gra2seq.models.graph_encoder import Graph
from gra2seq.models.sketch_graph import SketchGraph, graph_owner, patch_graphs
from gra2seq.models.sketch_model import SketchModel
from gra2seq.sketch.damage import (
    Damage,
    Drawable,
    Frames,
    Holes,
    as_list,
    check_samples,
    damages_of,
    like_given,
    own_number,
)
from gra2seq.sketch.detection import DETECT, to_heal, with_intact
from gra2seq.sketch.strokes import BOX, Floats, Ints, Sketch
from gra2seq.system.processes import make_forks_safe


class Model:
    """`encode`, `draw`, `redraw`, `heal`, `complete`, `morph` and `graph`. `gra2seq.load` makes one.

    Each takes one sketch or any number and gives back the same: one result, or a list. Wherever sketches are taken,
    `Damage` values are too. No method changes the model (`to` moves it to a device), so threads may share one; a
    process forked after its use computes on one thread.
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
        """Codes (N, code), or (code,) of a single sketch: to rounding the same for one sketch and in a list.

        `holes` are lost regions (x, y, width, height) in the drawing's units, a list for all sketches or one for each;
        `frame` is the box of the undamaged drawing, if it is known. The code depends on the visible strokes only.
        Codes of damaged drawings are repaired unless `repair` is False.

        >>> import gra2seq
        >>> from gra2seq.data.doodles import doodle
        >>> model, cat = gra2seq.load(), doodle("cat", seed=1)
        >>> model.encode(cat).shape, model.encode([cat, doodle("bus", seed=1)]).shape
        ((128,), (2, 128))
        """
        codes = self._encode(damages_of(as_list(sketches), holes, frame), repair)
        return np.asarray(codes[0]) if isinstance(sketches, Sketch | Damage) else codes

    def _encode(self, damages: Sequence[Damage], repair: bool | None = None) -> Floats:
        repair = self.drawing.repair if repair is None else repair
        return encode_damages(self.network, self.preparation, damages, repair)

    def draw(
        self, codes: ArrayLike | Tensor, *, drawing: DrawingConfig | None = None, **options: Any
    ) -> Sketch | list[Sketch]:
        """A sketch for a code (code,), or one for each of (N, code), in a box of about 255 around the origin.

        `drawing` says how (default: the model's own way); single options of it can be given by name. Those of
        `draw_codes` are taken as well.

        >>> import gra2seq
        >>> from gra2seq.data.doodles import doodle
        >>> model = gra2seq.load()
        >>> code = model.encode(doodle("cat", seed=1))
        >>> model.draw(code, temperature=0.5, seed=1) == model.draw([code], temperature=0.5, seed=1)[0]
        True
        """
        array = np.asarray(codes)
        drawn = self.draw_codes(array[None] if array.ndim == 1 else array, drawing=drawing, **options)
        return drawn[0] if array.ndim == 1 else drawn

    def draw_codes(
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
        """As `draw`, of codes (N, code). Sketch i depends on its code, the seed and its number, `first` + i.

        With `visible`, what is visible of each drawing helps: candidates and the best of several are chosen by the
        distance to it. `first` may also be the numbers of all sketches; `lengths` are fixed numbers of points.
        """
        most = self.config.preparation.max_points if max_points is None else max_points
        drawer = CodeDrawer(self.network, self.preparation, self.changed_drawing(drawing, options), most)
        return drawer.draw(codes, first, visible, lengths, progress)

    @overload
    def redraw(self, sketches: Sequence[Drawable], **options: Any) -> list[Sketch]: ...
    @overload
    def redraw(self, sketches: Drawable, **options: Any) -> Sketch | list[Sketch]: ...
    def redraw(
        self,
        sketches: Drawable | Sequence[Drawable],
        *,
        holes: Holes = (),
        frame: Frames | None = None,
        samples: int = 1,
        **options: Any,
    ) -> Sketch | list[Sketch]:
        """Each sketch drawn again from its code, where the original lies. `holes` and `frame` as in `encode`.

        >>> import gra2seq
        >>> from gra2seq.data.doodles import doodle
        >>> cat = doodle("cat", seed=1)
        >>> gra2seq.load().redraw(cat, best_of=2).category
        'cat'
        """
        drawn = self.heal_damages(damages_of(as_list(sketches), holes, frame), samples=samples, **options)
        return like_given(sketches, drawn, samples)

    @overload
    def heal(self, sketches: Sequence[Drawable], **options: Any) -> list[Sketch]: ...
    @overload
    def heal(self, sketches: Drawable, **options: Any) -> Sketch | list[Sketch]: ...
    def heal(
        self,
        sketches: Drawable | Sequence[Drawable],
        *,
        holes: Holes | Literal["detect"] = DETECT,
        frame: Frames | None = None,
        mask_prob: float = 0.0,
        keep_lines: bool | None = None,
        samples: int = 1,
        drawing: DrawingConfig | None = None,
        progress: Progress = no_progress,
        **options: Any,
    ) -> Sketch | list[Sketch]:
        """Each sketch with what was lost drawn again; the visible lines stay, unless `keep_lines` is False.

        `holes` and `frame` as in `encode`; without holes the damage is detected (`find_damage`), and a sketch in which
        none is found comes back as it is. With `mask_prob` each patch is hidden with this probability instead, as the
        paper does. The result depends on the visible strokes, the lost region, the frame and the seed, not on a
        sketch's place in the list. A sketch's samples follow each other. `drawing` and options of it as in `draw`.

        >>> import gra2seq
        >>> from gra2seq.data.doodles import doodle
        >>> model, bus = gra2seq.load(), doodle("bus", seed=1)
        >>> x, y, width, height = bus.box
        >>> healed = model.heal(bus, holes=[(x, y, width / 3, height)], seed=1)
        >>> healed == bus, len(model.heal([bus, bus], mask_prob=0.2, samples=2))
        (False, 4)
        """
        if drawing is None:  # how a model redraws is its own; how it heals is the same for all
            keep_lines = keep_lines is None or keep_lines
            options = {"infill": HEALING_SAMPLES if keep_lines and not mask_prob else 0} | options
        chosen = self.changed_drawing(drawing, options | {"keep_lines": keep_lines})
        masks = (mask_prob, chosen.seed)
        damages, intact = to_heal(as_list(sketches), holes, frame, chosen.keep_lines, masks)
        damaged = [damage for damage, whole in zip(damages, intact, strict=True) if not whole]
        drawn = self.heal_damages(damaged, samples=samples, drawing=chosen, progress=progress)
        return like_given(sketches, with_intact(damages, intact, drawn, samples), samples)

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
        check_samples(samples)
        if drawing.infill:
            return self._infilled(damages, samples, drawing)
        codes = self._encode(damages, drawing.repair)
        every = [damage for damage in damages for _ in range(samples)]
        numbers = [own_number(damage.visible) + sample for damage in damages for sample in range(samples)]
        drawn = self.draw_codes(
            np.repeat(codes, samples, axis=0),
            drawing=drawing,
            visible=every if drawing.guided else None,
            first=np.array(numbers, np.int64),
            progress=progress,
        )
        return [self.place(one, damage, drawing.keep_lines) for one, damage in zip(drawn, every, strict=True)]

    @overload
    def complete(self, sketches: Sequence[Drawable], **options: Any) -> list[Sketch]: ...
    @overload
    def complete(self, sketches: Drawable, **options: Any) -> Sketch | list[Sketch]: ...
    def complete(
        self,
        sketches: Drawable | Sequence[Drawable],
        *,
        samples: int = 1,
        frame: Frames | None = None,
        drawing: DrawingConfig | None = None,
        **options: Any,
    ) -> Sketch | list[Sketch]:
        """Continue where the pen has stopped: the strokes stay, and the decoder draws what may follow them.

        `frame` is the finished drawing's box, if known; otherwise it is predicted, if the model has learnt it.

        >>> import gra2seq
        >>> from gra2seq.data.doodles import doodle
        >>> begun = gra2seq.Sketch.from_polylines(doodle("cat", seed=1).strokes[:2])
        >>> gra2seq.load().complete(begun, seed=1).strokes[0].tolist() == begun.strokes[0].tolist()
        True
        """
        check_samples(samples)
        chosen = replace(self.changed_drawing(drawing, options), infill=max(samples, COMPLETION_SAMPLES))
        done = self._infilled(damages_of(as_list(sketches), frame=frame), samples, chosen)
        return like_given(sketches, done, samples)

    def morph(
        self,
        first: Drawable,
        second: Drawable,
        steps: int = 9,
        *,
        drawing: DrawingConfig | None = None,
        **options: Any,
    ) -> list[Sketch]:
        """`steps` drawings on the way from one to the other: their codes are blended, and so are their frames.

        >>> import gra2seq
        >>> from gra2seq.data.doodles import doodle
        >>> len(gra2seq.load().morph(doodle("cat", seed=1), doodle("pig", seed=1), steps=3))
        3
        """
        if not 2 <= steps <= 1000:
            raise UserError(f"steps={steps} must be from 2 to 1000")
        damages = damages_of([first, second])
        share = np.linspace(0, 1, steps)
        start, stop = self._encode(damages)
        codes = blended(start, stop, share)
        drawn = self.draw_codes(codes, drawing=drawing, first=np.zeros(steps, np.int64), **options)
        return placed_between(drawn, damages, share)

    def _infilled(self, damages: Sequence[Damage], samples: int, drawing: DrawingConfig) -> list[Sketch]:
        """`samples` drawings of each damage: the visible strokes, and sampled lines where some are missing."""
        chosen = self.infills(damages, samples, drawing)
        return [healed_sketch(damage, result) for damage, own in zip(damages, chosen, strict=True) for result in own]

    def infills(self, damages: Sequence[Damage], samples: int, drawing: DrawingConfig) -> list[list[InfillResult]]:
        """The sampled lines of `samples` different drawings of each damage, the best first."""
        return self.infills_each(damages, [samples] * len(damages), [drawing] * len(damages))

    def infills_each(
        self, damages: Sequence[Damage], samples: Sequence[int], drawings: Sequence[DrawingConfig]
    ) -> list[list[InfillResult]]:
        """As `infills`, each damage with its own number of samples, temperature, seed and lanes."""
        most = self.config.preparation.max_points
        return infill_each(self.network, self.preparation, damages, samples, drawings, most)

    def place(self, drawn: Sketch, damage: Damage, keep: bool = False) -> Sketch:
        """A drawing of the model in the frame of the damage; with `keep`, its lost region and the visible lines."""
        visible = damage.visible
        points = damage.denormalised(drawn.points / BOX).astype(np.float32)
        healed = Sketch(points, drawn.lengths, visible.category, visible.key)
        return keep_lines(damage, healed) if keep and damage.lost else healed

    @overload
    def graph(
        self, sketches: Drawable, links: str | None = None, *, holes: Holes = (), frame: Frames | None = None
    ) -> SketchGraph: ...
    @overload
    def graph(
        self, sketches: Sequence[Drawable], links: str | None = None, *, holes: Holes = (), frame: Frames | None = None
    ) -> list[SketchGraph]: ...
    def graph(
        self,
        sketches: Drawable | Sequence[Drawable],
        links: str | None = None,
        *,
        holes: Holes = (),
        frame: Frames | None = None,
    ) -> SketchGraph | list[SketchGraph]:
        """A sketch as a graph of patches, linked as trained or by another link rule, as numpy arrays.

        >>> import gra2seq
        >>> from gra2seq.data.doodles import doodle
        >>> graph = gra2seq.load().graph(doodle("cat", seed=1))
        >>> graph.centres.shape == (len(graph), 2), graph.adjacency.shape == (len(graph), len(graph))
        (True, True)
        """
        centroids = getattr(getattr(graph_owner(self.network), "centroids", None), "assign", None)
        graphs = [
            SketchGraph.of(self.graphs([damage], links), damage, self.preparation.canvas, centroids)
            for damage in damages_of(as_list(sketches), holes, frame)
        ]
        return graphs[0] if isinstance(sketches, Sketch | Damage) else graphs

    def graphs(self, damages: Sequence[Damage], links: str | None = None) -> Graph:
        """The graphs of a batch of damaged drawings, as tensors."""
        return patch_graphs(self.network, self.preparation, damages, links)

    def changed_drawing(self, drawing: DrawingConfig | None, options: dict[str, Any]) -> DrawingConfig:
        """A checked `DrawingConfig`: the given one or the model's, with single options changed."""
        drawing = self.drawing if drawing is None else drawing
        given = {name: value for name, value in options.items() if value is not None}
        if not given and drawing is self.drawing:
            return drawing
        return parse_config({"drawing": {**as_dict(drawing), **given}}).drawing
