"""The model in the user's hands: encode, draw, redraw, heal, morph and graph."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import gra2seq
from gra2seq.data.doodles import doodles
from gra2seq.drawing.sampler import Sampler, sample_noise
from gra2seq.errors import UserError
from gra2seq.sketch.centres import centre_points
from gra2seq.sketch.damage import Damage, lose, square_hole
from gra2seq.sketch.distance import distance_to_visible
from gra2seq.sketch.region import Region, inside
from gra2seq.sketch.simplify import resample
from gra2seq.sketch.strokes import BOX, Sketch


@pytest.mark.parametrize("candidates", [1, 4])
def test_drawings_do_not_depend_on_what_is_drawn_beside_them(tiny_run, monkeypatch, candidates):
    """In lanes that are filled again, over several parts, with several attempts."""
    model, sketches = gra2seq.load(tiny_run), list(doodles(11, seed=5))
    codes = model.encode(sketches)
    visible = [Damage.none(sketch) for sketch in sketches] if candidates > 1 else None
    how = {"seed": 3, "best_of": 3, "candidates": candidates, "max_points": 30}
    alone = [model.draw(codes[i : i + 1], first=i, visible=visible and visible[i : i + 1], **how)[0] for i in range(11)]
    monkeypatch.setattr("gra2seq.drawing.from_codes.STREAM", 15)
    monkeypatch.setattr("gra2seq.drawing.from_codes.Sampler", partial(Sampler, lanes=4))
    same = [
        np.array_equal(one.lengths, other.lengths) and np.allclose(one.points, other.points, atol=1e-2)
        for one, other in zip(model.draw(codes, visible=visible, **how), alone, strict=True)
    ]
    assert sum(same) >= (11 if candidates == 1 else 10), "rounding may change one choice of a guided drawing"


def test_good_enough_first_drawing_is_kept_and_others_are_the_best_of_all(tiny_run, monkeypatch):
    model, sketches = gra2seq.load(tiny_run), list(doodles(12, seed=5))
    visible = [Damage.none(sketch) for sketch in sketches]
    how = {"seed": 3, "candidates": 1, "max_points": 30, "visible": visible}
    codes = model.encode(sketches)
    first, best = model.draw(codes, best_of=1, **how), model.draw(codes, best_of=4, **how)
    distance = np.array([distance_to_visible(one, two, BOX) for one, two in zip(first, visible, strict=True)])
    good = float(np.median(distance))
    reports, asked = [], []

    def counted(seed, numbers, attempts, most, candidates):
        noise = sample_noise(seed, numbers, attempts, most, candidates)
        return lambda places: asked.append(attempts[places.numpy()]) or noise(places)

    monkeypatch.setattr("gra2seq.drawing.from_codes.sample_noise", counted)
    drawn = model.draw(codes, best_of=4, good_enough=good, progress=lambda *done: reports.append(done), **how)
    for one, kept, chosen, near in zip(drawn, first, best, distance < good, strict=True):
        np.testing.assert_allclose(one.points, (kept if near else chosen).points, atol=1e-3)
    assert sum(not np.array_equal(kept.points, chosen.points) for kept, chosen in zip(first, best, strict=True)) > 4
    assert reports == sorted(reports)
    assert reports.count((12, 12)) == 1
    poor = int((distance >= good).sum())
    assert np.bincount(np.concatenate(asked)).tolist() == [12, poor, poor, poor]
    with pytest.raises(UserError, match="good_enough=-1"):
        model.draw(codes, good_enough=-1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_points": 0}, "max_points=0"),
        ({"max_points": 10**9}, "max_points"),
        ({"seed": -1}, "seed=-1"),
        ({"temperature": -1}, "temperature=-1"),
        ({"candidates": 1000}, "candidates=1000"),
        ({"first": -1}, "first must not be negative"),
        ({"seed": "x"}, "seed"),
        ({"lengths": np.array([0])}, "lengths must be at least 1"),
        ({"tempratur": 1}, "did you mean 'temperature'"),
    ],
)
def test_impossible_ways_of_drawing_are_errors(tiny_run, wrong, message):
    model = gra2seq.load(tiny_run)
    with pytest.raises(UserError, match=message):
        model.draw(model.encode(list(doodles(1))), **wrong)


def test_one_sketch_gives_one_and_a_list_gives_a_list(tiny_run):
    model, (sketch, other) = gra2seq.load(tiny_run), doodles(2, seed=1)
    assert model.encode(sketch).shape == model.encode([sketch])[0].shape == (16,)
    for use in (model.redraw, model.heal, model.complete):
        assert isinstance(use(sketch), Sketch)
        assert [type(one) for one in use([sketch, other])] == [Sketch, Sketch]
    assert len(model.heal(sketch, samples=3)) == 3
    assert len(model.heal([sketch, other], samples=3)) == 6


def test_healing_does_not_depend_on_the_place_in_the_list(tiny_run):
    model, sketches = gra2seq.load(tiny_run), list(doodles(5, seed=3))
    forth = model.heal(sketches, mask_prob=0.3, seed=1, samples=2)
    back = model.heal(sketches[::-1], mask_prob=0.3, seed=1, samples=2)
    for number in range(5):
        for sample in range(2):
            one, other = forth[2 * number + sample], back[2 * (4 - number) + sample]
            assert np.array_equal(one.lengths, other.lengths)
            assert np.allclose(one.points, other.points, atol=1e-2)
    assert not np.array_equal(forth[0].points, forth[1].points), "two samples are two drawings"


def test_keep_lines_keeps_the_visible_points_exactly(tiny_run):
    model, sketch = gra2seq.load(tiny_run), next(iter(doodles(1, seed=3)))
    hole = square_hole(sketch, (0.5, 0.5), (0.4, 0.4))
    damage = lose(sketch, Region.of_boxes([hole]))
    anew, kept = (model.heal(sketch, holes=[hole], seed=2, keep_lines=keep) for keep in (False, True))
    visible = damage.visible
    assert np.array_equal(kept.points[: len(visible)], visible.points)
    assert np.array_equal(kept.lengths[: len(visible.lengths)], visible.lengths)
    new = kept.points[len(visible) :]
    box = np.array([[hole[0], hole[1], hole[0] + hole[2], hole[1] + hole[3]]])
    slack = 0.051 * damage.side  # ends may be joined to open ends nearby
    assert inside(new, box + slack * np.array([-1, -1, 1, 1])).all()
    assert not np.array_equal(anew.points, kept.points)


def test_heal_keeps_lines_and_finds_damage_unless_asked_otherwise(tiny_run):
    model, bus = gra2seq.load(tiny_run), next(iter(doodles(1, seed=3)))
    hole = square_hole(bus, (0.5, 0.5), (0.4, 0.4))
    visible = lose(bus, Region.of_boxes([hole])).visible
    kept, anew = model.heal(bus, holes=[hole]), model.heal(bus, holes=[hole], keep_lines=False)
    assert np.array_equal(kept.points[: len(visible)], visible.points)
    assert not np.array_equal(anew.points[: len(visible)], visible.points)
    by_drawing = model.heal(bus, holes=[hole], drawing=gra2seq.DrawingConfig())
    assert not np.array_equal(by_drawing.points[: len(visible)], visible.points), "a drawing's own choice counts"
    assert model.heal(bus, holes=()) is bus
    assert model.heal(bus) == model.heal(bus, holes="detect")


def test_each_sketch_may_have_holes_and_a_frame_of_its_own(tiny_run):
    model, sketches = gra2seq.load(tiny_run), list(doodles(3, seed=3))
    holes = [[square_hole(sketch, (0.5, 0.5), (0.4, 0.3))] for sketch in sketches]
    holes[1] = []
    frames = [None, sketches[1].box, sketches[2].box]
    for keep in (False, True):
        together = model.heal(sketches, holes=holes, frame=frames, keep_lines=keep, seed=2)
        for number in range(3):
            alone = model.heal(sketches[number], holes=holes[number], frame=frames[number], keep_lines=keep, seed=2)
            np.testing.assert_allclose(together[number].points, alone.points, atol=1e-2)
    assert model.heal([], holes=[(0, 0, 5, 5)]) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mask_prob": 1.5}, "between 0 and 1"),
        ({"mask_prob": 0.1, "holes": [(10, 20, 60, 60)]}, "leave out holes and frame"),
        ({"mask_prob": 0.1, "frame": (-99, -99, 999, 999)}, "leave out holes and frame"),
        ({"holes": (10, 20, 60, 60)}, "holes must be"),
        ({"holes": [[(10, 20, 60, 60)]] * 2}, "for each of 3"),
        ({"holes": [(10, 20, 60)]}, "holes must be"),
        ({"holes": [(10, 20, -60, 60)]}, "positive size"),
        ({"holes": [(-1e4, -1e4, 1e5, 1e5)]}, "nothing is visible"),
        ({"frame": (1, 2, 3)}, "frame must be"),
        ({"frame": (0, 0, 1, 1)}, "does not contain the drawing"),
        ({"samples": 0}, "samples=0"),
    ],
)
def test_impossible_damage_is_an_error(tiny_run, wrong, message):
    model, sketches = gra2seq.load(tiny_run), list(doodles(3))
    with pytest.raises(UserError, match=message):
        model.heal(sketches, **wrong)


@pytest.mark.parametrize("wrong", [[1], [("", 2)], [None]])
def test_values_that_are_no_sketches_are_errors(tiny_run, wrong):
    model = gra2seq.load(tiny_run)
    for use in (model.encode, model.heal):
        with pytest.raises(UserError, match="a sketch is wanted"):
            use(wrong)


def test_numbers_of_drawings_are_one_a_code(tiny_run):
    model = gra2seq.load(tiny_run)
    codes = model.encode(list(doodles(3)))
    for wrong in ({"first": np.arange(2)}, {"lengths": np.array([3, 4])}):
        with pytest.raises(UserError, match="one number for each of the 3 codes"):
            model.draw(codes, **wrong)
    one, other = model.draw(codes, first=np.int64(4)), model.draw(codes, first=[4, 5, 6])
    assert all(np.array_equal(a.points, b.points) for a, b in zip(one, other, strict=True))


def test_randomness_of_a_drawing_stays_when_it_is_moved_and_scaled(tiny_run):
    model, (sketch, other) = gra2seq.load(tiny_run), doodles(2, seed=3)
    elsewhere = sketch.with_points(sketch.points * 4 - 512)  # exact in binary numbers
    healed = model.heal([sketch, elsewhere], mask_prob=0.3, seed=1)
    assert np.array_equal(healed[0].lengths, healed[1].lengths)
    np.testing.assert_allclose(healed[0].points * 4 - 512, healed[1].points, rtol=0, atol=0.1)
    assert not np.array_equal(model.redraw(other, seed=1).points, model.redraw(other, seed=2).points)


def test_dense_drawing_is_seen_simplified(tiny_run):
    """Otherwise its patches, cut at every few points, would all lie at the beginning."""
    model, sketch = gra2seq.load(tiny_run), next(iter(doodles(1, seed=6)))
    points, lengths = resample(sketch.points, sketch.lengths, 0.5)
    dense = Sketch(points, lengths, sketch.category, sketch.key, sketch.parts)
    seen = model.preparation.simplified(Damage.none(dense))
    assert len(seen.visible) < len(dense) / 5
    assert np.array_equal(model.encode([dense]), model.encode([seen]))
    spread = np.ptp(model.graph(dense).centres, axis=0).max()
    first = centre_points(dense)[: model.config.preparation.nodes]
    assert spread > 2 * np.ptp(first, axis=0).max()


def test_drawing_of_a_dot_lies_at_the_dot(tiny_run):
    model, dot = gra2seq.load(tiny_run), Sketch(np.full((1, 2), 70.0), np.array([1]))
    assert np.abs(model.redraw(dot).points - 70).max() < 5


def test_graph_is_in_the_units_of_the_drawing():
    model, sketch = gra2seq.load(), next(iter(doodles(1, seed=2)))
    graph = model.graph(sketch)
    count = len(graph)
    left, top, width, height = sketch.box
    assert 1 < count <= 20
    assert graph.boxes.shape == (count, 4)
    assert graph.adjacency.shape == graph.cosines.shape == (count, count)
    assert np.allclose(np.diag(graph.adjacency), 1)
    assert np.allclose(np.diag(graph.cosines), 1, atol=1e-5)
    slack = max(width, height) / 600
    assert (graph.centres >= np.array([left, top]) - slack).all()
    assert (graph.centres <= np.array([left + width, top + height]) + slack).all()
    np.testing.assert_allclose(graph.boxes[:, 2:], 0.4 * max(width, height))
    assert graph.clusters is not None
    other = model.graph(sketch, "temporal")
    assert (np.abs(np.subtract(*np.nonzero(other.adjacency))) <= 2).all(), "each patch and its neighbours in time"
    with pytest.raises(UserError, match="there is no link rule"):
        model.graph(sketch, "telepathic")


def test_morph_begins_and_ends_with_the_two_drawings():
    model, (first, second) = gra2seq.load(), doodles(2, seed=4, categories=("apple", "car"))
    second = second.with_points(second.points * 2 + 300)
    drawn = model.morph(first, second, 5, temperature=0.0)
    assert len(drawn) == 5
    ends = model.draw(model.encode([first, second]), temperature=0.0)
    for one, whole, end in ((drawn[0], first, ends[0]), (drawn[-1], second, ends[1])):
        damage = Damage.none(whole)
        np.testing.assert_allclose(one.points, damage.denormalised(end.points / BOX), atol=1e-2)
    with pytest.raises(UserError, match="steps=1"):
        model.morph(first, second, 1)


def test_repair_can_be_switched_off():
    model = gra2seq.load()
    if model.network.repair is None:
        pytest.skip("the model in the package has no code repair")
    sketch = next(iter(doodles(1)))
    hole = square_hole(sketch, (0.5, 0.5), (0.4, 0.4))
    on, off = (model.encode(sketch, holes=[hole], repair=repair) for repair in (True, False))
    assert not np.allclose(on, off)
    plain = model.with_drawing(replace(model.drawing, repair=False))
    assert np.array_equal(plain.encode(sketch, holes=[hole]), off)
    assert np.array_equal(model.encode(sketch, repair=True), model.encode(sketch, repair=False)), "nothing is lost"


def test_detected_damage_is_healed_and_intact_sketches_come_back(tiny_run):
    model = gra2seq.load(tiny_run)
    down = [[(x, 0), (x + 20, 255)] for x in range(10, 250, 23)]
    across = [[(0, y), (255, y - 15)] for y in range(20, 250, 27)]
    damaged = lose(Sketch.from_polylines([*down, *across]), Region.of_boxes([(100, 60, 80, 90)])).visible
    intact = Sketch.from_polylines([[(0, 0), (100, 0), (100, 100), (0, 100), (0, 0)]])
    healed = model.heal([intact, damaged], holes="detect", infill=4, samples=2)
    assert [one is intact for one in healed] == [True, True, False, False]
    for one in healed[2:]:
        np.testing.assert_array_equal(one.points[: len(damaged)], damaged.points)
    assert model.heal(intact, holes="detect") is intact
    with pytest.raises(UserError, match="is not known"):
        model.heal(intact, holes="everywhere")


def test_one_code_gives_one_drawing_and_damage_is_taken_like_a_sketch(tiny_run):
    model, (sketch, other) = gra2seq.load(tiny_run), doodles(2, seed=1)
    codes, damage = model.encode([sketch, other]), Damage.none(sketch)
    assert model.draw(codes[0], seed=1) == model.draw(codes[:1], seed=1)[0]
    assert isinstance(model.draw(codes[:1]), list)
    for use in (model.redraw, model.heal, model.complete):
        assert use(damage, seed=1) == use(sketch, seed=1)
        assert len(use(sketch, samples=2)) == 2
        with pytest.raises(UserError, match="samples=0"):
            use(sketch, samples=0)
    graphs = model.graph([sketch, damage])
    assert [len(graph) for graph in graphs] == [len(model.graph(sketch))] * 2


def test_of_several_drawings_the_one_with_the_nearest_code_is_kept():
    model = gra2seq.load()
    sketches = list(doodles(6, seed=3))
    codes = model.encode(sketches)

    def distances(**options):
        return np.linalg.norm(model.encode(model.redraw(sketches, candidates=1, **options)) - codes, axis=1)

    first, best = distances(best_of=1), distances(best_of=4, nearest_by="code")
    assert (best <= first + 1e-3).all(), "the first is one of the four"
    assert best.mean() < first.mean()
    with pytest.raises(gra2seq.UserError, match="nearest_by"):
        model.redraw(sketches[0], nearest_by="eye")
