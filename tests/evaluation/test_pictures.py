"""Sheets of drawings beside the tables show what was judged."""

import copy

import cv2
import numpy as np
import pytest

from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.evaluation.pictures import spread, write_galleries
from gra2seq.evaluation.protocol import Terms, stored_noise
from gra2seq.evaluation.redrawing import redrawn
from gra2seq.formats.svg import read_svg
from gra2seq.sketch.strokes import Sketch


@pytest.mark.parametrize(("count", "most"), [(0, 3), (1, 10), (7, 7), (7, 3), (1000, 10), (11, 10), (5, 1)])
def test_spread_chooses_evenly(count, most):
    chosen = spread(count, most)
    assert len(chosen) == min(count, most)
    if count:
        ends = np.diff([-1 - chosen[0], *chosen, 2 * count - 1 - chosen[-1]])  # mirrored at both ends
        assert chosen.min() >= 0
        assert chosen.max() < count
        assert ends.min() >= 1
        assert np.ptp(ends) <= 2


def test_sheets_show_the_judged_drawings_and_the_stored_damage(data, model, tmp_path):
    """All originals and drawings are in the SVG, line by line."""
    paths = write_galleries(model, data, tmp_path, "g", Terms(masks=[0.0, 0.3], seeds=[4]), size=3)
    assert {path.name for path in paths} == {f"g-mask-{m}.{form}" for m in ("0", "0.3") for form in ("png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}
    sketches = [data.store[int(i)] for i in data.test]
    noise = stored_noise(data, "test", len(sketches)).numbers
    drawn = redrawn(model, sketches, noise, DamageKind(mask=0.3), 4, 0)
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


def test_large_sheet_continues_in_further_rows(data, model, tmp_path):
    _, svg = write_galleries(model, data, tmp_path, "g", Terms(masks=[0.1]), size=12)
    text = svg.read_text()
    assert text.count("<image") == 12
    assert text.count(">original</text>") == text.count(">redrawn</text>") == 2
    assert not any(f">{category}</text>" in text for category in data.categories)


def test_empty_drawing_leaves_its_cell_blank(data, model, tmp_path, monkeypatch):
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    monkeypatch.setattr(type(model), "draw_codes", lambda _, codes, **__: [dot] * len(codes))
    _, svg = write_galleries(model, data, tmp_path, "g", Terms(masks=[0.1]), size=2)
    sketches = [data.store[int(i)] for i in data.test[spread(len(data.test), 2)]]
    assert len(read_svg(svg.read_bytes()).lengths) == sum(len(sketch.lengths) for sketch in sketches)


def test_sketch_with_nothing_visible_leaves_two_cells_blank(data, model, tmp_path, monkeypatch):
    monkeypatch.setattr(DamageKind, "damage", lambda *_: None)
    _, svg = write_galleries(model, data, tmp_path, "g", Terms(masks=[0.9]), size=2)
    sketches = [data.store[int(i)] for i in data.test[spread(len(data.test), 2)]]
    assert svg.read_text().count("<image") == 0
    assert len(read_svg(svg.read_bytes()).lengths) == sum(len(sketch.lengths) for sketch in sketches)


def test_category_names_are_escaped(data, model, tmp_path):
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
    _, svg = write_galleries(model, other, tmp_path, "g", Terms(masks=[0.1]), size=6)
    assert "&lt;a &amp; b&gt;" in svg.read_text()
    read_svg(svg.read_bytes())
