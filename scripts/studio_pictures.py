"""Make the pictures of docs/guides/studio.md with the model in the package, in a real Chromium.

    python scripts/studio_pictures.py [--out docs/images]

The page draws `examples/drawings/cat.svg`, an eraser rubs out a part of it, and Heal draws it again.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
PATIENCE = 300_000  # ms: the machine may be busy
ERASED = [(470, 250), (500, 330), (505, 400)]  # of the page, which is 640 x 640: a gap in the outline
COLOURS = 96  # of a picture: the page has few, and the file becomes small


def picture(page: Page, path: Path) -> None:
    """A screenshot with few colours."""
    page.screenshot(path=path)
    with Image.open(path) as shot:
        shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def rub_out(page: Page, places: list[tuple[float, float]]) -> None:
    """Drag the eraser along places of the page."""
    page.click('[data-tool="eraser"]')
    frame: Any = page.locator("#board").bounding_box()
    along = [(frame["x"] + x * frame["width"] / 640, frame["y"] + y * frame["height"] / 640) for x, y in places]
    page.mouse.move(*along[0])
    page.mouse.down()
    for place in along[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()


def heal(page: Page) -> None:
    page.set_input_files("#file", ROOT / "examples" / "drawings" / "cat.svg")
    expect(page.locator("#clear")).to_be_enabled()
    rub_out(page, ERASED)
    page.click("#heal")
    expect(page.locator("#ways-text")).to_contain_text("Click a drawing")
    expect(page.locator("#guess")).not_to_be_empty()
    expect(page.locator("#strip .card, #strip button").first).to_be_visible()


def see_why(page: Page) -> None:
    """Point at a patch, again and again until the patches of the gallery are known."""
    for _ in range(PATIENCE // 1000):
        page.click("#tab-why")
        page.locator("#overlay .patch .hit").nth(9).hover(force=True)
        expect(page.locator("#why-detail h2").first).to_contain_text("Patch")
        if page.locator("#why-detail h2", has_text="Cluster").count():
            return
        page.click("#tab-ways")
        page.wait_for_timeout(1000)
    raise SystemExit("the patches of the gallery did not come")


def take_pictures(address: str, folder: Path) -> None:
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for scheme, name in (("light", "studio-heal.png"), ("dark", "studio-dark.png")):
            context = browser.new_context(
                viewport={"width": 1280, "height": 1120}, color_scheme=scheme, reduced_motion="reduce"
            )
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(address)
            expect(page.locator("#status")).to_have_text("ready")  # and the gallery is encoded
            heal(page)
            picture(page, folder / name)
            if scheme == "light":
                page.keyboard.press("1")
                expect(page.locator("#ways-text")).to_contain_text("Taken over")
                page.click("#save summary")
                with page.expect_download() as waiting:
                    page.click('[data-save="animation"]')
                shutil.copy(waiting.value.path(), folder / "studio-healed.svg")
                see_why(page)
                picture(page, folder / "studio-why.png")
            context.close()
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    folder = parser.parse_args().out
    command = [sys.executable, "-u", "-m", "gra2seq", "studio", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as studio:
        try:
            assert studio.stderr is not None
            match = re.search(r"http://\S+", studio.stderr.readline())
            assert match, "the studio did not start"
            take_pictures(match[0], folder)
        finally:
            studio.terminate()


if __name__ == "__main__":
    main()
