"""Infill decoding in the tables."""

import json

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.evaluation.protocol import evaluate
from gra2seq.evaluation.redrawing import drawing_mode, redrawn
from gra2seq.folder import load


def test_infill_keeps_the_visible_strokes_of_damaged_sketches_only(tiny_run):
    model = load(tiny_run)
    model = model.with_drawing(drawing_mode(model.drawing, "infill"))
    sketches = list(doodles(4, seed=2))
    noise = np.full((4, 20), 0.4, np.float32)
    kind = DamageKind(square=0.4)
    for sketch, drawn in zip(sketches, redrawn(model, sketches, noise, kind, 0, 0), strict=True):
        damage = kind.damage(sketch, noise[0])
        assert np.array_equal(drawn.points[: len(damage.visible)], damage.visible.points)
    whole = redrawn(model, sketches, noise, DamageKind(), 0, 0)
    assert not any(np.array_equal(a.points[:5], b.points[:5]) for a, b in zip(whole, sketches, strict=True))


def test_completion_hands_in_the_first_points_only(data, model, judge):
    rows = evaluate(model, data, name="m", masks=[], completions=[0.3, 0.7], judge=judge)
    assert [(row["complete"], row["sees"], row["repaired"], row["kept"]) for row in rows] == [
        (0.3, "infill", False, True),
        (0.7, "infill", False, True),
    ]
    assert all(row["rec"] is not None and row["best_of"] == 1 for row in rows)
    assert rows[1]["chamfer"] < rows[0]["chamfer"], "with more given, less is guessed"
    sketches = list(doodles(3, seed=2))
    noise = np.zeros((3, 20), np.float32)
    for sketch, done in zip(sketches, redrawn(model, sketches, noise, DamageKind(complete=0.5), 0, 0), strict=True):
        given = round(len(sketch) * 0.5)
        assert np.array_equal(done.points[:given], sketch.points[:given])
    for wrong in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(UserError, match="between 0 and 1"):
            evaluate(model, data, name="m", masks=[], completions=[wrong])


def test_lost_squares_are_measured_where_they_are_healed(data, model, judge, tmp_path):
    healing = model.with_drawing(drawing_mode(model.drawing, "infill"))
    terms = {"masks": [0.0], "squares": [0.4], "judge": judge, "folder": tmp_path}
    intact, row = evaluate(healing, data, name="m", samples=3, **terms)
    assert evaluate(healing, data, name="m", samples=3, **terms) == [intact, row], "kept on disk"
    assert row["ends"] > 10
    assert 0 < row["ends_met"] <= 1
    assert 0 < row["region_chamfer"] < 0.3
    assert row["lines_outside"] == 0
    assert 0 < row["diversity"] < 3
    assert row["rec_share"] == (row["rec"] / row["ceiling"] if row["ceiling"] else None)
    assert {intact[name] for name in ("ends", "ends_met", "region_chamfer", "lines_outside", "diversity")} == {None}
    (single,) = evaluate(healing, data, name="m", masks=[], squares=[0.4])
    assert single["diversity"] is None
    assert single["region_chamfer"] == row["region_chamfer"], "the first of several samples is the only one"
    with pytest.raises(UserError, match="infill"):
        evaluate(model, data, name="m", samples=2)


def test_evaluate_command_measures_completion_and_samples(call, tiny_run, tmp_path):
    words = ["evaluate", tiny_run, "--data", "doodles:60", "-o", tmp_path, "--sheet-size", 2, "--json"]
    code, text, err = call(*words, "--complete", 0.3, 0.7)
    assert code == 0, err
    rows = json.loads(text)["rows"]
    assert [(row["complete"], row["sees"], row["kept"]) for row in rows] == [
        (0.3, "infill", True),
        (0.7, "infill", True),
    ]
    assert rows[1]["chamfer"] < rows[0]["chamfer"], "more of the drawing was handed in"
    table = (tmp_path / "doodles:60-test-completions.md").read_text()
    assert "first 30 %" in table
    assert "first 70 %" in table, "rows of other shares are not averaged"
    words[words.index("doodles:60")] = "doodles:200"  # two of a category are there to compare
    (row,) = json.loads(call(*words, "--square", 0.4, "--draw", "infill", "--samples", 3)[1])["rows"]
    assert row["diversity"] > 0
    assert row["lines_outside"] == 0
    code, out, _ = call(*words, "--complete", 1.5)
    assert code == 2
    assert "complete 1.5" in json.loads(out)["error"]
