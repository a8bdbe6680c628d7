"""Healing an SVG document: what the user drew decides what is healed."""

from __future__ import annotations

import numpy as np
import pytest

import gra2seq
from gra2seq.formats.svg import SvgDocument
from gra2seq.healing.documents import HealRequest, heal_document, without_repeats
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.region import Region

HOUSE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><g fill="none" stroke="black">'
    '<path d="M20 100V190H180V100"/><path d="M10 105L100 20 190 105"/><path d="M110 190V140H140V190"/></g>{}</svg>'
)
KNOB = '<circle cx="60" cy="150" r="8"/>'


def test_fillings_are_neither_cut_nor_drawn_over() -> None:
    """A hole over half of a filled knob: the filling stays, so its outline has no open ends to continue."""
    document = SvgDocument.read(HOUSE.format(KNOB))
    model = gra2seq.load()
    lost = Region.of_boxes([(30, 150, 60, 60)])  # cuts the floor, too
    request = HealRequest(lost, drawing=model.changed_drawing(None, {"infill": 8, "keep_lines": True}))
    damage = request.damage(document.sketch, document.uncut)
    np.testing.assert_array_equal(damage.visible.strokes[-1], document.sketch.strokes[-1])
    (healed,) = heal_document(model, document, request)
    new = healed.sketch.strokes[len(document.cut(list(lost.rings)).sketch.lengths) :]
    ends = np.concatenate([stroke[[0, -1]] for stroke in new])
    assert np.abs(ends[:, None] - np.array([(30, 190), (90, 190)])).max(axis=-1).min(axis=0).max() < 1  # the floor
    assert np.abs(ends[:, None] - np.array([(52, 150), (68, 150)])).max(axis=-1).min() > 2  # the knob
    assert KNOB in healed.text()


FACE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 300"><g fill="none" stroke="black" stroke-width="4">'
    '<circle cx="150" cy="150" r="90"/><path d="M90 85L70 30 120 66"/><path d="M180 66L230 30 210 85"/>'
    '<path d="M110 190c20 20 60 20 80 0"/></g><circle cx="120" cy="130" r="8"/><circle cx="180" cy="130" r="8"/></svg>'
)


def test_the_mirror_image_of_a_filling_is_not_drawn_where_the_filling_has_stayed() -> None:
    """The hole covers a quarter of the right eye, which stays; the left one must not be mirrored onto it."""
    model = gra2seq.load()
    drawing = model.changed_drawing(None, {"infill": 8, "keep_lines": True})
    request = HealRequest(Region.of_boxes([(180, 40, 90, 90)]), drawing=drawing)
    (healed,) = heal_document(model, SvgDocument.read(FACE), request)
    new = healed.sketch.strokes[len(SvgDocument.read(FACE).cut(list(request.lost.rings)).sketch.lengths) :]
    assert new
    middles = np.array([stroke.mean(axis=0) for stroke in new])
    assert np.hypot(*(middles - (180, 130)).T).min() > 15


def test_new_lines_that_run_along_a_filling_are_dropped() -> None:
    sketch = gra2seq.Sketch.from_polylines([[(0, 0), (100, 0)], [(40, 40), (60, 40), (60, 60), (40, 60), (40, 40)]])
    damage = Damage(sketch, Region.of_boxes([(30, 30, 70, 70)]), (0, 0, 100, 100))
    fillings = [damage.normalised(sketch.strokes[1])]
    along, across, beyond = ([(41, 40), (59, 41)], [(50, 35), (50, 65)], [(40, 80), (60, 80)])
    lines = [np.array(line, np.float64) for line in (along, across, beyond)]
    kept = without_repeats(lines, fillings, damage)
    assert [line.tolist() for line in kept] == [lines[1].tolist(), lines[2].tolist()]
    assert len(without_repeats(lines, [], damage)) == 3


@pytest.mark.parametrize(
    ("size", "page"),
    [
        ('width="300" height="200"', (0, 0, 300, 200)),
        ('width="1in" height="48px"', (0, 0, 96, 48)),
        ('width="300" height="200" viewBox="-5 -6 30 20"', (-5, -6, 30, 20)),
    ],
)
def test_the_page_is_the_view_box_or_the_size(size, page) -> None:
    text = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><path d="M10 10L30 20" stroke="black"/></svg>'
    np.testing.assert_allclose(SvgDocument.read(text).page, page)
    for none in ('width="100%" height="200"', ""):
        assert SvgDocument.read(text.replace(size, none)).page is None


def test_a_begun_document_is_finished_on_its_page(monkeypatch) -> None:
    """The page bounds the frame that it predicts."""
    seen: list[Damage] = []
    model = gra2seq.load()
    infills = model.infills

    def recorded(damages, samples, drawing):
        seen.extend(damages)
        return infills(damages, samples, drawing)

    monkeypatch.setattr(model, "infills", recorded)
    text = '<svg viewBox="0 0 90 60"><path fill="none" stroke="black" d="M 5 5 C 40 0 60 30 80 50"/></svg>'
    request = HealRequest(end_missing=True, drawing=gra2seq.DrawingConfig(keep_lines=True, infill=4))
    (finished,) = heal_document(model, SvgDocument.read(text), request)
    assert seen[0].page == (0.0, 0.0, 90.0, 60.0)
    assert 'd="M 5 5 C 40 0 60 30 80 50"' in finished.text()
