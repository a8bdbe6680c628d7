"""Healing an SVG document: what the user drew decides what is healed."""

from __future__ import annotations

import numpy as np

import gra2seq
from gra2seq.formats.svg import SvgDocument
from gra2seq.healing.documents import HealRequest, heal_document
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
