"""Drawings for tests."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from gra2seq.formats.svg import read_svg
from gra2seq.sketch.strokes import Sketch

WHOLE = st.integers(-2000, 2000).map(float)
ANY = st.floats(-1e5, 1e5, width=32)
NAMES = st.sampled_from(["", "cat", "The Eiffel Tower", 'a < b & "c"', "Käse 🐱", " two\nlines\t", "{}[],:"])

calm = settings(deadline=None, max_examples=60)  # a busy machine must not fail a test


@st.composite
def sketches(draw: st.DrawFn, numbers: st.SearchStrategy[float] = ANY, named: bool = True) -> Sketch:
    """Up to 5 strokes of up to 8 points, dots and repeated points among them."""
    strokes = draw(st.lists(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), min_size=1, max_size=5))
    if not named:
        return Sketch.from_polylines(strokes)
    parts = draw(st.none() | st.lists(NAMES.filter(bool), min_size=len(strokes), max_size=len(strokes)))
    return Sketch.from_polylines(strokes, category=draw(NAMES), key=draw(NAMES), parts=parts or ())


def assert_same(one: Sketch, other: Sketch, names: bool = True) -> None:
    np.testing.assert_array_equal(one.lengths, other.lengths)
    np.testing.assert_array_equal(one.points, other.points)
    if names:
        assert (one.category, one.key, one.parts) == (other.category, other.key, other.parts)


def read_page(content: str, attributes: str = "") -> Sketch:
    """The drawing of a page with this content."""
    return read_svg(f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{content}</svg>'.encode())


def strokes_of(content: str, attributes: str = "") -> list[list[list[float]]]:
    """Its strokes as lists of rounded points."""
    return [np.round(stroke.astype(float), 4).tolist() for stroke in read_page(content, attributes).strokes]
