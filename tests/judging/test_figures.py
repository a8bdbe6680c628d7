"""Figures are drawn from real models, as PNG and as SVG, and say what they cannot draw."""

import cv2
import pytest

import gra2seq
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodle, doodles
from gra2seq.errors import UserError
from gra2seq.judging.figures import draw_all, draw_clusters, draw_codes, draw_links, draw_masking
from gra2seq.model import untrained
from gra2seq.options import options


def test_every_figure(tiny_run, tmp_path):
    model = gra2seq.load(tiny_run)
    paths = draw_all(model, open_dataset("doodles:200"), tmp_path, "png", count=12)
    assert {path.stem for path in paths} == {"links", "masking", "healing", "clusters", "codes"}
    for path in paths:
        picture = cv2.imread(str(path))
        assert picture.min() < 60, path
        assert picture.mean() > 180, path


def test_vector_figures(tmp_path):
    draw_masking(doodle("bus", 1), tmp_path / "m.svg")
    assert (tmp_path / "m.svg").read_text().count("<path") > 20


def test_what_cannot_be_drawn_is_said(tmp_path):
    model = untrained(options({"preset": "tiny"}))
    with pytest.raises(UserError, match="no clusters"):
        draw_clusters(model, list(doodles(3)), tmp_path / "c.png")
    with pytest.raises(UserError, match="three sketches"):
        draw_codes(model, list(doodles(2)), tmp_path / "c.png")
    with pytest.raises(UserError, match="synonymous"):
        draw_links(model, list(doodles(1)), ("nearest",), tmp_path / "l.png")
    with pytest.raises(UserError, match=r"\.png, \.svg, \.pdf"):
        draw_masking(doodle("cat", 0), tmp_path / "m.bmp")
    assert not list(tmp_path.iterdir())


def test_a_system_without_graph_or_clusters_has_fewer_figures(tmp_path):
    model = untrained(options({"preset": "tiny", "model": "sketch-rnn"}))
    paths = draw_all(model, open_dataset("doodles:200"), tmp_path, "png", count=12)
    assert {path.stem for path in paths} == {"masking", "healing", "codes"}
