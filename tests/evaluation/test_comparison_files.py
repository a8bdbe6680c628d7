"""Tables, wall and curves of a comparison; those of earlier commands and of other terms stay."""

import json
from dataclasses import replace

from gra2seq.config.systems import SYSTEMS
from gra2seq.data.datasets import open_dataset
from gra2seq.evaluation.comparison_files import comparison, draw_curves, with_earlier, write_comparison, write_wall
from gra2seq.folder import load


def test_comparison_has_tables_wall_and_curves(compared, tmp_path):
    _, found, folder, _ = compared
    text = comparison(found)
    for name in SYSTEMS:
        assert text.count(f"| {name} |") == 3  # two masks, and what it costs
    assert "94.05" in text, "the paper's Ret@1 of SP-gra2seq on DS3"
    write_comparison(found, tmp_path)
    assert len(json.loads((tmp_path / "comparison.json").read_text())["rows"]) == 2 * len(SYSTEMS)
    models = {name: load(folder / name) for name in ("sketch-rnn", "sketch-lattice+")}
    write_wall(models, open_dataset("doodles:150"), tmp_path / "wall")
    draw_curves({name: folder / name for name in models}, 16, tmp_path / "curves")
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("wall.png", "wall.svg", "curves.png", "curves.svg"))


def test_deviation_ceiling_and_unknown_rate_are_shown(compared, tmp_path):
    _, (one, *_), _, _ = compared
    rows = [{**one.rows[0], "seed": seed, "rec": 0.5 + 0.1 * seed, "ceiling": 0.75} for seed in (0, 1)]
    found = [replace(one, rows=rows, rate=None, threads="all")]
    text = comparison(found)
    assert "| 55.00 ± 7.07 |" in text
    assert "ceiling of Rec 75.00 %" in text
    assert "| – | all |" in text.splitlines()[-1]
    write_comparison(found, tmp_path)
    assert json.loads((tmp_path / "comparison.json").read_text())["systems"][0]["sketches_per_second"] is None


def with_weights(folder, names):
    for name in names:
        (folder / name).mkdir()
        (folder / name / "model.safetensors").touch()


def test_systems_of_earlier_commands_on_the_same_terms_stay(compared, tmp_path):
    _, found, _, _ = compared
    by_name = {one.system: one for one in found}
    with_weights(tmp_path, ("song", "sketch-rnn"))
    for name in ("song", "sketch-rnn"):
        write_comparison([by_name[name]], tmp_path)
    assert with_earlier([by_name["sp-gra2seq"]], tmp_path) == [by_name[n] for n in ("sketch-rnn", "song", "sp-gra2seq")]
    again = replace(by_name["song"], parameters=1)
    assert with_earlier([again], tmp_path)[1] == again, "what is new counts"
    other = replace(by_name["song"], terms="of another judge")
    assert with_earlier([other], tmp_path) == [other]
    (tmp_path / "song" / "model.safetensors").unlink()
    assert with_earlier([by_name["sketch-rnn"]], tmp_path) == [by_name["sketch-rnn"]], "its run is gone"
    (tmp_path / "comparison.json").write_text('{"systems": [')
    assert with_earlier([other], tmp_path) == [other]


def test_tables_of_other_terms_are_kept_under_names_of_their_own(compared, tmp_path):
    """Whoever comes back to old terms finds what was known on them, however often they change."""
    _, found, _, _ = compared
    by_name = {one.system: one for one in found}
    with_weights(tmp_path, by_name)

    def systems_in(file):
        about = json.loads((tmp_path / file).read_text())
        assert {row["model"] for row in about["rows"]} == {one["model"] for one in about["systems"]}
        return {(one["model"], one["terms"]) for one in about["systems"]}

    def write_on(terms, *names):
        write_comparison([replace(by_name[name], terms=terms) for name in names], tmp_path)

    write_on("one", "song")
    tables = {path.suffix: path.read_text() for path in tmp_path.glob("comparison.*")}
    assert tables.keys() == {".md", ".json", ".csv", ".tex"}
    (tmp_path / "healed.png").write_text("a wall")
    (tmp_path / "curves.svg").write_text("curves")
    write_on("other", "song", "sketch-rnn")
    assert (tmp_path / "healed-one.png").read_text() == "a wall"
    assert (tmp_path / "curves-one.svg").read_text() == "curves"
    assert not (tmp_path / "healed.png").exists()
    assert {path.suffix: path.read_text() for path in tmp_path.glob("comparison-one.*")} == tables
    assert systems_in("comparison.json") == {("song", "other"), ("sketch-rnn", "other")}
    write_on("one", "sketch-lattice")
    assert systems_in("comparison.json") == {("song", "one"), ("sketch-lattice", "one")}
    assert systems_in("comparison-other.json") == {("song", "other"), ("sketch-rnn", "other")}
    write_on("other", "sp-gra2seq")
    assert systems_in("comparison-one.json") == {("song", "one"), ("sketch-lattice", "one")}
    assert systems_in("comparison.json") == {(name, "other") for name in ("song", "sketch-rnn", "sp-gra2seq")}
    assert "sketch-lattice" in (tmp_path / "comparison-one.csv").read_text()


def test_comparison_without_results_is_not_kept(compared, tmp_path):
    _, (one, *_), _, _ = compared
    write_comparison([replace(one, rows=[], error="it broke", terms="one")], tmp_path)
    write_comparison([replace(one, terms="other")], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"comparison{form}" for form in (".md", ".json", ".csv", ".tex")
    }
