from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_sketches import ANY, WHOLE, assert_same, calm, sketches

from gra2seq.errors import UserError
from gra2seq.sketch import strokes
from gra2seq.sketch.strokes import (
    DOWN,
    END,
    LIFT,
    UP,
    Sketch,
    from_stroke5,
)
from stroke5 import to_stroke5

TWO = Sketch.from_polylines([[(1, 2), (4, 6)], [(10, 10)]], category="cat", key="7", parts=("ear", "eye"))


def test_stroke3_by_hand() -> None:
    np.testing.assert_array_equal(TWO.to_stroke3(), [[1, 2, 0], [3, 4, 1], [6, 4, 1]])


def test_stroke5_by_hand() -> None:
    expected = [[1, 2, 1, 0, 0], [3, 4, 0, 1, 0], [6, 4, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1]]
    np.testing.assert_array_equal(to_stroke5(TWO, 5), expected)
    assert len(to_stroke5(TWO)) == 4  # one END row at least


def test_polylines_by_hand_keep_whole_numbers_whole() -> None:
    lines = Sketch.from_polylines([[(1, 2.5), (4, 6)]]).to_quickdraw()
    assert lines == [[[1, 4], [2.5, 6]]]
    assert [type(value) for value in lines[0][0]] == [int, int]


@calm
@given(sketches(WHOLE))
def test_all_forms_are_one_drawing_in_whole_numbers(sketch: Sketch) -> None:
    about = {"category": sketch.category, "key": sketch.key, "parts": sketch.parts}
    assert_same(Sketch.from_stroke3(sketch.to_stroke3(), **about), sketch)
    assert_same(from_stroke5(to_stroke5(sketch), **about), sketch)
    assert_same(from_stroke5(to_stroke5(sketch, len(sketch) + 9), **about), sketch)
    assert_same(Sketch.from_quickdraw(sketch.to_quickdraw(), **about), sketch)


@calm
@given(sketches(ANY))
def test_all_forms_are_one_drawing_in_any_numbers(sketch: Sketch) -> None:
    assert_same(Sketch.from_quickdraw(sketch.to_quickdraw()), sketch, names=False)
    for again in (Sketch.from_stroke3(sketch.to_stroke3()), from_stroke5(to_stroke5(sketch))):
        np.testing.assert_array_equal(again.lengths, sketch.lengths)
        # offsets are float32: half a unit in the last place of the largest offset, at each of 40 points
        largest = max(1e-30, float(np.abs(sketch.points).max()))
        np.testing.assert_allclose(again.points, sketch.points, rtol=0, atol=40 * 2**-23 * largest)


@calm
@given(sketches(WHOLE))
def test_pen_states_are_one_hot_and_lifts_are_stroke_ends(sketch: Sketch) -> None:
    rows = to_stroke5(sketch, len(sketch) + 3)
    np.testing.assert_array_equal(rows[:, DOWN:].sum(axis=1), 1)
    assert rows[:, UP].sum() == len(sketch.lengths) == sketch.to_stroke3()[:, LIFT].sum()
    assert rows[:, END].sum() == 3


def test_a_missing_last_lift_is_added() -> None:
    assert Sketch.from_stroke3([[1, 1, 0], [1, 1, 0]]).lengths.tolist() == [2]
    assert from_stroke5([[1, 1, 1, 0, 0], [1, 1, 1, 0, 0]]).lengths.tolist() == [2]


def test_what_follows_the_end_is_ignored() -> None:
    rows = np.concatenate([to_stroke5(TWO), to_stroke5(TWO)])
    assert_same(from_stroke5(rows), TWO, names=False)


def test_strokes_without_points_are_left_out_with_their_part() -> None:
    sketch = Sketch.from_polylines([[(0, 0)], [], [(1, 1)]], parts=("a", "b", "c"))
    assert sketch.parts == ("a", "c")
    assert sketch.lengths.tolist() == [1, 1]


def test_box_starts_and_strokes() -> None:
    assert TWO.box == (1, 2, 9, 8)
    assert TWO.starts.tolist() == [0, 2]
    assert [stroke.tolist() for stroke in TWO.strokes] == [[[1, 2], [4, 6]], [[10, 10]]]
    assert TWO.with_points(TWO.points + 1).box == (2, 3, 9, 8)
    assert TWO.with_points(TWO.points).parts == TWO.parts


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_coordinate_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(UserError, match=r"'7' has a coordinate that is NaN or infinite"):
        Sketch.from_polylines([[(0, bad)]], key="7")


@pytest.mark.parametrize(
    ("points", "lengths", "message"),
    [
        (np.zeros((0, 2)), [], "is empty"),
        (np.zeros((2, 3)), [2], r"got shape \(2, 3\)"),
        (np.zeros((3, 2)), [1, 1], "do not add up to 3 points"),
        (np.zeros((3, 2)), [3, 0], "do not add up"),
    ],
)
def test_what_is_no_drawing_is_refused(points: np.ndarray, lengths: list[int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Sketch(points, np.array(lengths, np.int64))


def test_too_many_points_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strokes, "MAX_POINTS_READ", 10)
    with pytest.raises(UserError, match="has 11 points; more than 10 is not read: simplify it"):
        Sketch(np.zeros((11, 2)), np.array([11]))


def test_part_labels_must_fit_the_strokes() -> None:
    with pytest.raises(UserError, match="1 part labels for 2 strokes"):
        Sketch.from_polylines([[(0, 0)], [(1, 1)]], parts=("a",))


@calm
@given(st.sampled_from([Sketch.from_stroke3, from_stroke5]), st.sampled_from([(0,), (4, 2), (3,), (2, 4)]))
def test_rows_of_a_wrong_width_are_refused(convert: object, shape: tuple[int, ...]) -> None:
    with pytest.raises(UserError, match="needs rows of"):
        convert(np.zeros(shape))  # type: ignore[operator]


@pytest.mark.parametrize("drawing", [[[[1, 2]]], [[[1, 2], [3]]], [[1, 2]]])
def test_polylines_that_are_none_are_refused(drawing: list[object]) -> None:
    with pytest.raises(UserError, match="stroke 0 is not a pair"):
        Sketch.from_quickdraw(drawing)  # type: ignore[arg-type]


def test_sketches_with_the_same_content_are_equal() -> None:
    again = Sketch(TWO.points.copy(), TWO.lengths.copy(), TWO.category, TWO.key, TWO.parts)
    assert again == TWO
    assert len({again, TWO}) == 1
    for other in (
        TWO.with_points(TWO.points + 1),
        Sketch(TWO.points, np.array([1, 2]), TWO.category, TWO.key, TWO.parts),
        Sketch(TWO.points, TWO.lengths, "dog", TWO.key, TWO.parts),
        Sketch(TWO.points, TWO.lengths, TWO.category, "8", TWO.parts),
        Sketch(TWO.points, TWO.lengths, TWO.category, TWO.key),
    ):
        assert other != TWO
    assert TWO != "cat"
    zero, minus_zero = (Sketch.from_polylines([[(0.0 * sign, 1.0)]]) for sign in (1, -1))
    assert zero == minus_zero
    assert hash(zero) == hash(minus_zero)


def test_polylines_are_copies() -> None:
    lines = TWO.to_polylines()
    assert Sketch.from_polylines(lines, category="cat", key="7", parts=TWO.parts) == TWO
    lines[0][:] = 9
    assert TWO.points[0].tolist() == [1, 2]


@calm
@given(sketches(WHOLE))
def test_svg_text_gives_the_same_sketch(sketch: Sketch) -> None:
    again = Sketch.from_svg(sketch.to_svg())
    np.testing.assert_array_equal(again.points, sketch.points)
    np.testing.assert_array_equal(again.lengths, sketch.lengths)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_notebook_picture_has_one_size_in_all_units(scale: float) -> None:
    text = TWO.with_points(TWO.points.astype(np.float64) * scale)._repr_svg_()
    assert text.startswith('<svg width="240" height="240" ')
    assert max(Sketch.from_svg(text).box[2:]) == pytest.approx(255)
    assert Sketch.from_polylines([[(5, 5)]])._repr_svg_().count("<path") == 1
