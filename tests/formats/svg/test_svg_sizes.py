"""Sizes of pages and drawings: units, "auto", percentages, and drawings that are large or far from 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from svg_samples import assert_same, calm, sketches
from svg_samples import read_page as page
from svg_samples import strokes_of as strokes

from gra2seq.errors import UserError
from gra2seq.formats.svg import read_svg, write_svg
from gra2seq.sketch.strokes import Sketch

SEEN = '<path d="M50 50L150 150" fill="none" stroke="black"/>'

# Sizes


@pytest.mark.parametrize("size", ["auto", "100vw", "calc(100% - 2px)", "100%", "max-content", "Auto ", ""])
def test_displayed_size_does_not_change_units(size: str) -> None:
    for attributes in (f'width="{size}"', f'height="{size}" width="10"', f'preserveAspectRatio="none" width="{size}"'):
        lines = strokes('<path d="M0 0L20 10"/>', f'viewBox="0 0 20 10" {attributes}')
        assert lines == [[[0, 0], [20, 10]]]


def test_auto_equals_absent() -> None:
    box = '<rect width="20" height="10" rx="{}" ry="{}"/>'
    assert strokes(box.format("auto", "auto")) == strokes('<rect width="20" height="10"/>')
    assert strokes(box.format("auto", "3")) == strokes(box.format("3", "3")) == strokes(box.format("3", " AUTO "))
    oval = '<ellipse rx="{}" ry="{}"/>'
    assert strokes(oval.format("auto", "3")) == strokes(oval.format("3", "3")) == strokes('<ellipse rx="3"/>')
    assert strokes(f'<ellipse rx="auto" ry="auto"/><rect width="auto" height="5"/>{SEEN}') == strokes(SEEN)
    assert strokes('<rect width="50%" height="5"/>', 'width="auto" height="auto"') == strokes(
        '<rect width="150" height="5"/>'
    )
    symbol = '<symbol id="a" viewBox="0 0 1 1" width="20" height="20"><path d="M0 0L1 1"/></symbol>'
    assert strokes(f'{symbol}<use href="#a" width="auto" height="auto"/>') == [[[0, 0], [20, 20]]]


@pytest.mark.parametrize("content", ['<rect width="20vw" height="1"/>', '<svg width="20vw"/>', '<circle r="auto"/>'])
def test_other_lengths_are_read_strictly(content: str) -> None:
    with pytest.raises(UserError, match="is not a length"):
        page(content)


def test_a_page_without_viewbox_needs_a_length() -> None:
    with pytest.raises(UserError, match="width='100vw' is not a length"):
        page(SEEN, 'width="100vw"')


# Far and large


@calm
@given(sketches(st.floats(-(2.0**38), 2.0**38, width=32)))
def test_large_coordinates_round_trip(sketch: Sketch) -> None:
    assert_same(read_svg(write_svg(sketch).encode()), sketch)


@calm
@given(
    st.sampled_from([1e6, 5.4e6, 1e9, 3.3e11]),
    st.lists(st.tuples(st.integers(-40, 40), st.integers(-40, 40)), min_size=1, max_size=8),
    st.booleans(),
)
def test_small_drawings_far_from_zero_round_trip(away: float, steps: list[tuple[int, int]], both: bool) -> None:
    grain = float(np.spacing(np.float32(away)))
    points = np.array(steps) * grain + [away, away if both else 0]
    sketch = Sketch.from_polylines([points])
    assert_same(read_svg(write_svg(sketch).encode()), sketch)


def test_a_map_in_metres_is_read() -> None:
    assert strokes(
        '<path d="M691608 5334760l1500 800"/>', 'viewBox="691000 5334000 4000 4000" width="100" height="100"'
    ) == [[[691608, 5334760], [693108, 5335560]]]


def test_drawings_too_far_from_zero_for_single_precision_are_refused() -> None:
    with pytest.raises(UserError, match=r"10 px large and lies 5\.33e\+06 px from 0, too far: move it nearer to 0"):
        page('<path d="M691608.1 5334760.3l10 4.2"/>', "")
    assert len(page('<path d="M691608.1 5334760.3z"/>', "").lengths) == 1  # a dot has no shape to lose


@pytest.mark.parametrize("points", [[(0, 0), (2e12, 0)], [(9e11, 0), (-9e11, 0)], [(1e35, 0)], [(9.9e11, 0), (0, 0)]])
def test_drawings_too_large_to_read_again_are_not_written(points: list[tuple[float, float]]) -> None:
    with pytest.raises(UserError, match="beyond 1,000,000,000,000 px could not be read again from SVG: scale it down"):
        write_svg(Sketch.from_polylines([points]))
