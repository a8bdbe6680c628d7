"""Finding where a drawing is damaged, from nothing but its visible strokes.

Every box that an eraser may have left (`erased_box`) gets a score, and so does the hypothesis that the drawing is
intact; softmax makes them probabilities. The scores are those of a small network. It was fitted on 1,200 of QuickDraw's
training drawings, intact and with a square of 0.4 of the longer side erased; the features of size and stretch were
shifted at random for each drawing, so that it did not learn the exact side. `benchmarks/detection.py --fit` fits it
anew, on rectangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final

import numpy as np

from gra2seq.errors import UserError
from gra2seq.sketch.damage import Damage, Frames, Holes, damages_of, lose, one_each
from gra2seq.sketch.erased_box import Candidates, candidates
from gra2seq.sketch.masking import masked
from gra2seq.sketch.region import Region, pieces
from gra2seq.sketch.strokes import Doubles, Floats, Sketch

DETECT: Final = "detect"  # in the place of holes
MAX_INTACT = 0.5  # probability of no damage from which on nothing is reported
SAME = 0.5  # boxes that overlap (IoU) by this much are the same region
AGREED = 0.95  # of the highest sum of probabilities: boxes this good are chosen from by their own
LIKELIEST = 60  # boxes that are compared with each other
WEIGHTS = "detection.npz"  # beside this file


def find_damage(sketch: Sketch) -> Region | None:
    """The region that was erased from a drawing, in its units; None if it looks intact.

    The region is empty: no visible line is lost by healing it. An erased box is found by the ends it leaves, so one
    that touched no line cannot be found, and one that cut a single line rarely is.
    """
    boxes = candidates(sketch)
    if boxes is None or not len(boxes.boxes):
        return None
    intact, probability = _probabilities(boxes)
    if intact > MAX_INTACT:
        return None
    left, top, width, height = sketch.box
    chosen = _most_agreed(boxes.boxes, probability) * max(width, height) + np.array([left, top, left, top])
    return _without_ink(sketch, chosen)


def to_heal(
    sketches: Sequence[Sketch | Damage],
    holes: Holes | str,
    frame: Frames | None,
    keep_lines: bool,
    masks: tuple[float, int] = (0.0, 0),
) -> tuple[list[Damage], list[bool]]:
    """The damage of each sketch, given by `holes` or detected, and which of them are intact: nothing to heal.

    Damage is taken as it is. Where lines are not kept, sketches without holes are drawn anew too. `masks`, a
    probability and a seed, are the paper's: nothing else says what is lost, in the frame of the whole drawing.
    """
    if masks[0]:
        if frame is not None or (len(holes) and not isinstance(holes, str)):
            raise UserError("mask_prob says what is lost, in the frame of the whole drawing: leave out holes and frame")
        return masked(sketches, *masks), [False] * len(sketches)
    damages = damages_of(sketches, () if isinstance(holes, str) else holes, frame)
    if not isinstance(holes, str):
        return damages, [keep_lines and not damage.lost for damage in damages]
    if holes != DETECT:
        raise UserError(f"holes={holes!r} is not known: give boxes (x, y, width, height), or {DETECT!r}")
    frames = one_each(frame, len(sketches), "frame")
    for number, sketch in enumerate(sketches):
        region = find_damage(sketch) if isinstance(sketch, Sketch) else None
        if region:
            damages[number] = lose(damages[number].visible, region, frames[number])
    return damages, [not damage.lost for damage in damages]


def with_intact(
    damages: Sequence[Damage], intact: Sequence[bool], healed: Sequence[Sketch], samples: int
) -> list[Sketch]:
    """`samples` drawings of each: those that were healed, in order, and intact ones as they are."""
    drawn = iter(healed)
    return [
        damage.visible if whole else next(drawn)
        for damage, whole in zip(damages, intact, strict=True)
        for _ in range(samples)
    ]


def overlap(first: Doubles, second: Doubles) -> Doubles:
    """Intersection over union of boxes (…, 4): left, top, right, bottom; broadcast."""
    low, high = np.maximum(first[..., :2], second[..., :2]), np.minimum(first[..., 2:], second[..., 2:])
    shared = (high - low).clip(min=0).prod(axis=-1)
    areas = [(boxes[..., 2:] - boxes[..., :2]).prod(axis=-1) for boxes in (first, second)]
    share: Doubles = shared / (areas[0] + areas[1] - shared)
    return share


@dataclass(frozen=True)
class Scorer:
    """A network of two hidden layers: features of boxes in, a score for each out."""

    mean: Floats
    spread: Floats
    layers: tuple[tuple[Floats, Floats], ...]  # weights (in, out) and offsets
    intact: float  # score of an undamaged drawing

    def __call__(self, features: Floats) -> Doubles:
        values = np.asarray((features - self.mean) / self.spread, np.float64)
        for number, (weights, offsets) in enumerate(self.layers):
            values = np.asarray((np.maximum(values, 0) if number else values) @ weights + offsets, np.float64)
        return values[:, 0]


@lru_cache(maxsize=1)
def _scorer() -> Scorer:
    with resources.files(__package__).joinpath(WEIGHTS).open("rb") as file, np.load(file) as stored:
        layers = tuple((stored[f"weights{n}"], stored[f"offsets{n}"]) for n in range(3))
        return Scorer(stored["mean"], stored["spread"], layers, float(stored["intact"]))


def _probabilities(boxes: Candidates) -> tuple[float, Doubles]:
    """Of an intact drawing, and (C,) of each box."""
    scorer = _scorer()
    scores = np.append(scorer(boxes.features), scorer.intact)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    return float(weights[-1]), weights[:-1]


def _most_agreed(boxes: Doubles, probability: Doubles) -> Doubles:
    """The likeliest of the boxes that are most probably the same region as the erased one.

    Many boxes that differ little share the probability of one region, so the likeliest single box may be of another.
    """
    likeliest = np.argsort(-probability, kind="stable")[:LIKELIEST]
    same = overlap(boxes[likeliest][:, None], boxes[likeliest]) >= SAME
    agreed = same @ probability[likeliest]
    return np.asarray(boxes[likeliest[int((agreed >= AGREED * agreed.max()).argmax())]])


def _without_ink(sketch: Sketch, box: Doubles) -> Region | None:
    """The box, made a little smaller where visible lines reach into it; None if nothing is left of it."""
    for _ in range(100):
        region = Region(box[None])
        inner = [piece.points for piece in pieces(sketch, region, within=True)]
        if not inner:
            return region
        low, high = inner[0].min(axis=0), inner[0].max(axis=0)
        reach = np.concatenate([high - box[:2], box[2:] - low])  # how far each side must move to leave it outside
        side = int(reach.argmin())
        step = np.spacing(np.float32(np.abs(box).max())) * 4
        box = box.copy()
        box[side] = high[side] + step if side < 2 else low[side - 2] - step
        if (box[2:] <= box[:2]).any():
            return None
    return None
