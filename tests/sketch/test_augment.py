"""What may change in training, and what must not."""

import numpy as np
import pytest
from gra2seq.options import options

from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodle, doodles
from gra2seq.errors import UserError
from gra2seq.sketch.augment import Variety


def random(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def test_no_variety_is_none():
    assert not Variety()
    assert Variety(turn=1)
    sketch = doodle("cat", 1)
    assert np.allclose(Variety()(sketch, random()).points, sketch.points)


def test_each_change_is_within_its_bounds():
    sketch = doodle("giraffe", 2)
    for seed in range(20):
        stretched = Variety(stretch=0.15)(sketch, random(seed))
        ratio = np.array(stretched.box[2:]) / np.array(sketch.box[2:])
        assert (np.abs(ratio - 1) <= 0.15 + 1e-5).all()
        turned = Variety(turn=10)(sketch, random(seed))
        before, after = sketch.points[5] - sketch.points[0], turned.points[5] - turned.points[0]
        angle = np.degrees(np.arctan2(*before[::-1]) - np.arctan2(*after[::-1]))
        assert abs((angle + 180) % 360 - 180) <= 10 + 1e-3
        assert np.linalg.norm(before) == pytest.approx(np.linalg.norm(after), rel=1e-4)
    signs = {np.sign(Variety(mirror=0.5)(sketch, random(s)).points[3, 0] * sketch.points[3, 0]) for s in range(20)}
    assert signs == {-1.0, 1.0}


def test_dropping_points_keeps_the_ends_of_every_stroke():
    sketch = doodle("bus", 3)
    thin = Variety(drop=0.5)(sketch, random())
    assert len(thin) < len(sketch)
    assert len(thin.lengths) == len(sketch.lengths)
    for before, after in zip(sketch.strokes, thin.strokes, strict=True):
        assert np.allclose(before[[0, -1]], after[[0, -1]])
        assert {tuple(p) for p in np.round(after, 3)} <= {tuple(p) for p in np.round(before, 3)}


def test_shuffled_strokes_are_the_same_strokes_in_another_order():
    sketch = doodle("cat", 3)
    assert len(sketch.lengths) > 3
    mixed = Variety(shuffle=0.999)(sketch, random())
    before, after = ([np.round(stroke, 3).tolist() for stroke in s.strokes] for s in (sketch, mixed))
    assert sorted(before) == sorted(after)
    assert before != after
    kept = [
        Variety(shuffle=0.5)(sketch, random(seed)).lengths.tolist() == sketch.lengths.tolist() for seed in range(40)
    ]
    assert 8 < sum(kept) < 32


def test_it_is_for_training_only_and_follows_the_seed():
    sketches = list(doodles(4, seed=1))
    recipe = options({"preset": "tiny", "stretch": 0.2, "turn": 10, "mirror": 0.5, "drop": 0.1, "shuffle": 0.5}).recipe(
        30.0
    )
    plain = options({"preset": "tiny"}).recipe(30.0)
    seeds = [(0, i) for i in range(4)]
    one, again = (prepare(sketches, recipe, seeds=seeds) for _ in range(2))
    assert (one.rows == again.rows).all()
    other = prepare(sketches, plain, seeds=seeds)
    assert one.rows.shape != other.rows.shape or (one.rows != other.rows).any()
    assert (prepare(sketches, recipe).rows == prepare(sketches, plain).rows).all()


def test_impossible_amounts_are_said():
    with pytest.raises(UserError, match="stretch"):
        options({"stretch": 1.0})
    with pytest.raises(UserError, match="turn"):
        options({"turn": -1})
