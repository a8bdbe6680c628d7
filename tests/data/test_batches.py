"""Preparation is a pure function of (seed, step, place); padding changes nothing; batches are random."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from gra2seq.options import options

from gra2seq.data.batches import (
    Recipe,
    as_learnt,
    generator,
    normalised,
    prepare,
    stroke_rows,
)
from gra2seq.data.doodles import doodles
from gra2seq.data.schedule import Schedule, Share, Steps
from gra2seq.errors import UserError
from gra2seq.sketch.masking import hole_by_lot
from gra2seq.sketch.simplify import resample
from gra2seq.sketch.strokes import Sketch, from_stroke5, to_stroke5

SKETCHES = list(doodles(60, seed=9))
RECIPE = options({"preset": "tiny", "jitter": 0.5}).recipe(scale=30.0)
MENDED = options({"preset": "tiny", "mend": True, "mask": 0.5}).recipe(scale=30.0)


def steps(share=Share(), batch=12, recipe=RECIPE, seed=3):  # noqa: B008 (a frozen value)
    return Steps(SKETCHES, np.arange(60), recipe, Schedule(60, batch, seed), share)


def tensors(batch):
    return {name: value for name, value in vars(batch).items() if isinstance(value, torch.Tensor)}


def test_a_step_is_always_the_same():
    a, b = steps()[7], steps()[7]
    for name, value in tensors(a).items():
        assert torch.equal(value, tensors(b)[name]), name
    other = tensors(steps(seed=4)[7])
    assert not torch.equal(a.noise, other["noise"])


def test_shares_make_up_the_global_batch():
    whole = steps()[5]
    parts = [steps(Share(rank, 3))[5] for rank in range(3)]
    for name in ("valid", "centres", "uniform", "noise"):
        assert torch.equal(getattr(whole, name), torch.cat([getattr(part, name) for part in parts])), name
    assert whole.names == sum((part.names for part in parts), ())
    rows = torch.cat([torch.nn.functional.pad(p.rows, (0, 0, 0, whole.rows.shape[1] - p.rows.shape[1])) for p in parts])
    offsets = whole.rows[..., :2]
    assert torch.equal(offsets, rows[..., :2])
    with pytest.raises(UserError, match="multiple"):
        steps(Share(0, 5))[0]


def test_every_sketch_comes_once_an_epoch_in_random_company():
    """Batches of like length would tell each other their length through batch norm."""
    lengths = np.random.default_rng(0).integers(5, 200, 6400)
    schedule = Schedule(6400, 64, 0)
    batches = [schedule.batch_of(step) for step in range(schedule.steps_per_epoch)]
    assert sorted(np.concatenate(batches).tolist()) == list(range(6400))
    means = np.array([lengths[b].mean() for b in batches])
    expected = lengths.std() / np.sqrt(64)  # of the mean of 64 that know nothing of each other
    assert 0.75 * expected < means.std() < 1.25 * expected
    again = [schedule.batch_of(step + schedule.steps_per_epoch) for step in range(3)]
    assert not any((a == b).all() for a, b in zip(batches, again, strict=False))


def test_a_data_set_smaller_than_a_batch_is_repeated():
    schedule = Schedule(3, 8, 0)
    assert len(schedule.batch_of(0)) == 8
    assert set(schedule.batch_of(0).tolist()) == {0, 1, 2}


def test_rows_are_the_sketch_again():
    sketch = SKETCHES[0]
    rows = stroke_rows(sketch, scale=30.0, length=len(sketch) + 5)
    assert rows[0].tolist() == [0, 0, 1, 0, 0]
    twin = to_stroke5(sketch.with_points(normalised(sketch)), len(sketch) + 5)
    assert np.allclose(rows[1:] * [30, 30, 1, 1, 1], twin, atol=1e-3)
    back = from_stroke5(rows[1:] * [30, 30, 1, 1, 1])
    assert np.allclose(back.points, normalised(sketch), atol=1e-3)
    assert (back.lengths == sketch.lengths).all()
    left, top, width, height = back.box
    assert max(width, height) == pytest.approx(255, abs=1e-3)
    assert left + width / 2 == pytest.approx(0, abs=1e-3)
    assert top + height / 2 == pytest.approx(0, abs=1e-3)


def test_jitter_moves_points_by_at_most_half_a_pixel_and_only_in_training():
    plain = prepare(SKETCHES[:4], RECIPE)
    seeds = [(0, i) for i in range(4)]
    moved = prepare(SKETCHES[:4], RECIPE, seeds=seeds)
    still = prepare(SKETCHES[:4], replace(RECIPE, jitter=0.0), seeds=seeds)
    assert torch.equal(plain.rows, still.rows)
    places = (moved.rows - plain.rows)[..., :2].cumsum(dim=1) * RECIPE.scale
    assert 0.3 < places[:, 1:5].abs().max() <= 0.5 + 1e-3


def test_masked_share_is_the_probability():
    recipe = replace(RECIPE, mask=(0.3, 0.3))
    batch = prepare(SKETCHES, recipe, seeds=[(1, i) for i in range(60)])
    there = prepare(SKETCHES, recipe).valid
    assert 0.2 < 1 - float(batch.valid.sum() / there.sum()) < 0.4


def test_each_sketch_may_have_a_rate_of_its_own():
    recipe, seeds = replace(RECIPE, mask=(0.0, 0.8)), [(1, i) for i in range(60)]
    there = prepare(SKETCHES, recipe).valid.sum(dim=1)
    gone = 1 - prepare(SKETCHES, recipe, seeds=seeds).valid.sum(dim=1) / there
    same = 1 - prepare(SKETCHES, replace(recipe, mask=(0.4, 0.4)), seeds=seeds).valid.sum(dim=1) / there
    assert 0.3 < gone.mean() < 0.5
    assert gone.std() > 1.2 * same.std()  # the rates differ, not only the luck
    again = 1 - prepare(SKETCHES[7:8], recipe, seeds=seeds[7:8]).valid.sum(dim=1) / there[7:8]
    assert again.item() == gone[7].item()  # and belong to the sketch


def test_a_share_of_the_sketches_loses_a_hole_instead_of_patches():
    mended = replace(MENDED, holes=0.5)
    sketches, seeds = SKETCHES, [(1, i) for i in range(60)]
    batch = prepare(sketches, mended, seeds=seeds)
    masked = prepare(sketches, replace(mended, holes=0.0), seeds=seeds)
    holes = [
        hole_by_lot(sketch, lot) if lot.random() < 0.5 else None
        for sketch, lot in ((sketch, after_the_masks(*seed)) for sketch, seed in zip(sketches, seeds, strict=True))
    ]
    assert 18 < sum(hole is not None for hole in holes) < 42
    for number, hole in enumerate(holes):
        alone = None if hole is None else prepare([sketches[number]], mended, holes=[hole], learning=False)
        for name in ("lost", "pictures", "valid"):
            expected = getattr(masked, name)[number] if alone is None else getattr(alone, name)[0]
            assert torch.equal(getattr(batch, name)[number], expected), (name, number)
    assert not batch.lost[60:].any(), "those to be compared with are whole"


def after_the_masks(*seed):
    lot = generator(*seed)
    lot.random(RECIPE.nodes, dtype=np.float32)
    return lot


def test_holes_by_lot_lie_anywhere_and_have_all_sizes():
    sketch = Sketch(np.array([[10, 20], [110, 70]]), np.array([2]))
    left, top, width, height = np.array([hole_by_lot(sketch, generator(i)) for i in range(400)]).T
    for sides in (width, height):
        assert 15 <= sides.min() < 17
        assert 58 < sides.max() <= 60
    assert abs(np.corrcoef(width, height)[0, 1]) < 0.15
    for middle, low, high in ((left + width / 2, 10, 110), (top + height / 2, 20, 70)):
        counts, _ = np.histogram(middle, bins=5, range=(low, high))
        assert counts.sum() == 400
        assert counts.min() > 50


def test_each_sketch_may_have_holes_of_its_own():
    own = [[(0, 0, 9, 9)], [], [(0, 0, 9, 9), (50, 50, 9, 9)]]
    batch = prepare(SKETCHES[:3], MENDED, holes=own, learning=False)
    for number, holes in enumerate(own):
        alone = prepare([SKETCHES[number]], MENDED, holes=holes, learning=False)
        assert torch.equal(batch.lost[number], alone.lost[0])
    assert not batch.lost[1].any()
    for wrong in (own[:2], [[(0, 0, 9)], [], []], [(0, 0, 9)], [[(0, 0, 9, 9)], (1, 2, 3, 4), []], (1, 2, 3)):
        with pytest.raises(UserError, match="a list of such lists for each of 3 sketches"):
            prepare(SKETCHES[:3], MENDED, holes=wrong, learning=False)


@pytest.mark.parametrize("points", [[[5, 5]], [[5, 5], [5, 5], [5, 5]]])
def test_a_sketch_without_extent_is_prepared(points):
    batch = prepare([Sketch.from_strokes([points]), SKETCHES[0]], RECIPE)
    assert batch.valid[0].sum() == 1
    assert batch.rows.isfinite().all()


def test_random_links_belong_to_the_drawing():
    recipe = replace(RECIPE, random_links=True)
    together, alone = prepare(SKETCHES[:5], recipe), prepare(SKETCHES[3:4], recipe)
    assert torch.equal(together.links[3], alone.links[0])
    assert prepare(SKETCHES[:2], Recipe(canvas=RECIPE.canvas)).links is None


def test_what_is_dense_is_measured_by_the_moves_that_were_learnt():
    points, lengths = resample(normalised(SKETCHES[0]), SKETCHES[0].lengths, spacing=1.0)
    dense = Sketch(points, lengths)
    assert len(as_learnt(dense, RECIPE)) < len(dense) / 10
    finer = replace(RECIPE, scale=3.9)  # of a model that learnt from such moves: they are less than 4 times closer
    assert as_learnt(dense, finer) is dense
    assert prepare([dense], RECIPE, seeds=[(0,)]).rows.shape[1] == len(dense) + 2, "what is learnt from stays as it is"
