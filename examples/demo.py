"""The main job in a minute: the model in the package redraws and heals drawings it has never seen; writes a page.

python examples/demo.py [--out out/demo]
"""

from __future__ import annotations

import argparse
import base64
import html
import io
import time
from pathlib import Path

import cv2
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console

import gra2seq
from gra2seq.data.doodles import CATEGORIES, doodles
from gra2seq.evaluation.figures import links_of
from gra2seq.model import mask_draws
from gra2seq.sketch.masking import damage
from gra2seq.sketch.render import render
from gra2seq.formats.svg import write_svg
from gra2seq.system.atomic_files import atomic_write
from gra2seq.training.gallery import damaged_picture

DRAWINGS = Path(__file__).parent / "drawings"  # made for this, by hand
MASK = 0.2
TRIES = 8  # more than the model's own: there are few drawings, and time


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=Path("out/demo"))
    chosen = arguments.parse_args()
    say = Console(stderr=True, highlight=False)

    started = time.perf_counter()
    model = gra2seq.load()
    mine = [(path.stem, sketch) for path in sorted(DRAWINGS.glob("*.svg")) for sketch in gra2seq.read(path)]
    names = [name for name, _ in mine] + [f"{category}, by rule" for category in CATEGORIES]
    sketches = [sketch for _, sketch in mine] + list(doodles(len(CATEGORIES), categories=CATEGORIES))
    say.print(f"Healing {len(sketches)} drawings, each patch wiped with probability {MASK:.0%} …")
    draws = mask_draws(sketches, 0, model.recipe.nodes)
    for sketch, numbers in zip(sketches, draws, strict=True):
        there = len(damage(sketch, model.recipe.canvas, nodes=model.recipe.nodes).centres)
        numbers[numbers[:there].argmin()] = 0  # each loses one patch at the least
    healed = model.heal(sketches, mask_prob=MASK, draws=draws, seed=0, tries=TRIES, well=0)
    kept = model.heal(sketches, mask_prob=MASK, draws=draws, seed=0, tries=TRIES, well=0, keep=True)
    redrawn = model.redraw(sketches, tries=TRIES, well=0)
    rows = []
    for name, sketch, numbers, whole, own, again in zip(names, sketches, draws, healed, kept, redrawn, strict=True):
        cells = [
            _png(render(sketch, 320)),
            _png(damaged_picture(sketch, model.recipe, numbers, MASK, size=320)),
            _svg(write_svg(whole)),
            _svg(write_svg(own)),
            _svg(write_svg(again)),
            _links(model, sketch),
        ]
        rows.append((name, cells))
    page = chosen.out / "index.html"
    with atomic_write(page) as temporary:
        temporary.write_text(_page(rows))
    say.print(f"The page is {page.resolve()} — open it in a browser ({time.perf_counter() - started:.0f} s).")


def _png(picture: np.ndarray) -> str:
    return "data:image/png;base64," + base64.b64encode(cv2.imencode(".png", picture)[1].tobytes()).decode()


def _svg(text: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode()


def _links(model: gra2seq.Model, sketch: gra2seq.Sketch) -> str:
    figure = Figure(figsize=(2, 2), layout="constrained")
    links_of(figure.subplots(), model, sketch)
    FigureCanvasAgg(figure)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=160)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def _page(rows: list[tuple[str, list[str]]]) -> str:
    names = ("", "original", "damaged", "healed", "lines kept", "redrawn", "links")
    heads = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(
        f"<tr><th>{html.escape(category)}</th>"
        + "".join(f'<td><img src="{cell}" alt=""></td>' for cell in cells)
        + "</tr>"
        for category, cells in rows
    )
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>gra2seq demo</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 74rem; color: #222; background: #fff; }}
  table {{ border-collapse: collapse; width: 100%; }}
  th {{ font-weight: 500; color: #555; padding: .3rem; text-align: center; }}
  td {{ border: 1px solid #e4e4e4; padding: .4rem; width: 15%; }}
  img {{ width: 100%; aspect-ratio: 1; object-fit: contain; display: block; }}
</style>
<h1>Sketches healed</h1>
<p>The model in the package learnt from people's drawings (QuickDraw, all 345 categories). These it has never seen:
three drawn by hand for this page, the others drawn by rule.
Each patch was wiped with probability {MASK:.0%}, one at the least; the model draws it whole again from what is left,
{TRIES} times, and the best one is shown: all lines drawn anew (healed), and with the lines that were left
kept as they are (lines kept).
Links join each patch (red) to the patch most like it (blue).</p>
<table><tr>{heads}</tr>{body}</table></html>
"""


if __name__ == "__main__":
    main()
