"""Other ways to bring a drawing onto the page: pen, finger, drop, paste."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest
from visitor import NARROW, NEEDS_CHROMIUM, PATIENCE, SQUARE, WAYS, Visitor, expect

pytestmark = [NEEDS_CHROMIUM, pytest.mark.browser]

SVG = "<svg xmlns='http://www.w3.org/2000/svg'><path fill='none' stroke='black' d='M0 0L50 80L90 10'/></svg>"
LINE = {"word": "cat", "drawing": [[[0, 50, 90], [0, 80, 10]]]}


def picture_of_a_line(suffix):
    """A dark line on grainy grey paper: in full quality too large for one request."""
    pixels = np.random.default_rng(0).integers(190, 256, (1200, 1200, 3)).astype(np.uint8)
    cv2.line(pixels, (200, 300), (1000, 900), (20, 20, 20), 14, cv2.LINE_AA)
    return cv2.imencode(suffix, pixels)[1].tobytes()


FILES = {
    "drawing.svg": SVG.encode(),
    "drawing.ndjson": f"{json.dumps(LINE)}\n{json.dumps(LINE)}\n".encode(),
    "category.ndjson": f"{json.dumps(LINE)}\n".encode() * 20_000,  # as large as those of QuickDraw
    "drawing.png": picture_of_a_line(".png"),
    "photo.jpg": picture_of_a_line(".jpg"),
}


class Finger:
    """One finger on the page of a phone."""

    def __init__(self, visitor):
        self.frame = visitor.page.locator("#board").bounding_box()
        self.session = visitor.context.new_cdp_session(visitor.page)

    def touch(self, kind, *places):
        """Places are in the page's own units."""
        scale = self.frame["width"] / 640
        points = [{"x": self.frame["x"] + x * scale, "y": self.frame["y"] + y * scale} for x, y in places]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def drag(self, start, stop):
        self.touch("touchStart", start)
        for share in np.linspace(0.1, 1, 10):
            self.touch("touchMove", tuple(np.array(start) * (1 - share) + np.array(stop) * share))
        self.touch("touchEnd")


@pytest.fixture
def phone(browser, shared, client):  # noqa: ARG001 (client waits for the gallery)
    visitor = Visitor(browser, shared.address, NARROW, has_touch=True, is_mobile=True)
    yield visitor
    visitor.context.close()
    assert visitor.complaints == []


def drop(visitor, file):
    """Drop a file on the middle of the drawing, as from the desktop."""
    frame = visitor.page.locator("#board").bounding_box()
    data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
    place = {"x": frame["x"] + frame["width"] / 2, "y": frame["y"] + frame["height"] / 2, "data": data}
    session = visitor.context.new_cdp_session(visitor.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **place})


def test_draw_erase_and_heal_with_a_finger(phone):
    finger = Finger(phone)
    finger.drag((100, 320), (540, 330))
    expect(phone.page.locator("#clear")).to_be_enabled()
    (stroke,) = phone.drawing()["strokes"]
    assert len(stroke) > 5
    assert stroke[-1][0] > stroke[0][0] + 300
    phone.page.click('[data-tool="eraser"]')  # a tap becomes a long press where the machine is slow
    finger.drag((300, 300), (320, 350))
    expect(phone.page.locator("#cut")).to_be_visible()  # something is erased
    assert len(phone.drawing()["region"]["erasers"]) == 1
    phone.page.click("#heal")
    expect(phone.page.locator(WAYS)).to_have_count(9)
    expect(phone.page.locator("#grid")).to_be_in_viewport(ratio=0.9)
    phone.page.locator(WAYS).first.click()
    assert phone.drawing()["region"]["erasers"] == []


def test_a_touch_that_the_system_takes_back_leaves_nothing(phone):
    finger = Finger(phone)
    finger.touch("touchStart", (100, 100))
    finger.touch("touchMove", (200, 200))
    expect(phone.page.locator("#invitation")).to_be_hidden()
    finger.touch("touchCancel")
    expect(phone.page.locator("#invitation")).to_be_visible()
    expect(phone.page.locator("#clear")).to_be_disabled()


def test_a_tap_on_a_patch_shows_it(phone):
    Finger(phone).drag((100, 320), (540, 330))
    phone.page.click("#tab-why")
    patch = phone.page.locator("#overlay .patch .hit").first
    expect(patch).to_be_attached()
    phone.page.locator("#board").scroll_into_view_if_needed()
    patch.tap(force=True)
    expect(phone.page.locator("#why-detail h2").first).to_contain_text("Patch")


def test_draw_with_a_pen(wide):
    frame = wide.page.locator("#board").bounding_box()
    session = wide.context.new_cdp_session(wide.page)
    wide.page.evaluate("board.addEventListener('pointerdown', (event) => { window.kind = event.pointerType; })")
    for number in range(12):
        kind = {0: "mousePressed", 11: "mouseReleased"}.get(number, "mouseMoved")
        place = {"x": frame["x"] + 100 + 20 * number, "y": frame["y"] + 100 + 5 * number}
        pen = {"pointerType": "pen", "button": "left", "buttons": 1, "clickCount": 1, "force": 0.5}
        session.send("Input.dispatchMouseEvent", {"type": kind, **place, **pen})
    expect(wide.page.locator("#clear")).to_be_enabled()
    (stroke,) = wide.drawing()["strokes"]
    assert len(stroke) == 12
    assert wide.page.evaluate("window.kind") == "pen"


@pytest.mark.parametrize("name", FILES)
def test_a_dropped_file_becomes_the_drawing(wide, name, tmp_path):
    file = tmp_path / name
    file.write_bytes(FILES[name])
    drop(wide, file)
    expect(wide.page.locator("#clear")).to_be_enabled(timeout=PATIENCE)
    strokes = wide.drawing()["strokes"]
    assert len(strokes) == 1
    points = np.array(strokes[0])
    assert points.min() >= 0
    assert np.ptp(points, axis=0).max() == pytest.approx(520, abs=1), "fitted to the page but for its margin"
    expect(wide.page.locator("#frame")).not_to_have_class("frame dropping")


@pytest.mark.parametrize("name", ["notes.txt", "broken.png"])
def test_a_file_that_is_no_drawing_is_named(wide, name, tmp_path):
    (tmp_path / name).write_text("hello")
    drop(wide, tmp_path / name)
    expect(wide.page.locator("#toast")).to_contain_text("could not be read")
    expect(wide.page.locator("#clear")).to_be_disabled()


def test_a_picture_can_be_pasted(wide):
    wide.context.grant_permissions(["clipboard-read", "clipboard-write"])
    wide.page.evaluate(
        """async (bytes) => {
          const picture = new Blob([new Uint8Array(bytes)], { type: "image/png" });
          await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
        }""",
        list(FILES["drawing.png"]),
    )
    wide.page.keyboard.press("Control+v")
    expect(wide.page.locator("#clear")).to_be_enabled(timeout=PATIENCE)
    assert len(wide.drawing()["strokes"]) == 1


def test_svg_text_can_be_pasted(wide):
    wide.context.grant_permissions(["clipboard-read", "clipboard-write"])
    wide.page.evaluate("(text) => navigator.clipboard.writeText(text)", SVG)
    wide.page.keyboard.press("Control+v")
    expect(wide.page.locator("#clear")).to_be_enabled()
    assert len(wide.drawing()["strokes"][0]) == 3


def test_drawings_appear_at_once_where_motion_is_reduced(wide):
    wide.page.emulate_media(reduced_motion="reduce")
    wide.drag(SQUARE)
    wide.drag([(320, 190), (330, 215)], tool="eraser")
    wide.heal()
    pictures = "[...document.querySelectorAll('#grid canvas')].map((canvas) => canvas.toDataURL())"
    at_once = wide.page.evaluate(pictures)
    wide.page.wait_for_timeout(1300)
    assert wide.page.evaluate(pictures) == at_once
