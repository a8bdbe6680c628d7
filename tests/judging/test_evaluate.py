"""The protocol on a tiny model: against a slow twin, resumed, and with every wrong pairing refused."""

import csv
import json

import numpy as np
import pytest
import torch

import gra2seq
from gra2seq.cli import several
from gra2seq.cli.common import model_or_fresh
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.evaluation import evaluate as judging
from gra2seq.evaluation.protocol import evaluate, stored_draws, write_tables
from gra2seq.evaluation.galleries import write_galleries
from gra2seq.evaluation.damage_kinds import Harm
from gra2seq.evaluation.judge import Judge
from gra2seq.model import laid_over, untrained
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.options import options
from gra2seq.sketch.chamfer import chamfer
from gra2seq.sketch.keeping import keep_lines
from gra2seq.sketch.strokes import Sketch


def test_rows_against_a_slow_twin(data, model, judge, monkeypatch):
    """The model draws the originals, the later ones the more shaken, and some not at all: figures of every size."""
    sketches = [data.store[int(i)] for i in data.test]
    draws = stored_draws(data, "test", len(sketches), model.recipe.nodes).numbers

    def shaken(number):
        if number % 9 == 8:
            return Sketch(np.zeros((1, 2), np.float32), np.array([1]))
        random = np.random.default_rng(number)
        sketch = sketches[number]
        return sketch.with_points(sketch.points + random.normal(0, number, sketch.points.shape).astype(np.float32))

    drawn = [shaken(number) for number in range(len(sketches))]
    asked = []

    def draw(_, codes, *, seed, first, **__):
        asked.append((codes, seed))
        return drawn[first : first + len(codes)]

    monkeypatch.setattr(judging, "BATCH", 7)
    monkeypatch.setattr(judging, "STREAM", 16)
    monkeypatch.setattr(type(model), "draw", draw)
    (row,) = evaluate(model, data, name="m", masks=[0.3], seeds=[4], judge=judge)
    codes = np.concatenate([part for part, _ in asked])
    assert np.allclose(codes, model.encode(sketches, draws=draws, mask_prob=0.3), atol=1e-5)
    assert {seed for _, seed in asked} == {4}
    gallery, queries = model.encode(sketches), model.encode(drawn)
    hits = {1: 0, 10: 0, 50: 0}
    for i, query in enumerate(queries.astype(float)):
        distance = np.sqrt(((gallery.astype(float) - query) ** 2).sum(axis=1))
        rank = sum(d <= distance[i] for j, d in enumerate(distance) if j != i)
        for k in hits:
            hits[k] += rank < k and max(drawn[i].box[2:]) > 0
    count = len(sketches)
    assert row["empty"] == count // 9
    assert 0 < hits[1] < hits[10] < hits[50], "each k says something of its own"
    assert row["ret"] == {str(k): hit / count for k, hit in hits.items()}
    names = [judge.categories[n] for n in judge.classify(drawn)]
    rec = np.mean([n == s.category and max(d.box[2:]) > 0 for n, s, d in zip(names, sketches, drawn, strict=True)])
    assert row["rec"] == pytest.approx(rec)
    ceiling = np.mean(
        [judge.categories[n] == s.category for n, s in zip(judge.classify(sketches), sketches, strict=True)]
    )
    assert row["ceiling"] == pytest.approx(ceiling)
    assert row["chamfer"] == pytest.approx(chamfer(drawn, sketches).mean())
    assert (row["sketches"], row["gallery"], row["mask"], row["seed"]) == (count, count, 0.3, 4)
    assert row["categories"] == list(data.categories)


def test_lines_that_are_left_can_be_judged_as_they_are(data):
    """With `keep` only what was lost is drawn, as the slow twin puts it together; unmasked all is drawn anew."""
    models = [untrained(options({"preset": "tiny", "max_points": 25, "keep": keep})) for keep in (False, True)]
    anew, kept = ({row["mask"]: row for row in evaluate(m, data, name="m", masks=[0.0, 0.3])} for m in models)
    assert [kept[mask]["keep"] for mask in (0.0, 0.3)] == [False, True]
    assert anew[0.0]["chamfer"] == kept[0.0]["chamfer"]
    sketches = [data.store[int(i)] for i in data.test]
    draws = stored_draws(data, "test", len(sketches), models[1].recipe.nodes).numbers
    drawn = models[1].draw(models[1].encode(sketches, draws=draws, mask_prob=0.3))
    left = models[1].what_is_left(sketches, draws=draws, mask_prob=0.3)
    healed = [
        keep_lines(whole, laid_over(one, whole), what.lost * max(whole.box[2:]) + 2 * middle(whole))
        for whole, one, what in zip(sketches, drawn, left, strict=True)
    ]
    assert kept[0.3]["chamfer"] == pytest.approx(chamfer(healed, sketches).mean())
    assert kept[0.3]["chamfer"] < 0.8 * anew[0.3]["chamfer"]
    assert kept[0.3]["ret"]["1"] > anew[0.3]["ret"]["1"]


def test_a_hole_anywhere_instead_of_masks(data, tmp_path):
    """The square of each sketch lies where its stored numbers say, whatever is there."""
    model = untrained(options({"preset": "tiny", "max_points": 25, "keep": True}))
    row, masked = evaluate(model, data, name="m", masks=[0.3], holes=[0.5], folder=tmp_path)[::-1]
    assert [(one["mask"], one["hole"]) for one in (row, masked)] == [(0.0, 0.5), (0.3, 0.0)]
    assert row["keep"]
    sketches = [data.store[int(i)] for i in data.test]
    draws = stored_draws(data, "test", len(sketches), model.recipe.nodes).numbers
    drawn = model.draw(
        np.concatenate([model.encode([s], holes=square(s, d)) for s, d in zip(sketches, draws, strict=True)])
    )
    healed = [
        model.lay(one, whole, model.what_is_left([whole], holes=square(whole, lot))[0])
        for one, whole, lot in zip(drawn, sketches, draws, strict=True)
    ]
    assert row["chamfer"] == pytest.approx(chamfer(healed, sketches).mean(), rel=1e-4)
    assert evaluate(model, data, name="m", masks=[], holes=[0.5], folder=tmp_path) == [row], "kept beside the masks"
    text = judging.FORMATS[".md"]([row, masked])
    assert "| hole 0.5 | m |" in text
    assert "| 30 % | m |" in text
    paths = write_galleries(model, data, tmp_path, "g", masks=[], holes=[0.5], most=3)
    assert [path.name for path in paths] == ["g-hole-0.5.png", "g-hole-0.5.svg"]
    for wrong in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(UserError, match="share of the longer side"):
            evaluate(model, data, name="m", masks=[], holes=[wrong])


@pytest.mark.parametrize("nodes", [1, 2, 20, 30])
def test_a_hole_lies_in_the_same_place_for_every_model(data, nodes):
    sketches = [data.store[int(i)] for i in data.test[:3]]
    draws, usual = (stored_draws(data, "test", len(data.test), n).numbers[:3] for n in (nodes, 8))
    assert Harm(hole=0.4).of(sketches, draws) == Harm(hole=0.4).of(sketches, usual)


def square(sketch, lot):
    left, top, width, height = sketch.box
    side = 0.5 * max(width, height)
    return [(left + lot[0] * width - side / 2, top + lot[1] * height - side / 2, side, side)]


def middle(sketch):
    left, top, width, height = sketch.box
    return [left + width / 2, top + height / 2]


def test_a_perfect_model_is_found_at_once(data, model, monkeypatch):
    """Drawings equal to the originals: Ret 1, Chamfer 0, in both directions."""
    sketches = [data.store[int(i)] for i in data.test]
    monkeypatch.setattr(type(model), "draw", lambda _, codes, first, **__: sketches[first : first + len(codes)])
    for direction in ("redrawn", "original"):
        (row,) = evaluate(model, data, name="m", masks=[0.0], direction=direction)
        assert row["ret"]["1"] == pytest.approx(1.0, abs=2.5 / len(sketches))  # equal doodles may be confused
        assert row["chamfer"] == 0
        assert row["rec"] is None


def test_empty_drawings_are_misses(data, model, judge, monkeypatch):
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    monkeypatch.setattr(type(model), "draw", lambda _, codes, **__: [dot] * len(codes))
    (row,) = evaluate(model, data, name="m", masks=[0.0], judge=judge)
    assert row["ret"] == {"1": 0.0, "10": 0.0, "50": 0.0}
    assert row["rec"] == 0.0
    assert row["empty"] == row["sketches"]


def test_wrong_pairings_are_refused(data, model, judge, tiny_run, tmp_path):
    other = open_dataset("doodles:400", categories=["cat", "bus"])
    with pytest.raises(UserError, match="train a judge on the same categories"):
        evaluate(model, other, name="m", judge=judge)
    learnt = gra2seq.load(tiny_run)
    learnt.categories = ("bee", "bus")
    with pytest.raises(
        UserError, match=r"learnt bee, bus, but DS1 holds flower, giraffe, pig, which it has never seen"
    ):
        evaluate(learnt, data, name="m")
    learnt.categories = ("cat",)
    with pytest.raises(UserError, match="own categories"):
        write_galleries(learnt, data, tmp_path, "g")
    learnt.categories = (*data.categories, "cat")  # data of some of its categories are fair
    assert evaluate(learnt, data, name="m", masks=[0.0])[0]["categories"] == list(data.categories)
    with pytest.raises(UserError, match="split"):
        evaluate(model, data, name="m", split="exam")
    with pytest.raises(UserError, match="probability"):
        evaluate(model, data, name="m", masks=[2.0])
    with pytest.raises(UserError, match="direction"):
        evaluate(model, data, name="m", direction="both")
    for count in (0, 1):
        few = type(data)("few", data.store, data.train, data.valid, data.test[:count])
        with pytest.raises(UserError, match=f"test split of few has {count} sketches: Ret needs two or more"):
            evaluate(model, few, name="m")
        with pytest.raises(UserError, match="two or more"):
            write_galleries(model, few, tmp_path, "g")
    assert not list(tmp_path.iterdir())


def test_a_judge_of_more_categories_is_refused(data, model):
    wide = Judge(SketchANet(6), options({"model": "sketch-a-net"}).recipe(1.0, (*data.categories, "cat")))
    with pytest.raises(UserError, match="train a judge on the same categories"):
        evaluate(model, data, name="m", judge=wide)


def test_a_top_k_larger_than_the_gallery(data, model, monkeypatch):
    """Among all there is, whatever was drawn is found; what was not drawn is a miss even so."""
    few = type(data)("few", data.store, data.train, data.valid, data.test[:8])
    (row,) = evaluate(model, few, name="m", masks=[0.0])
    assert row["gallery"] == 8
    assert row["ret"]["10"] == row["ret"]["50"] == 1 - row["empty"] / 8
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    draw = type(model).draw
    monkeypatch.setattr(type(model), "draw", lambda self, codes, **k: [dot, *draw(self, codes, **k)[1:]])
    (row,) = evaluate(model, few, name="m", masks=[0.0])
    assert row["empty"] >= 1
    assert row["ret"]["50"] == 1 - row["empty"] / 8


def test_a_mask_given_twice_counts_once(data, model):
    assert [row["mask"] for row in evaluate(model, data, name="m", masks=[0.3, 0.3], seeds=[0, 0])] == [0.3]


def test_rec_of_every_category_is_written(data, model, judge, tmp_path):
    rows = evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge)
    sketches = [data.store[int(i)] for i in data.test]
    counts = np.array([sum(s.category == c for s in sketches) for c in data.categories])
    for row in rows:
        assert list(row["rec_by_category"]) == list(data.categories)
        assert counts @ list(row["rec_by_category"].values()) / counts.sum() == pytest.approx(row["rec"])
    write_tables(rows, tmp_path, "t")
    written = json.loads((tmp_path / "t.json").read_text())
    assert written["rows"] == rows
    assert [row["rec_by_category"] for row in written["summary"]] == [row["rec_by_category"] for row in rows]
    with (tmp_path / "t.csv").open() as file:
        for line, row in zip(csv.DictReader(file), rows, strict=True):
            assert {c: float(line[f"rec_{c}"]) for c in data.categories} == row["rec_by_category"]
    text = (tmp_path / "t.md").read_text()
    assert "| Rec % | DS1, m, mask 0 % | DS1, m, mask 30 % |" in text
    first, second = (100 * row["rec_by_category"]["pig"] for row in rows)
    assert f"| pig | {first:.2f} | {second:.2f} |" in text


def test_rec_by_category_is_a_mean_over_seeds(data, model, judge, tmp_path):
    rows = evaluate(model, data, name="m", masks=[0.0], judge=judge, seeds=[0, 1])
    rows[0]["rec_by_category"], rows[1]["rec_by_category"] = {"bee": 0.25, "bus": 1.0}, {"bee": 0.75}
    write_tables(rows, tmp_path, "t")
    (found,) = json.loads((tmp_path / "t.json").read_text())["summary"]
    assert found["rec_by_category"] == {"bee": 0.5, "bus": 1.0}
    assert "| bee | 50.00 |" in (tmp_path / "t.md").read_text()


def test_without_a_judge_there_is_no_rec(data, model, tmp_path):
    rows = evaluate(model, data, name="m", masks=[0.0])
    write_tables(rows, tmp_path, "t")
    assert rows[0]["rec_by_category"] is None
    assert json.loads((tmp_path / "t.json").read_text())["summary"][0]["rec_by_category"] is None
    assert "rec_bee" not in (tmp_path / "t.csv").read_text()
    assert "bee |" not in (tmp_path / "t.md").read_text()


def test_untrained_has_the_options_of_the_run(tiny_run):
    chosen = gra2seq.load(tiny_run).options
    fresh, title = model_or_fresh(tiny_run, "small", 7, 1.0, fresh=True)
    assert fresh.options == chosen
    assert fresh.recipe == gra2seq.load(tiny_run).recipe
    assert "untrained" in title
    start, learnt, other = (
        m.network.state_dict()["decoder.out.weight"] for m in (untrained(chosen), gra2seq.load(tiny_run), fresh)
    )
    assert (other == start).all()
    assert not torch.allclose(learnt, start)


def test_several_values_behind_one_option():
    words = ["evaluate", "r", "--data", "a", "b", "--mask", "0", "0.1", "-o", "x", "--json"]
    assert several(words) == [
        *("evaluate", "r", "--data", "a", "--data", "b", "--mask", "0", "--mask", "0.1", "-o", "x", "--json")
    ]
    for line in (
        ["--mask", "0", "0.1", "RUN"],
        ["--hole", "0.2", "0.4", "RUN"],
        ["--systems", "song", "sketch-rnn", "clip=norm"],
    ):
        spread_out = several(line)
        assert spread_out == [line[0], line[1], line[0], line[2], line[3]], "the last is an argument again"


def test_the_command_line(call, tiny_run, tmp_path):
    strange = tmp_path / "kite.ndjson"
    gra2seq.write(strange, [("test", Sketch(s.points, s.lengths, "kite")) for s in doodles(3)])
    out = tmp_path / "tables"
    words = ["evaluate", tiny_run, "--data", "doodles:200", "--mask", 0, 0.3, "-o", out, "--seeds", 2, "--json"]
    code, text, err = call(*words)
    assert code == 0, err
    rows = json.loads(text)["rows"]
    assert [(row["mask"], row["seed"]) for row in rows] == [(0.0, 0), (0.0, 1), (0.3, 0), (0.3, 1)]
    names = {f"doodles:200-test{form}" for form in (".csv", ".json", ".md", ".tex")}
    names |= {f"doodles:200-test-mask-{mask}{form}" for mask in ("0", "0.3") for form in (".png", ".svg")}
    assert {path.name for path in out.iterdir() if path.is_file()} == names
    assert "galleries" in err
    code, text, err = call(*words[:4], "--hole", 0.2, 0.4, "-o", out, "--json")
    assert [(row["mask"], row["hole"]) for row in json.loads(text)["rows"]] == [(0.0, 0.2), (0.0, 0.4)]
    assert (out / "doodles:200-test-holes-hole-0.4.png").exists()
    assert "0.3" in (out / "doodles:200-test.csv").read_text(), "the table of the masks is still there"
    code, text, err = call("evaluate", "--preset", "tiny", "--data", "doodles:100", "--mask", 0)
    assert code == 0, err
    assert "untrained tiny" in text
    code, text, err = call("synonyms", tiny_run, "--data", "doodles:30", "--json")
    assert code == 0, err
    rows = json.loads(text)["rows"]
    assert {"links", "rate", "rate_far", "chance", "edges", "category"} <= rows[0].keys()
    assert {row["links"] for row in rows} == {"synonymous", "temporal", "spatial", "random"}
    assert "sketches" in err, "progress goes to stderr"
    few = ["synonyms", tiny_run, "--data", "doodles:30", "--most", 4, "--links", "spatial", "--json"]
    code, text, err = call(*few)
    assert code == 0, err
    assert "4/4" in err
    assert 0 < json.loads(text)["rows"][0]["edges"] < rows[0]["edges"]
    code, _, err = call("evaluate", tiny_run, "--data", strange, "--mask", 0)
    assert code == 2
    (line,) = err.strip().splitlines()
    assert line.endswith("judge it on data of its own categories")
    assert call("evaluate", tiny_run)[0] == 2
