"""Preparation is a pure function of (seed, step, place); targets, prefixes and given rows as documented."""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
import torch

from gra2seq.data.batch_order import Schedule, Share, Steps
from gra2seq.data.batches import generator, prepare, prepare_training
from gra2seq.data.doodles import doodles
from gra2seq.data.training_damage import DamageSpec
from gra2seq.data.views import decoder_units, stroke_rows
from gra2seq.errors import UserError
from gra2seq.models.registry import preparation_of
from gra2seq.sketch.damage import Damage, lose
from gra2seq.sketch.region import Region
from gra2seq.sketch.simplify import resample
from gra2seq.sketch.strokes import DOWN, END, UP, Sketch, from_stroke5
from options_by_name import tiny
from stroke5 import to_stroke5

SKETCHES = list(doodles(60, seed=9))
PREPARATION = preparation_of(tiny(jitter=0.5), scale=30.0)
SEEDS = [(1, i) for i in range(60)]
INTACT = DamageSpec((0.0, 0.0))


def steps(share=Share(), batch=12, preparation=PREPARATION, seed=3):  # noqa: B008 (a frozen value)
    return Steps(SKETCHES, np.arange(60), preparation, Schedule(60, batch, seed), share)


def tensors(value, name=""):
    """All tensors of a batch, by their names."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {key: tensor for part, one in value.items() for key, tensor in tensors(one, f"{name}.{part}").items()}
    return {}


@pytest.mark.parametrize("name", ["sp-gra2seq", "gra2seq-plus", "sketch-healer-2", "song", "sketch-lattice"])
def test_a_step_is_always_the_same(name):
    config = tiny(name, rectangle=0.3, eraser=0.3, end=0.2, jitter=0.5, prefix_noise=3.0, own_prefixes=0.5)
    preparation = preparation_of(config, 30.0)
    one, again = (tensors(steps(preparation=preparation)[7]) for _ in range(2))
    assert one.keys() == again.keys()
    assert {".noise", ".targets.rows", ".targets.inputs", ".prefix_draws"} <= one.keys()
    for key, value in one.items():
        assert torch.equal(value, again[key]), key
    other = tensors(steps(preparation=preparation, seed=4)[7])
    assert not torch.equal(one[".noise"], other[".noise"])


def test_shares_of_processes_make_up_the_global_batch():
    whole = steps()[5]
    parts = [steps(Share(rank, 3))[5] for rank in range(3)]
    for name in ("valid", "centres", "order"):
        together = torch.cat([getattr(part.views["patches"], name) for part in parts])
        assert torch.equal(getattr(whole.views["patches"], name), together), name
    assert torch.equal(whole.noise, torch.cat([part.noise for part in parts]))
    assert whole.names == sum((part.names for part in parts), ())
    length = whole.targets.rows.shape[1]
    for name in ("rows", "inputs"):
        padded = [
            torch.nn.functional.pad(rows, (0, 0, 0, length - rows.shape[1]))
            for rows in (getattr(part.targets, name) for part in parts)
        ]
        assert torch.equal(getattr(whole.targets, name)[..., :2], torch.cat(padded)[..., :2])
    with pytest.raises(UserError, match="multiple"):
        steps(Share(0, 5))[0]


def test_random_numbers_of_a_sketch_do_not_depend_on_its_batch():
    """Not even on how long the longest sketch of the batch is."""
    short, long = sorted(SKETCHES, key=len)[:: len(SKETCHES) - 1]
    for name, key in (("sketch-healer-2", "gumbel"), ("sp-gra2seq", "prefix_draws")):
        preparation = preparation_of(tiny(name, own_prefixes=0.5), 30.0)
        together, alone = (prepare_training(some, preparation, SEEDS[: len(some)]) for some in ([short, long], [short]))
        ours, theirs = getattr(together, key)[0], getattr(alone, key)[0]
        assert len(ours) > len(theirs)
        assert torch.equal(ours[: len(theirs)], theirs), key
        assert torch.equal(together.noise[0], alone.noise[0])


def test_every_sketch_comes_once_an_epoch_in_random_batches():
    """Batches of similar length would tell each other their length through batch norm."""
    lengths = np.random.default_rng(0).integers(5, 200, 6400)
    schedule = Schedule(6400, 64, 0)
    batches = [schedule.batch_of(step) for step in range(schedule.steps_per_epoch)]
    assert sorted(np.concatenate(batches).tolist()) == list(range(6400))
    means = np.array([lengths[b].mean() for b in batches])
    expected = lengths.std() / np.sqrt(64)  # of the mean of 64 independent ones
    assert 0.75 * expected < means.std() < 1.25 * expected
    again = [schedule.batch_of(step + schedule.steps_per_epoch) for step in range(3)]
    assert not any((a == b).all() for a, b in zip(batches, again, strict=False))


def test_a_data_set_smaller_than_a_batch_is_repeated():
    schedule = Schedule(3, 8, 0)
    assert len(schedule.batch_of(0)) == 8
    assert set(schedule.batch_of(0).tolist()) == {0, 1, 2}


def test_rows_are_the_sketch_in_the_units_of_the_decoder():
    sketch = SKETCHES[0]
    points = decoder_units(Damage.none(sketch), sketch.points)
    rows = stroke_rows(points, sketch.lengths, scale=30.0, length=len(sketch) + 5)
    assert rows[0].tolist() == [0, 0, 1, 0, 0]
    twin = to_stroke5(sketch.with_points(points), len(sketch) + 5)
    assert np.allclose(rows[1:] * [30, 30, 1, 1, 1], twin, atol=1e-3)
    back = from_stroke5(rows[1:] * [30, 30, 1, 1, 1])
    assert np.allclose(back.points, points, atol=1e-3)
    assert (back.lengths == sketch.lengths).all()
    left, top, width, height = back.box
    assert max(width, height) == pytest.approx(255, abs=1e-3)
    assert left + width / 2 == pytest.approx(0, abs=1e-3)
    assert top + height / 2 == pytest.approx(0, abs=1e-3)


def test_targets_follow_their_inputs():
    """The input of each row is the row before it, the first one the start of a sketch; END ends every sketch."""
    targets = prepare_training(SKETCHES[:8], PREPARATION, SEEDS[:8]).targets
    assert targets.inputs[:, 0].tolist() == [[0, 0, 1, 0, 0]] * 8
    assert torch.equal(targets.inputs[:, 1:], targets.rows[:, :-1])
    assert not targets.given.any()
    for rows, sketch in zip(targets.rows, SKETCHES[:8], strict=True):
        assert (rows[len(sketch) :, END] == 1).all()
        assert not rows[: len(sketch), END].any()
        assert rows[:, UP].sum() == len(sketch.lengths)


def test_the_target_is_the_intact_drawing_in_the_frame_of_the_damage():
    """A decoder in use draws in the frame that is known or guessed."""
    preparation = preparation_of(tiny(end=1.0), 30.0)
    batch = prepare_training(SKETCHES, preparation, SEEDS)
    damages = [preparation.damage.draw(sketch, generator(*seed)) for sketch, seed in zip(SKETCHES, SEEDS, strict=True)]
    assert sum(damage.frame != sketch.box for damage, sketch in zip(damages, SKETCHES, strict=True)) > 10
    for rows, sketch, damage in zip(batch.targets.rows, SKETCHES, damages, strict=True):
        places = rows[: len(sketch), :2].cumsum(dim=0).numpy() * 30.0
        np.testing.assert_allclose(places, damage.normalised(sketch.points) * 255, atol=0.02)


def test_jitter_moves_points_by_at_most_half_a_pixel_and_only_in_training():
    still = replace(PREPARATION, jitter=0.0)
    plain = prepare_training(SKETCHES[:4], still, SEEDS[:4]).targets.rows
    moved = prepare_training(SKETCHES[:4], PREPARATION, SEEDS[:4]).targets.rows
    kept, measured = (
        prepare_training(SKETCHES[:4], how, SEEDS[:4], validation=True).targets.rows for how in (still, PREPARATION)
    )
    assert torch.equal(kept, measured)
    places = (moved - plain)[..., :2].cumsum(dim=1) * PREPARATION.scale
    assert 0.3 < places[:, 1:5].abs().max() <= 0.5 + 1e-3


def walk(targets):
    """The points that rows lead from and lead to, (B, T, 2) each, in the decoder's scaled units."""
    start = targets.inputs[..., :2].cumsum(dim=1)
    return start, start + targets.rows[..., :2]


@pytest.mark.parametrize("more", [{}, {"given": 1.0, "rectangle": 0.5, "end": 0.5, "given_input": True}])
def test_with_prefix_noise_each_row_still_leads_to_the_true_next_point(more):
    """The rows before wander off the true line, but not those that were given."""
    model = "gra2seq-plus" if more else "sp-gra2seq"
    noisy, plain = (preparation_of(tiny(model, **more, prefix_noise=noise), 30.0) for noise in (6.0, 0.0))
    ours, twin = (prepare_training(SKETCHES, how, SEEDS).targets for how in (noisy, plain))
    real = (twin.rows[..., END] == 0) & (ours.rows[..., END] == 0)
    assert torch.equal(ours.given, twin.given)
    assert torch.equal(ours.rows[..., DOWN:], twin.rows[..., DOWN:]), "the pen is not noisy"
    (start, stop), (true_start, true_stop) = walk(ours), walk(twin)
    assert torch.allclose(stop[real], true_stop[real], atol=1e-4), "positions add up to the true point"
    off = (start - true_start).norm(dim=-1) * 30.0
    assert (off[:, 0] == 0).all(), "every drawing starts at the origin"
    given = ours.given > 0
    if more:
        assert given.any()
        assert off[given & real].max() < 1e-3, "given rows stay as they are"
    own = real & ~given
    own[:, 0] = False
    assert off[own].mean() > 1.0
    assert off[own].max() < 6 * 6.0
    measured = [prepare_training(SKETCHES, how, SEEDS, validation=True).targets for how in (noisy, plain)]
    assert torch.equal(measured[0].inputs, measured[1].inputs), "in training only"


def test_prefix_noise_forgets_and_has_a_size_of_its_own_for_each_sketch():
    noisy, plain = (preparation_of(tiny(prefix_noise=noise), 1.0) for noise in (10.0, 0.0))
    long = [Sketch.from_polylines([np.cumsum(np.ones((600, 2)), axis=0)])] * 60
    ours, twin = (prepare_training(long, how, SEEDS).targets for how in (noisy, plain))
    off = (walk(ours)[0] - walk(twin)[0])[:, 1:600].numpy()  # (60, 599, 2)
    sizes = off.std(axis=(1, 2))
    assert sizes.min() < 2
    assert 8 < sizes.max() < 11.5
    normal = off / sizes[:, None, None]
    assert (normal[:, 1:] * normal[:, :-1]).mean() == pytest.approx(0.7, abs=0.03), "a point keeps 0.7 of the noise"


def given_rows(targets, number):
    """Whether each row of a sketch was given, as the decoder is told one row later."""
    count = int((targets.rows[number, :, END] == 0).sum())
    return targets.given[number, 1 : 1 + count].numpy() > 0, targets.given[number]


def test_visible_rows_are_given_and_lost_ones_are_not():
    """Lines are cut at the border; a row is given if the line to its point is visible."""
    config = tiny("gra2seq-plus", given_input=True, given=1.0, rectangle=0.5, eraser=0.5)
    preparation = preparation_of(config, 30.0)
    targets = prepare_training(SKETCHES, preparation, SEEDS).targets
    counted = 0
    for number, (sketch, seed) in enumerate(zip(SKETCHES, SEEDS, strict=True)):
        damage = preparation.damage.draw(sketch, generator(*seed))
        flags, all_flags = given_rows(targets, number)
        assert all_flags[0] == 0, "the start of a sketch is nobody's row"
        if not damage.lost:
            continue
        places = targets.rows[number, : len(flags), :2].cumsum(dim=0).double().numpy() * 30.0
        points = damage.denormalised(places / 255)
        starts = np.concatenate([[True], targets.rows[number, : len(flags) - 1, UP].numpy() > 0])
        before = np.where(starts[:, None], points, np.concatenate([points[:1], points[:-1]]))
        middles = (points + before) / 2
        clear = damage.lost.distance(middles) > 1e-3 * damage.side
        assert (flags == ~damage.lost.contains(middles))[clear].all()
        counted += int(flags.any() and not flags.all())
    assert counted > 20


def test_of_a_missing_end_the_first_rows_are_given():
    preparation = preparation_of(tiny("gra2seq-plus", given_input=True, given=1.0, end=1.0), 30.0)
    targets = prepare_training(SKETCHES, preparation, SEEDS).targets
    for number, (sketch, seed) in enumerate(zip(SKETCHES, SEEDS, strict=True)):
        damage = preparation.damage.draw(sketch, generator(*seed))
        flags, _ = given_rows(targets, number)
        assert flags.tolist() == [row < len(damage.visible) for row in range(len(sketch))]


def test_rows_are_given_in_a_share_of_the_damaged_sketches_and_never_of_intact_ones():
    half = preparation_of(tiny("gra2seq-plus", given_input=True, given=0.5, rectangle=1.0), 30.0)
    marked = prepare_training(SKETCHES, half, SEEDS).targets.given.any(dim=1).float().mean()
    assert 0.25 < marked < 0.75
    intact = replace(half, given=1.0, damage=INTACT)
    assert not prepare_training(SKETCHES, intact, SEEDS).targets.given.any()
    without_input = preparation_of(tiny("gra2seq-plus", given=1.0, rectangle=1.0), 30.0)
    assert without_input.given == 0, "a decoder without the input has no given rows"


def test_the_intact_drawing_comes_along_to_learn_code_repair():
    config = tiny("gra2seq-plus", code_repair=True, objective="repair-codes", start="package", rectangle=1.0)
    batch = prepare_training(SKETCHES[:8], preparation_of(config, 30.0), SEEDS[:8])
    assert batch.views["lost"].flatten(1).any(dim=1).all()
    assert not batch.whole.views["lost"].any()
    assert (batch.whole.views["picture"] >= 0).all()
    assert batch.whole.names == batch.names
    assert (batch.whole.views["patches"].valid.sum() >= batch.views["patches"].valid.sum()).item()


def test_in_use_there_is_neither_randomness_nor_a_target():
    damages = [Damage.none(sketch) for sketch in SKETCHES[:4]]
    batch = prepare(damages, preparation_of(tiny("sketch-healer-2", jitter=0.5), 30.0))
    assert batch.targets is batch.noise is batch.gumbel is batch.painted is batch.prefix_draws is batch.whole is None
    assert batch.names == tuple(sketch.key for sketch in SKETCHES[:4])
    assert len(batch) == 4
    one, again = (tensors(prepare(damages, PREPARATION)) for _ in range(2))
    assert all(torch.equal(value, again[name]) for name, value in one.items())


@pytest.mark.parametrize("points", [[[5, 5]], [[5, 5], [5, 5], [5, 5]]])
def test_a_sketch_without_extent_is_prepared(points):
    batch = prepare_training(
        [Sketch.from_polylines([points]), SKETCHES[0]], replace(PREPARATION, damage=INTACT), SEEDS[:2]
    )
    assert batch.views["patches"].valid[0].sum() == 1
    assert batch.targets.rows.isfinite().all()


def test_random_links_belong_to_the_drawing():
    preparation = preparation_of(tiny(links="random"), 30.0)
    damages = [Damage.none(sketch) for sketch in SKETCHES[:5]]
    together, alone = prepare(damages, preparation), prepare(damages[3:4], preparation)
    assert torch.equal(together.views["patches"].uniform[3], alone.views["patches"].uniform[0])
    assert prepare(damages, PREPARATION).views["patches"].uniform is None


def test_dense_drawings_are_simplified_by_the_moves_that_were_learnt():
    sketch = SKETCHES[0]
    points, lengths = resample(decoder_units(Damage.none(sketch), sketch.points), sketch.lengths, spacing=1.0)
    dense = Damage.none(Sketch(points, lengths))
    assert len(PREPARATION.simplified(dense).visible) < len(dense.visible) / 10
    assert PREPARATION.simplified(dense).frame == dense.frame
    finer = replace(PREPARATION, scale=3.9)  # of a model that learnt from such moves: they are less than 4 times closer
    assert finer.simplified(dense) is dense
    assert replace(PREPARATION, simplify=False).simplified(dense) is dense
    whole = prepare_training([dense.visible], replace(PREPARATION, damage=INTACT), [(0,)])
    assert whole.targets.rows.shape[1] == len(dense.visible) + 1, "sketches of training stay as they are"


def test_simplification_depends_only_on_what_is_visible():
    points, lengths = resample(SKETCHES[0].points, SKETCHES[0].lengths, spacing=max(SKETCHES[0].box[2:]) / 255)
    dense = Sketch(points, lengths)
    left, top, width, height = dense.box
    hole = Region.of_boxes([(left, top, width / 3, height)])
    whole = lose(dense, hole, dense.box)
    again = lose(whole.visible, hole, dense.box)
    one, other = (PREPARATION.simplified(damage).visible for damage in (whole, again))
    assert (one.points == other.points).all()
    assert len(one) < len(whole.visible) / 3


def test_labels_count_through_the_categories():
    preparation = replace(PREPARATION, categories=("bus", SKETCHES[0].category))
    labels = prepare_training(SKETCHES, preparation, SEEDS).labels.tolist()
    assert labels == [{"bus": 0, SKETCHES[0].category: 1}.get(sketch.category, -1) for sketch in SKETCHES]
