"""The paper's four ways of masking, and the stored random numbers of a benchmark."""

import numpy as np
import pytest

from gra2seq.data.doodles import doodle
from gra2seq.data.views import PatchView
from gra2seq.errors import UserError
from gra2seq.sketch.canvas import Canvas, draw, lost_on, whole_view
from gra2seq.sketch.centres import centre_points
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.lattice import lattice_points, visible_points
from gra2seq.sketch.masking import APPROACHES, MaskNoise, crop_by_turns, drop_points, mask, wipe_then_lattice
from gra2seq.sketch.patches import crop, on_canvas, window
from gra2seq.sketch.strokes import Sketch

CANVAS = Canvas()
# Two overlapping patches, at (0, 0) and (20, 0).
OVERLAP = Sketch.from_polylines([[[0, 0], [40, 0]], [[20, 0], [640, 640]]])
SECOND_MASKED = np.array([0.9, 0.0])


def centres_of(sketch):
    return on_canvas(Damage.none(sketch).normalised(centre_points(sketch)), CANVAS)


def test_wiping_before_cropping_leaks_nothing():
    """(a): the masked patch is blank on the canvas, so the overlap is hidden from the other patch too."""
    damage = mask(OVERLAP, SECOND_MASKED, 0.5)
    canvas = draw(damage, CANVAS)
    assert canvas[window(centres_of(OVERLAP)[1], CANVAS)].sum() == 0
    untouched = crop(draw(Damage.none(OVERLAP), CANVAS), centres_of(OVERLAP), CANVAS)[0]
    views, centres = PatchView().cut(damage, canvas)
    assert 0 < canvas.sum() < draw(Damage.none(OVERLAP), CANVAS).sum()
    assert len(damage.centres) == 1
    assert damage.centres.tolist() == [[0, 0]]
    first = canvas[window(centres_of(OVERLAP)[0], CANVAS)]
    assert first.sum() < untouched.sum()
    assert len(centres) == int(first.any()), "a patch without ink left is absent"
    assert len(views) == 1 + len(centres)


def test_cropping_by_turns_shows_what_a_later_mask_hides():
    """(b): SketchHealer's way leaks through overlaps."""
    shown = crop_by_turns(OVERLAP, CANVAS, SECOND_MASKED, 0.5)
    whole = draw(Damage.none(OVERLAP), CANVAS)
    first = window(centres_of(OVERLAP)[0], CANVAS)
    assert (shown[first] == whole[first]).all()
    assert shown[first].sum() > draw(mask(OVERLAP, SECOND_MASKED, 0.5), CANVAS)[first].sum()
    masked_first = crop_by_turns(OVERLAP, CANVAS, SECOND_MASKED[::-1], 0.5)
    assert not masked_first[first].any(), "what was wiped before is hidden"


def test_masks_nest():
    """What is masked at 10 % is masked at 30 %."""
    sketch = doodle("bus", 1)
    for row in MaskNoise.make(50, seed=1).numbers:
        few, many = ({tuple(box) for box in mask(sketch, row, p).lost.boxes.tolist()} for p in (0.1, 0.2))
        assert few <= many


def test_the_names_of_the_four_approaches():
    assert list(APPROACHES) == ["a", "b", "c", "d"]


def slow_lattice(sketch):
    view = whole_view(draw(Damage.none(sketch), CANVAS), CANVAS)
    return [[8 * c + 4, 8 * r + 4] for r in range(32) for c in range(32) if view[8 * r + 4, 8 * c + 4]]


def test_lattice_points_against_a_double_loop():
    few, many = sorted((doodle("cat", seed) for seed in range(20)), key=lambda s: len(slow_lattice(s)))[::19]
    assert visible_points(Damage.none(few), CANVAS).tolist() == slow_lattice(few)
    assert len(slow_lattice(many)) > 150
    points = lattice_points(whole_view(draw(Damage.none(many), CANVAS), CANVAS)).tolist()
    assert len(points) == 150
    assert points[0] == slow_lattice(many)[0]
    assert points[-1] == slow_lattice(many)[-1], "the bottom of a busy drawing is there too"


def test_dropping_lattice_points_keeps_the_pixels_and_wiping_patches_does_not():
    sketch = doodle("bus", 2)
    noise = np.random.default_rng(0).random(200)
    before = visible_points(Damage.none(sketch), CANVAS)
    dropped, wiped = drop_points(sketch, noise, 0.3), wipe_then_lattice(sketch, noise[:20], 0.3)
    assert len(dropped) == (noise[: len(before)] >= 0.3).sum()
    everything = {tuple(point) for point in slow_lattice(sketch)}
    assert {tuple(point) for point in wiped} < everything
    damage = mask(sketch, noise[:20], 0.3)
    gone = np.zeros((CANVAS.padded, CANVAS.padded), np.uint8)
    lost_on(damage, CANVAS).paint(gone, 1)
    view = whole_view(gone, CANVAS)
    assert not any(view[y, x] for x, y in wiped.tolist())


def test_dropping_points_needs_enough_numbers():
    with pytest.raises(UserError, match="150"):
        drop_points(doodle("bus", 2), MaskNoise.make(1, 0).numbers[0], 0.1)


def test_mask_noise_is_stored_and_read_again(tmp_path):
    noise = MaskNoise.make(7, seed=3)
    assert noise.numbers.shape == (7, 20)
    assert len(np.unique(noise.numbers)) == noise.numbers.size
    noise.save(tmp_path / "noise.safetensors")
    back = MaskNoise.load(tmp_path / "noise.safetensors")
    assert (back.numbers == noise.numbers).all()
    assert back.seed == 3
    assert (MaskNoise.make(7, seed=4).numbers != noise.numbers).any()
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(UserError, match="does not hold mask noise"):
        MaskNoise.load(tmp_path / "bad")
