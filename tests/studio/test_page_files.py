"""Taking drawings away from the page and bringing them in."""

from __future__ import annotations

import shutil

import cv2
import pytest
from visitor import NEEDS_CHROMIUM, PATIENCE, SQUARE, expect

pytestmark = [NEEDS_CHROMIUM, pytest.mark.browser]


@pytest.mark.parametrize("kind", ["svg", "ndjson", "animation"])
def test_what_was_taken_away_comes_back_the_same(visitor, kind, tmp_path):
    visitor.drag(SQUARE)
    visitor.drag([(100, 100), (150, 130), (170, 90)])
    before = visitor.drawing()["strokes"]
    target = tmp_path / f"drawing.{'ndjson' if kind == 'ndjson' else 'svg'}"
    shutil.copy(visitor.saved(kind), target)
    visitor.page.click("#clear")
    visitor.page.set_input_files("#file", target)
    expect(visitor.page.locator("#clear")).to_be_enabled()
    assert visitor.drawing()["strokes"] == before


def test_a_png_is_a_picture_of_the_drawing(wide):
    wide.drag(SQUARE)
    pixels = cv2.imread(str(wide.saved("png")), cv2.IMREAD_GRAYSCALE)
    assert pixels.shape == (1024, 1024)
    assert 0.002 < (pixels < 128).mean() < 0.05


def test_a_picture_of_the_drawing_is_traced(wide, tmp_path):
    wide.drag([(100, 320), (540, 320)])
    shutil.copy(wide.saved("png"), tmp_path / "drawing.png")
    wide.page.click("#clear")
    wide.page.set_input_files("#file", tmp_path / "drawing.png")
    expect(wide.page.locator("#clear")).to_be_enabled(timeout=PATIENCE)
    assert len(wide.drawing()["strokes"]) == 1


def test_a_link_holds_the_drawing_and_the_seed(wide, shared):
    wide.drag(SQUARE)
    before = wide.drawing()["strokes"]
    wide.page.fill("#seed", "42")
    wide.page.click("#save summary")
    wide.page.click('[data-save="link"]')
    expect(wide.page.locator("#toast")).to_be_visible()
    link = wide.page.url
    assert "#" in link
    wide.page.click("#clear")
    wide.page.goto("about:blank")
    wide.page.goto(link)
    expect(wide.page.locator("#seed")).to_have_value("42")
    assert wide.drawing()["strokes"] == before
    assert wide.page.url == shared.address
