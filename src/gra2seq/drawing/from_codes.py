"""Sketches drawn from codes: the best of several sampled attempts, or lines filled in between visible strokes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from gra2seq.config.drawing import DrawingConfig
from gra2seq.data.batches import Preparation
from gra2seq.drawing.best_of import BestOf
from gra2seq.drawing.guidance import Guidance
from gra2seq.drawing.infill import InfillResult, infill
from gra2seq.drawing.infill_choice import representatives
from gra2seq.drawing.infill_scene import Scene
from gra2seq.drawing.ink_map import visible_ink
from gra2seq.drawing.likely_frame import is_begun, with_likely_frames
from gra2seq.drawing.likely_ink import LikelyInk, likely_ink
from gra2seq.drawing.sampler import Sampler, sample_noise
from gra2seq.drawing.symmetry import complete_by_symmetry
from gra2seq.errors import UserError
from gra2seq.models.codes import encode_damages, parts
from gra2seq.models.sketch_model import SketchModel
from gra2seq.nn.stroke_decoder import State
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import BOX, Floats, Ints, Sketch, from_stroke5

STREAM = 4096  # drawings that are made one after the other without a pause, all attempts counted
MAX_POINTS = 100_000  # of a drawing

Progress = Callable[[int, int], None]  # sketches drawn, of how many


def no_progress(_done: int, _total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class CodeDrawer:
    """Draws with one network in one way; drawings have at most `max_points` points."""

    network: SketchModel
    preparation: Preparation
    drawing: DrawingConfig
    max_points: int

    def __post_init__(self) -> None:
        if not 1 <= self.max_points <= MAX_POINTS:
            raise UserError(f"max_points={self.max_points} must be from 1 to {MAX_POINTS:,}")
        if self.drawing.temperature == 0:  # all attempts would be the same
            object.__setattr__(self, "drawing", replace(self.drawing, best_of=1, candidates=1))

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    def draw(
        self,
        codes: ArrayLike | Tensor,
        first: int | Ints,
        visible: Sequence[Damage] | None,
        lengths: NDArray[np.integer] | None,
        progress: Progress,
    ) -> list[Sketch]:
        """A sketch for each code (N, code), as `Model.draw_codes` says."""
        array = _checked_codes(codes, self.preparation.code)
        if visible is not None and len(visible) != len(array):
            raise UserError(f"{len(visible)} visible drawings for {len(array)} codes: give one for each")
        numbers = first + np.arange(len(array)) if isinstance(first, int | np.integer) else np.asarray(first)
        if numbers.shape != (len(array),) or (lengths is not None and np.shape(lengths) != (len(array),)):
            raise UserError(f"first and lengths must be one number for each of the {len(array)} codes")
        if (numbers < 0).any() or (lengths is not None and (np.asarray(lengths) < 1).any()):
            raise UserError("first must not be negative, and lengths must be at least 1")
        drawn: list[Sketch] = []
        for part in parts(len(array), max(STREAM // self.drawing.best_of, 1)):
            damages = None if visible is None else visible[part]
            fixed = None if lengths is None else np.asarray(lengths)[part]

            def report(settled: int, before: int = len(drawn)) -> None:
                progress(before + settled, len(array))

            drawn += self._draw_part(array[part], numbers[part], damages, fixed, report)
        return drawn

    @torch.inference_mode()
    def _draw_part(
        self,
        codes: Tensor,
        numbers: Ints,
        damages: Sequence[Damage] | None,
        lengths: NDArray[np.integer] | None,
        report: Callable[[int], None],
    ) -> list[Sketch]:
        """The best drawing of each code, of `best_of` attempts."""
        count, decoder = self.drawing.best_of, self.network.decoder
        likely = self._likely(codes, damages)
        candidates = 1 if damages is None else self.drawing.candidates
        repeated, repeated_numbers = codes.repeat_interleave(count, dim=0), np.repeat(numbers, count)
        attempts = np.tile(np.arange(count), len(codes))
        ink = damages if self.drawing.nearest_by == "ink" else None
        choice = BestOf(len(codes), count, ink, self.drawing.good_enough, likely)
        guide = None
        if damages and candidates > 1:
            pairs = zip(likely, damages, strict=True)
            inks = [one.ink_map(damage) if one else visible_ink(damage) for one, damage in pairs]
            guide = Guidance(inks, self.preparation.scale / BOX, count, self.device)

        def begin(places: Tensor) -> State:
            return decoder.first_state(repeated[places].to(self.device))

        def code_distance(drawn: list[Sketch]) -> Floats:
            own = encode_damages(
                self.network, self.preparation, [Damage.none(one) for one in drawn], self.drawing.repair
            )
            distance: Floats = np.linalg.norm(own - repeated.numpy(), axis=1)
            return distance

        sampler = Sampler(
            decoder.step,
            begin,
            choice.waiting,
            self.max_points,
            self.drawing,
            sample_noise(self.drawing.seed, repeated_numbers, attempts, self.max_points, candidates),
            None if lengths is None else torch.as_tensor(np.repeat(lengths, count)),
            guide,
        )
        for place, rows in sampler.run():
            choice.add(place, self._sketch(rows))
            report(choice.settled)
        return choice.best(code_distance)

    def _likely(self, codes: Tensor, damages: Sequence[Damage] | None) -> Sequence[LikelyInk | None]:
        """Where the lost ink of each drawing most likely was; None: unknown."""
        if damages is None or not self.drawing.guided or not self.drawing.predict_ink:
            return [None] * len(codes)
        return likely_ink(self.network, self.preparation, codes, damages)

    def _sketch(self, rows: Tensor) -> Sketch:
        array = rows.cpu().numpy().astype(np.float64)
        if len(array) == 0:  # END at once: the smallest drawing there is
            return Sketch(np.zeros((1, 2), np.float32), np.array([1]))
        array[:, :2] *= self.preparation.scale
        return from_stroke5(array)


def infill_each(
    network: SketchModel,
    preparation: Preparation,
    damages: Sequence[Damage],
    samples: Sequence[int],
    drawings: Sequence[DrawingConfig],
    max_points: int,
) -> list[list[InfillResult]]:
    """The new lines of several drawings of each damage, the best first: as many as its `samples` says.

    The damages of one call are drawn together; their drawings may differ in temperature, seed and lanes. Of a symmetric
    drawing the first one mirrors what is visible (`symmetry`), and only the rest is sampled. A begun drawing is drawn
    in the frame that it will most likely fill.
    """
    drawings = [replace(one, infill=max(one.infill, count)) for one, count in zip(drawings, samples, strict=True)]
    if len({replace(one, temperature=0.0, seed=0, infill=0) for one in drawings}) > 1:
        raise ValueError("drawings of one batch may differ in temperature, seed and lanes only")
    if not damages:
        return []
    framed = with_likely_frames(network, preparation, damages, drawings[0].repair)
    mirrored = [complete_by_symmetry(damage) for damage in framed]
    rests = [(one.rest, drawing) for one, drawing in zip(mirrored, drawings, strict=True) if one and one.rest]
    every = [*framed, *(rest for rest, _ in rests)]
    wanted = [*samples, *(1 for _ in rests)]
    begun = [*(is_begun(damage) for damage in damages), *(False for _ in rests)]
    chosen = _chosen(network, preparation, every, begun, wanted, [*drawings, *(own for _, own in rests)], max_points)
    of_rests = iter(chosen[len(framed) :])
    for number, completed in enumerate(mirrored):
        if completed:
            rest = next(of_rests)[0] if completed.rest else InfillResult((), 0)
            first = InfillResult(completed.lines + rest.lines, rest.open_ends)
            chosen[number] = [first, *chosen[number]][: samples[number]]
    return [
        [result.reframed(one, own) for result in results]
        for results, one, own in zip(chosen[: len(framed)], framed, damages, strict=True)
    ]


def _chosen(
    network: SketchModel,
    preparation: Preparation,
    damages: Sequence[Damage],
    begun: Sequence[bool],
    samples: Sequence[int],
    drawings: Sequence[DrawingConfig],
    max_points: int,
) -> list[list[InfillResult]]:
    """As `infill_each`, of what the decoder samples."""
    codes = torch.from_numpy(encode_damages(network, preparation, damages, drawings[0].repair))
    unit, lanes = preparation.scale / BOX, max(one.infill for one in drawings)
    decoder, device = network.decoder, next(network.parameters()).device
    chosen: list[list[InfillResult]] = []
    likely: Sequence[LikelyInk | None] = [None] * len(damages)
    if drawings[0].predict_ink:
        likely = likely_ink(network, preparation, codes, damages)
    for part in parts(len(damages), max(STREAM // lanes, 1)):
        scenes = [Scene(one, preparation.simplified(one).visible, unit) for one in damages[part]]
        with torch.inference_mode():
            state = decoder.first_state(codes[part].to(device))
        results = infill(decoder.step, state, scenes, drawings[part], max_points)
        known = zip(damages[part], begun[part], likely[part], strict=True)
        for own, count, (damage, early, ink) in zip(results, samples[part], known, strict=True):
            chosen.append(representatives(own, count, not damage.lost, early, ink))
    return chosen


def _checked_codes(codes: ArrayLike | Tensor, size: int) -> Tensor:
    array = torch.as_tensor(np.asarray(codes), dtype=torch.float32)
    if array.ndim != 2 or array.shape[1] != size:
        raise UserError(f"codes must have shape (n, {size}), got {tuple(array.shape)}")
    if not torch.isfinite(array).all():
        raise UserError("codes hold NaN or infinite numbers: encode the sketches again")
    return array
