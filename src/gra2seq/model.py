"""A trained model in the user's hands: sketches in, codes and sketches out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gra2seq.data.batches import Batch, Recipe, as_learnt, generator, prepare
from gra2seq.data.datasets import BOX
from gra2seq.errors import UserError
from gra2seq.models import build
from gra2seq.models.graph_encoder import Graph, GraphEncoder
from gra2seq.models.sketch_model import SketchModel
from gra2seq.nn.decoder import State, draw_rows
from gra2seq.nn.proximity import LINKS
from gra2seq.nn.steering import Sight
from gra2seq.options import MOST_OFFERS, Options
from gra2seq.sketch.chamfer import Left, left_of
from gra2seq.sketch.keeping import keep_lines
from gra2seq.sketch.masking import Holes, damage, holes_of_each
from gra2seq.sketch.strokes import Floats, Ints, Sketch, from_stroke5
from gra2seq.tries import Tries

TEMPERATURE = 0.24  # released code
MOST_ROWS = 50_000  # of strokes that are read together, padding counted
BATCH = 64  # sketches that are encoded together: memory stays flat and small however many there are
STREAM = 4096  # drawings that are made one after the other without a pause, all tries counted

Made = TypeVar("Made")


class Model:
    """`encode`, `draw`, `redraw`, `heal` over any number of sketches. `gra2seq.load` makes one."""

    def __init__(self, network: SketchModel, chosen: Options, recipe: Recipe, categories: tuple[str, ...]) -> None:
        self.network, self.options, self.recipe, self.categories = network.eval(), chosen, recipe, categories

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    def to(self, device: str | torch.device) -> Model:
        self.network.to(device)
        return self

    @torch.inference_mode()
    def encode(
        self,
        sketches: Sequence[Sketch],
        *,
        draws: NDArray[np.floating] | None = None,
        mask_prob: float = 0.0,
        holes: Holes = (),
    ) -> Floats:
        """Codes (N, code), to rounding the same alone and in company. `draws` and `holes` say what is masked.

        Holes are a list for all sketches, or a list of lists, one for each.

        Drawings with many more points than those it learnt from are seen simplified.
        """
        sketches = [as_learnt(sketch, self.recipe) for sketch in _checked(sketches)]
        _check_damage(len(sketches), draws, mask_prob, self.recipe.nodes)
        rubbed = holes_of_each(holes, len(sketches))
        codes = np.empty((len(sketches), self.recipe.code), np.float32)

        def prepared(part: Ints) -> tuple[Ints, Batch]:
            return part, prepare(
                [sketches[i] for i in part],
                self.recipe,
                draws=None if draws is None else draws[part],
                probability=mask_prob,
                holes=[rubbed[i] for i in part],
                learning=False,
            )

        beside = self.device.type != "cpu" or torch.get_num_threads() > 1
        for part, batch in _made(prepared, self._shares(sketches), beside):
            codes[part] = self.network.encode(batch.to(self.device)).cpu().numpy()
        return codes

    def _shares(self, sketches: Sequence[Sketch]) -> Iterator[Ints]:
        """Numbers of sketches that are encoded together. Strokes are padded to the longest: like goes with like."""
        order = np.arange(len(sketches))
        if not self.recipe.strokes:
            yield from (order[part] for part in _parts(len(order)))
            return
        lengths = np.array([len(sketch) for sketch in sketches], np.int64)
        order = np.argsort(lengths, kind="stable")
        start = 0
        for stop in range(1, len(order) + 1):
            if stop == len(order) or (stop + 1 - start) * lengths[order[stop]] > MOST_ROWS or stop - start == BATCH:
                yield order[start:stop]
                start = stop

    @torch.inference_mode()
    def draw(
        self,
        codes: NDArray[Any] | Tensor,
        *,
        temperature: float = TEMPERATURE,
        seed: int = 0,
        first: int | Ints = 0,
        max_points: int | None = None,
        lengths: NDArray[np.integer] | None = None,
        tries: int | None = None,
        well: float | None = None,
        steer: int | None = None,
        left: Sequence[Left] | None = None,
        progress: Callable[[int, int], None] = lambda *_: None,
    ) -> list[Sketch]:
        """A sketch for each code, in a box of about 255 around the origin. Sketch i depends on its code, seed and i.

        `first` is the number of the first one, for those who draw a long list in parts, or the numbers of all. Of
        several `tries` (default: the model's) the one is kept that lies best on what is `left` of the drawing that the
        code comes from (`what_is_left`); where that is not said, the one that reads best: encoded again, its code is
        nearest to the one it was drawn from. Where it is said, a first drawing that lies well, nearer to it than `well`
        longer sides (default: the model's; 0: none does), is kept, and no other is tried. The pen sees it too: at every
        step it makes the best of `steer` moves (default: the model's), drawn towards ink that is still to be drawn as
        far as the decoder is in doubt (`nn.steering`); 1 is chance alone. Two moves that lie alike to a rounding may
        change places with what is drawn beside: in a few of a thousand drawings.
        `progress` is told how many sketches are drawn, of how many.
        """
        tries = self.options.tries if tries is None else tries
        steer = self.options.steer if steer is None else steer
        well = self.options.well if well is None else well
        if tries < 1:
            raise UserError(f"tries={tries} must be at least 1")
        if not well >= 0:
            raise UserError(f"well={well} must be a distance of 0 or more")
        if not 1 <= steer <= MOST_OFFERS:
            raise UserError(f"steer={steer} must be from 1 to {MOST_OFFERS}")
        if not np.isfinite(temperature) or temperature < 0:
            raise UserError(f"temperature {temperature} must be 0 or more")
        array = torch.as_tensor(np.asarray(codes), dtype=torch.float32)
        if array.ndim != 2 or array.shape[1] != self.recipe.code:
            raise UserError(f"codes must have shape (n, {self.recipe.code}), got {tuple(array.shape)}")
        if not torch.isfinite(array).all():
            raise UserError("codes hold NaN or infinite numbers: encode the sketches again")
        most = self.options.max_points if max_points is None else max_points
        if most < 1:
            raise UserError(f"max_points={most} must be at least 1")
        if seed < 0:
            raise UserError(f"seed={seed} must not be negative")
        if left is not None and len(left) != len(array):
            raise UserError(
                f"something is left of {len(left)} drawings, but there are {len(array)} codes: give one for each"
            )
        numbers = first + np.arange(len(array)) if isinstance(first, int | np.integer) else np.asarray(first)
        if numbers.shape != (len(array),) or (lengths is not None and np.shape(lengths) != (len(array),)):
            raise UserError(f"first and lengths must be one number for each of the {len(array)} codes")
        if temperature == 0:
            tries = 1  # there is one drawing
        offers = 1 if left is None or temperature == 0 else steer

        drawn: list[Sketch] = []
        for part in _parts(len(array), max(STREAM // tries, 1)):
            there = None if left is None else left[part]
            code, number = array[part].repeat_interleave(tries, dim=0), np.repeat(numbers[part], tries)
            attempt = np.tile(np.arange(tries), len(code) // tries)
            choice = Tries(len(code) // tries, tries, there, well)
            ended = draw_rows(
                self.network.decoder.step,
                partial(self._begin, code),
                choice.waiting,
                most=most,
                temperature=temperature,
                pen_temperature=max(temperature, self.options.least_pen_temperature),
                noise=partial(_noise, seed, number, attempt, most, offers),
                lengths=None if lengths is None else torch.as_tensor(np.repeat(lengths[part], tries)),
                steer=Sight(there, self.recipe.scale / BOX, tries, self.device) if there and offers > 1 else None,
            )
            for place, rows in ended:
                choice.add(place, self._sketch(rows))
                progress(len(drawn) + choice.settled, len(array))
            drawn += choice.best(partial(self._off_codes, code))
        return drawn

    def _begin(self, codes: Tensor, places: Tensor) -> State:
        return self.network.decoder.first_state(codes[places].to(self.device))

    def _off_codes(self, codes: Tensor, drawn: list[Sketch]) -> Floats:
        """(n,) how far the codes of drawings are off those they were drawn from."""
        off: Floats = np.linalg.norm(self.encode(drawn) - codes.numpy(), axis=1)
        return off

    def what_is_left(
        self,
        sketches: Sequence[Sketch],
        *,
        draws: NDArray[np.floating] | None = None,
        mask_prob: float = 0.0,
        holes: Holes = (),
    ) -> list[Left]:
        """Of each sketch, when damaged as `encode` damages it: for `draw`, to choose among tries and moves."""
        recipe = self.recipe
        seen = [as_learnt(sketch, recipe) for sketch in _checked(sketches)]
        _check_damage(len(seen), draws, mask_prob, recipe.nodes)
        lots = [None] * len(seen) if draws is None else draws
        return [
            left_of(one, damage(one, recipe.canvas, lot, mask_prob, nodes=recipe.nodes, holes=own))
            for one, lot, own in zip(seen, lots, holes_of_each(holes, len(seen)), strict=True)
        ]

    def redraw(
        self,
        sketches: Sequence[Sketch],
        *,
        temperature: float = TEMPERATURE,
        seed: int = 0,
        tries: int | None = None,
        well: float | None = None,
        steer: int | None = None,
    ) -> list[Sketch]:
        """Each sketch drawn again from its code, laid where the original lies."""
        return self.heal(sketches, temperature=temperature, seed=seed, tries=tries, well=well, steer=steer)

    def heal(
        self,
        sketches: Sequence[Sketch],
        *,
        mask_prob: float = 0.0,
        seed: int = 0,
        temperature: float = TEMPERATURE,
        holes: Holes = (),
        samples: int = 1,
        draws: NDArray[np.floating] | None = None,
        tries: int | None = None,
        well: float | None = None,
        steer: int | None = None,
        keep: bool | None = None,
        progress: Callable[[int, int], None] = lambda *_: None,
    ) -> list[Sketch]:
        """Draw each sketch whole again, laid over the original, from what `holes` and `mask_prob` leave of it.

        What a sketch becomes depends on it and on `seed`, not on its place in the list.
        By itself nothing more is damaged; with `mask_prob` each patch is wiped so likely, as `seed` or `draws` say.
        `holes` are a list for all sketches, or a list of lists, one for each.
        With several samples a sketch's drawings follow each other: sketch 0's, then sketch 1's, …
        With `keep` (default: the model's) a damaged sketch's own lines stay where nothing was lost, and only what is
        missing is drawn.
        What is left also helps to draw, by `tries`, `well` and `steer` (see `draw`); the code alone draws with one try
        and `steer` 1.
        """
        if seed < 0:
            raise UserError(f"seed={seed} must not be negative")
        if samples < 1:
            raise UserError(f"samples={samples} must be at least 1")
        sketches = _checked(sketches)
        damaged = mask_prob > 0 or any(len(own) for own in holes_of_each(holes, len(sketches) or 1))
        if keep and not damaged:
            raise UserError("keep draws only what is missing: say what is lost, by a hole or a mask probability")
        if draws is None:
            draws = mask_draws(sketches, seed, self.recipe.nodes)
        codes = self.encode(sketches, draws=draws, mask_prob=mask_prob, holes=holes)
        tries = self.options.tries if tries is None else tries
        steer = self.options.steer if steer is None else steer
        keep = damaged and (self.options.keep if keep is None else keep)
        seen = tries > 1 or steer > 1 or keep
        left = self.what_is_left(sketches, draws=draws, mask_prob=mask_prob, holes=holes) if seen else None
        # Of a sketch's own, wherever it stands in the list, and however large and wherever it is drawn.
        numbers = [_own_number(sketch) + sample for sketch in sketches for sample in range(samples)]
        drawn = self.draw(
            np.repeat(codes, samples, axis=0),
            temperature=temperature,
            seed=seed,
            first=np.array(numbers, np.int64),
            tries=tries,
            well=well,
            steer=steer,
            left=None if left is None else [one for one in left for _ in range(samples)],
            progress=progress,
        )
        return [
            self.lay(sketch, sketches[i // samples], left[i // samples] if keep and left else None)
            for i, sketch in enumerate(drawn)
        ]

    def lay(self, drawn: Sketch, original: Sketch, left: Left | None = None) -> Sketch:
        """A drawing of the model where it saw the original; with what is `left`, beside the lines that are."""
        seen = as_learnt(original, self.recipe)
        healed = laid_over(drawn, seen)
        if left is None:
            return healed
        x, y, width, height = seen.box
        unit = max(width, height) or self.recipe.canvas.side  # a dot is drawn in its own units
        return keep_lines(original, healed, left.lost * unit + [x + width / 2, y + height / 2] * 2)

    @torch.inference_mode()
    def graph(self, sketch: Sketch, links: str | None = None) -> Graph:
        """The sketch as a graph, linked as trained or by another proximity: for pictures and measurements."""
        encoder = next((part for part in self.network.modules() if isinstance(part, GraphEncoder)), None)
        if encoder is None:
            raise UserError(f"{self.options.model} links no patches: it has no graph")
        recipe = replace(self.recipe, random_links=links == "random" or self.recipe.random_links)
        (sketch,) = _checked([sketch])
        batch = prepare([as_learnt(sketch, recipe)], recipe, learning=False).to(self.device)
        trained = encoder.link
        encoder.link = LINKS[links] if links else trained
        try:
            graph: Graph = encoder(batch)
        finally:
            encoder.link = trained
        return graph

    def _sketch(self, rows: Tensor) -> Sketch:
        array = rows.cpu().numpy().astype(np.float64)
        if len(array) == 0:  # END at once: the smallest drawing there is
            return Sketch(np.zeros((1, 2), np.float32), np.array([1]))
        array[:, :2] *= self.recipe.scale
        return from_stroke5(array)


def mask_draws(sketches: Sequence[Sketch], seed: int, nodes: int) -> Floats:
    """Random numbers for the centres of each sketch, from the seed and the drawing, wherever and however large."""
    rows = [generator(seed, _own_number(sketch)).random(nodes, dtype=np.float32) for sketch in sketches]
    return np.stack(rows) if rows else np.empty((0, nodes), np.float32)


def _own_number(sketch: Sketch) -> int:
    """A number that a drawing keeps when it is moved or scaled: what is random about it belongs to it."""
    return crc32(sketch.lengths.tobytes())


def laid_over(drawn: Sketch, original: Sketch) -> Sketch:
    """A drawing of the model (box of 255 around the origin) at the original's place and size, with its names."""
    left, top, width, height = original.box
    extent = max(width, height)
    middle = np.array([left + width / 2, top + height / 2])
    points = drawn.points * (extent / BOX) + middle
    return Sketch(points, drawn.lengths, original.category, original.key)


def untrained(chosen: Options, scale: float = 30.0, categories: tuple[str, ...] = ()) -> Model:
    """A model with fresh weights from `chosen.seed`: what training starts from."""
    torch.manual_seed(chosen.seed)
    return Model(build(chosen), chosen, chosen.recipe(scale), categories)


def _checked(sketches: Iterable[Any]) -> list[Sketch]:
    if isinstance(sketches, Sketch):
        raise UserError("a list of sketches is wanted, not one: give [sketch]")
    every = list(sketches)
    for sketch in every:
        if isinstance(sketch, tuple):
            raise UserError("a sketch is wanted, not a pair: gra2seq.read gives (split, sketch), take the second")
        if not isinstance(sketch, Sketch):
            raise UserError(f"a sketch is wanted, not {type(sketch).__name__}: gra2seq.read gives some")
    return every


def _check_damage(count: int, draws: NDArray[np.floating] | None, mask_prob: float, nodes: int) -> None:
    if not 0 <= mask_prob <= 1:
        raise UserError(f"mask probability {mask_prob} must lie between 0 and 1")
    if mask_prob and draws is None:
        raise UserError("mask_prob masks nothing without draws: give mask_draws(sketches, seed, nodes), or use heal")
    if draws is not None and (np.ndim(draws) != 2 or len(draws) != count or np.shape(draws)[1] < nodes):
        raise UserError(f"draws must have shape ({count}, {nodes}), a number a patch, got {np.shape(draws)}")


def _parts(count: int, most: int = BATCH) -> Iterator[slice]:
    for start in range(0, count, most):
        yield slice(start, min(start + most, count))


def _made(make: Callable[[Ints], Made], parts: Iterable[Ints], beside: bool) -> Iterator[Made]:
    """What is made of each part; `beside`: the next one already in a thread of its own while one is used.

    Who computes on one core has nothing to gain: there the two threads would only take it from each other.
    """
    if not beside:
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


def _noise(seed: int, numbers: Ints, attempts: Ints, most: int, offers: int, places: Tensor) -> Tensor:
    """(k, most, offers, 4) two uniforms and two normals an offer, from (seed, number of the sketch, attempt).

    The first offer's are the same however many there are.
    """
    noise = np.empty((len(places), offers, most, 4), np.float32)
    for blocks, place in zip(noise, places.tolist(), strict=True):
        attempt = int(attempts[place])
        random = generator(seed, int(numbers[place]), *([attempt] if attempt else []))
        for block in blocks:
            block[:, :2] = random.random((most, 2), np.float32)
            block[:, 2:] = random.standard_normal((most, 2), np.float32)
    return torch.from_numpy(noise).transpose(1, 2)
