from __future__ import annotations

import warnings
from pathlib import Path

import cv2
import numpy as np
import pytest

from gra2seq.errors import UserError
from gra2seq.sketch.render import BLANK_VALUE, contact_sheet, printable, render, write_png
from gra2seq.sketch.strokes import Sketch

CAT = Sketch.from_polylines([[(1, 2), (4, 6)], [(10, 10)]], category="cat", key="7", parts=("ear", "eye"))
PLAIN = Sketch.from_polylines([[(0, 0), (255, 10)], [(3, 4), (5, 6), (9, 9)]])


@pytest.mark.parametrize("size", [1, 8, 64, 257])
@pytest.mark.parametrize("shape", [[(0, 0), (1000, 3)], [(5, 5)], [(1e-20, 0), (0, 1e-20)], [(1e30, 0), (-1e30, 1e30)]])
def test_every_drawing_is_rendered(size: int, shape: list[tuple[float, float]]) -> None:
    image = render(Sketch.from_polylines([shape]), size)
    assert image.shape == (size, size)
    assert image.dtype == np.uint8
    assert image.min() < 200  # a dot of one pixel may lie between four


def test_a_picture_is_centred_keeps_its_aspect_and_its_margin() -> None:
    image = render(Sketch.from_polylines([[(0, 0), (100, 0), (100, 50), (0, 50), (0, 0)]]), 256)
    rows, columns = np.nonzero(image < 128)
    left, right, top, bottom = columns.min(), columns.max(), rows.min(), rows.max()
    assert abs(left + right - 255) <= 1
    assert abs(top + bottom - 255) <= 1
    assert (bottom - top) / (right - left) == pytest.approx(0.5, abs=0.02)
    assert 12 <= left <= 18  # 1/16 of 256, and half a line
    assert ((image > 0) & (image < 255)).any()  # smooth
    np.testing.assert_array_equal(image[128, 40:200], 255)  # nothing is filled


def test_a_rendered_line_has_its_width() -> None:
    image = render(Sketch.from_polylines([[(0, 0), (100, 0)]]), 256, width=6)
    assert (255 - image[:, 128].astype(float)).sum() / 255 == pytest.approx(6, abs=0.6)


def test_a_sheet_has_rows_columns_and_words() -> None:
    bare = contact_sheet([[CAT, None], [PLAIN]], 64)
    assert bare.shape == (4 + 2 * 68, 4 + 2 * 68)
    np.testing.assert_array_equal(bare[4:68, 4:68], render(CAT, 64))
    np.testing.assert_array_equal(bare[:, 72:], 255)
    titled = contact_sheet([[CAT, None], [PLAIN]], 64, ["original", "healed"], ["cat", "Käse" * 20])
    assert titled.shape[0] == bare.shape[0] + 20
    assert bare.shape[1] < titled.shape[1] <= bare.shape[1] + 64 + 4
    assert titled[:20].min() < 200  # words above
    np.testing.assert_array_equal(titled[-136:, -136:], bare[-136:, -136:])
    shown = contact_sheet([[render(CAT, 64)]], 64)
    np.testing.assert_array_equal(shown, contact_sheet([[CAT]], 64))


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([], {}, "no drawing"),
        ([[]], {}, "no drawing"),
        ([[CAT]], {"titles": ["a", "b"]}, "2 titles for 1 columns"),
        ([[CAT]], {"labels": []}, "0 labels for 1 rows"),
        ([[CAT] * 200], {}, "too large: show fewer"),
        ([[CAT]], {"size": 0}, "0 px is not drawn"),
        ([[CAT]], {"size": 10**6}, "is not drawn: choose 1 to 5000"),
    ],
)
def test_impossible_sheets_are_refused(rows: list[list[Sketch]], options: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        contact_sheet(rows, **options)  # type: ignore[arg-type]


def test_png_keeps_every_pixel(tmp_path: Path) -> None:
    image = render(CAT, 50)
    write_png(tmp_path / "new" / "a.png", image)
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "new" / "a.png"), cv2.IMREAD_GRAYSCALE), image)
    assert image[0, 0] == BLANK_VALUE


@pytest.mark.parametrize("word", ["a\ud800", "two\nlines\t", "\x00\x1b[31m", "日本", "猫" * 50, ""])
def test_every_text_can_be_put_on_a_contact_sheet(word: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert contact_sheet([[CAT]], 64, [word], [word]).shape[1] > 64


def test_printable_replaces_control_characters() -> None:
    assert printable("a\ud800b\n\tc\x1bd") == "a�b  c�d"
    assert printable("Käse 🐱 日本") == "Käse 🐱 日本"
