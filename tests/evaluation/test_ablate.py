"""Three variants, each in a folder of its own, that differ in one switch; a second call reuses them."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest

from gra2seq.errors import UserError
from gra2seq.evaluation.ablate import PAPER_NAMES, VARIANTS, OtherBudget, ablate
from gra2seq.evaluation.judge import Judge
from gra2seq.evaluation.tables import beside_paper
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.options import options

TINY = {"preset": "tiny", "data": "doodles:150", "max_steps": 3, "workers": 0, "gallery": 0}


def test_variants_differ_in_one_switch_and_are_reused(tmp_path):
    chosen = options({**TINY, "run": str(tmp_path / "a")})
    reports = []
    rows = ablate(chosen, lambda _: nullcontext(reports.append), masks=[0.0, 0.3])
    assert [(row["model"], row["mask"]) for row in rows] == [(name, mask) for name in VARIANTS for mask in (0.0, 0.3)]
    configs = {path.parent.name: json.loads(path.read_text())["options"] for path in tmp_path.glob("a/*/config.json")}
    full = configs.pop("synonymous-links-clustering")
    for name, other in configs.items():
        changed = {key for key in full if full[key] != other[key]} - {"run"}
        assert changed == {{"random-links": "links", "no-clustering": "clusters"}[name]}
    trained = len([report for report in reports if not report.note])
    assert trained == 9
    assert ablate(chosen, lambda _: nullcontext(reports.append), masks=[0.0, 0.3]) == rows
    assert len([report for report in reports if not report.note]) == trained, "nothing is trained twice"
    with pytest.raises(UserError, match="max_steps=3, not 4"):
        ablate(replace(chosen, max_steps=4), lambda _: nullcontext(reports.append))
    text = beside_paper(rows, PAPER_NAMES)
    for figure in ("94.05", "56.88", "57.50"):
        assert f" {figure} |" in text, "the paper's Ret@1 on DS3, of Tables 1, 3 and 4"


@pytest.mark.parametrize(
    ("more", "masks", "categories", "said"),
    [
        ({"model": "sketch-rnn"}, [0.0], None, "sketch-rnn has no synonymous links"),
        ({"patience": 2}, [0.0], None, "patience"),
        ({"links": "synonymous-4"}, [0.0], None, "begin with both"),
        ({"clusters": 0}, [0.0], None, "begin with both"),
        ({}, [7.0], None, "probability"),
        ({}, [0.0], ("bus", "cat"), "judge"),
    ],
)
def test_what_cannot_work_is_said_before_training(tmp_path, more, masks, categories, said):
    judge = Judge(SketchANet(2), options({"model": "sketch-a-net"}).recipe(1.0, categories)) if categories else None
    chosen = options({**TINY, "run": str(tmp_path / "a"), **more})
    with pytest.raises(UserError, match=said):
        ablate(chosen, lambda _: nullcontext(lambda _: None), masks=masks, judge=judge)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_last_variant_of_another_budget_is_said_before_the_first_is_trained(tmp_path, jobs):
    last = tmp_path / "no-clustering"
    last.mkdir()
    (last / "config.json").write_text(json.dumps({"options": {"max_steps": 7}}))
    trained = []
    chosen = options({**TINY, "run": str(tmp_path)})
    with pytest.raises(OtherBudget, match="no-clustering was trained with max_steps=7, not 3"):
        ablate(chosen, lambda _: nullcontext(trained.append), masks=[0.0], jobs=jobs)
    assert not trained
    assert list(tmp_path.iterdir()) == [last]


def test_variants_trained_at_once_are_the_same(tmp_path):
    def run(folder, **more):
        chosen = options({**TINY, "threads": 1, "run": str(tmp_path / folder)})
        return ablate(chosen, lambda _: nullcontext(lambda _: None), masks=[0.0], **more)

    assert run("at-once", jobs=3) == run("alone")
    (tmp_path / "at-once" / "random-links" / "last.safetensors").write_bytes(b"cut")
    with pytest.raises(UserError, match="random links: "):
        run("at-once", jobs=2)
