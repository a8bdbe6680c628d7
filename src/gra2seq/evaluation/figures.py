"""Figures one would put into a paper, as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gra2seq.data.batches import as_learnt, content_seed, generator
from gra2seq.data.datasets import Dataset
from gra2seq.errors import UserError
from gra2seq.model import Model, mask_draws
from gra2seq.models.graph_encoder import GraphEncoder
from gra2seq.nn.centroids import Centroids
from gra2seq.nn.links import LINKS
from gra2seq.sketch.canvas import Canvas, Pixels, inner_view, pen_walk
from gra2seq.sketch.lattice import MOST_POINTS
from gra2seq.sketch.masking import APPROACHES, Damaged, drop_points, look, wipe_then_lattice
from gra2seq.sketch.patches import NODES, window
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.atomic_files import atomic_write

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")


def draw_all(model: Model, dataset: Dataset, folder: Path, form: str = "png", count: int = 200) -> list[Path]:
    """Every figure that the model has something to show for, on sketches spread over the test split (or what is)."""
    indices = next((part for part in (dataset.test, dataset.valid, dataset.train) if len(part)), dataset.train)
    spread = np.unique(np.linspace(0, len(indices) - 1, min(count, len(indices))).astype(int))
    sketches = [dataset.store[int(indices[i])] for i in spread]
    few = sketches[:: max(len(sketches) // 8, 1)][:8]
    parts = [type(part) for part in model.network.modules()]
    drawings: dict[str, Callable[[Path], None]] = {
        "masking": lambda out: draw_masking(few[0], out),
        "healing": lambda out: draw_healing(model, few, out),
        "codes": lambda out: draw_codes(model, sketches, out),
    }
    if GraphEncoder in parts:
        drawings["links"] = lambda out: draw_links(model, few, ("temporal", "spatial", "synonymous"), out)
    if Centroids in parts:
        drawings["clusters"] = lambda out: draw_clusters(model, sketches, out)
    paths = {name: folder / f"{name}.{form}" for name in drawings}
    _check_form(next(iter(paths.values())))  # before the work, not after it
    for name, drawing in drawings.items():
        drawing(paths[name])
    return list(paths.values())


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
    adjacency[adjacency == 0] = -np.inf  # no link: even one to a patch that is unlike is nearer
    for node in np.flatnonzero(valid):
        nearest = int(adjacency[node].argmax())
        if np.isfinite(adjacency[node, nearest]):
            ends = centres[np.array([int(node), nearest])]
            axis.plot(ends[:, 0], ends[:, 1], color="tab:blue", linewidth=1.0, alpha=0.8)
    axis.plot(centres[valid, 0], centres[valid, 1], ".", color="tab:red", markersize=6)
    low, high = canvas.pad, canvas.padded - canvas.pad
    axis.set(xlim=(low, high), ylim=(high, low), aspect="equal")
    _bare(axis)


def draw_masking(sketch: Sketch, out: str | Path, probability: float = 0.3, seed: int = 0) -> None:
    """The four ways of damaging one sketch, side by side: what each leaves to see (the paper's figure of masks)."""
    canvas = Canvas()
    numbers = generator(seed, content_seed(sketch)).random(MOST_POINTS)
    draws = numbers[:NODES]
    figure = Figure(figsize=(11, 2.6), layout="constrained")
    titles = ["original", *(f"({letter}) {name}" for letter, name in APPROACHES.items())]
    axes = figure.subplots(1, len(titles))
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, fontsize=9)
        _bare(axis)
    whole, a, b = (
        look(sketch, canvas, draws, p, approach=approach)
        for p, approach in ((0.0, "wipe-then-crop"), (probability, "wipe-then-crop"), (probability, "crop-by-turns"))
    )
    axes[0].imshow(1 - inner_view(whole.canvas, canvas), cmap="gray", vmin=0, vmax=1)
    axes[1].imshow(1 - inner_view(a.canvas, canvas), cmap="gray", vmin=0, vmax=1)
    axes[2].imshow(1 - inner_view(_seen_by_patches(b, canvas), canvas), cmap="gray", vmin=0, vmax=1)
    for axis, points in (
        (axes[3], drop_points(sketch, numbers, probability)),
        (axes[4], wipe_then_lattice(sketch, canvas, draws, probability)),
    ):
        axis.plot(points[:, 0], points[:, 1], ".", color="tab:red", markersize=3)
        axis.set(xlim=(0, canvas.patch), ylim=(canvas.patch, 0), aspect="equal")
    for axis, seen in ((axes[0], whole), (axes[1], a), (axes[2], b)):
        for centre, gone in zip(seen.centres - canvas.pad, seen.masked, strict=True):
            axis.plot(*centre, ".", color="tab:red" if not gone else "tab:gray", markersize=4)
    save_figure(figure, out)


def _seen_by_patches(seen: Damaged, canvas: Canvas) -> Pixels:
    """The union of what the patches show: in (b) more than the canvas that is left."""
    union = seen.canvas.copy()
    for centre, view in zip(seen.centres, seen.views[1:], strict=True):
        rows, columns = window(centre, canvas)
        union[rows, columns] |= view
    return union


def draw_healing(
    model: Model, sketches: Sequence[Sketch], out: str | Path, mask: float = 0.1, samples: int = 3, seed: int = 0
) -> None:
    """Original, damaged, and several healed versions; a column a sketch."""
    draws = mask_draws(sketches, seed, model.recipe.nodes)
    healed = model.heal(sketches, mask_prob=mask, draws=draws, samples=samples, seed=seed)
    rows = ["original", "damaged", *(["healed"] * samples)]
    figure = Figure(figsize=(1.5 * len(sketches), 1.55 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), len(sketches), squeeze=False)
    for column, sketch in enumerate(sketches):
        _strokes(axes[0, column], sketch)
        learnt = as_learnt(sketch, model.recipe)
        seen = look(learnt, model.recipe.canvas, draws[column], mask, nodes=model.recipe.nodes)
        axes[1, column].imshow(1 - inner_view(seen.canvas, model.recipe.canvas), cmap="gray", vmin=0, vmax=1)
        for sample in range(samples):
            _strokes(axes[2 + sample, column], healed[column * samples + sample])
    for row, title in zip(axes, rows, strict=True):
        row[0].set_ylabel(title)
        for axis in row:
            _bare(axis)
    save_figure(figure, out)


def draw_clusters(model: Model, sketches: Sequence[Sketch], out: str | Path, shown: int = 8, most: int = 12) -> None:
    """What a cluster means: the patches nearest to each centroid, the fullest clusters first."""
    centroids = next((part for part in model.network.modules() if isinstance(part, Centroids)), None)
    if centroids is None or not bool(centroids.started):
        raise UserError("this model has no clusters: it was trained with clusters=0, or not at all")
    features: list[NDArray[Any]] = []
    whose: list[tuple[Sketch, int]] = []  # sketch and number of each patch; only those shown are cut again
    for sketch in sketches:
        nodes = model.graph(sketch).nodes
        features.append(nodes.features[0].cpu().numpy()[nodes.valid[0].cpu().numpy()])
        whose += [(sketch, number) for number in range(len(features[-1]))]
    unit = _unit(np.concatenate(features))
    likeness = unit @ _unit(centroids.places.cpu().numpy()).T  # (patches, K)
    sizes = np.bincount(likeness.argmax(axis=1), minlength=likeness.shape[1])
    order = [int(k) for k in np.argsort(-sizes, kind="stable")[:most] if sizes[k]]
    figure = Figure(figsize=(1.0 * shown, 1.05 * len(order)), layout="constrained")
    axes = figure.subplots(len(order), shown, squeeze=False)
    for row, cluster in zip(axes, order, strict=True):
        row[0].set_ylabel(f"{sizes[cluster]} patches", fontsize=7)
        best = np.argsort(-np.where(likeness.argmax(axis=1) == cluster, likeness[:, cluster], -np.inf))
        for axis, patch in zip(row, best[: min(shown, sizes[cluster])], strict=False):
            sketch, number = whose[patch]
            learnt = as_learnt(sketch, model.recipe)
            views = look(learnt, model.recipe.canvas, nodes=model.recipe.nodes).views
            axis.imshow(1 - views[1 + number], cmap="gray", vmin=0, vmax=1)
        for axis in row:
            _bare(axis)
    save_figure(figure, out)


def draw_codes(model: Model, sketches: Sequence[Sketch], out: str | Path) -> None:
    """A map of the codes by category: their two directions of largest spread (principal components)."""
    codes = model.encode(sketches).astype(np.float64)
    if len(codes) < 3:
        raise UserError(f"a map needs at least three sketches, not {len(codes)}")
    codes -= codes.mean(axis=0)
    _, spread, directions = np.linalg.svd(codes, full_matrices=False)
    places = codes @ directions[:2].T
    share = np.square(spread[:2]).sum() / max(float(np.square(spread).sum()), 1e-12)
    figure = Figure(figsize=(6, 5), layout="constrained")
    axis = figure.subplots()
    categories = sorted({sketch.category for sketch in sketches})
    for number, category in enumerate(categories):
        chosen = [i for i, sketch in enumerate(sketches) if sketch.category == category]
        colour = colormaps["tab10" if len(categories) <= 10 else "tab20"](number % 20)
        axis.plot(places[chosen, 0], places[chosen, 1], "o", color=colour, markersize=3, alpha=0.6, label=category)
    if len(categories) <= 20:
        axis.legend(fontsize=7, loc="best")
    axis.set_title(f"codes of {len(codes)} sketches, {share:.0%} of their variance", fontsize=9)
    axis.set(xticks=[], yticks=[])
    save_figure(figure, out)


def _unit(rows: NDArray[Any]) -> NDArray[Any]:
    unit: NDArray[Any] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit


def _strokes(axis: Axes, sketch: Sketch) -> None:
    for stroke in sketch.strokes:
        axis.plot(stroke[:, 0], stroke[:, 1], color="black", linewidth=1.0, solid_capstyle="round")
    left, top, width, height = sketch.box
    half = max(width, height, 1e-6) * 0.55
    x, y = left + width / 2, top + height / 2
    axis.set(xlim=(x - half, x + half), ylim=(y + half, y - half), aspect="equal")


def _bare(axis: Axes) -> None:
    axis.set(xticks=[], yticks=[])
    for side in axis.spines.values():
        side.set_visible(False)


def save_figure(figure: Figure, out: str | Path, dots: int = 160) -> None:
    out = Path(out)
    _check_form(out)
    FigureCanvasAgg(figure)
    with atomic_write(out) as temporary:
        figure.savefig(temporary, dpi=dots)


def _check_form(out: Path) -> None:
    if out.suffix.lower() not in FIGURE_SUFFIXES:
        raise UserError(f"a figure is written as {', '.join(FIGURE_SUFFIXES)}, not {out.suffix or 'without a suffix'}")
