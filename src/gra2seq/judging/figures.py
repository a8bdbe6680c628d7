"""Figures one would put into a paper, as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gra2seq.errors import UserError
from gra2seq.model import Model
from gra2seq.nn.proximity import LINKS
from gra2seq.sketch.canvas import pen_walk
from gra2seq.sketch.strokes import Sketch
from gra2seq.whole import whole_file

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")


def draw_links(model: Model, sketches: Sequence[Sketch], proximities: Sequence[str], out: str | Path) -> None:
    """The paper's figure of edges: a row a proximity, a column a sketch; each patch linked to its nearest."""
    unknown = [name for name in proximities if name not in LINKS]
    if unknown:
        raise UserError(f"unknown links {unknown[0]!r}: one of {', '.join(LINKS)}")
    columns = len(sketches)
    figure = Figure(figsize=(2.2 * columns, 2.3 * len(proximities)), layout="constrained")
    axes = figure.subplots(len(proximities), columns, squeeze=False)
    for row, name in zip(axes, proximities, strict=True):
        row[0].set_ylabel(name)
        for axis, sketch in zip(row, sketches, strict=True):
            links_of(axis, model, sketch, name)
    save_figure(figure, out)


def links_of(axis: Axes, model: Model, sketch: Sketch, proximity: str | None = None) -> None:
    """One sketch with its patch centres (red) and, for each, the link to its nearest neighbour (blue)."""
    graph = model.graph(sketch, proximity)
    canvas = model.recipe.canvas
    for stroke in pen_walk(sketch, canvas).strokes:
        axis.plot(stroke[:, 0], stroke[:, 1], color="black", linewidth=1.2, solid_capstyle="round")
    valid = graph.nodes.valid[0].cpu().numpy()
    centres = graph.nodes.centres[0].cpu().numpy()
    adjacency = graph.adjacency[0].cpu().numpy().copy()
    np.fill_diagonal(adjacency, -np.inf)
    adjacency[:, ~valid] = -np.inf
    for node in np.flatnonzero(valid):
        nearest = int(adjacency[node].argmax())
        if np.isfinite(adjacency[node, nearest]) and adjacency[node, nearest] != 0:
            ends = centres[np.array([int(node), nearest])]
            axis.plot(ends[:, 0], ends[:, 1], color="tab:blue", linewidth=1.0, alpha=0.8)
    axis.plot(centres[valid, 0], centres[valid, 1], ".", color="tab:red", markersize=6)
    low, high = canvas.pad, canvas.padded - canvas.pad
    axis.set(xlim=(low, high), ylim=(high, low), xticks=[], yticks=[], aspect="equal")
    for side in axis.spines.values():
        side.set_visible(False)


def save_figure(figure: Figure, out: str | Path, dots: int = 160) -> None:
    out = Path(out)
    if out.suffix.lower() not in FIGURE_SUFFIXES:
        raise UserError(f"a figure is written as {', '.join(FIGURE_SUFFIXES)}, not {out.suffix or 'without a suffix'}")
    FigureCanvasAgg(figure)
    with whole_file(out) as temporary:
        figure.savefig(temporary, dpi=dots)
