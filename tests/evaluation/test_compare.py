"""All systems trained and judged alike, reused the second time, failing one by one."""

import json
import signal
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace

import pytest

from gra2seq.cli import main
from gra2seq.config import RunConfig, parse_config
from gra2seq.config.fields import option
from gra2seq.config.parse import merge
from gra2seq.config.systems import SYSTEMS
from gra2seq.data.doodles import doodle
from gra2seq.errors import UserError
from gra2seq.evaluation import compare as comparing
from gra2seq.evaluation import equal_terms
from gra2seq.evaluation.compare import compare
from gra2seq.evaluation.comparison_files import comparison
from gra2seq.evaluation.equal_terms import Display, OtherBudget, digest
from gra2seq.evaluation.protocol import Terms
from gra2seq.folder import load
from gra2seq.training.loop import Stopped, train

TINY = {
    "preset": "tiny",
    "data": "doodles:150",
    "workers": 0,
    "threads": 1,
    "training": {"max_steps": 3, "validate_every": 3, "validate_sketches": 10, "gallery": 0},
}


def config(name, folder, **changes):
    return parse_config(merge({**TINY, "model": {"name": name}, "run": str(folder)}, changes))


def in_folder(folder, **changes):
    """The configuration of each system, in a folder of its own."""
    return lambda name: config(name, folder / name, **changes)


def watched(on_step):
    return Display(lambda _config: nullcontext(on_step))


def test_all_systems_are_trained_and_judged_alike(compared):
    _, found, folder, _ = compared
    assert [one.system for one in found] == list(SYSTEMS)
    assert len(found) == 11
    assert not [one.error for one in found if one.error]
    assert {one.sketches for one in found} == {3 * 16}
    assert {one.judged_at for one in found} == {3 * 16}
    assert all(one.parameters > 1000 and one.rate > 0 for one in found)
    assert {row["sketches"] for one in found for row in one.rows} == {found[0].rows[0]["sketches"]}
    assert {row["sees"] for one in found for row in one.rows} == {"code"}
    configs = {name: load(folder / name).config for name in SYSTEMS}
    ours = configs["sp-gra2seq"]
    for name, other in configs.items():
        own = {key for section in SYSTEMS[name].defaults.values() for key in section} | {"name", "reader"}
        for section in ("model", "preparation", "drawing", "training"):
            for field in fields(getattr(ours, section)):
                if field.name not in own:
                    assert getattr(getattr(other, section), field.name) == getattr(getattr(ours, section), field.name)
        assert (other.seed, other.data) == (ours.seed, ours.data)


def test_sketch_healer_2_reads_with_the_sketch_rnn_of_the_same_folder(compared):
    _, found, folder, _ = compared
    assert load(folder / "sketch-healer-2").config.training.reader == str(folder / "sketch-rnn")
    assert {one.system: one.reader for one in found if one.reader} == {"sketch-healer-2": "sketch-rnn"}
    assert "sketch-healer-2 reads its drawings with the stroke encoder of the trained sketch-rnn." in comparison(found)
    encoder, reader = (load(folder / name).network.state_dict() for name in ("sketch-rnn", "sketch-healer-2"))
    name = "read.forwards.weight_hh_l0"
    assert (encoder[f"encoder.{name}"] == reader[f"extra.{name}"]).all()


def test_reader_can_be_random_and_stays_as_the_run_began(tmp_path):
    messages, names = [], ["sketch-healer-2", "sketch-rnn"]
    display = Display(message=messages.append)
    found = compare(in_folder(tmp_path, training={"reader": "none"}), names, Terms(masks=[0.0]), display=display)
    assert [(one.system, one.reader, one.error) for one in found] == [(names[0], "random", ""), (names[1], "", "")]
    assert "sketch-healer-2 reads its drawings with random weights." in comparison(found)
    assert not [text for text in messages if "random weights" in text], "it was asked for"
    again, _ = compare(in_folder(tmp_path), names, Terms(masks=[0.0]))
    assert again.reader == "random", "a run goes on as it began"
    (alone,) = compare(in_folder(tmp_path / "b"), names[:1], Terms(masks=[0.0]), display=display)
    assert alone.reader == "random"
    assert any("reads with random weights: there is no finished sketch-rnn" in text for text in messages)
    assert alone.terms != found[0].terms


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_reader_is_trained_before_the_system_that_reads(tmp_path, jobs):
    names = ["sketch-healer-2", "sketch-rnn"]
    found = compare(in_folder(tmp_path), names, Terms(masks=[0.0]), jobs=jobs)
    assert [(one.system, one.reader, one.error) for one in found] == [(names[0], "sketch-rnn", ""), (names[1], "", "")]


def test_second_call_reuses_trained_systems(compared):
    run, found, _, reports = compared
    before = len([report for report in reports if not report.note])
    assert [one.rows for one in run()] == [one.rows for one in found]
    assert len([report for report in reports if not report.note]) == before


def test_failing_system_is_reported_and_the_others_go_on(tmp_path, monkeypatch):
    messages, kept = [], []
    real = comparing.train

    def break_song(chosen, **more):
        if chosen.model.name == "song":
            raise ValueError("it broke | here\nand there")
        return real(chosen, **more)

    monkeypatch.setattr(comparing, "train", break_song)
    found = compare(
        in_folder(tmp_path),
        ["song", "sketch-pix2seq"],
        Terms(masks=[0.0]),
        display=Display(message=messages.append),
        done=lambda so_far: kept.append(len(so_far)),
    )
    assert "it broke" in found[0].error
    assert found[0].rows == []
    assert found[1].rows
    assert any("song failed" in text for text in messages)
    assert kept == [1, 2]
    table = [line for line in comparison(found).splitlines() if "failed" in line]
    assert table == ["| song | picture, strokes | failed: ValueError: it broke \\| here | | | | | |"]
    assert "Traceback" in (tmp_path / "song" / "failed.txt").read_text()


def test_stopped_comparison_goes_on_where_it_was(tmp_path):
    class Asked(Stopped):
        pass

    def stop(chosen):
        def on_step(report):
            if chosen.model.name == "sketch-lattice" and report.step == 2:
                raise Asked

        return nullcontext(on_step)

    names, chosen = ["sketch-pix2seq", "sketch-lattice"], in_folder(tmp_path, training={"save_every": 1})
    with pytest.raises(Asked):
        compare(chosen, names, Terms(masks=[0.0]), display=Display(stop))
    steps = []
    found = compare(chosen, names, Terms(masks=[0.0]), display=watched(lambda r: r.note or steps.append(r.step)))
    assert steps == [3], "only what was missing is trained"
    assert [one.error for one in found] == ["", ""]
    fresh = compare(in_folder(tmp_path / "fresh"), names, Terms(masks=[0.0]))
    assert [one.rows for one in fresh] == [one.rows for one in found]


@pytest.mark.parametrize(
    ("changes", "masks", "message"),
    [
        ({"training": {"max_minutes": 1}}, [0.0], "max_minutes"),
        ({"training": {"patience": 2}}, [0.0], "patience"),
        ({"model": {"links": "temporal"}}, [0.0], "model.links makes sketch-healer what it is"),
        ({}, [1.5], "probability"),
        ({"start": "package"}, [0.0], "start would give each run"),
        ({"model": {"node_position": "canvas"}}, [0.0], "node_position=canvas is for gra2seq-plus"),
        ({"data": "nowhere.ndjson"}, [0.0], "nowhere"),
    ],
)
def test_unequal_or_impossible_terms_are_refused_before_training(tmp_path, changes, masks, message):
    trained = []
    with pytest.raises(UserError, match=message):
        compare(
            in_folder(tmp_path, **changes),
            ["sketch-pix2seq", "sketch-healer"],
            Terms(masks=masks),
            display=watched(trained.append),
        )
    assert not trained
    assert not list(tmp_path.iterdir())


def test_systems_with_different_options_are_not_compared(tmp_path):
    sizes = {"sketch-rnn": 32, "sketch-lattice": 64}

    def chosen(name):
        return config(name, tmp_path / name, model={"hidden": sizes[name]})

    with pytest.raises(UserError, match=r"model\.hidden is 32 for sketch-rnn and 64 for sketch-lattice"):
        compare(chosen, list(sizes))


def test_judge_of_other_categories_is_refused_before_training(tmp_path, make_judge):
    with pytest.raises(UserError, match="train a judge on the same categories"):
        compare(in_folder(tmp_path), ["sp-gra2seq"], Terms(judge=make_judge(("bus", "cat"))))
    assert not list(tmp_path.iterdir())


def test_systems_are_evaluated_on_a_named_part_of_their_data(tmp_path, make_judge):
    judge = make_judge(("bee", "bus", "flower", "giraffe", "pig"))
    whole, part = (
        compare(in_folder(tmp_path), ["sketch-pix2seq"], Terms(masks=[0.0], judge=own, dataset=name))[0]
        for own, name in ((None, None), (judge, "DS1"))
    )
    assert (len(whole.rows[0]["categories"]), whole.rows[0]["rec"]) == (15, None)
    assert part.rows[0]["categories"] == list(judge.categories)
    assert part.rows[0]["rec"] is not None
    assert part.terms != whole.terms


def test_evaluation_on_categories_that_are_not_trained_is_refused_before_training(tmp_path):
    with pytest.raises(UserError, match="DS3 holds car, which is not in the training data, DS1"):
        compare(in_folder(tmp_path, dataset="DS1"), ["sp-gra2seq"], Terms(dataset="DS3"))
    assert not list(tmp_path.iterdir())


def test_unknown_system_is_refused():
    with pytest.raises(UserError, match=r"there is no system .*did you mean sketch-rnn"):
        compare(lambda _: RunConfig(), ["sketch-rn"])


@pytest.mark.parametrize("jobs", [1, 2])
def test_run_of_another_length_is_refused_before_another_is_trained(compared, tmp_path, jobs):
    _, _, folder, _ = compared
    places = {"sketch-lattice": tmp_path / "new", "sketch-rnn": folder / "sketch-rnn"}
    with pytest.raises(OtherBudget, match="sketch-rnn was trained with max_steps=3, not 2"):
        compare(
            lambda name: config(name, places[name], training={"max_steps": 2}),
            list(places),
            Terms(masks=[0.0]),
            jobs=jobs,
        )
    assert not list(tmp_path.iterdir())


def test_run_that_was_made_longer_is_not_reused(tmp_path):
    def found(**training):
        return compare(lambda name: config(name, tmp_path, training=training), ["sketch-rnn"], Terms(masks=[0.0]))[0]

    train(config("sketch-rnn", tmp_path, training={"max_steps": 2, "validate_every": 2}))
    train(config("sketch-rnn", tmp_path, training={"validate_every": 2}), resume=True)
    with pytest.raises(OtherBudget, match="max_steps=2, not 3"):  # its learning rate had fallen once already
        found(validate_every=2)
    with pytest.raises(OtherBudget, match="max_steps=2, not 3"):
        found()
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(OtherBudget, match="validate_every=2, not 3"):  # the best of more weights was taken
        found()
    (tmp_path / "config.json").write_text("{}")
    assert "lacks 'config'" in found().error


def test_signal_ends_the_command_with_130_and_the_same_command_goes_on(tmp_path, monkeypatch, capsys):
    (tmp_path / "config.yaml").write_text(json.dumps(TINY))  # JSON is YAML
    words = ["max_steps=6", f"run={tmp_path / 'all'}", "--mask", "0", "--systems", "sketch-lattice"]
    monkeypatch.setattr("sys.argv", ["gra2seq", "compare", str(tmp_path / "config.yaml"), *words])
    real = comparing.train

    def train_until(chosen, **more):
        def on_step(report):
            if report.step == 2:
                signal.raise_signal(signal.SIGTERM)

        return real(chosen, **{**more, "on_step": on_step})

    for way, code in ((train_until, 130), (real, 0)):
        monkeypatch.setattr(comparing, "train", way)
        with pytest.raises(SystemExit) as end:
            main()
        assert (end.value.code or 0) == code
        assert ("the same command goes on" in capsys.readouterr().err) == (code == 130)
    assert json.loads((tmp_path / "all" / "comparison.json").read_text())["systems"][0]["sketches_seen"] == 96
    assert {"healed.png", "healed.svg", "curves.png", "curves.svg"} <= {
        path.name for path in (tmp_path / "all").iterdir()
    }


def test_new_option_changes_the_digest_only_if_it_is_used(monkeypatch):
    @dataclass(frozen=True)
    class Newer(RunConfig):
        brand_new: int = option(1, "an option that older runs do not have")

    old = config("sketch-rnn", "runs/x")
    before = digest({"sketch-rnn": old}, Terms(), "code")
    monkeypatch.setattr(equal_terms, "RunConfig", Newer)
    newer = Newer(**{field.name: getattr(old, field.name) for field in fields(old)})
    assert digest({"sketch-rnn": newer}, Terms(), "code") == before
    assert digest({"sketch-rnn": replace(newer, brand_new=2)}, Terms(), "code") != before


@pytest.mark.parametrize(
    ("changes", "terms", "draw"),
    [
        ({}, {}, "code"),
        ({}, {"masks": [0.0]}, "code"),
        ({}, {"seeds": (1,)}, "code"),
        ({}, {"squares": [0.4]}, "code"),
        ({}, {}, "guided"),
        ({"seed": 1}, {}, "code"),
        ({"training": {"max_steps": 2}}, {}, "code"),
        ({"drawing": {"temperature": 0.5}}, {}, "code"),
        ({"model": {"embedding": 4}}, {}, "code"),
        ({"data": "doodles:151"}, {}, "code"),
        ({"training": {"reader": "none"}}, {}, "code"),
    ],
    ids=str,
)
def test_digest_differs_for_other_terms(compared, changes, terms, draw):
    _, found, folder, _ = compared
    chosen = {"sketch-lattice": config("sketch-lattice", folder / "sketch-lattice", **changes)}
    own = digest(chosen, replace(Terms(masks=[0.0, 0.3]), **terms), draw)
    same = not changes and not terms and draw == "code"
    assert (own == found[0].terms) == same, "and is the same of one system as of all"


def test_digest_does_not_depend_on_free_options(compared):
    _, found, folder, _ = compared
    chosen = {"song": config("song", folder / "moved", threads=3, workers=2, training={"save_every": 7})}
    assert digest(chosen, Terms(masks=[0.0, 0.3]), "code") == found[0].terms


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_compared_system_heals_redraws_and_is_evaluated_alike(compared, call, name, tmp_path):
    _, found, folder, _ = compared
    model = load(folder / name)
    assert len(model.heal(doodle("cat", 1), mask_prob=0.3)) > 0
    assert len(model.redraw(doodle("cat", 1))) > 0
    words = ["evaluate", folder / name, "--data", "doodles:150", "--mask", "0", "--sheet-size", "2"]
    code, text, err = call(*words, "-o", tmp_path / "judged", "--json")
    assert code == 0, err
    (row,) = json.loads(text)["rows"]
    expected = next(one.rows[0] for one in found if one.system == name)
    assert row == {**expected, "model": row["model"]}, "judged as in the comparison"


@pytest.mark.slow
def test_trainings_at_once_give_the_same_rows_and_fail_one_by_one(compared, tmp_path):
    _, alone, _, _ = compared
    (tmp_path / "song").mkdir()
    (tmp_path / "song" / "config.json").write_text("{}")
    seen = []
    found = compare(
        in_folder(tmp_path),
        ["sketch-rnn", "song", "sketch-lattice"],
        Terms(masks=[0.0, 0.3]),
        jobs=2,
        display=Display(
            lambda _: nullcontext(lambda report: seen.append(report.note)),
            lambda: nullcontext(lambda name, _: seen.append(name)),
        ),
    )
    assert {"sketch-rnn", "sketch-lattice"} <= set(seen)
    assert all("is finished" in note for note in seen if note not in SYSTEMS), "what is judged was trained before"
    assert [bool(one.error) for one in found] == [False, True, False]
    assert "lacks 'config'" in found[1].error
    by_name = {one.system: one for one in alone}
    assert found[0].rows == by_name["sketch-rnn"].rows
    assert found[2].rows == by_name["sketch-lattice"].rows


def test_compare_draws_guided_with_the_option(compared):
    _, _, folder, _ = compared
    (found,) = compare(in_folder(folder), ["sketch-lattice"], Terms(masks=[0.0]), draw="guided")
    assert {(row["sees"], row["best_of"]) for row in found.rows} == {("guided", 3)}
