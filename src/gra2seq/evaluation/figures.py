"""Figures for papers, as PNG, SVG or PDF."""

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

from gra2seq.data.batches import generator
from gra2seq.data.datasets import Dataset
from gra2seq.data.views import PatchView, content_seed
from gra2seq.errors import UserError
from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.model import Model
from gra2seq.models.graph_encoder import GraphEncoder
from gra2seq.nn.centroids import Centroids
from gra2seq.nn.links import link_rule
from gra2seq.sketch.canvas import Canvas, Pixels, draw, inner_view
from gra2seq.sketch.centres import NODES, centre_points
from gra2seq.sketch.damage import Damage, Drawable
from gra2seq.sketch.lattice import MAX_POINTS, VIEW
from gra2seq.sketch.masking import APPROACHES, crop_by_turns, drop_points, wipe_then_lattice
from gra2seq.sketch.patches import on_canvas
from gra2seq.sketch.strokes import Doubles, Sketch
from gra2seq.system.atomic_files import atomic_write

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
HEALED = 3  # versions of each sketch in the figure of healing
CLUSTERS, PATCHES = 12, 8  # rows, and columns, of the figure of clusters


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


def draw_links(model: Model, sketches: Sequence[Drawable], rules: Sequence[str], out: str | Path) -> None:
    """The paper's figure of edges: a row a link rule, a column a sketch; each patch linked to its nearest."""
    for name in rules:
        link_rule(name)  # an unknown one is an error before anything is drawn
    columns = len(sketches)
    figure = Figure(figsize=(2.2 * columns, 2.3 * len(rules)), layout="constrained")
    axes = figure.subplots(len(rules), columns, squeeze=False)
    for row, name in zip(axes, rules, strict=True):
        row[0].set_ylabel(name)
        for axis, sketch in zip(row, sketches, strict=True):
            links_of(axis, model, sketch, name)
    save_figure(figure, out)


def links_of(axis: Axes, model: Model, sketch: Drawable, rule: str | None = None) -> None:
    """One sketch with its patch centres (red) and, for each, the link to its nearest neighbour (blue)."""
    graph = model.graph(sketch, rule)
    _strokes(axis, sketch.visible if isinstance(sketch, Damage) else sketch, width=1.2)
    adjacency = graph.adjacency.copy()
    np.fill_diagonal(adjacency, -np.inf)
    adjacency[adjacency == 0] = -np.inf  # no link: even one with a negative weight is nearer
    for node, row in enumerate(adjacency):
        nearest = int(row.argmax())
        if np.isfinite(row[nearest]):
            ends = graph.centres[np.array([node, nearest])]
            axis.plot(ends[:, 0], ends[:, 1], color="tab:blue", linewidth=1.0, alpha=0.8)
    axis.plot(graph.centres[:, 0], graph.centres[:, 1], ".", color="tab:red", markersize=6)
    _bare(axis)


def draw_masking(sketch: Sketch, out: str | Path, probability: float = 0.3) -> None:
    """The four ways of masking one sketch, side by side: what each leaves visible (the paper's figure of masks).

    Masked patch centres are grey, the others red.
    """
    canvas, whole = Canvas(), Damage.none(sketch)
    numbers = generator(0, content_seed(whole)).random(MAX_POINTS)
    noise = numbers[:NODES]
    titles = ["original", *(f"({letter}) {name}" for letter, name in APPROACHES.items())]
    figure = Figure(figsize=(11, 2.6), layout="constrained")
    axes = figure.subplots(1, len(titles))
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, fontsize=9)
        _bare(axis)
    centres = on_canvas(whole.normalised(centre_points(sketch)[:NODES]), canvas) - canvas.pad
    masked = noise[: len(centres)] < probability
    pictures = (
        (draw(whole, canvas), np.zeros_like(masked)),
        (_masked_pixels(sketch, noise, probability, canvas), masked),
        (crop_by_turns(sketch, canvas, noise, probability), masked),
    )
    for axis, (pixels, hidden) in zip(axes, pictures, strict=False):
        axis.imshow(1 - inner_view(pixels, canvas), cmap="gray", vmin=0, vmax=1)
        for colour, chosen in (("tab:red", centres[~hidden]), ("tab:gray", centres[hidden])):
            axis.plot(chosen[:, 0], chosen[:, 1], ".", color=colour, markersize=4)
    for axis, points in (
        (axes[3], drop_points(sketch, numbers, probability)),
        (axes[4], _masked_lattice(sketch, noise, probability)),
    ):
        axis.plot(points[:, 0], points[:, 1], ".", color="tab:red", markersize=3)
        axis.set(xlim=(0, VIEW), ylim=(VIEW, 0), aspect="equal")
    save_figure(figure, out)


def _masked_pixels(sketch: Sketch, noise: Doubles, probability: float, canvas: Canvas) -> Pixels:
    """(a) The canvas after masking; blank where nothing stays visible."""
    damage = DamageKind(mask=probability).damage(sketch, noise.astype(np.float32))
    return np.zeros((canvas.padded, canvas.padded), np.uint8) if damage is None else draw(damage, canvas)


def _masked_lattice(sketch: Sketch, noise: Doubles, probability: float) -> NDArray[np.int64]:
    """(d) The lattice points after masking; none where nothing stays visible."""
    try:
        return wipe_then_lattice(sketch, noise, probability)
    except UserError:
        return np.empty((0, 2), np.int64)


def draw_healing(model: Model, sketches: Sequence[Sketch], out: str | Path) -> None:
    """Original, damaged, and several healed versions; a column a sketch. One that masks would hide stays intact."""
    kind, canvas = DamageKind(mask=0.1), model.preparation.canvas
    damages = []
    for sketch in sketches:
        whole = Damage.none(sketch)
        noise = generator(0, content_seed(whole)).random(NODES, dtype=np.float32)
        damages.append(kind.damage(sketch, noise) or whole)
    healed = model.heal_damages(damages, samples=HEALED, seed=0)
    rows = ["original", "damaged", *(["healed"] * HEALED)]
    figure = Figure(figsize=(1.5 * len(sketches), 1.55 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), len(sketches), squeeze=False)
    for column, (sketch, damage) in enumerate(zip(sketches, damages, strict=True)):
        _strokes(axes[0, column], sketch)
        axes[1, column].imshow(1 - inner_view(draw(damage, canvas), canvas), cmap="gray", vmin=0, vmax=1)
        for sample in range(HEALED):
            _strokes(axes[2 + sample, column], healed[column * HEALED + sample])
    for row, title in zip(axes, rows, strict=True):
        row[0].set_ylabel(title)
        for axis in row:
            _bare(axis)
    save_figure(figure, out)


def draw_clusters(model: Model, sketches: Sequence[Sketch], out: str | Path) -> None:
    """What a cluster means: the patches nearest to each centroid, the fullest clusters first."""
    centroids = next((part for part in model.network.modules() if isinstance(part, Centroids)), None)
    if centroids is None or not bool(centroids.started):
        raise UserError("this model has no clusters: it was trained with clusters=0, or not at all")
    features: list[NDArray[Any]] = []
    owners: list[tuple[Sketch, int]] = []  # sketch and number of each patch; only those shown are cut again
    for sketch in sketches:
        features.append(model.graph(sketch).features)
        owners += [(sketch, number) for number in range(len(features[-1]))]
    unit = _unit(np.concatenate(features))
    likeness = unit @ _unit(centroids.places.cpu().numpy()).T  # (patches, K)
    sizes = np.bincount(likeness.argmax(axis=1), minlength=likeness.shape[1])
    order = [int(k) for k in np.argsort(-sizes, kind="stable")[:CLUSTERS] if sizes[k]]
    figure = Figure(figsize=(1.0 * PATCHES, 1.05 * len(order)), layout="constrained")
    axes = figure.subplots(len(order), PATCHES, squeeze=False)
    for row, cluster in zip(axes, order, strict=True):
        row[0].set_ylabel(f"{sizes[cluster]} patches", fontsize=7)
        best = np.argsort(-np.where(likeness.argmax(axis=1) == cluster, likeness[:, cluster], -np.inf))
        for axis, patch in zip(row, best[: min(PATCHES, sizes[cluster])], strict=False):
            axis.imshow(1 - _patch(model, *owners[patch]), cmap="gray", vmin=0, vmax=1)
        for axis in row:
            _bare(axis)
    save_figure(figure, out)


def _patch(model: Model, sketch: Sketch, number: int) -> Pixels:
    """(patch, patch) a patch of a sketch, as the model sees it."""
    view = model.preparation.views["patches"]
    assert isinstance(view, PatchView)
    damage = model.preparation.simplified(Damage.none(sketch))
    patches, _ = view.cut(damage, draw(damage, view.canvas))
    shown: Pixels = patches[1 + number]
    return shown


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


def _strokes(axis: Axes, sketch: Sketch, width: float = 1.0) -> None:
    for stroke in sketch.strokes:
        axis.plot(stroke[:, 0], stroke[:, 1], color="black", linewidth=width, solid_capstyle="round")
    left, top, wide, high = sketch.box
    half = max(wide, high, 1e-6) * 0.55
    x, y = left + wide / 2, top + high / 2
    axis.set(xlim=(x - half, x + half), ylim=(y + half, y - half), aspect="equal")


def _bare(axis: Axes) -> None:
    axis.set(xticks=[], yticks=[])
    for side in axis.spines.values():
        side.set_visible(False)


def save_figure(figure: Figure, out: str | Path) -> None:
    out = Path(out)
    _check_form(out)
    FigureCanvasAgg(figure)
    with atomic_write(out) as temporary:
        figure.savefig(temporary, dpi=160)


def _check_form(out: Path) -> None:
    if out.suffix.lower() not in FIGURE_SUFFIXES:
        raise UserError(f"a figure is written as {', '.join(FIGURE_SUFFIXES)}, not {out.suffix or 'without a suffix'}")
