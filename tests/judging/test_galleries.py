"""Galleries: what was judged, for people to see."""

import copy

import cv2
import numpy as np
import pytest

from gra2seq.evaluation.protocol import stored_draws
from gra2seq.evaluation.galleries import spread, write_galleries
from gra2seq.formats.svg import read_svg
from gra2seq.sketch.strokes import Sketch


@pytest.mark.parametrize(("count", "most"), [(0, 3), (1, 10), (7, 7), (7, 3), (1000, 10), (11, 10), (5, 1)])
def test_spread_is_even(count, most):
    chosen = spread(count, most)
    assert len(chosen) == min(count, most)
    if count:
        ends = np.diff([-1 - chosen[0], *chosen, 2 * count - 1 - chosen[-1]])  # mirrored at both ends
        assert chosen.min() >= 0
        assert chosen.max() < count
        assert ends.min() >= 1
        assert np.ptp(ends) <= 2


def test_galleries_show_what_was_judged(data, model, tmp_path):
    """All originals and drawings are in the SVG, line by line; the damage is that of the stored draws."""
    paths = write_galleries(model, data, tmp_path, "g", masks=[0.0, 0.3], seed=4, most=3)
    assert {path.name for path in paths} == {f"g-mask-{m}.{form}" for m in ("0", "0.3") for form in ("png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}
    sketches = [data.store[int(i)] for i in data.test]
    draws = stored_draws(data, "test", len(sketches), model.recipe.nodes).numbers
    drawn = model.draw(model.encode(sketches, draws=draws, mask_prob=0.3), seed=4)
    chosen = spread(len(sketches), 3).tolist()
    shown = [sketches[i] for i in chosen] + [drawn[i] for i in chosen if max(drawn[i].box[2:]) > 0]
    text = (tmp_path / "g-mask-0.3.svg").read_text()
    found = read_svg(text.encode())
    assert found.lengths.tolist() == [length for sketch in shown for length in sketch.lengths.tolist()]
    assert text.count("<image") == 3
    assert all(f">{word}</text>" in text for word in ("original", "damaged", "redrawn", sketches[chosen[0]].category))
    whole, damaged = (cv2.imread(str(tmp_path / f"g-mask-{m}.png"), cv2.IMREAD_GRAYSCALE) for m in ("0", "0.3"))
    assert whole.shape == damaged.shape
    rows = np.array_split(np.arange(40, whole.shape[0]), 3)
    ink = [[int((picture[row] < 128).sum()) for row in rows] for picture in (whole, damaged)]
    assert ink[0][0] == ink[1][0] > 0, "the originals are the same"
    assert 0 < ink[1][1] < ink[0][1], "what is damaged has less ink"


def test_a_large_gallery_goes_on_in_further_rows(data, model, tmp_path):
    _, svg = write_galleries(model, data, tmp_path, "g", masks=[0.1], most=12)
    text = svg.read_text()
    assert text.count("<image") == 12
    assert text.count(">original</text>") == text.count(">redrawn</text>") == 2
    assert not any(f">{category}</text>" in text for category in data.categories)


def test_an_empty_drawing_leaves_its_cell_free(data, model, tmp_path, monkeypatch):
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    monkeypatch.setattr(type(model), "draw", lambda _, codes, **__: [dot] * len(codes))
    _, svg = write_galleries(model, data, tmp_path, "g", masks=[0.1], most=2)
    sketches = [data.store[int(i)] for i in data.test[spread(len(data.test), 2)]]
    assert len(read_svg(svg.read_bytes()).lengths) == sum(len(sketch.lengths) for sketch in sketches)


def test_names_of_any_kind_are_in_a_gallery(data, model, tmp_path):
    names = {index: ("", "<a & b>", "\x00 bee")[i % 3] for i, index in enumerate(data.test.tolist())}

    class Named:
        def __init__(self, store):
            self.path, self.hash, self.store = store.path, store.hash, store

        def __getitem__(self, index):
            sketch = self.store[index]
            return Sketch(sketch.points, sketch.lengths, names[index])

    other = copy.copy(data)
    object.__setattr__(other, "categories", tuple(names.values()))
    object.__setattr__(other, "store", Named(data.store))
    _, svg = write_galleries(model, other, tmp_path, "g", masks=[0.1], most=6)
    assert "&lt;a &amp; b&gt;" in svg.read_text()
    read_svg(svg.read_bytes())
