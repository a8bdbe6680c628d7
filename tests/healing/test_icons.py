"""Icons of four public sets, fetched by npm: their own lines stay, and the lost square is healed."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gra2seq
from gra2seq.evaluation.healing import MEETS
from gra2seq.sketch.damage import lose

SCRIPT = Path(__file__).parents[2] / "benchmarks/icons.py"


@pytest.mark.slow
def test_forty_icons_keep_their_lines_and_are_healed_inside_of_the_hole(tmp_path, monkeypatch):
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    spec = importlib.util.spec_from_file_location("icons", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "icons", module)
    spec.loader.exec_module(module)
    model = gra2seq.load()
    try:
        icons = module.chosen_icons(model.categories, 2, tmp_path)
    except subprocess.SubprocessError:
        pytest.skip("the npm registry cannot be reached")
    assert len(icons) == 40
    healed = 0
    for icon in icons:
        visible, new = module.healed(model, icon, "infill")
        kept = lose(icon.document.sketch, icon.lost).visible
        np.testing.assert_allclose(_length(visible), _length(kept), rtol=0.01, err_msg=icon.name)
        if new is not None:
            points = new.points.astype(np.float64)
            outside = points[~icon.lost.contains(points)]
            side = max(icon.document.sketch.box[2:])
            assert (icon.lost.distance(outside) <= MEETS * side).all(), icon.name
            healed += 1
    assert healed >= 36


def _length(sketch):
    return sum(np.hypot(*np.diff(stroke, axis=0).T).sum() for stroke in sketch.strokes)
