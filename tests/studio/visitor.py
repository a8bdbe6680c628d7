"""Somebody who uses the page in a real Chromium."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NEEDS_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: apt-get install chromium runs these tests"
)

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 375, "height": 740}
SQUARE = [(200, 200), (440, 200), (440, 440), (200, 440), (200, 210)]
PATIENCE = 30_000  # ms: machines that run tests are busy
WAYS = "#grid .card:not(:disabled)"
expect.set_options(timeout=PATIENCE)


class Visitor:
    """Somebody who uses the page. Whatever the console says is an error unless it was expected."""

    def __init__(self, browser, address, viewport, **context):
        self.context = browser.new_context(viewport=viewport, accept_downloads=True, **context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(address)
        self.wait_until("ready")

    def wait_until(self, state):
        expect(self.page.locator(f'#status[data-state="{state}"]')).to_be_visible(timeout=PATIENCE)

    def drag(self, points, tool="pen"):
        """Move the mouse along places of the page, given in its own units, with the button down."""
        self.page.click(f'[data-tool="{tool}"]')
        frame = self.page.locator("#board").bounding_box()
        places = [(frame["x"] + x * frame["width"] / 640, frame["y"] + y * frame["height"] / 640) for x, y in points]
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=6)
        self.page.mouse.up()

    def drawing(self):
        return json.loads(self.page.evaluate("localStorage.getItem('gra2seq-studio')"))

    def heal(self, how="click"):
        if how == "click":
            self.page.click("#heal")
        else:
            self.page.keyboard.press("h")
        expect(self.page.locator(WAYS)).to_have_count(9, timeout=PATIENCE)

    def saved(self, kind):
        self.page.click("#save summary")
        with self.page.expect_download() as waiting:
            self.page.click(f'[data-save="{kind}"]')
        return Path(waiting.value.path())
