"""Infill decoding: the visible strokes stay, gaps are bridged, new lines stay inside of the lost region."""

from dataclasses import replace

import numpy as np
import pytest

import gra2seq
from gra2seq.data.doodles import doodles
from gra2seq.drawing.infill_choice import distances
from gra2seq.drawing.infill_scene import Scene
from gra2seq.evaluation.healing import MEETS, healed_region
from gra2seq.sketch.damage import lose, square_hole
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import Sketch

SKETCHES = list(doodles(6, seed=8))


@pytest.fixture(scope="module")
def model():
    return gra2seq.load()


def damaged(sketches=SKETCHES, side=0.4):
    return [lose(one, Region.of_boxes([square_hole(one, (0.4, 0.6), (side, side))])) for one in sketches]


def test_visible_strokes_stay_exactly_and_new_lines_stay_in_the_region(model):
    damages = damaged()
    for original, damage, healed in zip(SKETCHES, damages, model.heal_damages(damages, infill=6), strict=True):
        visible = damage.visible
        assert np.array_equal(healed.points[: len(visible)], visible.points)
        assert np.array_equal(healed.lengths[: len(visible.lengths)], visible.lengths)
        assert healed_region(original, damage, healed).outside == 0


def test_gap_in_a_circle_is_closed(model):
    turn = np.linspace(0, 2 * np.pi, 40)
    circle = Sketch(np.c_[100 + 100 * np.cos(turn), 100 + 100 * np.sin(turn)], np.array([40]))
    damage = lose(circle, Region.of_boxes([(150, 60, 80, 80)]))
    (healed,) = model.heal_damages([damage], infill=16, seed=1)
    found = healed_region(circle, damage, healed)
    assert (found.ends, found.met) == (2, 2)
    new = healed.strokes[len(damage.visible.lengths) :]
    assert np.abs(np.hypot(*(np.concatenate(new) - 100).T) - 100).max() < 40, "near the circle"


def test_same_seed_gives_the_same_drawing_in_any_batch(model):
    damages = damaged()
    together = model.heal_damages(damages, infill=4, seed=3)
    alone = model.heal_damages(damages[2:3], infill=4, seed=3)[0]
    assert np.array_equal(together[2].lengths, alone.lengths)
    np.testing.assert_allclose(together[2].points, alone.points, atol=1e-2)
    other = model.heal_damages(damages, infill=4, seed=4)
    assert any(len(a) != len(b) or not np.allclose(a.points, b.points) for a, b in zip(together, other, strict=True))


def test_every_open_end_meets_a_new_line(model):
    damages = damaged()
    ends = 0
    for original, damage, healed in zip(SKETCHES, damages, model.heal_damages(damages, infill=4), strict=True):
        found = healed_region(original, damage, healed)
        assert found.met == found.ends
        ends += found.ends
    assert ends > 6


def test_several_samples_differ(model):
    drawn = 0
    for results in model.infills(damaged(), 3, model.changed_drawing(None, {"infill": 8, "seed": 1})):
        assert len(results) == 3
        lines = [result.lines for result in results if result.lines]  # two that draw nothing are alike
        apart = distances(lines)
        assert (apart[~np.eye(len(lines), dtype=bool)] > 0).all()
        drawn += len(lines)
    assert drawn > len(damaged())


def test_sampled_lines_begin_and_end_exactly_at_open_ends(model):
    damages = damaged()
    unit = model.preparation.scale / 255
    drawing = model.changed_drawing(None, {"infill": 8, "seed": 1})
    joined = 0
    for damage, (result, *_) in zip(damages, model.infills(damages, 1, drawing), strict=True):
        ends = Scene(damage, damage.visible, unit).ends * unit
        meets = [
            np.abs(ends - point).max(axis=1).min() < 1e-5 for line in result.lines for point in (line[0], line[-1])
        ]
        joined += sum(meets)
        assert result.open_ends >= 0
    assert joined > 0


def test_complete_keeps_the_strokes_and_draws_on(model):
    begun = [Sketch(one.points[: one.lengths[0]], one.lengths[:1]) for one in SKETCHES]
    done = model.complete(begun, samples=2, seed=5, temperature=0.6)
    assert len(done) == 2 * len(begun)
    for number, one in enumerate(done):
        start = begun[number // 2]
        assert np.array_equal(one.points[: len(start)], start.points)
    assert np.mean([len(one) > len(begun[number // 2]) for number, one in enumerate(done)]) > 0.3


def test_drawing_without_a_gap_stays_as_it_is(model):
    sketch = SKETCHES[0]
    damage = lose(sketch, Region.of_boxes([(1e4, 1e4, 10, 10)]), frame=sketch.box)
    (healed,) = model.heal_damages([damage], infill=2)
    assert np.array_equal(healed.points, sketch.points)


def test_open_ends_are_found_at_the_border_only():
    sketch = Sketch.from_polylines([[(0, 0), (100, 0)], [(0, 50), (30, 50)]])
    damage = lose(sketch, Region.of_boxes([(40, -10, 20, 20)]), frame=(0, 0, 100, 50))
    scene = Scene(damage, damage.visible, 1.0)
    ends = sorted(damage.denormalised(scene.ends).round(3).tolist())
    assert ends == [[40, 0], [60, 0]]
    assert MEETS > 0


def test_lanes_that_take_the_same_bridge_share_a_row_of_the_decoder(model, monkeypatch):
    counts, step = [], model.network.decoder.step

    def counted(row, *others):
        counts.append(len(row))
        return step(row, *others)

    monkeypatch.setattr(model.network.decoder, "step", counted)
    turn = np.linspace(0, 2 * np.pi, 40)
    circle = Sketch(np.c_[100 + 100 * np.cos(turn), 100 + 100 * np.sin(turn)], np.array([40]))
    (healed,) = model.infills(
        [lose(circle, Region.of_boxes([(150, 60, 80, 80)]))], 16, replace(model.drawing, infill=16)
    )
    assert len(healed) == 16
    assert 1 < max(counts) < 16


@pytest.mark.parametrize("region", [Region(), Region.of_boxes([(-20, 900, 40, 100)])], ids=["complete", "heal"])
def test_the_decoder_follows_no_more_points_than_it_may_draw(model, monkeypatch, region):
    rows, step, most = [], model.network.decoder.step, model.config.preparation.max_points

    def counted(*arguments):
        rows.append(1)
        return step(*arguments)

    monkeypatch.setattr(model.network.decoder, "step", counted)
    zigzag = Sketch.from_polylines([[(1000 * (x % 2), x) for x in range(1000)]])
    (drawn,) = model.infills([lose(zigzag, region)], 2, replace(model.drawing, infill=4))
    assert len(drawn) == 2
    assert len(rows) <= most + 1
