"""A model to give away, and the one in the package."""

import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import gra2seq
from gra2seq.data.batches import as_learnt, prepare
from gra2seq.data.datasets import BOX
from gra2seq.data.doodles import CATEGORIES, doodles
from gra2seq.errors import UserError
from gra2seq.folder import PACKED, SHIPPED, pack
from gra2seq.model import _noise, laid_over, mask_draws
from gra2seq.nn.decoder import draw_rows
from gra2seq.sketch.chamfer import chamfer, off_what_is_left
from gra2seq.sketch.masking import hole_at, inside
from gra2seq.sketch.simplify import resample
from gra2seq.sketch.strokes import Sketch

DRAWINGS = Path(__file__).parent.parent / "examples" / "drawings"


def test_a_packed_model_is_half_as_large_and_says_the_same(tiny_run, tmp_path):
    folder = pack(tiny_run, tmp_path / "packed", {"tries": 3})
    whole, packed = gra2seq.load(tiny_run), gra2seq.load(folder)
    assert packed.options.tries == 3
    assert (packed.recipe, packed.categories) == (whole.recipe, whole.categories)
    sketches = list(doodles(8))
    assert np.abs(packed.encode(sketches) - whole.encode(sketches)).max() < 2e-3
    sizes = [(path / "model.safetensors").stat().st_size for path in (folder, tiny_run)]
    assert sizes[0] < 0.6 * sizes[1]
    for name in ("config.json", "model.safetensors"):
        assert str(tiny_run.parent).encode() not in (folder / name).read_bytes(), "no path of the machine"
    assert pack(tiny_run, folder) == folder, "packed again in the same place"
    assert gra2seq.load(folder).options.tries == 1


def test_a_folder_with_other_files_is_not_packed_into(tiny_run, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="other files"):
        pack(tiny_run, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_was_trained_is_not_changed_by_packing(tiny_run, tmp_path):
    with pytest.raises(UserError, match="hidden belongs to the training"):
        pack(tiny_run, tmp_path / "packed", {"hidden": 7})
    with pytest.raises(UserError, match="tries=0 must be at least 1"):
        pack(tiny_run, tmp_path / "packed", {"tries": 0})
    assert not (tmp_path / "packed").exists()


def test_numbers_too_large_for_16_bits_are_said(tiny_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    model = gra2seq.load(run)
    model.network.decoder.out.weight.data[0, 0] = 1e6
    from gra2seq.training.checkpoint import save_weights

    save_weights(run / "model.safetensors", model.network, {})
    with pytest.raises(UserError, match="16 bits"):
        pack(run, tmp_path / "packed")
    assert not (tmp_path / "packed" / "model.safetensors").exists()


def test_the_shipped_model_is_small_whole_and_without_paths():
    assert sorted(path.name for path in SHIPPED.iterdir()) == sorted(PACKED)
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 20e6
    config = json.loads((SHIPPED / "config.json").read_text())
    assert len(config["categories"]) == 345
    assert config["options"]["data"] == ""
    weights = load_file(SHIPPED / "model.safetensors")
    numbers = [tensor for tensor in weights.values() if tensor.dtype.kind == "f"]
    assert all(tensor.dtype == (np.float16 if tensor.ndim > 1 else np.float32) for tensor in numbers)
    assert "CC BY 4.0" in (SHIPPED / "README.md").read_text()


def test_the_shipped_model_redraws_what_it_sees():
    """Doodles and drawings it has not learnt from: each redrawn one is nearer to its own original than to others."""
    model = gra2seq.load()
    own = [sketch for path in sorted(DRAWINGS.glob("*.svg")) for _, sketch in gra2seq.read(path)]
    assert len(own) == 3
    sketches = own + list(doodles(len(CATEGORIES)))
    redrawn = model.redraw(sketches, tries=2)
    near = chamfer(redrawn, sketches)
    far = np.mean([chamfer(redrawn, sketches[k:] + sketches[:k]) for k in range(1, len(sketches))], axis=0)
    assert np.mean(near < far) >= 0.8
    assert near.mean() < 0.75 * far.mean()


@pytest.mark.parametrize("scale", [0, -3.0, float("nan"), float("inf"), "wide", None])
def test_a_model_without_a_unit_is_not_loaded(tiny_run, tmp_path, scale):
    folder = tmp_path / "odd"
    shutil.copytree(tiny_run, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "scale": scale}))
    with pytest.raises(UserError, match=r"config\.json .*(scale|finite).* restore it from a copy"):
        gra2seq.load(folder)


def test_its_name_is_as_good_as_none():
    assert gra2seq.load("shipped").categories == gra2seq.load().categories


@pytest.mark.parametrize("steer", [1, 4])
def test_drawings_are_those_of_a_sketch_alone_whatever_is_drawn_beside_it(tiny_run, monkeypatch, steer):
    """In lanes that are filled again, over several parts, with several tries."""
    model = gra2seq.load(tiny_run)
    codes = model.encode(list(doodles(11, seed=5)))
    left = model.what_is_left(list(doodles(11, seed=5))) if steer > 1 else None  # or they are chosen by their codes
    how = {"seed": 3, "tries": 3, "steer": steer, "max_points": 30}
    alone = [model.draw(codes[i : i + 1], first=i, left=left and left[i : i + 1], **how)[0] for i in range(11)]
    monkeypatch.setattr("gra2seq.model.STREAM", 15)
    monkeypatch.setattr("gra2seq.model.draw_rows", partial(draw_rows, lanes=4))
    same = [
        np.array_equal(one.lengths, other.lengths) and np.allclose(one.points, other.points, atol=1e-2)
        for one, other in zip(model.draw(codes, left=left, **how), alone, strict=True)
    ]
    assert sum(same) >= (11 if steer == 1 else 10), "a rounding may tip a choice of a steered pen"


def test_a_first_drawing_that_lies_well_is_kept_and_others_are_the_best_of_all(tiny_run, monkeypatch):
    model, sketches = gra2seq.load(tiny_run), list(doodles(12, seed=5))
    how = {"seed": 3, "steer": 1, "max_points": 30, "left": model.what_is_left(sketches)}
    codes = model.encode(sketches)
    first, best = model.draw(codes, tries=1, **how), model.draw(codes, tries=4, **how)
    off = off_what_is_left(first, how["left"], BOX)
    well = float(np.median(off))
    told, asked = [], []
    monkeypatch.setattr("gra2seq.model._noise", lambda *about: asked.append(about[2][about[-1]]) or _noise(*about))
    drawn = model.draw(codes, tries=4, well=well, progress=lambda done, of: told.append((done, of)), **how)
    for one, kept, chosen, near in zip(drawn, first, best, off < well, strict=True):
        np.testing.assert_allclose(one.points, (kept if near else chosen).points, atol=1e-3)
    assert sum(not np.array_equal(kept.points, chosen.points) for kept, chosen in zip(first, best, strict=True)) > 4
    assert told == sorted(told)
    assert told.count((12, 12)) == 1
    attempts = np.concatenate(asked)
    poor = int((off >= well).sum())
    assert np.bincount(attempts).tolist() == [12, poor, poor, poor], "what lies well is not tried again"
    for one, chosen in zip(model.draw(codes, tries=4, well=1e-9, **how), best, strict=True):
        np.testing.assert_allclose(one.points, chosen.points, atol=1e-3)
    with pytest.raises(UserError, match="well=-1"):
        model.draw(codes, well=-1)


def test_a_drawing_has_room_for_a_point(tiny_run):
    model = gra2seq.load(tiny_run)
    with pytest.raises(UserError, match="max_points=0"):
        model.draw(model.encode(list(doodles(1))), max_points=0)


def test_what_a_sketch_becomes_does_not_depend_on_its_place_in_the_list(tiny_run):
    model, sketches = gra2seq.load(tiny_run), list(doodles(5, seed=3))
    forth = model.heal(sketches, mask_prob=0.3, seed=1, samples=2)
    back = model.heal(sketches[::-1], mask_prob=0.3, seed=1, samples=2)
    for number in range(5):
        for sample in range(2):
            one, other = forth[2 * number + sample], back[2 * (4 - number) + sample]
            assert np.array_equal(one.lengths, other.lengths)
            assert np.allclose(one.points, other.points, atol=1e-2)
    assert not np.array_equal(forth[0].points, forth[1].points), "two samples are two drawings"


def test_what_is_kept_is_the_sketchs_own_and_only_what_is_missing_is_drawn(tiny_run):
    model, sketches = gra2seq.load(tiny_run), list(doodles(3, seed=3))
    x, y, width, height = sketches[0].box
    hole = (x + 0.3 * width, y + 0.3 * height, 0.4 * width, 0.4 * height)
    (anew,), (kept,) = (model.heal(sketches[:1], holes=[hole], seed=2, keep=keep) for keep in (False, True))
    own = {tuple(point) for point in sketches[0].points.tolist()}
    drawn = {tuple(point) for point in anew.points.tolist()}
    lost = np.array([[hole[0], hole[1], hole[0] + hole[2], hole[1] + hole[3]]])
    slack = max(width, height) / model.options.side  # a hole is rubbed out in whole pixels
    clear = ~inside(kept.points, lost + slack * np.array([-1, -1, 1, 1]))
    there = inside(kept.points, lost + slack * np.array([1, 1, -1, -1]))
    assert there.any()
    assert {tuple(point) for point in kept.points[clear].tolist()} <= own
    assert {tuple(point) for point in kept.points[there].tolist()} <= drawn
    assert own - {tuple(point) for point in kept.points.tolist()}, "what lies in the hole is gone"
    several = model.heal(sketches, mask_prob=0.3, samples=2, keep=True)
    for number, sketch in enumerate(sketches):
        for one, other in zip(
            several[2 * number :], model.heal([sketch], mask_prob=0.3, samples=2, keep=True), strict=False
        ):
            np.testing.assert_allclose(one.points, other.points, atol=1e-2)
    with pytest.raises(UserError, match="say what is lost"):
        model.heal(sketches, keep=True)
    assert len(model.heal(sketches[:1], holes=np.array([hole]))) == 1


def test_each_sketch_may_have_holes_of_its_own(tiny_run):
    model, sketches = gra2seq.load(tiny_run), list(doodles(3, seed=3))
    own = [[hole_at(sketch, (0.5, 0.5), (0.4, 0.3))] for sketch in sketches]
    own[1] = []
    for keep in (False, True):
        together = model.heal(sketches, holes=own, keep=keep, seed=2)
        for number in (0, 2):
            (alone,) = model.heal(sketches[number : number + 1], holes=own[number], keep=keep, seed=2)
            np.testing.assert_allclose(together[number].points, alone.points, atol=1e-2)
        whole = sketches[1] if keep else model.heal(sketches[1:2], seed=2)[0]
        np.testing.assert_allclose(together[1].points, whole.points, atol=1e-2)
    with pytest.raises(UserError, match="say what is lost"):
        model.heal(sketches, holes=[[], [], []], keep=True)
    assert model.heal([], holes=[(0, 0, 5, 5)], keep=True) == []


def test_of_a_dense_drawing_too_only_what_is_in_the_hole_is_lost():
    """It is seen simplified, in a box a little smaller than its own: the hole is where it was asked for."""
    model = gra2seq.load()
    side = np.linspace(0, 1, 400)
    edges = [np.c_[200 * side, -1.9 * np.sin(np.pi * side)], np.c_[200 + 0 * side, 253 * side]]
    edges += [np.c_[200 - 200 * side, 253 + 0 * side], np.c_[0 * side, 253 - 253 * side]]
    sketch = Sketch(np.concatenate(edges).astype(np.float32), np.array([1600]))
    assert as_learnt(sketch, model.recipe).box != sketch.box
    (kept,) = model.heal([sketch], holes=[(-10, 100, 100, 50)], keep=True, tries=1)
    points = {tuple(point) for point in kept.points.tolist()}
    pixel = 1.1 * 253 / 640  # a hole is rubbed out in whole pixels
    for point in sketch.points.tolist():
        clear = abs(point[1] - 100) > pixel and abs(point[1] - 150) > pixel
        lost = point[0] < 90 and 100 < point[1] < 150
        assert not clear or (tuple(point) in points) != lost, point


def test_a_dot_can_be_lost(tiny_run):
    model, dot = gra2seq.load(tiny_run), Sketch(np.full((1, 2), 5, np.float32), np.array([1]))
    (kept,) = model.heal([dot], holes=[(0, 0, 10, 10)], keep=True, seed=1)
    assert len(kept) > 0  # nothing is left, so what was drawn is
    (beside,) = model.heal([dot], holes=[(20, 20, 10, 10)], keep=True)
    assert beside.points[0].tolist() == [5, 5]


def test_what_is_no_sketch_is_said(tiny_run, tmp_path):
    model, sketch = gra2seq.load(tiny_run), next(iter(doodles(1)))
    for wrong, said in (([("", sketch)], "take the second"), ([1], "not int"), (sketch, r"give \[sketch\]")):
        for use in (model.encode, model.heal):
            with pytest.raises(UserError, match=said):
                use(wrong)
    with pytest.raises(UserError, match="seed=-1"):
        model.heal([sketch], seed=-1)
    with pytest.raises(UserError, match="seed=-1"):
        model.draw(model.encode([sketch]), seed=-1)
    with pytest.raises(UserError, match="not a pair"):
        model.graph(("", sketch))
    np.testing.assert_array_equal(model.encode(one for one in [sketch]), model.encode([sketch]))
    assert len(model.heal(one for one in [sketch, sketch])) == 2
    gra2seq.write(tmp_path / "alone.svg", model.heal([sketch]))
    assert len(list(gra2seq.read(tmp_path / "alone.svg"))) == 1


def test_a_folder_of_that_name_is_not_taken_for_the_shipped_model(tiny_run, tmp_path, monkeypatch):
    shutil.copytree(tiny_run, tmp_path / "shipped")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="there is a folder of that name"):
        gra2seq.load("shipped")
    assert gra2seq.load(tmp_path / "shipped").options.preset == "tiny"
    assert gra2seq.load().options.preset == "small"


def test_damage_that_cannot_be_done_is_said(tiny_run):
    model, sketches = gra2seq.load(tiny_run), list(doodles(3))
    nodes = model.recipe.nodes
    draws = mask_draws(sketches, 0, nodes)
    for wrong, said in (
        ({"mask_prob": 1.5}, "between 0 and 1"),
        ({"mask_prob": float("nan"), "draws": draws}, "between 0 and 1"),
        ({"draws": draws[:2]}, rf"shape \(3, {nodes}\)"),
        ({"draws": draws[:, :-1]}, rf"shape \(3, {nodes}\)"),
        ({"draws": draws[0]}, rf"shape \(3, {nodes}\)"),
        ({"holes": (10, 20, 60, 60)}, "list of"),
        ({"holes": [[(10, 20, 60, 60)]] * 2}, "list of such lists for each of"),
        ({"holes": [(10, 20, 60)]}, "list of"),
    ):
        for use in (model.encode, model.heal):
            with pytest.raises(UserError, match=said):
                use(sketches, **wrong)
    with pytest.raises(UserError, match="masks nothing without draws"):
        model.encode(sketches, mask_prob=0.3)
    assert len(model.heal(sketches, mask_prob=0.3)) == 3, "it makes its own"


def test_numbers_of_drawings_are_one_a_code(tiny_run):
    model = gra2seq.load(tiny_run)
    codes = model.encode(list(doodles(3)))
    for wrong in ({"first": np.arange(2)}, {"lengths": np.array([3, 4])}):
        with pytest.raises(UserError, match="one number for each of the 3 codes"):
            model.draw(codes, **wrong)
    one, other = model.draw(codes, first=np.int64(4)), model.draw(codes, first=[4, 5, 6])
    assert all(np.array_equal(a.points, b.points) for a, b in zip(one, other, strict=True))


def test_what_is_random_about_a_drawing_stays_when_it_is_moved_and_scaled(tiny_run):
    model, (sketch, other) = gra2seq.load(tiny_run), doodles(2, seed=3)
    elsewhere = sketch.with_points(sketch.points * 4 - 512)  # exact in binary numbers
    draws = mask_draws([sketch, elsewhere, other], 1, 20)
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], mask_draws([sketch], 2, 20)[0])
    healed = model.heal([sketch, elsewhere], mask_prob=0.3, seed=1)
    assert np.array_equal(healed[0].lengths, healed[1].lengths)
    np.testing.assert_allclose(healed[0].points * 4 - 512, healed[1].points, rtol=0, atol=0.1)


def test_a_dense_drawing_is_seen_as_the_simplified_one(tiny_run):
    """Otherwise its patches, cut at every few points, would all lie at the beginning."""
    model, sketch = gra2seq.load(tiny_run), next(iter(doodles(1, seed=6)))
    points, lengths = resample(sketch.points, sketch.lengths, 0.5)
    dense = Sketch(points, lengths, sketch.category, sketch.key, sketch.parts)
    thin = as_learnt(dense, model.recipe)
    assert len(thin) < len(dense) / 5
    draws = mask_draws([dense], 0, model.recipe.nodes)
    for damage in ({}, {"draws": draws, "mask_prob": 0.4}, {"holes": [tuple(h / 2 for h in sketch.box)]}):
        assert np.array_equal(model.encode([dense], **damage), model.encode([thin], **damage))
    graph = model.graph(dense).nodes
    assert np.array_equal(graph.centres, model.graph(thin).nodes.centres)
    first_points = prepare([dense], model.recipe, learning=False).centres[0]
    assert np.ptp(graph.centres[0].numpy(), axis=0).max() > 2 * np.ptp(first_points.numpy(), axis=0).max()
    assert model.heal([dense])[0].parts == ()


def test_whatever_is_drawn_for_a_dot_lies_in_its_place():
    dot = Sketch(np.full((1, 2), 70.0), np.array([1]))
    assert (laid_over(next(iter(doodles(1))), dot).points == 70).all()
