"""Variants in folders of their own that differ in one option, over several trainings, with paired intervals."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from gra2seq.config import parse_config
from gra2seq.data.doodles import doodle
from gra2seq.errors import UserError
from gra2seq.evaluation.ablate import FULL, VARIANTS, ablate, as_json, in_words, write_ablation
from gra2seq.evaluation.bootstrap import paired_interval
from gra2seq.evaluation.equal_terms import Display, OtherBudget
from gra2seq.evaluation.protocol import Terms
from gra2seq.folder import load, untrained
from gra2seq.nn.links import LINKS, Nodes
from gra2seq.training.report import Report

TINY = {"preset": "tiny", "data": "doodles:150", "workers": 0, "threads": 1}


def config(folder, model=None, **training):
    training = {"max_steps": 2, "validate_every": 2, "gallery": 0, "validate_sketches": 10, **training}
    return parse_config({**TINY, "run": str(folder), "model": model or {}, "training": training})


class Watched:
    """Training steps that were reported."""

    def __init__(self):
        self.steps = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __call__(self, report: Report):
        self.steps += not report.note


@pytest.fixture(scope="module")
def ablated(tmp_path_factory, make_judge):
    from gra2seq.data.datasets import open_dataset

    chosen, watched = config(tmp_path_factory.mktemp("ablation") / "a"), Watched()
    torch.manual_seed(0)
    judge = make_judge(open_dataset("doodles:150").categories)
    terms = Terms(masks=[0.0, 0.3], seeds=(0, 1), judge=judge)

    def run(**changes):
        return ablate(replace(chosen, **changes), terms, train_seeds=2, display=Display(lambda _: watched))

    return run, run(), chosen, watched


def folder_of(chosen, variant, seed):
    return f"{chosen.run}/{variant.replace(',', '').replace(' ', '-')}/seed-{seed}"


def test_variants_differ_in_one_option_and_are_trained_with_every_seed(ablated):
    _, found, chosen, watched = ablated
    expected = {
        (name, seed, mask, drawn) for name in VARIANTS for seed in (0, 1) for mask in (0.0, 0.3) for drawn in (0, 1)
    }
    assert {(row["model"], row["train_seed"], row["mask"], row["seed"]) for row in found.rows} == expected
    assert len(found.rows) == len(expected)
    assert watched.steps == 2 * 2 * len(VARIANTS)
    for seed in (0, 1):
        configs = {name: load(folder_of(chosen, name, seed)).config for name in VARIANTS}
        full = configs[FULL]
        assert full.seed == seed
        for name, changes in VARIANTS.items():
            same = replace(full, run=configs[name].run, model=replace(full.model, **changes))
            assert configs[name] == same


def test_other_variants_can_have_fewer_training_seeds(ablated):
    _, _, chosen, watched = ablated
    before = watched.steps
    fewer = ablate(chosen, Terms(masks=[0.0]), train_seeds=2, other_train_seeds=1)
    trained = {(row["model"], row["train_seed"]) for row in fewer.rows}
    assert trained == {(name, 0) for name in VARIANTS} | {(FULL, 1), ("random links", 1)}
    by_variant = {one.variant: one for one in fewer.differences}
    assert len(by_variant["random links"].by_training) == 2
    assert len(by_variant["no links"].by_training) == 1
    assert by_variant["no links"].deviation is None
    assert watched.steps == before
    with pytest.raises(UserError, match="the first not fewer"):
        ablate(chosen, Terms(masks=[0.0]), train_seeds=1, other_train_seeds=2)


def test_second_call_trains_nothing(ablated):
    run, found, _, watched = ablated
    before = watched.steps
    assert run() == found
    assert watched.steps == before
    with pytest.raises(OtherBudget, match="max_steps=2, not 3"):
        run(training=config("x", max_steps=3).training)


def test_differences_are_those_of_the_rows_with_their_intervals(ablated):
    _, found, _, _ = ablated

    def mean(variant, mask, measure, seed=None):
        rows = [r for r in found.rows if (r["model"], r["mask"]) == (variant, mask) and seed in (None, r["train_seed"])]
        return np.mean([row["rec"] if measure == "rec" else row["ret"]["1"] for row in rows])

    assert {(one.variant, one.mask, one.measure) for one in found.differences} == {
        (variant, mask, measure)
        for variant in VARIANTS
        if variant != FULL
        for mask in (0.0, 0.3)
        for measure in ("rec", "ret_1")
    }
    for one in found.differences:
        key = (one.mask, one.measure)
        assert one.mean == pytest.approx(mean(FULL, *key) - mean(one.variant, *key))
        by_seed = [mean(FULL, *key, seed) - mean(one.variant, *key, seed) for seed in (0, 1)]
        assert one.by_training == pytest.approx(by_seed)
        assert one.deviation == pytest.approx(np.std(by_seed, ddof=1))
        assert one.low <= one.mean <= one.high
    assert any(one.low < one.high for one in found.differences)


def test_tables_stand_beside_the_papers_and_list_the_differences(ablated, tmp_path):
    _, found, _, _ = ablated
    text = in_words(found)
    for figure in ("94.05", "56.88", "57.50"):
        assert f" {figure} |" in text, "the paper's Ret@1 on DS3, of Tables 1, 3 and 4"
    assert "trained with seeds 0, 1" in text
    lines = [line for line in text.splitlines() if line.startswith("| mask 30 % | Ret@1 | no links |")]
    assert len(lines) == 1
    assert "±" in lines[0]
    write_ablation(found, tmp_path)
    assert (tmp_path / "ablation-beside-paper.md").read_text() == text
    assert json.loads((tmp_path / "ablation-differences.json").read_text()) == as_json(found)["differences"]
    assert {f"ablation{form}" for form in (".csv", ".json", ".md", ".tex")} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_paired_interval_equals_resampling_sketch_by_sketch():
    random = np.random.default_rng(0)
    differences = random.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 300, p=[0.1, 0.1, 0.4, 0.2, 0.2])
    means = [differences[random.integers(0, 300, 300)].mean() for _ in range(4000)]
    assert paired_interval(differences) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.006)
    assert paired_interval(np.full(20, 0.25)) == (0.25, 0.25)


def test_paired_interval_is_narrower_than_an_unpaired_one():
    """Sketches that both variants hit or miss alike say nothing of their difference."""
    random = np.random.default_rng(1)
    one = (random.random(1000) < 0.5).astype(float)
    other = one.copy()
    other[:30] = 0
    low, high = paired_interval(one - other)
    assert 0 < low < np.mean(one - other) < high
    assert high - low < 0.5 * 2 * 1.96 * np.sqrt(one.var() / 1000 + other.var() / 1000)


def test_without_links_no_patch_has_a_neighbour():
    valid = torch.tensor([[True, True, False]])
    adjacency = LINKS["none"](Nodes(torch.randn(1, 3, 4), valid, torch.rand(1, 3, 2)))
    assert adjacency.tolist() == [[[1, 0, 0], [0, 1, 0], [0, 0, 0]]]
    model = untrained(parse_config({"preset": "tiny", "model": {"links": "none"}}))
    graph = model.graph(doodle("cat", 1))
    assert (graph.adjacency == np.eye(len(graph))).all()


@pytest.mark.parametrize(
    ("model", "training", "masks", "categories", "message"),
    [
        ({"name": "sketch-rnn"}, {}, [0.0], None, "sketch-rnn has no synonymous links"),
        ({}, {"patience": 2}, [0.0], None, "patience"),
        ({"links": "temporal"}, {}, [0.0], None, "begin with both"),
        ({"clusters": 0}, {}, [0.0], None, "begin with both"),
        ({}, {}, [7.0], None, "probability"),
        ({}, {}, [0.0], ("bus", "cat"), "judge"),
    ],
)
def test_impossible_ablations_are_refused_before_training(
    tmp_path, make_judge, model, training, masks, categories, message
):
    judge = make_judge(categories) if categories else None
    with pytest.raises(UserError, match=message):
        ablate(config(tmp_path / "a", model, **training), Terms(masks=masks, judge=judge))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("jobs", [1, 2])
def test_last_variant_of_another_budget_is_refused_before_the_first_is_trained(tmp_path, jobs):
    last = tmp_path / "no-clustering" / "seed-0"
    last.mkdir(parents=True)
    (last / "config.json").write_text(json.dumps({"config": {"training": {"max_steps": 7}}}))
    watched = Watched()
    with pytest.raises(OtherBudget, match="seed-0 was trained with max_steps=7, not 2"):
        ablate(config(tmp_path), Terms(masks=[0.0]), jobs=jobs, display=Display(lambda _: watched))
    assert not watched.steps
    assert list(tmp_path.iterdir()) == [last.parent]


@pytest.mark.slow
def test_variants_trained_at_once_equal_those_trained_one_by_one(ablated, tmp_path):
    _, found, _, _ = ablated
    at_once = ablate(config(tmp_path), Terms(masks=[0.0]), jobs=2)
    alone = {row["model"]: row for row in found.rows if (row["mask"], row["seed"], row["train_seed"]) == (0.0, 0, 0)}
    assert [row["chamfer"] for row in at_once.rows] == [alone[row["model"]]["chamfer"] for row in at_once.rows]
    assert {one.deviation for one in at_once.differences} == {None}
    (tmp_path / "random-links" / "seed-0" / "last.safetensors").write_bytes(b"cut")
    with pytest.raises(UserError, match="random links, seed 0: "):
        ablate(config(tmp_path), Terms(masks=[0.0]), jobs=2)


def test_ablate_command_writes_tables_and_differences(ablated, call, tmp_path):
    """It reuses the runs that are there."""
    _, _, chosen, _ = ablated
    values = {**TINY, "run": chosen.run, "training": {"max_steps": 2, "validate_every": 2, "gallery": 0}}
    values["training"]["validate_sketches"] = 10
    (tmp_path / "config.yaml").write_text(json.dumps(values))  # JSON is YAML
    code, text, err = call("ablate", tmp_path / "config.yaml", "--train-seeds", 2, "--mask", 0, "--json")
    assert code == 0, err
    found = json.loads(text)
    assert len(found["rows"]) == 2 * len(VARIANTS)
    assert [one["measure"] for one in found["differences"]] == ["ret_1"] * (len(VARIANTS) - 1), "no Rec without a judge"
    assert (Path(chosen.run) / "ablation-beside-paper.md").exists()
