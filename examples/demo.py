"""The main job in a minute: the model in the package heals drawings it has never seen; writes a page.

python examples/demo.py [--out out/demo]
"""

from __future__ import annotations

import argparse
import base64
import html
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

import gra2seq
from gra2seq.config import DrawingConfig
from gra2seq.data.doodles import CATEGORIES, doodles
from gra2seq.drawing.infill import InfillResult
from gra2seq.formats.svg.animation import AnimationStyle, animate
from gra2seq.sketch.damage import Damage, lose, missing_end, square_hole
from gra2seq.sketch.pace import timeline
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write

DRAWINGS = Path(__file__).parent / "drawings"  # made for this, by hand
SAMPLES = 24  # of each lost region, of which the best is shown
CELL = AnimationStyle(cell=240, margin=20, line_width=3.5, background="none", visible="#9aa0a6", line="#d6336c")
# What happens to a drawing: its name, and the lost region as shares of its box (place and size) or a missing end.
ACCIDENTS = (
    ("a torn corner", (0.85, 0.15), (0.45, 0.45)),
    ("a coffee stain", (0.5, 0.75), (0.35, 0.35)),
    ("the end is missing", None, None),
    ("a part erased", (0.2, 0.5), (0.35, 0.4)),
)


@dataclass(frozen=True)
class Row:
    """One drawing of the page."""

    name: str
    accident: str
    original: Sketch
    damage: Damage
    healed: InfillResult


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=Path("out/demo"))
    out: Path = arguments.parse_args().out
    say = Console(stderr=True, highlight=False)
    started = time.perf_counter()
    model = gra2seq.load()
    own = [(path.stem, sketch) for path in sorted(DRAWINGS.glob("*.svg")) for sketch in gra2seq.read(path)]
    ruled = list(zip(CATEGORIES, doodles(len(CATEGORIES), categories=CATEGORIES), strict=True))
    rows = heal_all(model, [*own, *ruled])
    page = out / "index.html"
    with atomic_write(page) as temporary:
        temporary.write_text(write_page(rows), encoding="utf-8")
    say.print(
        f"{len(rows)} drawings healed in {time.perf_counter() - started:.0f} s. Open {page.resolve()} in a browser."
    )


def heal_all(model: gra2seq.Model, drawings: list[tuple[str, Sketch]]) -> list[Row]:
    """Damage each drawing in one of a few believable ways, and heal it."""
    accidents = [ACCIDENTS[number % len(ACCIDENTS)] for number in range(len(drawings))]
    damages = []
    for (_, sketch), (_, place, size) in zip(drawings, accidents, strict=True):
        if place is None or size is None:
            damages.append(missing_end(sketch, 0.35, sketch.box))
        else:
            damages.append(lose(sketch, Region.of_boxes([square_hole(sketch, place, size)]), sketch.box))
    drawing = DrawingConfig(infill=SAMPLES, min_pen_temperature=model.drawing.min_pen_temperature)
    healed = model.infills(damages, 1, drawing)
    return [
        Row(name, accident, sketch, damage, best)
        for (name, sketch), (accident, *_), damage, (best, *_) in zip(drawings, accidents, damages, healed, strict=True)
    ]


def still(row: Row, sketch: Sketch, tint: bool) -> str:
    """A drawing that does not move, with the lost region tinted."""
    normal = row.damage.normalised
    strokes = "".join(
        "<path d='M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in _cell(normal(stroke))) + "'/>"
        for stroke in sketch.strokes
    )
    boxes = ""
    if tint:
        for left, top, right, bottom in row.damage.lost_normalised.boxes:
            (x, y), (z, w) = _cell(np.array([[left, top], [right, bottom]]))
            boxes += f"<rect x='{x:.1f}' y='{y:.1f}' width='{z - x:.1f}' height='{w - y:.1f}' rx='6' class='lost'/>"
    return f"<svg viewBox='0 0 240 240' role='img'>{boxes}<g class='ink'>{strokes}</g></svg>"


def _cell(points: np.ndarray) -> np.ndarray:
    return points * 200 + 120


def moving(row: Row) -> str:
    """The healed drawing, its new lines drawn as a hand would."""
    lines = [row.damage.denormalised(line) for line in row.healed.lines]
    if not lines:
        return still(row, row.damage.visible, False)
    new = Sketch.from_polylines(lines)
    left, top, width, height = row.damage.frame
    side = max(width, height)
    frame = (left + width / 2 - side / 2, top + height / 2 - side / 2, side, side)
    text = animate([new], [timeline(new)], visible=[row.damage.visible], seconds=2.5, frame=frame, style=CELL)
    data = base64.b64encode(text.encode()).decode()
    return f"<img src='data:image/svg+xml;base64,{data}' alt='{html.escape(row.name)}, healed'>"


def write_page(rows: list[Row]) -> str:
    body = "".join(
        f"<article><h2>{html.escape(row.name)} <small>{html.escape(row.accident)}</small></h2><div>"
        f"<figure>{still(row, row.original, False)}<figcaption>before</figcaption></figure>"
        f"<figure>{still(row, row.damage.visible, True)}<figcaption>{html.escape(row.accident)}</figcaption></figure>"
        f"<figure>{moving(row)}<figcaption>healed</figcaption></figure></div></article>"
        for row in rows
    )
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>gra2seq: drawings healed</title>
<style>
  :root {{ color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #666; --line: #e4e4e4; }}
  @media (prefers-color-scheme: dark) {{ :root {{ --ink: #eee; --paper: #16181c; --soft: #aaa; --line: #333; }} }}
  body {{ font: 17px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; max-width: 72rem;
         color: var(--ink); background: var(--paper); }}
  main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); gap: 1.5rem; }}
  article {{ border: 1px solid var(--line); border-radius: .8rem; padding: .8rem 1rem; }}
  article div {{ display: grid; grid-template-columns: repeat(3, 1fr); gap: .5rem; }}
  h2 {{ font-size: 1rem; margin: 0; }} small, figcaption {{ color: var(--soft); font-weight: 400; font-size: .8rem; }}
  figure {{ margin: 0; text-align: center; }} svg, img {{ width: 100%; aspect-ratio: 1; display: block; }}
  .ink {{ fill: none; stroke: var(--ink); stroke-width: 3.5; stroke-linecap: round; stroke-linejoin: round; }}
  .lost {{ fill: #d6336c; opacity: .14; }}
</style>
<h1>Drawings healed</h1>
<p><b>Before</b> is the drawing as it was. Then something happens to it, and a part is gone (pink). The computer has
never seen the drawing. It looks at what is still there, guesses what is missing, and <b>heals</b> it: the grey lines
are yours and stay as they are, the pink lines are new. It learnt to draw from people who played Google's
<i>Quick, Draw!</i> (CC BY 4.0). The first drawings were made by hand for this page, the others by a program. Of
{SAMPLES} guesses the one that fits best is shown, good or bad.</p>
<main>{body}</main></html>
"""


if __name__ == "__main__":
    main()
