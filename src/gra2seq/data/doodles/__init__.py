"""Drawings by rule, every stroke labelled with its part, so that all runs with no data at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from gra2seq.data.doodles.cat_and_pig import cat, pig
from gra2seq.data.doodles.hand import Hand
from gra2seq.data.doodles.horse_and_giraffe import giraffe, horse
from gra2seq.data.doodles.small_animals import bee, butterfly, fish, spider
from gra2seq.data.doodles.things import apple, flower, house, umbrella
from gra2seq.data.doodles.vehicles import airplane, bus, car
from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Sketch

DRAWERS: dict[str, Callable[[Hand], None]] = {
    "airplane": airplane,
    "apple": apple,
    "bee": bee,
    "bus": bus,
    "butterfly": butterfly,
    "car": car,
    "cat": cat,
    "fish": fish,
    "flower": flower,
    "giraffe": giraffe,
    "horse": horse,
    "house": house,
    "pig": pig,
    "spider": spider,
    "umbrella": umbrella,
}
CATEGORIES: tuple[str, ...] = tuple(DRAWERS)

SERIES = 2**32  # drawings in one series: series of different seeds never share a drawing's seed


def doodle(category: str, seed: int) -> Sketch:
    """One drawing; the same category and seed always give the same."""
    draw = DRAWERS.get(category)
    if draw is None:
        raise UserError(f"no doodle is called {category!r}: choose from {', '.join(CATEGORIES)}")
    hand = Hand(Random(f"{category} {seed}"))
    draw(hand)
    return hand.finish(category, f"doodle-{category}-{seed}")


def doodles(count: int, *, categories: Sequence[str] = CATEGORIES, seed: int = 0) -> Iterator[Sketch]:
    """`count` different drawings, the categories taking turns; two values of `seed` share none."""
    unknown = [name for name in categories if name not in DRAWERS]
    if unknown or not categories:
        raise UserError(f"no doodles for {unknown or 'no category'}: choose from {', '.join(CATEGORIES)}")
    if not 0 <= count <= SERIES:
        raise UserError(f"cannot draw {count} doodles: ask for 0 to {SERIES}")
    return (doodle(categories[number % len(categories)], seed * SERIES + number) for number in range(count))
