"""Scribbles by rule: what a hand makes that draws nothing. The kinds were fixed before anything was tuned on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gra2seq.sketch.simplify import quickdraw_simplify
from gra2seq.sketch.strokes import Doubles, Sketch

Random = np.random.Generator


def random_walk(random: Random) -> list[Doubles]:
    """One to three walks with independent Gaussian steps."""
    return [np.cumsum(random.normal(0, 40, (random.integers(8, 40), 2)), axis=0) for _ in range(random.integers(1, 4))]


def meander(random: Random) -> list[Doubles]:
    """One or two smooth walks: the heading changes a little at every step."""
    strokes = []
    for _ in range(random.integers(1, 3)):
        count = int(random.integers(60, 200))
        turn = np.cumsum(random.normal(0, 0.12, count))
        heading = np.cumsum(0.3 * np.sin(turn) + random.normal(0, 0.25, count))
        start = random.uniform(0, 60, 2)
        strokes.append(start + 6 * np.cumsum(np.stack([np.cos(heading), np.sin(heading)], axis=1), axis=0))
    return strokes


def zigzag(random: Random) -> list[Doubles]:
    """Shading: the pen goes to and fro while it moves on, in any direction, irregularly."""
    strokes = []
    for _ in range(random.integers(1, 4)):
        count = int(random.integers(8, 30))
        along = np.cumsum(random.uniform(0.2, 1.5, count)) * 8
        across = np.where(np.arange(count) % 2, 1, -1) * random.uniform(25, 110, count)
        strokes.append(random.uniform(0, 120, 2) + _turned(np.stack([along, across], axis=1), random))
    return strokes


def spiral(random: Random) -> list[Doubles]:
    """One to three wobbly spirals over each other."""
    strokes = []
    for _ in range(random.integers(1, 4)):
        angle = np.linspace(0, random.uniform(3, 8) * 2 * np.pi, 200) * random.choice([-1, 1])
        radius = np.linspace(random.uniform(0, 20), random.uniform(60, 120), 200)
        radius = radius * (1 + 0.15 * np.sin(angle * random.uniform(0.2, 0.9) + random.uniform(0, 6)))
        circle = np.stack([np.cos(angle), random.uniform(0.5, 1) * np.sin(angle)], axis=1)
        strokes.append(random.uniform(0, 100, 2) + _turned(circle * radius[:, None], random))
    return strokes


def loops(random: Random) -> list[Doubles]:
    """A pen that circles while its hand wanders: overlapping loops of changing size."""
    strokes = []
    for _ in range(random.integers(1, 3)):
        turns = random.uniform(4, 14)
        angle = np.linspace(0, turns * 2 * np.pi, int(turns * 20)) + random.uniform(0, 6)
        size = random.uniform(20, 60) * (1 + 0.5 * np.sin(angle * random.uniform(0.05, 0.3) + random.uniform(0, 6)))
        centre = np.cumsum(random.normal(random.normal(0, 0.6, 2), 3, (len(angle), 2)), axis=0)
        strokes.append(centre + np.stack([np.cos(angle), np.sin(angle)], axis=1) * size[:, None])
    return strokes


def tangle(random: Random) -> list[Doubles]:
    """A closed curve of many random waves."""
    time = np.linspace(0, 2 * np.pi, 300)
    waves = np.arange(1, random.integers(6, 14))
    parts = random.normal(0, 1, (4, len(waves), 1)) / np.sqrt(waves)[:, None]
    cosines, sines = np.cos(waves[:, None] * time), np.sin(waves[:, None] * time)
    return [50 * np.stack([(a * cosines + b * sines).sum(axis=0) for a, b in (parts[:2], parts[2:])], axis=1)]


def scattered_lines(random: Random) -> list[Doubles]:
    """Straight and bent strokes anywhere, in any direction."""
    return [
        random.uniform(0, 200, 2) + np.cumsum(random.normal(0, 50, (random.integers(2, 5), 2)), axis=0)
        for _ in range(random.integers(5, 20))
    ]


KINDS: dict[str, Callable[[Random], list[Doubles]]] = {
    kind.__name__: kind for kind in (random_walk, meander, zigzag, spiral, loops, tangle, scattered_lines)
}


def scribble(kind: str, random: Random) -> Sketch:
    """A scribble in the form of QuickDraw's drawings."""
    return quickdraw_simplify(Sketch.from_polylines(KINDS[kind](random), category=kind))


def scribbles(count: int, seed: int) -> list[Sketch]:
    """So many scribbles, all kinds in turn; the category is the kind."""
    random, kinds = np.random.default_rng(seed), list(KINDS)
    return [scribble(kinds[number % len(kinds)], random) for number in range(count)]


def _turned(points: Doubles, random: Random) -> Doubles:
    angle = random.uniform(0, 2 * np.pi)
    turned: Doubles = points @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return turned
