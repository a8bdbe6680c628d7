"""Strokes from points that have more than x and y."""

from __future__ import annotations

import numpy as np
import pytest

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Sketch

PEN = [[[10 * i, 5 * i * i, 0.5] for i in range(50)], [[1, 2, 0.3], [3, 4, 0.6]]]  # what a stylus writes


def test_a_third_column_of_strokes_is_ignored() -> None:
    sketch = Sketch.from_polylines(PEN)
    assert sketch.points.tolist() == [point[:2] for stroke in PEN for point in stroke]
    assert sketch.lengths.tolist() == [50, 2]
    assert len(Sketch.from_polylines([np.zeros((4, 3)), np.empty((0, 3)), [[], []]])) == 4


@pytest.mark.parametrize(
    "stroke", [[[0, 10, 50, 100], [0, 30, 40, 100]], [1, 2, 3, 4], 7, [[[1, 2]]], np.zeros((9, 4)), np.zeros((5, 1))]
)
def test_strokes_of_another_shape_are_refused(stroke: object) -> None:
    with pytest.raises(UserError, match=r"stroke 1 has shape .*, not \(n, 2\).*pass x and y only.*from_quickdraw"):
        Sketch.from_polylines([[(0, 0)], stroke])  # type: ignore[list-item]


@pytest.mark.parametrize("stroke", [[[1, 2], [3]], [["a", "b"]], [{}]])
def test_strokes_that_are_not_numbers_are_refused(stroke: object) -> None:
    with pytest.raises(UserError, match="stroke 0 is not a list of points"):
        Sketch.from_polylines([stroke])  # type: ignore[list-item]


def test_a_coordinate_too_large_is_refused_without_a_warning() -> None:
    with pytest.raises(UserError, match="NaN or infinite"):
        Sketch.from_polylines([[(1e99, 0)]])


def test_points_are_refused_as_polylines() -> None:
    with pytest.raises(UserError, match=r"stroke 0 is not a pair.*Sketch\.from_polylines"):
        Sketch.from_quickdraw(PEN)
    assert len(Sketch.from_quickdraw([[[1, 2], [3, 4], [0, 9]]])) == 2
