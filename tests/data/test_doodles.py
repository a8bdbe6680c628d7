"""Doodles: the same seed the same drawing, QuickDraw's form, labelled parts, real variation."""

from __future__ import annotations

from itertools import islice
from time import perf_counter

import numpy as np
import pytest

from gra2seq.data.doodles import CATEGORIES, doodle, doodles
from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Sketch

SAMPLES = 120

PARTS = {  # what must turn up in a category, though not in every drawing
    "airplane": {"body", "wing", "tail", "window", "cockpit"},
    "apple": {"body", "stem", "leaf"},
    "bee": {"body", "head", "stripe", "wing", "stinger", "antenna", "eye"},
    "bus": {"body", "wheel", "window", "door", "light"},
    "butterfly": {"body", "wing", "antenna", "spot"},
    "car": {"body", "roof", "wheel", "window", "door", "light"},
    "cat": {"head", "ear", "eye", "nose", "mouth", "whisker", "body", "leg", "tail"},
    "fish": {"body", "tail", "fin", "eye", "mouth", "scale"},
    "flower": {"petal", "heart", "stem", "leaf"},
    "giraffe": {"body", "neck", "head", "horn", "leg", "tail", "spot", "eye"},
    "horse": {"body", "neck", "head", "ear", "leg", "mane", "tail", "eye"},
    "house": {"wall", "roof", "door", "window", "chimney"},
    "pig": {"body", "head", "snout", "nostril", "ear", "leg", "tail", "eye"},
    "spider": {"body", "head", "leg", "eye", "thread"},
    "umbrella": {"canopy", "edge", "handle", "rib", "tip"},
}
ALWAYS = {  # how often a part is in every single drawing, at least
    "airplane": {"body": 1},
    "apple": {"body": 1, "stem": 1},
    "bee": {"body": 1, "stripe": 2, "wing": 1},
    "bus": {"body": 1, "wheel": 2, "window": 1},
    "butterfly": {"wing": 2, "body": 1},
    "car": {"body": 1, "wheel": 2, "window": 1},
    "cat": {"head": 1, "eye": 2},
    "fish": {"body": 1, "eye": 1},
    "flower": {"petal": 1, "stem": 1},
    "giraffe": {"head": 1, "eye": 1, "horn": 1},
    "horse": {"eye": 1},
    "house": {"wall": 1, "door": 1},
    "pig": {"snout": 1, "eye": 1, "ear": 1},
    "spider": {"body": 1, "leg": 8},
    "umbrella": {"canopy": 1, "handle": 1},
}


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[Sketch]]:
    return {category: [doodle(category, seed) for seed in range(SAMPLES)] for category in CATEGORIES}


def rows(sketch: Sketch) -> tuple[bytes, bytes, tuple[str, ...]]:
    return sketch.points.tobytes(), sketch.lengths.tobytes(), sketch.parts


def test_the_papers_categories_are_there() -> None:
    assert {"bee", "bus", "flower", "giraffe", "pig", "car", "cat", "horse"} <= set(CATEGORIES)
    assert len(CATEGORIES) >= 12
    assert set(PARTS) == set(ALWAYS) == set(CATEGORIES)


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_seed_is_a_drawing(category: str) -> None:
    first, again, other = doodle(category, 7), doodle(category, 7), doodle(category, 8)
    assert rows(first) == rows(again)
    assert rows(first) != rows(other)
    assert (first.category, first.key) == (category, f"doodle-{category}-7")


@pytest.mark.parametrize("category", CATEGORIES)
def test_form_is_quickdraws(category: str, drawn: dict[str, list[Sketch]]) -> None:
    for sketch in drawn[category]:
        left, top, width, height = sketch.box
        assert (left, top, max(width, height)) == (0, 0, 255)
        assert min(width, height) > 40  # no drawing collapses into a line
        assert np.array_equal(sketch.points, np.round(sketch.points))
        assert (sketch.lengths >= 2).all()
        for stroke in sketch.strokes:
            assert (np.diff(stroke, axis=0) != 0).any(axis=1).all(), f"{sketch.key} repeats a point"


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_stroke_is_labelled(category: str, drawn: dict[str, list[Sketch]]) -> None:
    seen: set[str] = set()
    for sketch in drawn[category]:
        assert len(sketch.parts) == len(sketch.lengths)
        assert all(sketch.parts)
        for part, least in ALWAYS[category].items():
            assert sketch.parts.count(part) >= least, f"{sketch.key} has too few of {part!r}: {sketch.parts}"
        seen.update(sketch.parts)
    assert seen >= PARTS[category]


@pytest.mark.parametrize("category", CATEGORIES)
def test_drawings_vary(category: str, drawn: dict[str, list[Sketch]]) -> None:
    sketches = drawn[category]
    assert len({rows(sketch) for sketch in sketches}) == SAMPLES
    assert len({len(sketch.lengths) for sketch in sketches}) >= 5
    assert len({len(sketch) for sketch in sketches}) >= 20
    assert len({tuple(sorted(set(sketch.parts))) for sketch in sketches}) >= 5  # optional parts
    assert len({sketch.parts[0] for sketch in sketches}) >= 2  # stroke order
    assert len({(sketch.box[2], sketch.box[3]) for sketch in sketches}) >= 30  # proportions


def test_both_sides_are_faced(drawn: dict[str, list[Sketch]]) -> None:
    """A horse's tail is left of the middle in some drawings, right of it in others."""
    sides = set()
    for sketch in drawn["horse"]:
        tails = [s for s, part in zip(sketch.strokes, sketch.parts, strict=True) if part == "tail"]
        if tails:
            sides.add(bool(tails[0][:, 0].mean() < sketch.box[2] / 2))
    assert sides == {True, False}


def test_points_are_about_as_many_as_people_draw(drawn: dict[str, list[Sketch]]) -> None:
    counts = np.array([[len(sketch) for sketch in drawn[category]] for category in CATEGORIES])
    assert 12 <= counts.min() < counts.max() <= 130
    assert 40 <= counts.mean() <= 55
    assert ((counts >= 25) & (counts <= 90)).mean() > 0.93


def test_series_take_turns_and_share_nothing() -> None:
    series = list(doodles(40, seed=0))
    assert [sketch.category for sketch in series] == [CATEGORIES[n % len(CATEGORIES)] for n in range(40)]
    assert [rows(sketch) for sketch in series] == [rows(sketch) for sketch in doodles(40, seed=0)]
    keys = [sketch.key for seed in (-1, 0, 1, 2) for sketch in doodles(40, seed=seed)]
    assert len(set(keys)) == 160
    drawings = {rows(sketch)[0] for seed in (-1, 0, 1, 2) for sketch in doodles(40, seed=seed)}
    assert len(drawings) == 160


def test_series_of_chosen_categories_is_lazy() -> None:
    names = [sketch.category for sketch in islice(doodles(10**9, categories=["pig", "bus"], seed=3), 4)]
    assert names == ["pig", "bus", "pig", "bus"]
    assert list(doodles(0)) == []


def test_unknown_category_names_the_known() -> None:
    with pytest.raises(UserError, match=r"'unicorn'.*bee.*horse"):
        doodle("unicorn", 0)
    with pytest.raises(UserError, match=r"unicorn.*bee"):
        doodles(3, categories=["cat", "unicorn"])  # at once, not at the first drawing
    with pytest.raises(UserError, match=r"choose from"):
        doodles(3, categories=[])
    with pytest.raises(UserError, match=r"-1"):
        doodles(-1)


def test_fast_enough_to_train_on() -> None:
    """2,000 a second on a quiet core; the bound is loose because tests share the machine."""
    list(doodles(50))
    best = 0.0
    for _ in range(3):
        begin = perf_counter()
        count = sum(1 for _ in doodles(300))
        best = max(best, count / (perf_counter() - begin))
    assert best > 500
