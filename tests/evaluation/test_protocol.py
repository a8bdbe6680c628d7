"""The protocol on a tiny model: against a slow twin, for every kind of damage, and with wrong pairings refused."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import gra2seq
from gra2seq.cli import spread_values
from gra2seq.cli.common import model_or_fresh
from gra2seq.config import DrawingConfig
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodles
from gra2seq.drawing.merge import keep_lines
from gra2seq.errors import UserError
from gra2seq.evaluation import judging, protocol
from gra2seq.evaluation.damage_kinds import DamageKind
from gra2seq.evaluation.pictures import write_galleries
from gra2seq.evaluation.protocol import Terms, evaluate, outcomes, stored_noise, write_tables
from gra2seq.evaluation.redrawing import GUIDED, drawing_mode, redrawn
from gra2seq.folder import untrained
from gra2seq.healing.model_source import ModelSource
from gra2seq.sketch.damage import lose
from gra2seq.sketch.distance import chamfer
from gra2seq.sketch.masking import mask
from gra2seq.sketch.region import Region
from gra2seq.sketch.strokes import BOX, Sketch


def test_rows_equal_those_of_a_slow_twin(data, model, judge, monkeypatch):
    """The model draws the originals, the later ones the more shaken, and some not at all: figures of every size."""
    sketches = [data.store[int(i)] for i in data.test]
    noise = stored_noise(data, "test", len(sketches)).numbers
    damages = [mask(sketch, own, 0.3) for sketch, own in zip(sketches, noise, strict=True)]

    def shaken(number):
        if number % 9 == 8:
            return Sketch(np.zeros((1, 2), np.float32), np.array([1]))
        random = np.random.default_rng(number)
        points = sketches[number].points + random.normal(0, number, sketches[number].points.shape)
        placed = damages[number].normalised(points) * BOX  # as a model draws, around the origin
        return sketches[number].with_points(placed)

    drawn = [shaken(number) for number in range(len(sketches))]
    asked = []

    def draw(_, codes, *, drawing, first, **__):
        asked.append((codes, drawing.seed))
        return [drawn[number] for number in first]

    monkeypatch.setattr(judging, "BATCH", 7)
    monkeypatch.setattr(judging, "PART", 16)
    monkeypatch.setattr(type(model), "draw_codes", draw)
    (row,) = evaluate(model, data, name="m", masks=[0.3], seeds=[4], judge=judge)
    codes = np.concatenate([part for part, _ in asked])
    assert np.allclose(codes, model.encode(damages), atol=1e-5)
    assert {seed for _, seed in asked} == {4}
    gallery, queries = model.encode(sketches), model.encode([model.place(*p) for p in zip(drawn, damages, strict=True)])
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
    names = [judge.categories[n] for n in judge.classify([model.place(*p) for p in zip(drawn, damages, strict=True)])]
    rec = np.mean([n == s.category and max(d.box[2:]) > 0 for n, s, d in zip(names, sketches, drawn, strict=True)])
    assert row["rec"] == pytest.approx(rec)
    ceiling = np.mean(
        [judge.categories[n] == s.category for n, s in zip(judge.classify(sketches), sketches, strict=True)]
    )
    assert row["ceiling"] == pytest.approx(ceiling)
    assert row["chamfer"] == pytest.approx(chamfer(drawn, sketches).mean(), rel=1e-4)
    assert (row["sketches"], row["gallery"], row["mask"], row["seed"]) == (count, count, 0.3, 4)
    assert row["categories"] == list(data.categories)


def test_outcomes_hold_the_hits_of_every_sketch(data, model, judge):
    terms = Terms(masks=[0.0], judge=judge)
    (one,) = outcomes(model, data, terms)
    (row,) = evaluate(model, data, name="m", masks=[0.0], judge=judge)
    assert len(one.recognised) == len(one.found(1)) == row["sketches"]
    assert one.recognised.mean() == pytest.approx(row["rec"])
    assert {str(k): one.found(k).mean() for k in (1, 10, 50)} == pytest.approx(row["ret"])
    assert not (one.found(1) & ~one.found(10)).any()


def test_kept_lines_are_judged_as_they_are(data, model):
    """With `keep_lines` only the lost region is drawn, as the slow twin merges it; an intact sketch is drawn anew."""
    models = [model.with_drawing(replace(model.drawing, keep_lines=keep)) for keep in (False, True)]
    anew, kept = ({row["mask"]: row for row in evaluate(m, data, name="m", masks=[0.0, 0.3])} for m in models)
    assert [kept[probability]["kept"] for probability in (0.0, 0.3)] == [False, True]
    assert not anew[0.3]["kept"]
    assert anew[0.0]["chamfer"] == kept[0.0]["chamfer"]
    sketches = [data.store[int(i)] for i in data.test]
    noise = stored_noise(data, "test", len(sketches)).numbers
    damages = [mask(sketch, own, 0.3) for sketch, own in zip(sketches, noise, strict=True)]
    drawn = model.draw(model.encode(damages))
    healed = [
        keep_lines(damage, Sketch(damage.denormalised(one.points / BOX), one.lengths)) if damage.lost else one
        for one, damage in zip(drawn, damages, strict=True)
    ]
    assert kept[0.3]["chamfer"] == pytest.approx(chamfer(healed, sketches).mean(), rel=1e-4)
    assert kept[0.3]["chamfer"] < 0.8 * anew[0.3]["chamfer"]
    assert kept[0.3]["ret"]["1"] > anew[0.3]["ret"]["1"]


def test_square_is_lost_where_the_stored_numbers_say(data, model, tmp_path):
    row, masked = evaluate(model, data, name="m", masks=[0.3], squares=[0.5], folder=tmp_path)[::-1]
    assert [(one["mask"], one["square"]) for one in (row, masked)] == [(0.0, 0.5), (0.3, 0.0)]
    sketches = [data.store[int(i)] for i in data.test]
    noise = stored_noise(data, "test", len(sketches)).numbers
    damages = [lose(s, Region.of_boxes([square(s, own)])) for s, own in zip(sketches, noise, strict=True)]
    drawn = model.draw(model.encode(damages))
    healed = [model.place(one, damage) for one, damage in zip(drawn, damages, strict=True)]
    assert row["chamfer"] == pytest.approx(chamfer(healed, sketches).mean(), rel=1e-4)
    assert evaluate(model, data, name="m", masks=[], squares=[0.5], folder=tmp_path) == [row], "kept beside the masks"
    text = protocol.FORMATS[".md"]([row, masked])
    assert "| square 0.5 | m |" in text
    assert "| mask 30 % | m |" in text
    paths = write_galleries(model, data, tmp_path, "g", Terms(masks=[], squares=[0.5]), size=3)
    assert [path.name for path in paths] == ["g-square-0.5.png", "g-square-0.5.svg"]
    for wrong in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(UserError, match="share of the longer side"):
            evaluate(model, data, name="m", masks=[], squares=[wrong])


def square(sketch, numbers):
    left, top, width, height = sketch.box
    side = 0.5 * max(width, height)
    return left + numbers[0] * width - side / 2, top + numbers[1] * height - side / 2, side, side


def test_hidden_strokes_do_not_change_what_is_drawn(data, model):
    """A model is given the visible strokes: a drawing in which the hidden ones are other lines is healed alike."""
    sketch = data.store[int(data.test[0])]
    noise = stored_noise(data, "test", len(data.test)).numbers[:1]
    kind = DamageKind(square=0.5)
    damage = kind.damage(sketch, noise[0])
    healed = redrawn(model, [sketch], noise, kind, 0, 0)
    again = lose(damage.visible, damage.lost)
    assert (model.encode([again]) == model.encode([damage])).all()
    assert (model.place(model.draw(model.encode([again]))[0], again).points == healed[0].points).all()


def test_drawing_modes():
    own = DrawingConfig(keep_lines=True, best_of=5, good_enough=0.1, candidates=2, temperature=0.3)
    code = drawing_mode(own, "code")
    assert (code.best_of, code.candidates, code.good_enough, code.keep_lines) == (1, 1, 0.0, False)
    assert not code.guided
    several = replace(code, best_of=8)
    assert (several.guided, several.sees) == (False, "code"), "chosen by codes, not by the visible ink"
    assert drawing_mode(own, "guided") == replace(own, keep_lines=False), "a model's own guided way stays"
    usual = drawing_mode(DrawingConfig(), "guided")
    assert {name: getattr(usual, name) for name in GUIDED} == GUIDED
    with pytest.raises(UserError, match="not one of code, guided"):
        drawing_mode(own, "blind")


def test_drawings_equal_to_the_originals_have_ret_1_and_chamfer_0(data, model, monkeypatch):
    sketches = [data.store[int(i)] for i in data.test]
    monkeypatch.setattr(type(model), "draw_codes", lambda *_, first, **__: [sketches[number] for number in first])
    monkeypatch.setattr(type(model), "place", lambda _, drawn, *__: drawn)
    for direction in ("redrawn", "original"):
        (row,) = evaluate(model, data, name="m", masks=[0.0], direction=direction)
        assert row["ret"]["1"] == pytest.approx(1.0, abs=2.5 / len(sketches))  # equal doodles may be confused
        assert row["chamfer"] == 0
        assert row["rec"] is None


def test_empty_drawings_count_as_misses(data, model, judge, monkeypatch):
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    monkeypatch.setattr(type(model), "draw_codes", lambda _, codes, **__: [dot] * len(codes))
    (row,) = evaluate(model, data, name="m", masks=[0.0], judge=judge)
    assert row["ret"] == {"1": 0.0, "10": 0.0, "50": 0.0}
    assert row["rec"] == 0.0
    assert row["empty"] == row["sketches"]


def test_model_or_judge_of_other_categories_is_refused(data, model, judge, tiny_run, tmp_path):
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
        write_galleries(learnt, data, tmp_path, "g", Terms())
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
            write_galleries(model, few, tmp_path, "g", Terms())
    assert not list(tmp_path.iterdir())


def test_judge_of_more_categories_is_refused(data, model, make_judge):
    with pytest.raises(UserError, match="train a judge on the same categories"):
        evaluate(model, data, name="m", judge=make_judge((*data.categories, "cat")))


def test_top_k_larger_than_the_gallery_misses_empty_drawings_only(data, model, monkeypatch):
    few = type(data)("few", data.store, data.train, data.valid, data.test[:8])
    (row,) = evaluate(model, few, name="m", masks=[0.0])
    assert row["gallery"] == 8
    assert row["ret"]["10"] == row["ret"]["50"] == 1 - row["empty"] / 8
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    draw = type(model).draw_codes
    monkeypatch.setattr(type(model), "draw_codes", lambda self, codes, **k: [dot, *draw(self, codes, **k)[1:]])
    (row,) = evaluate(model, few, name="m", masks=[0.0])
    assert row["empty"] >= 1
    assert row["ret"]["50"] == 1 - row["empty"] / 8


def test_mask_given_twice_is_evaluated_once(data, model):
    assert [row["mask"] for row in evaluate(model, data, name="m", masks=[0.3, 0.3], seeds=[0, 0])] == [0.3]


def test_rec_of_every_category_is_in_all_tables(data, model, judge, tmp_path):
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


def test_rec_by_category_is_averaged_over_seeds(data, model, judge, tmp_path):
    rows = evaluate(model, data, name="m", masks=[0.0], judge=judge, seeds=[0, 1])
    rows[0]["rec_by_category"], rows[1]["rec_by_category"] = {"bee": 0.25, "bus": 1.0}, {"bee": 0.75}
    write_tables(rows, tmp_path, "t")
    (found,) = json.loads((tmp_path / "t.json").read_text())["summary"]
    assert found["rec_by_category"] == {"bee": 0.5, "bus": 1.0}
    assert "| bee | 50.00 |" in (tmp_path / "t.md").read_text()


def test_no_rec_without_a_judge(data, model, tmp_path):
    rows = evaluate(model, data, name="m", masks=[0.0])
    write_tables(rows, tmp_path, "t")
    assert rows[0]["rec_by_category"] is None
    assert json.loads((tmp_path / "t.json").read_text())["summary"][0]["rec_by_category"] is None
    assert "rec_bee" not in (tmp_path / "t.csv").read_text()
    assert "bee |" not in (tmp_path / "t.md").read_text()


def test_untrained_model_has_the_configuration_of_the_run(tiny_run):
    chosen = gra2seq.load(tiny_run).config
    fresh, title = model_or_fresh(ModelSource(tiny_run), "small", 7, 1.0, fresh=True)
    assert fresh.config == chosen
    assert fresh.preparation == gra2seq.load(tiny_run).preparation
    assert "untrained" in title
    start, learnt, other = (
        m.network.state_dict()["decoder.out.weight"] for m in (untrained(chosen), gra2seq.load(tiny_run), fresh)
    )
    assert (other == start).all()
    assert not torch.allclose(learnt, start)


def test_several_values_may_follow_one_option():
    words = ["evaluate", "r", "--data", "a", "b", "--mask", "0", "0.1", "-o", "x", "--json"]
    assert spread_values(words) == [
        *("evaluate", "r", "--data", "a", "--data", "b", "--mask", "0", "--mask", "0.1", "-o", "x", "--json")
    ]
    for line in (
        ["--mask", "0", "0.1", "RUN"],
        ["--square", "0.2", "0.4", "RUN"],
        ["--systems", "song", "sketch-rnn", "clip=norm"],
    ):
        spread_out = spread_values(line)
        assert spread_out == [line[0], line[1], line[0], line[2], line[3]], "the last is an argument again"


def test_evaluate_command_writes_rows_tables_and_sheets(call, tiny_run, tmp_path):
    out = tmp_path / "tables"
    words = ["evaluate", tiny_run, "--data", "doodles:200", "--mask", 0, 0.3, "-o", out, "--seeds", 2, "--json"]
    code, text, err = call(*words)
    assert code == 0, err
    rows = json.loads(text)["rows"]
    assert [(row["mask"], row["seed"]) for row in rows] == [(0.0, 0), (0.0, 1), (0.3, 0), (0.3, 1)]
    assert {row["sees"] for row in rows} == {"code"}
    names = {f"doodles:200-test{form}" for form in (".csv", ".json", ".md", ".tex")}
    names |= {f"doodles:200-test-mask-{mask}{form}" for mask in ("0", "0.3") for form in (".png", ".svg")}
    assert {path.name for path in out.iterdir() if path.is_file()} == names
    assert "sheets" in err
    code, text, err = call(*words[:4], "--square", 0.2, 0.4, "--split", "valid", "-o", out, "--json")
    assert [(row["mask"], row["square"]) for row in json.loads(text)["rows"]] == [(0.0, 0.2), (0.0, 0.4)]
    assert (out / "doodles:200-valid-squares-square-0.4.png").exists()
    assert "0.3" in (out / "doodles:200-test.csv").read_text(), "the table of the masks is still there"


def test_evaluate_command_draws_from_the_code_or_guided(call, tiny_run, tmp_path):
    words = ["evaluate", tiny_run, "--data", "doodles:100", "--mask", 0.3, "-o", tmp_path, "--sheet-size", 3, "--json"]
    found = {}
    for more in ((), ("--draw", "code"), ("--draw", "guided"), ("--draw", "guided", "--keep-lines", "--no-repair")):
        code, text, err = call(*words, *more)
        assert code == 0, err
        (found[more],) = json.loads(text)["rows"]
    own, plain, guided, kept = found.values()
    assert own == plain, "the tiny preset draws from the code"
    assert (guided["sees"], guided["best_of"], guided["candidates"], guided["kept"]) == ("guided", 3, 4, False)
    assert (kept["kept"], kept["repaired"]) == (True, False)
    assert kept["chamfer"] < guided["chamfer"] < plain["chamfer"]
    assert (tmp_path / "doodles:100-test-draw-guided-keep_lines-True-repair-False.md").exists()
    (row,) = json.loads(call(*words, "--best-of", 2, "--good-enough", 0.02, "--candidates", 3)[1])["rows"]
    assert (row["sees"], row["best_of"], row["good_enough"], row["candidates"]) == ("guided", 2, 0.02, 3)
    (row,) = json.loads(call(*words, "--draw", "code", "--best-of", 4)[1])["rows"]
    assert (row["sees"], row["best_of"]) == ("code", 4)
    assert row["chamfer"] != plain["chamfer"], "another of the four was kept for some sketches"
    for wrong in (("--draw", "blind"), ("--draw", "code", "--candidates", 3)):
        code, out, _ = call(*words, *wrong)
        assert code == 2
        assert "--draw" in json.loads(out)["error"]


def test_evaluate_command_refuses_unknown_categories_and_missing_data(call, tiny_run, tmp_path):
    strange = tmp_path / "kite.ndjson"
    gra2seq.write(strange, [("test", Sketch(s.points, s.lengths, "kite")) for s in doodles(3)])
    code, _, err = call("evaluate", tiny_run, "--data", strange, "--mask", 0)
    assert code == 2
    (line,) = err.strip().splitlines()
    assert line.endswith("judge it on data of its own categories")
    assert call("evaluate", tiny_run)[0] == 2


def test_evaluate_command_without_a_run_judges_an_untrained_model(call):
    code, text, err = call("evaluate", "--preset", "tiny", "--data", "doodles:100", "--mask", 0)
    assert code == 0, err
    assert "untrained tiny" in text


def test_synonyms_command_counts_links_by_every_rule(call, tiny_run):
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
