"""The damage of training: shares of each kind, bounds, and sketches that would be hidden wholly."""

import numpy as np

from gra2seq.data.batches import generator
from gra2seq.data.doodles import doodles
from gra2seq.data.training_damage import DamageSpec, eraser
from gra2seq.sketch.centres import centre_points
from gra2seq.sketch.strokes import Sketch

COUNT = 120
SKETCHES = list(doodles(COUNT, seed=9))


def drawn(spec, seed=1):
    return [spec.draw(sketch, generator(seed, number)) for number, sketch in enumerate(SKETCHES)]


def masked_shares(spec):
    counts = [min(len(centre_points(sketch)), 20) for sketch in SKETCHES]
    return np.array([len(one.lost.boxes) / count for one, count in zip(drawn(spec), counts, strict=True)])


def test_the_masked_share_is_the_probability():
    assert 0.27 < masked_shares(DamageSpec((0.3, 0.3))).mean() < 0.33
    assert not masked_shares(DamageSpec((0.0, 0.0))).any()


def test_each_sketch_has_a_mask_rate_of_its_own():
    varied, fixed = masked_shares(DamageSpec((0.0, 0.6))), masked_shares(DamageSpec((0.3, 0.3)))
    assert 0.25 < varied.mean() < 0.35
    assert varied.std() > 1.2 * fixed.std()


def test_damage_belongs_to_the_seed():
    spec = DamageSpec((0.1, 0.3), 0.25, 0.25, 0.25)
    for one, again in zip(drawn(spec), drawn(spec), strict=True):
        assert (one.visible.points == again.visible.points).all()
        assert one.frame == again.frame
    assert any(len(a.visible) != len(b.visible) for a, b in zip(drawn(spec), drawn(spec, seed=2), strict=True))


def kind(damage, sketch):
    if damage.lost.polygons:
        return "eraser"
    if len(damage.visible) < len(sketch) and not damage.lost:
        return "end"
    if damage.lost and damage.centres is None:
        return "rectangle"
    return "mask" if damage.centres is not None else "intact"


def test_every_kind_has_its_share():
    damages = drawn(DamageSpec((0.3, 0.3), rectangle=0.3, eraser=0.2, end=0.4))
    kinds = [kind(damage, sketch) for damage, sketch in zip(damages, SKETCHES, strict=True)]
    for name, share in (("rectangle", 0.3), ("eraser", 0.2), ("end", 0.4), ("mask", 0.1)):
        assert abs(kinds.count(name) / COUNT - share) < 0.12, name
    true_frames = [d.frame == s.box for d, s, k in zip(damages, SKETCHES, kinds, strict=True) if k in ("eraser", "end")]
    assert 0.3 < np.mean(true_frames) < 0.9, "in about half of them the frame is known"


def test_rectangles_lie_anywhere_and_have_all_sizes():
    sketch = Sketch.from_polylines([[[10, 20], [60, 45], [110, 70], [10, 70], [110, 20]]])
    spec = DamageSpec((0, 0), rectangle=1.0)
    boxes = [spec.draw(sketch, generator(i)).lost.boxes for i in range(300)]
    left, top, right, bottom = np.concatenate(boxes).T
    for sides in (right - left, bottom - top):
        assert 15 <= sides.min() < 17
        assert 57 < sides.max() <= 60
    assert abs(np.corrcoef(right - left, bottom - top)[0, 1]) < 0.15
    for middle, low, high in (((left + right) / 2, 10, 110), ((top + bottom) / 2, 20, 70)):
        counts, _ = np.histogram(middle, bins=5, range=(low, high))
        assert counts.sum() == len(left)
        assert counts.min() > 35


def test_ends_are_missing_by_a_tenth_to_six_tenths():
    shares = [1 - len(one.visible) / len(s) for one, s in zip(drawn(DamageSpec(end=1.0)), SKETCHES, strict=True)]
    assert 0.05 < min(shares) < 0.2
    assert 0.5 < max(shares) < 0.65


def test_an_eraser_starts_on_the_drawing_and_takes_a_part_of_it():
    for number, sketch in enumerate(SKETCHES[:60]):
        region = eraser(sketch, generator(number))
        left, top, right, bottom = region.bounds
        x, y, width, height = sketch.box
        assert left < x + width
        assert right > x
        assert top < y + height
        assert bottom > y
        assert all(len(ring) >= 8 for ring in region.polygons)
    lengths = [len(one.visible) / len(s) for one, s in zip(drawn(DamageSpec(eraser=1.0)), SKETCHES, strict=True)]
    assert np.mean([one != 1 for one in lengths]) > 0.7


def test_sketches_that_would_be_hidden_wholly_stay_intact():
    dot = Sketch.from_polylines([[[5, 5]]])
    line = Sketch.from_polylines([[[x, 0] for x in range(18)]])
    for sketch in (dot, line):
        for spec in (DamageSpec((0.99999, 0.99999)), DamageSpec(rectangle=1.0), DamageSpec(eraser=1.0)):
            for seed in range(20):
                damage = spec.draw(sketch, generator(seed))
                assert len(damage.visible) > 0
    hidden = DamageSpec((0.99999, 0.99999)).draw(line, generator(0))
    assert hidden.visible is line
    assert not hidden.lost
