"""Three variants, each in a folder of its own, that differ in one switch; a second call reuses them."""

import json
from contextlib import nullcontext

from gra2seq.judging.ablate import VARIANTS, ablate
from gra2seq.options import options


def test_variants_differ_in_one_switch_and_are_reused(tmp_path):
    chosen = options(
        {
            "preset": "tiny",
            "data": "doodles:150",
            "run": str(tmp_path / "a"),
            "max_steps": 3,
            "workers": 0,
            "gallery": 0,
        }
    )
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
