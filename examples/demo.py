"""The main job in five minutes: train on doodles drawn by rule, heal damaged ones it has not seen, show the page.

python examples/demo.py [--minutes 2] [--out out/demo]
"""

from __future__ import annotations

import argparse
import base64
import html
import io
import shutil
from pathlib import Path

import cv2
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console

import gra2seq
from gra2seq.data.doodles import doodles
from gra2seq.judging.figures import links_of
from gra2seq.model import mask_draws
from gra2seq.options import read_options
from gra2seq.sketch.picture import render
from gra2seq.sketch.svg import write_svg
from gra2seq.training.gallery import damaged_picture
from gra2seq.training.loop import train
from gra2seq.training.progress import show
from gra2seq.whole import whole_file

CATEGORIES = ("bee", "bus", "flower", "giraffe", "pig")  # DS1 of the paper
UNSEEN = 7_000_000  # a seed of doodles that training does not use
MASK = 0.2


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--minutes", type=float, default=2.0)
    arguments.add_argument("--out", type=Path, default=Path("out/demo"))
    chosen = arguments.parse_args()
    say = Console(stderr=True, highlight=False)

    run = chosen.out / "run"
    shutil.rmtree(run, ignore_errors=True)
    config = Path(__file__).parent.parent / "configs" / "demo.yaml"
    options = read_options(config, [f"run={run}", f"max_minutes={chosen.minutes}"])
    say.print(f"Training on doodles of {', '.join(CATEGORIES)} for {chosen.minutes:g} minutes …")
    with show(say, options) as watch:
        train(options, watch=watch)

    model = gra2seq.load(run)
    sketches = list(doodles(15, categories=CATEGORIES, seed=UNSEEN))
    draws = mask_draws(sketches, 0, model.recipe.nodes)
    healed = model.heal(sketches, mask_prob=MASK, draws=draws, seed=0)
    redrawn = model.redraw(sketches)
    rows = []
    for sketch, numbers, whole, again in zip(sketches, draws, healed, redrawn, strict=True):
        cells = [
            _png(render(sketch, 320)),
            _png(damaged_picture(sketch, model.recipe, numbers, MASK, size=320)),
            _svg(write_svg(whole)),
            _svg(write_svg(again)),
            _links(model, sketch),
        ]
        rows.append((sketch.category, cells))
    page = chosen.out / "index.html"
    with whole_file(page) as temporary:
        temporary.write_text(_page(rows, chosen.minutes))
    say.print(f"\nThe page is {page.resolve()} — open it in a browser. The model is in {run}.")


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


def _page(rows: list[tuple[str, list[str]]], minutes: float) -> str:
    heads = "".join(f"<th>{name}</th>" for name in ("", "original", "damaged", "healed", "redrawn", "links"))
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
  body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; color: #222; background: #fff; }}
  table {{ border-collapse: collapse; width: 100%; }}
  th {{ font-weight: 500; color: #555; padding: .3rem; text-align: center; }}
  td {{ border: 1px solid #e4e4e4; padding: .4rem; width: 18%; }}
  img {{ width: 100%; aspect-ratio: 1; object-fit: contain; display: block; }}
</style>
<h1>Sketches healed</h1>
<p>SP-gra2seq (<code>configs/demo.yaml</code>) learnt from doodles drawn by rule for {minutes:g} minutes;
these it has never seen.
Each patch was wiped with probability {MASK:.0%}; the model draws the sketch whole again from what is left.
Links join each patch (red) to the patch most like it (blue).</p>
<table><tr>{heads}</tr>{body}</table></html>
"""


if __name__ == "__main__":
    main()
