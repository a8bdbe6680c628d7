"""Figures are drawn from real models, as PNG and as SVG, and say what they cannot draw."""

import cv2
import numpy as np
import pytest
from matplotlib.figure import Figure

import gra2seq
from gra2seq.config import parse_config
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodle, doodles
from gra2seq.errors import UserError
from gra2seq.evaluation.figures import draw_all, draw_clusters, draw_codes, draw_links, draw_masking, links_of
from gra2seq.folder import untrained
from gra2seq.sketch.strokes import Sketch


def test_every_figure_shows_something(tiny_run, tmp_path):
    model = gra2seq.load(tiny_run)
    paths = draw_all(model, open_dataset("doodles:200"), tmp_path, "png", count=12)
    assert {path.stem for path in paths} == {"links", "masking", "healing", "clusters", "codes"}
    for path in paths:
        picture = cv2.imread(str(path))
        assert picture.min() < 60, path
        assert picture.mean() > 180, path


@pytest.mark.parametrize("proximity", ["synonymous", "temporal", "spatial"])
def test_every_patch_is_linked_to_its_nearest(tiny_run, proximity):
    """The blue lines against a plain search."""
    model, sketch = gra2seq.load(tiny_run), doodle("cat", 3)
    axis = Figure().subplots()
    links_of(axis, model, sketch, proximity)
    drawn = {tuple(map(tuple, line.get_xydata())) for line in axis.lines if line.get_color() == "tab:blue"}
    graph = model.graph(sketch, proximity)
    centres, features, count = graph.centres, graph.features.astype(float), len(graph)
    assert len(drawn) == count > 3

    def far(i, j):
        if proximity == "temporal":
            return abs(i - j)
        if proximity == "spatial":
            return np.hypot(*(centres[i] - centres[j]))
        return -features[i] @ features[j] / np.linalg.norm(features[i]) / np.linalg.norm(features[j])

    for i in range(count):
        nearest = min((far(i, j), j) for j in range(count) if j != i)[1]
        assert (tuple(centres[i]), tuple(centres[nearest])) in drawn


def test_masking_figure_is_drawn_in_vectors(tmp_path):
    draw_masking(doodle("bus", 1), tmp_path / "m.svg")
    assert (tmp_path / "m.svg").read_text().count("<path") > 20


def test_what_cannot_be_drawn_is_an_error(tmp_path):
    model = untrained(parse_config({"preset": "tiny"}))
    with pytest.raises(UserError, match="no clusters"):
        draw_clusters(model, list(doodles(3)), tmp_path / "c.png")
    with pytest.raises(UserError, match="three sketches"):
        draw_codes(model, list(doodles(2)), tmp_path / "c.png")
    with pytest.raises(UserError, match=r"\.png, \.svg, \.pdf"):
        draw_all(model, open_dataset("doodles:200"), tmp_path, "jpg", count=3)
    with pytest.raises(UserError, match="nearest-cosine"):
        draw_links(model, list(doodles(1)), ("nearest",), tmp_path / "l.png")
    with pytest.raises(UserError, match=r"\.png, \.svg, \.pdf"):
        draw_masking(doodle("cat", 0), tmp_path / "m.bmp")
    assert not list(tmp_path.iterdir())


def test_system_without_graph_or_clusters_has_fewer_figures(tmp_path):
    model = untrained(parse_config({"preset": "tiny", "model": "sketch-rnn"}))
    paths = draw_all(model, open_dataset("doodles:200"), tmp_path, "png", count=12)
    assert {path.stem for path in paths} == {"masking", "healing", "codes"}


def test_masking_figure_of_a_sketch_that_masks_hide(tmp_path):
    """Nothing stays visible of a dot; the figure is drawn all the same."""
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    draw_masking(dot, tmp_path / "m.png", probability=1.0)
    assert (tmp_path / "m.png").stat().st_size > 1000


def test_links_lie_on_the_drawing_in_its_own_units(tiny_run):
    """Centres of patches are points of the drawing, wherever it lies and however large it is."""
    model, sketch = gra2seq.load(tiny_run), doodle("cat", 3)
    moved = sketch.with_points(sketch.points * 7 - 400)
    axis = Figure().subplots()
    links_of(axis, model, moved, "spatial")
    centres = next(line.get_xydata() for line in axis.lines if line.get_color() == "tab:red")
    apart = np.abs(centres[:, None] - moved.points[None]).max(axis=-1).min(axis=1)
    assert apart.max() < 0.02 * max(moved.box[2:])
