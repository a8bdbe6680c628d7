"""The protocol on a tiny model: against a slow twin, resumed, and with every wrong pairing refused."""

import copy
import csv
import json
import sys
from dataclasses import replace

import cv2
import numpy as np
import pytest
import torch

import gra2seq
from gra2seq.cli import main, several
from gra2seq.cli.common import model_or_fresh
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.judging import evaluate as judging
from gra2seq.judging.evaluate import Judged, Originals, evaluate, spread, stored_draws, write_galleries, write_tables
from gra2seq.judging.judge import Judge
from gra2seq.model import untrained
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.options import options
from gra2seq.sketch.chamfer import chamfer
from gra2seq.sketch.strokes import Sketch
from gra2seq.sketch.svg import read_svg


@pytest.fixture(scope="module")
def data():
    return open_dataset("doodles:400", name="DS1")


@pytest.fixture(scope="module")
def model():
    return untrained(options({"preset": "tiny", "max_points": 25}))


@pytest.fixture(scope="module")
def judge(data):
    torch.manual_seed(0)
    return Judge(SketchANet(5), options({"model": "sketch-a-net"}).recipe(1.0, tuple(reversed(data.categories))))


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


def test_masks_are_stored_and_the_same_for_all(data):
    one = stored_draws(data, "test", 20, 8)
    other = stored_draws(data, "test", 20, 8)
    assert (one.numbers == other.numbers).all()
    files = list((data.store.path.parent / f"{data.store.path.name}.masks").iterdir())
    assert files


def test_a_damaged_file_of_masks_is_written_anew_and_the_same(data):
    whole = stored_draws(data, "test", 21, 8)
    folder = data.store.path.parent / f"{data.store.path.name}.masks"
    newest = max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    good = newest.read_bytes()
    for damaged in (b"", b"rubbish", good[: len(good) // 2]):
        newest.write_bytes(damaged)
        again = stored_draws(data, "test", 21, 8)
        assert (again.numbers == whole.numbers).all()
        assert newest.read_bytes() == good


def test_a_folder_called_doodles_is_a_folder(tmp_path, monkeypatch):
    """And its path is not the name of the data: files are called by it."""
    (tmp_path / "doodles").mkdir()
    gra2seq.write(tmp_path / "doodles" / "cat.ndjson", [("test", sketch) for sketch in doodles(3, categories=["cat"])])
    monkeypatch.chdir(tmp_path)
    dataset = open_dataset("doodles/cat.ndjson", cache=tmp_path / "cache")
    assert dataset.name == "cat"
    stored_draws(dataset, "test", 3, 8)
    (kept,) = dataset.store.path.parent.glob("*.masks/*")
    assert kept.is_file()


def test_goes_on_where_it_was_stopped(data, model, tmp_path, monkeypatch):
    whole = evaluate(model, data, name="m", masks=[0.0, 0.3], seeds=[0, 1], keep=tmp_path / "a")
    kept = sorted((tmp_path / "a").glob("mask-*"))
    assert len(kept) == 4
    kept[0].unlink()
    kept[1].write_bytes(b"cut")
    drawn = []
    draw = type(model).draw
    monkeypatch.setattr(type(model), "draw", lambda self, *a, **k: drawn.append(1) or draw(self, *a, **k))
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], seeds=[0, 1], keep=tmp_path / "a") == whole
    assert len(drawn) == 2, "only what was missing or damaged is drawn again"
    assert Judged.load(kept[1]) is not None


def test_what_is_finished_has_its_rows_at_once(data, model, judge, tmp_path, monkeypatch):
    """Neither model nor judge look at anything again; of damaged notes on the originals they do."""
    first = evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, keep=tmp_path)
    looked = []
    encode = type(model).encode
    monkeypatch.setattr(type(model), "encode", lambda self, *a, **k: looked.append(1) or encode(self, *a, **k))
    monkeypatch.setattr(type(judge), "classify", lambda *_: pytest.fail("the judge is asked again"))
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, keep=tmp_path) == first
    assert not looked
    monkeypatch.undo()
    (notes,) = tmp_path.glob("originals-*")
    notes.write_bytes(notes.read_bytes()[:50])
    assert evaluate(model, data, name="m", masks=[0.0, 0.3], judge=judge, keep=tmp_path) == first
    assert Originals.load(notes) is not None


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


def test_a_model_that_has_diverged_is_refused(data, model, tmp_path):
    for part in ("encoder", "decoder"):
        broken = copy.deepcopy(model)
        with torch.no_grad():
            for parameter in getattr(broken.network, part).parameters():
                parameter.fill_(float("nan"))
        with pytest.raises(UserError, match="NaN"):
            evaluate(broken, data, name="m", masks=[0.0], keep=tmp_path)
    assert not list(tmp_path.glob("mask-*")), "nothing of it is kept"


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


@pytest.mark.parametrize(("count", "most"), [(0, 3), (1, 10), (7, 7), (7, 3), (1000, 10), (11, 10), (5, 1)])
def testspread_is_even(count, most):
    chosen = spread(count, most)
    assert len(chosen) == min(count, most)
    if count:
        ends = np.diff([-1 - chosen[0], *chosen, 2 * count - 1 - chosen[-1]])  # mirrored at both ends
        assert chosen.min() >= 0
        assert chosen.max() < count
        assert ends.min() >= 1
        assert np.ptp(ends) <= 2


def test_galleries_show_what_was_judged(data, model, tmp_path):
    """All originals and drawings are in the SVG, line by line; the damage is that of the stored draws."""
    paths = write_galleries(model, data, tmp_path, "g", masks=[0.0, 0.3], seed=4, most=3)
    assert {path.name for path in paths} == {f"g-mask-{m}.{form}" for m in ("0", "0.3") for form in ("png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}
    sketches = [data.store[int(i)] for i in data.test]
    draws = stored_draws(data, "test", len(sketches), model.recipe.nodes).numbers
    drawn = model.draw(model.encode(sketches, draws=draws, mask_prob=0.3), seed=4)
    chosen = spread(len(sketches), 3).tolist()
    shown = [sketches[i] for i in chosen] + [drawn[i] for i in chosen if max(drawn[i].box[2:]) > 0]
    text = (tmp_path / "g-mask-0.3.svg").read_text()
    found = read_svg(text.encode())
    assert found.lengths.tolist() == [length for sketch in shown for length in sketch.lengths.tolist()]
    assert text.count("<image") == 3
    assert all(f">{word}</text>" in text for word in ("original", "damaged", "redrawn", sketches[chosen[0]].category))
    whole, damaged = (cv2.imread(str(tmp_path / f"g-mask-{m}.png"), cv2.IMREAD_GRAYSCALE) for m in ("0", "0.3"))
    assert whole.shape == damaged.shape
    rows = np.array_split(np.arange(40, whole.shape[0]), 3)
    ink = [[int((picture[row] < 128).sum()) for row in rows] for picture in (whole, damaged)]
    assert ink[0][0] == ink[1][0] > 0, "the originals are the same"
    assert 0 < ink[1][1] < ink[0][1], "what is damaged has less ink"


def test_a_large_gallery_goes_on_in_further_rows(data, model, tmp_path):
    _, svg = write_galleries(model, data, tmp_path, "g", masks=[0.1], most=12)
    text = svg.read_text()
    assert text.count("<image") == 12
    assert text.count(">original</text>") == text.count(">redrawn</text>") == 2
    assert not any(f">{category}</text>" in text for category in data.categories)


def test_what_was_judged_with_other_tries_is_not_taken(data, model, tmp_path):
    more = untrained(replace(model.options, tries=3))
    rows = [evaluate(m, data, name="m", masks=[0.0], keep=tmp_path)[0] for m in (model, more)]
    assert [row["tries"] for row in rows] == [1, 3]
    assert len(list(tmp_path.glob("mask-*"))) == 2
    assert rows[1]["chamfer"] < rows[0]["chamfer"], "of several tries the one that lies best is judged"


def test_what_was_judged_with_other_options_is_not_taken(data, model, tmp_path):
    """The weights are the same, but what is made of them is not."""
    other = copy.copy(model)
    other.options = replace(model.options, corner=1.0)
    for one in (model, other):
        evaluate(one, data, name="m", masks=[0.0, 1e-7], keep=tmp_path)
    assert len(list(tmp_path.glob("mask-*"))) == 4
    other.options = replace(model.options, threads=1, workers=5, run="moved")  # where it was trained is no matter
    evaluate(other, data, name="m", masks=[0.0, 1e-7], keep=tmp_path)
    assert len(list(tmp_path.glob("mask-*"))) == 4


def test_masks_need_no_place_beside_the_store(data, monkeypatch):
    there = stored_draws(data, "test", 9, 8).numbers

    def refuse(*_):
        raise UserError("cannot write")

    monkeypatch.setattr("gra2seq.sketch.masking.Draws.save", refuse)
    monkeypatch.setattr(judging, "MASK_VERSION", -1)
    assert (stored_draws(data, "test", 9, 8).numbers == there).all()


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


def test_an_empty_drawing_leaves_its_cell_free(data, model, tmp_path, monkeypatch):
    dot = Sketch(np.zeros((1, 2), np.float32), np.array([1]))
    monkeypatch.setattr(type(model), "draw", lambda _, codes, **__: [dot] * len(codes))
    _, svg = write_galleries(model, data, tmp_path, "g", masks=[0.1], most=2)
    sketches = [data.store[int(i)] for i in data.test[spread(len(data.test), 2)]]
    assert len(read_svg(svg.read_bytes()).lengths) == sum(len(sketch.lengths) for sketch in sketches)


def test_names_of_any_kind_are_in_a_gallery(data, model, tmp_path):
    names = {index: ("", "<a & b>", "\x00 bee")[i % 3] for i, index in enumerate(data.test.tolist())}

    class Named:
        def __init__(self, store):
            self.path, self.hash, self.store = store.path, store.hash, store

        def __getitem__(self, index):
            sketch = self.store[index]
            return Sketch(sketch.points, sketch.lengths, names[index])

    other = copy.copy(data)
    object.__setattr__(other, "categories", tuple(names.values()))
    object.__setattr__(other, "store", Named(data.store))
    _, svg = write_galleries(model, other, tmp_path, "g", masks=[0.1], most=6)
    assert "&lt;a &amp; b&gt;" in svg.read_text()
    read_svg(svg.read_bytes())


def test_several_values_behind_one_option():
    words = ["evaluate", "r", "--data", "a", "b", "--mask", "0", "0.1", "-o", "x", "--json"]
    assert several(words) == [
        *("evaluate", "r", "--data", "a", "--data", "b", "--mask", "0", "--mask", "0.1", "-o", "x", "--json")
    ]
    for line in (["--mask", "0", "0.1", "RUN"], ["--systems", "song", "sketch-rnn", "clip=norm"]):
        spread_out = several(line)
        assert spread_out == [line[0], line[1], line[0], line[2], line[3]], "the last is an argument again"


def run(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["gra2seq", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    captured = capsys.readouterr()
    return end.value.code or 0, captured.out, captured.err


def test_the_command_line(monkeypatch, capsys, tiny_run, tmp_path):
    strange = tmp_path / "kite.ndjson"
    gra2seq.write(strange, [("test", Sketch(s.points, s.lengths, "kite")) for s in doodles(3)])
    out = tmp_path / "tables"
    words = ["evaluate", tiny_run, "--data", "doodles:200", "--mask", 0, 0.3, "-o", out, "--seeds", 2, "--json"]
    code, text, err = run(monkeypatch, capsys, *words)
    assert code == 0, err
    rows = json.loads(text)["rows"]
    assert [(row["mask"], row["seed"]) for row in rows] == [(0.0, 0), (0.0, 1), (0.3, 0), (0.3, 1)]
    names = {f"doodles:200-test{form}" for form in (".csv", ".json", ".md", ".tex")}
    names |= {f"doodles:200-test-mask-{mask}{form}" for mask in ("0", "0.3") for form in (".png", ".svg")}
    assert {path.name for path in out.iterdir() if path.is_file()} == names
    assert "galleries" in err
    code, text, err = run(monkeypatch, capsys, "evaluate", "--preset", "tiny", "--data", "doodles:100", "--mask", 0)
    assert code == 0, err
    assert "untrained tiny" in text
    code, text, err = run(monkeypatch, capsys, "synonyms", tiny_run, "--data", "doodles:30", "--json")
    assert code == 0, err
    rows = json.loads(text)["rows"]
    assert {"links", "rate", "rate_far", "chance", "edges", "category"} <= rows[0].keys()
    assert {row["links"] for row in rows} == {"synonymous", "temporal", "spatial", "random"}
    assert "sketches" in err, "progress goes to stderr"
    few = ["synonyms", tiny_run, "--data", "doodles:30", "--most", 4, "--links", "spatial", "--json"]
    code, text, err = run(monkeypatch, capsys, *few)
    assert code == 0, err
    assert "4/4" in err
    assert 0 < json.loads(text)["rows"][0]["edges"] < rows[0]["edges"]
    code, _, err = run(monkeypatch, capsys, "evaluate", tiny_run, "--data", strange, "--mask", 0)
    assert code == 2
    (line,) = err.strip().splitlines()
    assert line.endswith("judge it on data of its own categories")
    assert run(monkeypatch, capsys, "evaluate", tiny_run)[0] == 2
