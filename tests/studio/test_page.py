"""The page in a real Chromium."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest
from studio_server import RunningStudio
from visitor import NARROW, NEEDS_CHROMIUM, PATIENCE, SQUARE, WAYS, WIDE, Visitor, expect

pytestmark = [NEEDS_CHROMIUM, pytest.mark.browser]

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


def test_draw_erase_heal_and_take_over(visitor):
    visitor.drag(SQUARE)
    assert len(visitor.drawing()["strokes"]) == 1
    visitor.drag([(320, 190), (330, 215)], tool="eraser")
    assert len(visitor.drawing()["region"]["erasers"]) == 1
    visitor.heal()
    expect(visitor.page.locator("#compare-row")).to_be_visible()
    visitor.page.locator("#compare").fill("1")
    visitor.page.locator(WAYS).nth(2).click()
    taken = visitor.drawing()
    assert taken["region"] == {"boxes": [], "erasers": []}
    assert len(taken["strokes"]) >= 2
    visitor.page.click("#undo")
    assert len(visitor.drawing()["region"]["erasers"]) == 1


def test_nothing_is_wider_than_the_screen(visitor):
    visitor.drag(SQUARE)
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert visitor.page.evaluate(wider) == 0
    for tab in ("why", "morph"):
        visitor.page.click(f"#tab-{tab}")
        assert visitor.page.evaluate(wider) == 0


def test_finish_my_drawing_keeps_what_was_drawn(visitor):
    visitor.drag(SQUARE)
    before = visitor.drawing()["strokes"]
    visitor.page.click("#finish")
    expect(visitor.page.locator(WAYS)).to_have_count(9, timeout=PATIENCE)
    visitor.page.keyboard.press("1")
    expect(visitor.page.locator("#ways-text")).to_contain_text("Taken over")
    assert len(visitor.drawing()["strokes"]) >= len(before)


def test_finish_as_i_draw_begins_after_the_pen_was_lifted(wide):
    wide.page.check("#as-i-draw")
    wide.drag(SQUARE)
    expect(wide.page.locator(WAYS)).to_have_count(9, timeout=PATIENCE)


def test_heal_without_anything_erased_says_what_to_do(wide):
    wide.page.click("#heal")
    expect(wide.page.locator("#ways-text")).to_contain_text("draw something first")
    wide.drag(SQUARE)
    wide.page.click("#heal")
    expect(wide.page.locator("#ways-text")).to_contain_text("Nothing is erased")


def test_the_same_seed_shows_the_same_drawings(wide):
    wide.drag(SQUARE)
    pictures = "[...document.querySelectorAll('#grid canvas')].map((canvas) => canvas.toDataURL())"
    wide.page.emulate_media(reduced_motion="reduce")
    shown = []
    for seed in ("5", "5", "6"):
        wide.page.fill("#seed", seed)
        wide.page.locator("#temperature").fill("1")
        wide.page.click("#finish")
        expect(wide.page.locator("#ways-text")).to_contain_text("Click a drawing", timeout=PATIENCE)
        shown.append(wide.page.evaluate(pictures))
    assert shown[0] == shown[1]
    assert shown[0] != shown[2]


def test_see_why_shows_a_patch_and_its_links(visitor):
    visitor.drag(SQUARE)
    visitor.page.click("#tab-why")
    expect(visitor.page.locator("#overlay .patch").first).to_be_attached(timeout=PATIENCE)
    visitor.page.locator("#overlay .patch .hit").first.hover(force=True)
    expect(visitor.page.locator("#why-detail h2").first).to_contain_text("Patch")
    visitor.page.check('input[value="temporal"]')
    expect(visitor.page.locator("#overlay .patch.active")).to_have_count(1)  # it stays chosen
    expect(visitor.page.locator("#overlay line").first).to_be_attached(timeout=PATIENCE)
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.locator("#overlay .active")).to_have_count(0)


def test_the_graph_follows_while_somebody_draws(wide):
    wide.drag(SQUARE)
    wide.page.click("#tab-why")
    expect(wide.page.locator("#overlay .patch").first).to_be_attached()
    before = wide.page.locator("#overlay .patch").count()
    wide.drag([(60, 60), (120, 580), (60, 600), (580, 600)])
    expect(wide.page.locator("#overlay .patch")).not_to_have_count(before)
    assert wide.page.locator("#tab-why").get_attribute("aria-selected") == "true"


def test_morph_two_and_four(visitor):
    visitor.page.click("#tab-morph")
    for number in range(4):
        visitor.page.locator("#slots button").nth(number).click()
        expect(visitor.page.locator("#morph-text")).to_contain_text("ABCD"[number])
    visitor.page.click("#morph-two")
    expect(visitor.page.locator("#morph-slider")).to_be_visible(timeout=PATIENCE)
    visitor.page.locator("#morph-slider").fill("2")
    visitor.page.click("#morph-shown")
    assert visitor.drawing()["strokes"]
    visitor.page.click("#morph-four")
    expect(visitor.page.locator("#morph-sheet button")).to_have_count(16, timeout=PATIENCE)


def test_search_and_guess_follow_the_drawing(visitor):
    visitor.page.click("#surprise")
    expect(visitor.page.locator("#strip button").first).to_be_visible(timeout=PATIENCE)
    expect(visitor.page.locator("#guess")).to_contain_text(" ", timeout=PATIENCE)
    before = visitor.drawing()["strokes"]
    visitor.page.locator("#strip button").nth(3).click()
    assert visitor.drawing()["strokes"] != before


def test_what_was_cut_out_stays_away(wide):
    wide.drag([(100, 320), (540, 320)])
    wide.drag([(300, 250), (340, 390)], tool="box")
    wide.page.click("#cut")
    strokes = wide.drawing()["strokes"]
    assert len(strokes) == 2
    assert max(x for x, _ in strokes[0]) == pytest.approx(300, abs=1)
    assert min(x for x, _ in strokes[1]) == pytest.approx(340, abs=1)


def test_the_drawing_survives_a_reload(visitor):
    visitor.drag(SQUARE)
    visitor.drag([(320, 190), (330, 215)], tool="eraser")
    before = visitor.drawing()
    visitor.page.reload()
    visitor.wait_until("ready")
    assert visitor.drawing() == before
    visitor.heal()


def test_the_page_reconnects_after_a_restart(browser, running):
    visitor = Visitor(browser, running.address, WIDE)
    visitor.drag(SQUARE)
    before = visitor.drawing()
    running.stop()
    visitor.wait_until("lost")
    running.start()
    visitor.wait_until("ready")
    assert visitor.drawing() == before
    visitor.drag([(320, 190), (330, 215)], tool="eraser")
    visitor.heal()
    unexpected = [line for line in visitor.complaints if "ERR_CONNECTION" not in line and "Failed to fetch" not in line]
    assert unexpected == []
    visitor.context.close()


def test_everything_can_be_done_with_keys(wide):
    page = wide.page
    page.focus("#board")
    page.keyboard.press("Space")
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        for _ in range(12):
            page.keyboard.press(key)
    page.keyboard.press("Space")
    assert len(wide.drawing()["strokes"]) == 1
    page.keyboard.press("e")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert len(wide.drawing()["region"]["erasers"]) == 1
    wide.heal(how="key")
    page.keyboard.press("2")
    assert wide.drawing()["region"]["erasers"] == []
    page.keyboard.press("Control+z")
    assert len(wide.drawing()["region"]["erasers"]) == 1
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    expect(page.locator("#overlay .patch").first).to_be_attached(timeout=PATIENCE)
    page.locator("#overlay .patch").first.focus()
    expect(page.locator("#why-detail h2").first).to_contain_text("Patch 1")


def test_dark_ink_is_light(wide):
    def centre_of_line():
        pixels = np.frombuffer(wide.page.locator("#board").screenshot(), np.uint8)
        picture = cv2.imdecode(pixels, cv2.IMREAD_GRAYSCALE)
        row, column = (round(place / 640 * side) for place, side in zip((200, 320), picture.shape, strict=True))
        return int(picture[row, column]), int(picture[column, column])

    wide.drag(SQUARE)
    wide.page.wait_for_timeout(200)
    ink, blank = centre_of_line()
    assert ink < 100 < 200 < blank
    wide.page.emulate_media(color_scheme="dark")
    wide.page.wait_for_timeout(300)
    ink, blank = centre_of_line()
    assert blank < 100 < 200 < ink


def test_the_page_is_there_while_the_model_is_loading(browser, model, monkeypatch):
    may_load = threading.Event()
    monkeypatch.setattr("gra2seq.folder.load", lambda *_given, **_options: model if may_load.wait(60) else None)
    studio = RunningStudio(None)
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.goto(studio.address)
    expect(page.locator("#status")).to_contain_text("loading the model")
    page.click("#surprise")
    expect(page.locator("#clear")).to_be_enabled()  # a drawing has come
    page.click("#finish")
    expect(page.locator("#ways-text")).to_contain_text("model is loading")
    may_load.set()
    expect(page.locator('#status[data-state="ready"]')).to_be_visible(timeout=PATIENCE)
    expect(page.locator(WAYS)).to_have_count(9, timeout=PATIENCE)
    context.close()
    studio.stop()


def test_a_model_that_cannot_be_loaded_is_named_on_a_narrow_screen(browser, tmp_path):
    studio = RunningStudio(None, model_folder=tmp_path / "a-folder-with-a-rather-long-name" / "without-a-model")
    page = browser.new_page(viewport=NARROW)
    page.goto(studio.address)
    status = page.locator('#status[data-state="failed"]')
    expect(status).to_contain_text("without-a-model", timeout=PATIENCE)
    assert status.bounding_box()["height"] < 140, "it has a line of its own"
    assert page.locator("#help-button").bounding_box()["width"] == 40
    page.close()
    studio.stop()


def test_the_interface_is_described_on_a_page_of_its_own(wide, shared):
    wide.page.goto(f"{shared.address}api/docs")
    expect(wide.page.locator(".endpoint h2", has_text="POST /api/heal")).to_be_visible()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: npm ci")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["1280px", "375px"])
def test_no_serious_accessibility_violation(browser, shared, scheme, viewport):
    visitor = Visitor(browser, shared.address, viewport, bypass_csp=True, color_scheme=scheme)
    visitor.drag(SQUARE)
    visitor.page.add_script_tag(path=os.fspath(AXE))
    for tab in ("ways", "why", "morph"):
        visitor.page.click(f"#tab-{tab}")
        visitor.page.wait_for_timeout(300)
        found = visitor.page.evaluate("axe.run().then((result) => result.violations)")
        serious = [
            (one["id"], [node["html"][:150] for node in one["nodes"]][:3])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], tab
    visitor.context.close()
    assert visitor.complaints == []
