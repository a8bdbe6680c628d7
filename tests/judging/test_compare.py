"""All systems through one command: alike in data and budget, reused the second time, failing one by one."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest

from gra2seq.data.datasets import open_dataset
from gra2seq.errors import UserError
from gra2seq.judging.compare import compare, comparison, draw_curves, write_comparison, write_wall
from gra2seq.model import load
from gra2seq.options import SYSTEMS, options

TINY = {"preset": "tiny", "data": "doodles:150", "max_steps": 3, "validate_every": 3, "workers": 0, "gallery": 0}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    reports = []

    def run():
        return compare(
            lambda name: options({**TINY, "model": name, "run": str(folder / name)}),
            list(SYSTEMS),
            lambda _: nullcontext(reports.append),
            masks=[0.0, 0.3],
        )

    return run, run(), folder, reports


def test_all_nine_are_trained_and_judged_alike(compared):
    _, found, folder, _ = compared
    assert [one.system for one in found] == list(SYSTEMS)
    assert not [one.error for one in found if one.error]
    assert {one.sketches for one in found} == {3 * 16}
    assert {row["sketches"] for one in found for row in one.rows} == {found[0].rows[0]["sketches"]}
    configs = [json.loads((folder / name / "config.json").read_text())["options"] for name in SYSTEMS]
    for key in ("seed", "data", "batch", "max_steps", "learning_rate", "hidden", "code", "mask"):
        assert len({config[key] for config in configs}) == 1, key


def test_a_second_call_reuses_what_is_there(compared):
    run, found, _, reports = compared
    before = len([report for report in reports if not report.note])
    assert [one.rows for one in run()] == [one.rows for one in found]
    assert len([report for report in reports if not report.note]) == before


def test_tables_gallery_and_curves(compared, tmp_path):
    _, found, folder, _ = compared
    text = comparison(found)
    for name in SYSTEMS:
        assert text.count(f"| {name} |") == 3  # two masks, and what it costs
    assert "94.05" in text, "the paper's Ret@1 of SP-gra2seq on DS3"
    write_comparison(found, tmp_path)
    assert len(json.loads((tmp_path / "comparison.json").read_text())["rows"]) == 18
    models = {name: load(folder / name) for name in ("sketch-rnn", "sketch-lattice+")}
    write_wall(models, open_dataset("doodles:150"), tmp_path / "wall.png")
    draw_curves({name: folder / name for name in models}, 16, tmp_path / "curves.png")
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("wall.png", "curves.png"))


def test_one_that_fails_is_reported_and_the_others_go_on(tmp_path):
    said = []

    def options_of(name):
        picked = options({**TINY, "model": name, "run": str(tmp_path / name)})
        return replace(picked, max_points=1) if name == "song" else picked

    found = compare(
        options_of, ["song", "sketch-pix2seq"], lambda _: nullcontext(lambda _: None), masks=[0.0], report=said.append
    )
    assert "max_points" in found[0].error
    assert found[0].rows == []
    assert found[1].rows
    assert "song failed" in said[0]
    assert "failed" in comparison(found)


def test_an_unknown_system_is_said_before_anything_is_trained():
    with pytest.raises(UserError, match="one of sketch-rnn"):
        compare(lambda _: options({}), ["sketch-rn"], lambda _: nullcontext(lambda _: None))
