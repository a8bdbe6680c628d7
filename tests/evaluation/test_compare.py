"""All systems through one command: alike in data and budget, reused the second time, failing one by one."""

import json
import signal
from contextlib import nullcontext
from dataclasses import dataclass, replace

import pytest
from gra2seq.options import SYSTEMS, Options, as_dict, options

from gra2seq.cli import main
from gra2seq.data.datasets import open_dataset
from gra2seq.data.doodles import doodle
from gra2seq.errors import UserError
from gra2seq.evaluation import compare as comparing
from gra2seq.evaluation.ablate import OtherBudget
from gra2seq.evaluation.compare import compare, comparison, draw_curves, with_earlier, write_comparison, write_wall
from gra2seq.evaluation.judge import Judge
from gra2seq.folder import load
from gra2seq.formats.files import write
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.training.loop import Stopped, train

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
    assert {one.judged_at for one in found} == {3 * 16}
    assert all(one.parameters > 1000 and one.rate > 0 for one in found)
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
    write_wall(models, open_dataset("doodles:150"), tmp_path / "wall")
    draw_curves({name: folder / name for name in models}, 16, tmp_path / "curves")
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("wall.png", "wall.svg", "curves.png", "curves.svg"))


def test_deviation_ceiling_and_a_rate_that_is_not_known(compared, tmp_path):
    _, (one, *_), _, _ = compared
    rows = [{**one.rows[0], "seed": seed, "rec": 0.5 + 0.1 * seed, "ceiling": 0.75} for seed in (0, 1)]
    found = [replace(one, rows=rows, rate=None)]
    text = comparison(found)
    assert "| 55.00 ± 7.07 |" in text
    assert "ceiling of Rec 75.00 %" in text
    assert "| – | all |" in text.splitlines()[-1]
    write_comparison(found, tmp_path)
    assert json.loads((tmp_path / "comparison.json").read_text())["systems"][0]["sketches_per_second"] is None


def silent(_):
    return nullcontext(lambda _: None)


def test_one_that_fails_is_reported_and_the_others_go_on(tmp_path, monkeypatch):
    said, kept = [], []
    real = comparing.train

    def train(options, **more):
        if options.model == "song":
            raise ValueError("it broke | here\nand there")
        return real(options, **more)

    monkeypatch.setattr(comparing, "train", train)
    found = compare(
        lambda name: options({**TINY, "model": name, "run": str(tmp_path / name)}),
        ["song", "sketch-pix2seq"],
        silent,
        masks=[0.0],
        report=said.append,
        done=lambda so_far: kept.append(len(so_far)),
    )
    assert "it broke" in found[0].error
    assert found[0].rows == []
    assert found[1].rows
    assert any("song failed" in text for text in said)
    assert kept == [1, 2]
    table = [line for line in comparison(found).splitlines() if "failed" in line]
    assert table == ["| song | picture, strokes | failed: ValueError: it broke \\| here | | | | | |"]
    assert "Traceback" in (tmp_path / "song" / "failed.txt").read_text()


def test_stopped_in_the_middle_it_goes_on(tmp_path):
    class Asked(Stopped):
        pass

    def options_of(name):
        return options({**TINY, "model": name, "run": str(tmp_path / name), "save_every": 1})

    def stop(picked):
        def watch(report):
            if picked.model == "sketch-lattice" and report.step == 2:
                raise Asked

        return nullcontext(watch)

    names = ["sketch-pix2seq", "sketch-lattice"]
    with pytest.raises(Asked):
        compare(options_of, names, stop, masks=[0.0])
    steps = []
    found = compare(options_of, names, lambda _: nullcontext(lambda r: r.note or steps.append(r.step)), masks=[0.0])
    assert steps == [3], "only what was missing is trained"
    assert [one.error for one in found] == ["", ""]
    fresh = compare(
        lambda name: options({**TINY, "model": name, "run": str(tmp_path / "fresh" / name)}), names, silent, masks=[0.0]
    )
    assert [one.rows for one in fresh] == [one.rows for one in found]


@pytest.mark.parametrize(
    ("more", "masks", "said"),
    [
        ({"max_minutes": 1}, [0.0], "max_minutes"),
        ({"patience": 2}, [0.0], "patience"),
        ({"links": "temporal"}, [0.0], "makes sketch-healer what it is"),
        ({}, [1.5], "probability"),
        ({"snap": 8}, [0.0], "snap"),
        ({"start": "shipped"}, [0.0], "start gives each run"),
        ({"where": "canvas"}, [0.0], "which sketch-pix2seq has not: give where=untold"),
        ({"data": "nowhere.ndjson"}, [0.0], "nowhere"),
    ],
)
def test_what_would_not_be_equal_or_cannot_work_is_said_at_once(tmp_path, more, masks, said):
    trained = []
    with pytest.raises(UserError, match=said):
        compare(
            lambda name: options({**TINY, "model": name, "run": str(tmp_path / name), **more}),
            ["sketch-pix2seq", "sketch-healer"],
            lambda _: nullcontext(trained.append),
            masks=masks,
        )
    assert not trained
    assert not list(tmp_path.iterdir())


def test_another_judge_is_said_at_once(tmp_path):
    judge = Judge(SketchANet(2), options({"model": "sketch-a-net"}).recipe(1.0, ("bus", "cat")))
    with pytest.raises(UserError, match="train a judge on the same categories"):
        compare(lambda _: options({**TINY, "run": str(tmp_path)}), ["sp-gra2seq"], silent, judge=judge)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_of_another_length_is_said_before_another_is_trained(compared, tmp_path, jobs):
    _, _, folder, _ = compared
    places = {"sketch-lattice": tmp_path / "new", "sketch-rnn": folder / "sketch-rnn"}
    with pytest.raises(OtherBudget, match="sketch-rnn was trained with max_steps=3, not 2"):
        compare(
            lambda name: options({**TINY, "max_steps": 2, "model": name, "run": str(places[name])}),
            list(places),
            silent,
            masks=[0.0],
            jobs=jobs,
        )
    assert not list(tmp_path.iterdir())


def test_a_run_that_was_made_longer_or_record_that_is_none_is_not_reused(tmp_path):
    def found(**more):
        options_of = {**TINY, "model": "sketch-rnn", "run": str(tmp_path), **more}
        return compare(lambda _: options(options_of), ["sketch-rnn"], silent, masks=[0.0])[0]

    train(options({**TINY, "model": "sketch-rnn", "run": str(tmp_path), "max_steps": 2, "validate_every": 2}))
    train(options({**TINY, "model": "sketch-rnn", "run": str(tmp_path), "validate_every": 2}), resume=True)
    with pytest.raises(OtherBudget, match="max_steps=2, not 3"):  # its learning rate had fallen once already
        found(validate_every=2)
    with pytest.raises(OtherBudget, match="max_steps=2, not 3"):
        found()
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(OtherBudget, match="validate_every=2, not 3"):  # of more weights the best were taken
        found()
    (tmp_path / "config.json").write_text("{}")
    assert "lacks 'options'" in found().error


def test_a_signal_ends_it_with_130_and_the_same_command_goes_on(tmp_path, monkeypatch, capsys):
    (tmp_path / "config.yaml").write_text(json.dumps(TINY))
    words = ["max_steps=6", f"run={tmp_path / 'all'}", "--mask", "0", "--systems", "sketch-lattice"]
    monkeypatch.setattr("sys.argv", ["gra2seq", "compare", str(tmp_path / "config.yaml"), *words])
    real = comparing.train

    def train_until(options, **more):
        def watch(report):
            if report.step == 2:
                signal.raise_signal(signal.SIGTERM)

        return real(options, **{**more, "watch": watch})

    for way, code in ((train_until, 130), (real, 0)):
        monkeypatch.setattr(comparing, "train", way)
        with pytest.raises(SystemExit) as end:
            main()
        assert (end.value.code or 0) == code
        assert ("the same command goes on" in capsys.readouterr().err) == (code == 130)
    assert json.loads((tmp_path / "all" / "comparison.json").read_text())["systems"][0]["sketches_seen"] == 96


def test_what_earlier_commands_found_on_the_same_terms_stays(compared, tmp_path):
    _, found, _, _ = compared
    by_name = {one.system: one for one in found}
    for name in ("song", "sketch-rnn"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").touch()
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


def test_tables_of_other_terms_keep_their_figures_under_a_name_of_their_own(compared, tmp_path):
    """And those who come back to old terms find what was known on them, however often they change."""
    _, found, _, _ = compared
    by_name = {one.system: one for one in found}
    for name in by_name:
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").touch()

    def told(file):
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
    assert told("comparison.json") == {("song", "other"), ("sketch-rnn", "other")}
    write_on("one", "sketch-lattice")
    assert told("comparison.json") == {("song", "one"), ("sketch-lattice", "one")}
    assert told("comparison-other.json") == {("song", "other"), ("sketch-rnn", "other")}
    write_on("other", "sp-gra2seq")
    assert told("comparison-one.json") == {("song", "one"), ("sketch-lattice", "one")}
    assert told("comparison.json") == {(name, "other") for name in ("song", "sketch-rnn", "sp-gra2seq")}
    assert "sketch-lattice" in (tmp_path / "comparison-one.csv").read_text()


def test_a_comparison_that_found_nothing_is_not_kept(compared, tmp_path):
    _, (one, *_), _, _ = compared
    write_comparison([replace(one, rows=[], error="it broke", terms="one")], tmp_path)
    write_comparison([replace(one, terms="other")], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"comparison{form}" for form in (".md", ".json", ".csv", ".tex")
    }


def test_an_option_that_is_new_changes_no_terms_unless_it_is_used(monkeypatch):
    @dataclass(frozen=True)
    class Newer(Options):
        brand_new: int = 1

    old = options({**TINY, "model": "sketch-rnn"})
    before = comparing._terms({"sketch-rnn": old}, [0.0], [0], None)
    monkeypatch.setattr(comparing, "Options", Newer)
    newer = Newer(**{**as_dict(old), "channels": old.channels})
    assert comparing._terms({"sketch-rnn": newer}, [0.0], [0], None) == before
    assert comparing._terms({"sketch-rnn": replace(newer, brand_new=2)}, [0.0], [0], None) != before


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"masks": [0.0]},
        {"seeds": (1,)},
        {"seed": 1},
        {"max_steps": 2},
        {"tries": 2},
        {"steer": 2},
        {"embedding": 4},
        {"data": "doodles:151"},
    ],
    ids=str,
)
def test_other_terms_are_told_apart(compared, tmp_path, more):
    _, found, _, _ = compared
    alike = {key: more[key] for key in ("masks", "seeds") if key in more}
    changed = {**TINY, **{key: value for key, value in more.items() if key not in alike}}
    other = compare(
        lambda name: options({**changed, "model": name, "run": str(tmp_path / name)}),
        ["sketch-lattice"],
        silent,
        **{"masks": [0.0, 0.3], **alike},
    )
    assert (other[0].terms == found[0].terms) == (more == {}), "of one system alone as of all nine"


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_is_trained_used_and_judged_on_the_command_line(compared, name, tmp_path, monkeypatch, capsys):
    _, found, folder, _ = compared

    def call(*words):
        monkeypatch.setattr("sys.argv", ["gra2seq", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code

    write(tmp_path / "cat.svg", [("", doodle("cat", 1))])
    for words in (["heal", "--mask-prob", "0.3"], ["redraw"]):
        target = tmp_path / f"{words[0]}.svg"
        call(words[0], tmp_path / "cat.svg", *words[1:], "-m", folder / name, "-o", target)
        assert target.stat().st_size > 50
    capsys.readouterr()
    call("evaluate", folder / name, "--data", "doodles:150", "--mask", "0", "-o", tmp_path / "judged", "--json")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    expected = next(one.rows[0] for one in found if one.system == name)
    assert row == {**expected, "model": row["model"]}, "judged as in the comparison"
    (tmp_path / "config.yaml").write_text(json.dumps({**TINY, "max_steps": 1}))  # JSON is YAML
    call("train", tmp_path / "config.yaml", f"model={name}", f"run={tmp_path / 'run'}")
    assert load(tmp_path / "run").options.model == name


def test_an_unknown_system_is_said_before_anything_is_trained():
    with pytest.raises(UserError, match="one of sketch-rnn"):
        compare(lambda _: options({}), ["sketch-rn"], lambda _: nullcontext(lambda _: None))


def test_trained_at_once_they_are_judged_alike_and_each_failure_is_its_own(tmp_path):
    def options_of(name):
        return options({**TINY, "threads": 1, "model": name, "run": str(tmp_path / name)})

    (tmp_path / "song").mkdir()
    (tmp_path / "song" / "config.json").write_text("{}")
    seen = []
    found = compare(
        options_of,
        ["sketch-rnn", "song", "sketch-lattice"],
        lambda _: nullcontext(lambda report: seen.append(report.note)),
        masks=[0.0],
        jobs=2,
        show_all=lambda: nullcontext(lambda name, _: seen.append(name)),
    )
    assert {"sketch-rnn", "sketch-lattice"} <= set(seen)
    assert all("is finished" in note for note in seen if note not in SYSTEMS), "what is judged was trained at once"
    assert [bool(one.error) for one in found] == [False, True, False]
    assert "lacks 'options'" in found[1].error
    alone = compare(
        lambda name: replace(options_of(name), run=str(tmp_path / "alone" / name)),
        ["sketch-lattice"],
        lambda _: nullcontext(lambda _: None),
        masks=[0.0],
    )
    assert alone[0].rows == found[2].rows
