"""The paper's masks: patches of a sketch are hidden at random, in one of four ways.

(a) and (d) are what models are given. (b) and (c) let hidden lines through; they are kept for the paper's figure of
masks. A mask of another shape is a function beside `mask` that returns a `Damage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from gra2seq.errors import UserError
from gra2seq.sketch.canvas import Canvas, Pixels, draw, lost_on
from gra2seq.sketch.centres import NODES, centre_points
from gra2seq.sketch.damage import Damage, Drawable, checked_drawables, lose, name_of, own_number
from gra2seq.sketch.lattice import VIEW, visible_points
from gra2seq.sketch.patches import on_canvas, window
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write

MASKED_SIDE = 0.4  # side of what a masked patch loses, of the longer side of the drawing: 256 / 640 (paper)
# The paper's letters: (a) and (b) damage patches, (c) and (d) SketchLattice's points.
APPROACHES = {"a": "wipe-then-crop", "b": "crop-by-turns", "c": "drop-points", "d": "wipe-then-lattice"}


def mask(sketch: Sketch, noise: NDArray[np.floating], probability: float) -> Damage:
    """The paper's masks, approach (a): of the first patch centres along the whole drawing, those whose number in
    `noise` lies below the probability lose their patch, a square of 0.4 of the longer side.

    The surviving centres are part of the protocol and are given to the model; nothing else of the hidden strokes is.
    """
    frame = sketch.box
    every = centre_points(sketch).astype(np.float64)
    first = min(len(every), NODES, len(noise))
    masked = np.zeros(len(every), bool)
    masked[:first] = noise[:first] < probability
    if not masked.any():
        return Damage(sketch, Region(), frame, every)
    half = MASKED_SIDE * (max(frame[2:]) or 1.0) / 2
    boxes = np.concatenate([every[masked] - half, every[masked] + half], axis=1)
    lost = Region(boxes)
    try:
        return Damage(lose(sketch, lost, frame).visible, lost, frame, every[~masked])
    except UserError:
        raise UserError(
            f"masks with probability {probability} hide all of {name_of(sketch)}: lower it, or use another seed"
        ) from None


def masked(sketches: Sequence[Drawable], probability: float, seed: int) -> list[Damage]:
    """Each sketch with patches masked at random, the same ones wherever the drawing lies and whatever its size."""
    if not 0 <= probability <= 1:
        raise UserError(f"mask probability {probability} must lie between 0 and 1")
    intact = [one for one in checked_drawables(sketches) if isinstance(one, Sketch)]
    if len(intact) < len(sketches):
        raise UserError("masks are for sketches: these are damaged already")
    noise = [np.random.Generator(np.random.PCG64((seed, own_number(one)))).random(NODES) for one in intact]
    return [mask(one, numbers, probability) for one, numbers in zip(intact, noise, strict=True)]


def crop_by_turns(sketch: Sketch, canvas: Canvas, noise: NDArray[np.floating], probability: float) -> Pixels:
    """(b) SketchHealer's: cropping and wiping by turns in drawing order; what the whole view and the patches show.

    A patch that is cropped before an overlapping one is wiped still shows what that one hides.
    """
    whole = Damage.none(sketch)
    pixels, seen = draw(whole, canvas), np.zeros((canvas.padded, canvas.padded), np.uint8)
    first, half = centre_points(sketch)[:NODES].astype(np.float64), MASKED_SIDE * whole.side / 2
    for number, centre in enumerate(on_canvas(whole.normalised(first), canvas)):
        if noise[number] < probability:
            wiped = Region(np.concatenate([first[number] - half, first[number] + half])[None])
            lost_on(Damage(sketch, wiped, sketch.box), canvas).paint(pixels, 0)
        else:
            seen[window(centre, canvas)] |= pixels[window(centre, canvas)]
    shown: Pixels = seen | pixels
    return shown


def drop_points(sketch: Sketch, noise: NDArray[np.floating], probability: float) -> NDArray[np.int64]:
    """(c) SketchLattice's: lattice points are dropped one by one, the pixels stay. (n, 2) points left."""
    points = visible_points(Damage.none(sketch), Canvas(patch=VIEW))
    if len(noise) < len(points):
        raise UserError(f"{len(points)} lattice points need as many random numbers, not {len(noise)}")
    return points[noise[: len(points)] >= probability]


def wipe_then_lattice(sketch: Sketch, noise: NDArray[np.floating], probability: float) -> NDArray[np.int64]:
    """(d) The paper's for SketchLattice: patches are wiped as in (a), then the lattice is laid on what is visible."""
    return visible_points(mask(sketch, noise, probability), Canvas(patch=VIEW))


@dataclass(frozen=True)
class MaskNoise:
    """Random numbers for the centres of every sketch of a benchmark, stored so that two runs see the same damage.

    A centre is masked where its number lies below the probability: what is masked at 10 % is also masked at 30 %.
    """

    numbers: NDArray[np.float32]  # (sketches, NODES)
    seed: int

    @staticmethod
    def make(sketches: int, seed: int) -> MaskNoise:
        random = np.random.Generator(np.random.PCG64(seed))
        return MaskNoise(random.random((sketches, NODES), dtype=np.float32), seed)

    def save(self, path: str | Path) -> None:
        with atomic_write(path) as temporary:
            save_file({"numbers": self.numbers}, temporary, {"seed": str(self.seed)})

    @staticmethod
    def load(path: str | Path) -> MaskNoise:
        try:
            with safe_open(path, framework="numpy") as file:
                return MaskNoise(file.get_tensor("numbers"), int(file.metadata()["seed"]))
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} does not hold mask noise ({error}): make it anew") from error
