"""Nothing hidden reaches a model: a drawing with a lost region is treated exactly like its visible strokes alone."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodles
from gra2seq.data.training_damage import band
from gra2seq.errors import UserError
from gra2seq.folder import untrained
from gra2seq.models.registry import MODELS, preparation_of
from gra2seq.sketch.centres import centre_points
from gra2seq.sketch.damage import Damage, damages_of, lose, missing_end
from gra2seq.sketch.masking import mask
from gra2seq.sketch.region import Region, pieces
from gra2seq.sketch.simplify import resample
from gra2seq.sketch.strokes import Sketch
from options_by_name import tiny

ZERO_AT_FIRST = ("project.weight", "project.bias", "position.weight")
VARIANTS = {"gra2seq-plus": {"code_repair": True, "given_input": True, "relative_edges": True}}
PATCHES = [name for name in MODELS if "patches" in preparation_of(tiny(name), 30.0).views]
GUIDED = {"candidates": 3, "best_of": 2, "good_enough": 0.01, "temperature": 0.7}
ANEW, MERGED, INFILL = {"keep_lines": False}, {**GUIDED, "infill": 0}, {"infill": 4, "repair": False}


def model_of(name):
    """A small fresh model with no part silent."""
    model = untrained(tiny(name, max_points=12, **VARIANTS.get(name, {})))
    torch.manual_seed(1)
    for parameter_name, parameter in model.network.named_parameters():
        if parameter_name.endswith(ZERO_AT_FIRST):
            torch.nn.init.normal_(parameter, std=0.1)
    return model


def some_sketches():
    """Doodles at other sizes and places; two of them as dense as a pen reports them."""
    found = []
    for number, sketch in enumerate(doodles(6, seed=12)):
        points, lengths = sketch.points, sketch.lengths
        if number < 2:
            points, lengths = resample(points, lengths, spacing=max(sketch.box[2:]) / 255)
            assert len(points) > 80
        size, place = [(1, 0), (0.01, 3), (40, -900), (1, 1000), (3.7, 0.1), (1, 0)][number]
        found.append(Sketch(points * size + place, lengths, sketch.category, f"{number}"))
    return found


SKETCHES = some_sketches()


def box_in(sketch, x, y, wide, high):
    left, top, width, height = sketch.box
    return left + x * width, top + y * height, wide * width, high * height


def band_in(sketch, path, radius):
    left, top, width, height = sketch.box
    return band(np.array(path) * (width, height) + (left, top), radius * max(width, height))


HOLES = [[box_in(sketch, 0.55, -0.1, 0.6, 0.7), box_in(sketch, 0.1, 0.8, 0.3, 0.3)] for sketch in SKETCHES]
BANDS = [band_in(sketch, [[0.0, 0.3], [0.5, 0.6], [1.1, 0.2]], 0.12) for sketch in SKETCHES]
FRAMES = [box_in(sketch, -0.1, -0.05, 1.3, 1.2) for sketch in SKETCHES]


def assert_same_drawings(ours, others):
    for one, other in zip(ours, others, strict=True):
        assert np.array_equal(one.lengths, other.lengths)
        assert np.array_equal(one.points, other.points)


def check(model, whole, visible, **damage):
    """Code and every way of drawing, bit for bit, in a batch of the same drawings."""
    assert any(len(one) != len(other) for one, other in zip(whole, visible, strict=True))
    codes = model.encode(whole, **damage)
    assert np.array_equal(codes, model.encode(visible, **damage))
    intact = [one.visible if isinstance(one, Damage) else one for one in whole]
    assert not np.array_equal(codes, model.encode(intact)), "the region matters"
    for how in (ANEW, GUIDED | ANEW, MERGED, INFILL):
        assert_same_drawings(model.heal(whole, seed=3, **damage, **how), model.heal(visible, seed=3, **damage, **how))


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_hole_equals_a_drawing_in_which_the_lines_are_missing(name, framed):
    """A list of holes for each sketch."""
    damage = {"holes": HOLES, **({"frame": FRAMES} if framed else {})}
    visible = [one.visible for one in damages_of(SKETCHES, **damage)]
    check(model_of(name), SKETCHES, visible, **damage)


@pytest.mark.parametrize("name", MODELS)
def test_one_list_of_holes_and_one_frame_serve_all_sketches(name):
    model = model_of(name)
    sketches = [sketch.with_points((sketch.points - sketch.box[:2]) / max(sketch.box[2:]) * 100) for sketch in SKETCHES]
    damage = {"holes": [(30.0, -5.0, 45.0, 60.0)], "frame": (-5.0, -5.0, 120.0, 130.0)}
    visible = [one.visible for one in damages_of(sketches, **damage)]
    check(model, sketches, visible, **damage)
    each = {"holes": [damage["holes"]] * 6, "frame": [damage["frame"]] * 6}
    assert np.array_equal(model.encode(sketches, **damage), model.encode(sketches, **each))


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_an_erased_band_equals_a_drawing_in_which_the_lines_are_missing(name, framed):
    model = model_of(name)
    frames = FRAMES if framed else [None] * 6
    ours = [lose(*three) for three in zip(SKETCHES, BANDS, frames, strict=True)]
    visible = [one.visible for one in ours]
    again = [lose(*three) for three in zip(visible, BANDS, frames, strict=True)]
    codes = model.encode(ours)
    assert np.array_equal(codes, model.encode(again))
    assert not np.array_equal(codes, model.encode(SKETCHES))
    for how in (ANEW, MERGED, INFILL):
        assert_same_drawings(model.heal(ours, seed=3, **how), model.heal(again, seed=3, **how))


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_missing_end_equals_a_drawing_that_was_never_finished(name, framed):
    model = model_of(name)
    frames = FRAMES if framed else [None] * 6
    ours = [missing_end(sketch, 0.4, frame) for sketch, frame in zip(SKETCHES, frames, strict=True)]
    visible, frame = [one.visible for one in ours], {"frame": FRAMES} if framed else {}
    codes = model.encode(ours)
    assert np.array_equal(codes, model.encode(visible, **frame))
    for how in (ANEW, GUIDED | ANEW):
        anew = model.heal(visible, holes=(), seed=3, **frame, **how)
        assert_same_drawings(model.heal(ours, holes=(), seed=3, **how), anew)
    assert_same_drawings(model.complete(ours, seed=3), model.complete(visible, seed=3, **frame))


@pytest.mark.parametrize("name", PATCHES)
def test_the_graph_shows_nothing_hidden(name):
    model = model_of(name)
    for sketch, holes in zip(SKETCHES, HOLES, strict=True):
        (damage,) = damages_of([sketch], [holes])
        one, other = model.graph(sketch, holes=holes), model.graph(damage.visible, holes=holes)
        for field in fields(one):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


def tensors(value, name=""):
    """All tensors below a value, by their names."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict | list | tuple):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return {key: tensor for part, one in parts for key, tensor in tensors(one, f"{name}.{part}").items()}
    return {}


PREPARATIONS = {name: preparation_of(tiny(name, **VARIANTS.get(name, {})), 30.0) for name in MODELS}
PREPARATIONS["random links"] = preparation_of(tiny(links="random"), 30.0)


def assert_same_views(ours, others):
    """Whatever any encoder is given."""
    for name, preparation in PREPARATIONS.items():
        one, other = (tensors(dict(prepare(damages, preparation).views)) for damages in (ours, others))
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert torch.equal(value, other[key]), (name, key)


def assert_same_damage(one, other):
    assert np.array_equal(one.visible.points, other.visible.points)
    assert np.array_equal(one.visible.lengths, other.visible.lengths)
    assert one.frame == other.frame
    assert (one.centres is None) == (other.centres is None)
    assert one.centres is None or np.array_equal(one.centres, other.centres)
    assert all(np.array_equal(a, b) for a, b in zip(one.lost.rings, other.lost.rings, strict=True))


SHARE = st.floats(-0.2, 1.0)


@st.composite
def regions(draw, sketch):
    """Boxes, an erased band or a polygon, somewhere on the drawing."""
    kind = draw(st.sampled_from(["boxes", "band", "polygon"]))
    if kind == "boxes":
        sides = st.floats(0.1, 0.7)
        boxes = draw(st.lists(st.tuples(SHARE, SHARE, sides, sides), min_size=1, max_size=3))
        return Region.of_boxes([box_in(sketch, *box) for box in boxes])
    points = draw(st.lists(st.tuples(SHARE, SHARE), min_size=3, max_size=6))
    if kind == "band":
        return band_in(sketch, points, draw(st.floats(0.03, 0.2)))
    left, top, width, height = sketch.box
    return Region.of_polygons([np.array(points) * (width, height) + (left, top)])


def scribble(sketch, region, random):
    """The drawing with further strokes that lie wholly in the region, somewhere between its own."""
    left, top, right, bottom = region.bounds
    strokes = list(sketch.strokes)
    for _ in range(20):
        start = random.uniform((left, top), (right, bottom))
        points = start + random.normal(0, 0.02 * max(sketch.box[2:]), (random.integers(1, 9), 2))
        if not _visible(points, region):
            strokes.insert(random.integers(0, len(strokes) + 1), points.astype(np.float32))
    return Sketch.from_polylines(strokes, category=sketch.category, key=sketch.key)


def _visible(points, region):
    """Whether any of the lines between the points is outside of the region or near to its border."""
    line = Sketch.from_polylines([points])
    near = region.distance(line.points.astype(float)).min() < 1e-3 * region.tolerance / 1e-6
    return near or bool(list(pieces(line, region)))


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_views_depend_only_on_visible_strokes_region_and_frame(data):
    """Of any region: the same without the hidden strokes, and with other hidden strokes."""
    sketch = SKETCHES[data.draw(st.integers(0, 5))]
    region = data.draw(regions(sketch))
    frame = FRAMES[SKETCHES.index(sketch)] if data.draw(st.booleans()) else None
    try:
        damage = lose(sketch, region, frame)
    except UserError:  # nothing is visible
        return
    seed = data.draw(st.integers(0, 100))
    scribbled = scribble(sketch, region, np.random.default_rng(seed))
    for other in (lose(damage.visible, region, frame), lose(scribbled, region, frame)):
        assert_same_damage(damage, other)
        assert_same_views([damage], [other])


def test_scribbles_in_the_region_are_hidden():
    """So that the test above shows something."""
    added = [
        len(scribble(sketch, band, np.random.default_rng(0)).lengths) - len(sketch.lengths)
        for sketch, band in zip(SKETCHES, BANDS, strict=True)
    ]
    assert min(added) > 0


def with_other_hidden_points(sketch, damage, random):
    """The drawing with points moved that lie in a mask, with both neighbours, and carry no centre; how many."""
    points, moved = sketch.points.copy(), 0
    centres = {tuple(point) for point in centre_points(sketch).tolist()}
    inner = np.ones(len(points), bool)
    inner[sketch.starts] = inner[sketch.starts + sketch.lengths - 1] = False
    left, top, width, height = sketch.box
    for number in np.flatnonzero(inner):
        if tuple(points[number].tolist()) in centres:
            continue
        for box in damage.lost.boxes:
            low, high = np.maximum(box[:2], (left, top)), np.minimum(box[2:], (left + width, top + height))
            three = sketch.points[number - 1 : number + 2].astype(float)
            room = (high - low) * 0.1
            if (three > low + 1e-3 * room).all() and (three < high - 1e-3 * room).all() and (room > 0).all():
                points[number] = random.uniform(low + room, high - room)
                moved += 1
                break
    return sketch.with_points(points), moved


@pytest.mark.parametrize("probability", [0.1, 0.3])
def test_changes_under_the_papers_masks_change_nothing(probability):
    """As long as visible strokes and surviving centres are as before: every view of every system."""
    random, changed = np.random.default_rng(0), 0
    for sketch in doodles(12, seed=21):
        noise = random.random(20)
        damage = mask(sketch, noise, probability)
        other, moved = with_other_hidden_points(sketch, damage, random)
        again = mask(other, noise, probability)
        assert other.box == sketch.box
        assert_same_damage(damage, again)
        assert_same_views([damage], [again])
        changed += moved
    assert changed > 20


@pytest.mark.parametrize("name", MODELS)
def test_drawings_do_not_depend_on_what_the_papers_masks_hide(name):
    model, random = model_of(name), np.random.default_rng(1)
    ours, others, changed = [], [], 0
    for sketch in doodles(5, seed=22):
        noise = random.random(20)
        ours.append(mask(sketch, noise, 0.3))
        other, moved = with_other_hidden_points(sketch, ours[-1], random)
        others.append(mask(other, noise, 0.3))
        changed += moved
    assert changed > 5
    assert np.array_equal(model.encode(ours), model.encode(others))
    assert_same_drawings(model.heal(ours, seed=3, **GUIDED | ANEW), model.heal(others, seed=3, **GUIDED | ANEW))


def test_nodes_under_masks_are_not_counted():
    """Numbers, order and spread count surviving nodes only: hidden ones leave no gap."""
    for name in PATCHES:
        noise = np.full(20, 0.9)
        noise[1] = 0
        damages = [mask(sketch, noise, 0.5) for sketch in doodles(6, seed=2)]
        valid = prepare(damages, PREPARATIONS[name]).views["patches"].valid
        assert (valid.sum(dim=1, keepdim=True) > torch.arange(valid.shape[1])).eq(valid).all()


def test_codes_and_drawings_do_not_depend_on_place_and_size():
    """The model sees the drawing in its frame: moving everything moves the healed drawing along."""
    model = model_of("gra2seq-plus")
    sketch, hole = SKETCHES[5], HOLES[5]
    moved = sketch.with_points(sketch.points * 2 + 64)
    there = [(2 * x + 64, 2 * y + 64, 2 * w, 2 * h) for x, y, w, h in hole]
    assert np.allclose(model.encode(sketch, holes=hole), model.encode(moved, holes=there), atol=1e-3)


@pytest.mark.parametrize("call", ["encode", "heal", "graph"])
def test_a_frame_that_does_not_contain_the_drawing_is_refused(call):
    model, sketch = model_of("sp-gra2seq"), SKETCHES[0]
    with pytest.raises(UserError, match=r"does not contain the drawing.*give a larger one"):
        getattr(model, call)(sketch, frame=box_in(sketch, 0.2, 0, 1, 1))


@pytest.mark.parametrize("call", ["encode", "heal", "graph"])
def test_a_hole_over_all_of_the_drawing_is_refused(call):
    model, sketch = model_of("sp-gra2seq"), SKETCHES[0]
    with pytest.raises(UserError, match="sketch '0' has no stroke outside of the lost region: nothing is visible"):
        getattr(model, call)(sketch, holes=[box_in(sketch, -1, -1, 3, 3)])


def test_masks_that_hide_everything_are_refused():
    line = Sketch.from_polylines([[[x, 0] for x in range(18)]])
    with pytest.raises(UserError, match=r"masks with probability 1.* hide all of the sketch: lower it"):
        model_of("sp-gra2seq").heal(line, mask_prob=1.0)


def test_redraw_takes_holes_and_frames_as_heal_does():
    model = model_of("gra2seq-plus")
    (damage,) = damages_of(SKETCHES[:1], HOLES[:1], FRAMES[:1])
    where = {"holes": HOLES[:1], "frame": FRAMES[:1], "seed": 3}
    drawn = model.redraw(SKETCHES[:1], **where)
    assert_same_drawings(drawn, model.redraw([damage.visible], **where))
    assert_same_drawings(drawn, model.heal(SKETCHES[:1], infill=0, **ANEW, **where))
    with pytest.raises(UserError, match="does not contain the drawing"):
        model.redraw(SKETCHES[0], frame=box_in(SKETCHES[0], 0.2, 0, 1, 1))


@pytest.mark.parametrize("name", MODELS)
def test_a_drawing_whose_patches_are_all_masked_is_drawn_from_what_ink_is_left(name):
    line = Sketch.from_polylines([[(0, 0), (100, 0), (100, 80)], [(20, 60), (40, 60)]])
    damage = mask(line, np.zeros(20), 0.5)
    assert len(damage.centres) == 0
    assert len(damage.visible) > 0
    model = model_of(name)
    assert np.isfinite(model.encode(damage)).all()
    assert np.isfinite(model.heal(damage, seed=1, **ANEW).points).all()
