"""Configurations: presets, sections, files, changes, and errors that say what to do."""

import dataclasses
from pathlib import Path

import pytest

import gra2seq
from gra2seq.config import DrawingConfig, ModelConfig, RunConfig, as_dict, parse_config, read_config
from gra2seq.config.parse import SECTIONS, read_changes
from gra2seq.config.presets import PRESETS
from gra2seq.config.systems import SYSTEMS
from gra2seq.errors import UserError
from gra2seq.folder import PACKAGE_FOLDER
from gra2seq.models.registry import build
from gra2seq.training.manifest import check_same_model
from options_by_name import by_section, config_of


def test_the_default_is_the_paper():
    paper = parse_config({})
    assert paper == RunConfig()
    assert (paper.preparation.nodes, paper.training.batch) == (20, 256)
    assert (paper.model.cluster_rate, paper.model.cluster_weight, paper.model.mixtures) == (0.05, 0.25, 20)
    assert (paper.training.learning_rate, paper.training.decay, paper.model.hidden) == (1e-3, 0.95, 1024)


def test_file_then_changes(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("preset: small\nseed: 3\nmodel:\n  links: spatial\ntraining:\n  learning_rate: 1e-4\n")
    changes = ["seed=5", "links=random", "model.min_log_std=-3", "run=runs/a=b", "drawing.seed=7", "batch=8"]
    config = read_config(path, changes)
    assert (config.seed, config.drawing.seed) == (5, 7)
    assert (config.model.links, config.model.hidden, config.model.min_log_std) == ("random", 512, -3.0)
    assert (config.training.learning_rate, config.training.batch) == (1e-4, 8)
    assert config.run == "runs/a=b"
    assert parse_config(as_dict(config)) == config


def test_a_system_may_be_named_shortly():
    for values in ({"model": "song"}, {"model": {"name": "song"}}, read_changes(["model=song"])):
        assert parse_config(values).model.name == "song"
    assert read_changes(["model=song", "hidden=9"]) == {"model": {"name": "song", "hidden": 9}}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_brings_its_own_defaults_and_a_preset_or_option_overrides_them(name):
    defaults = SYSTEMS[name].defaults
    config = parse_config({"model": name})
    for section, values in defaults.items():
        for option, value in values.items():
            assert getattr(getattr(config, section), option) == value
    assert parse_config({"model": {"name": name}, "preset": "tiny"}).preparation.side == 80
    assert parse_config({"model": {"name": name, "corner": 0.25}}).model.corner == 0.25


@pytest.mark.parametrize("preset", PRESETS)
def test_configurations_survive_json(preset):
    config = parse_config({"preset": preset})
    values = as_dict(config)
    assert isinstance(values["model"]["channels"], list)
    assert parse_config(values) == config
    assert set(values) == {field.name for field in dataclasses.fields(RunConfig)}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"hiden": 3}, "did you mean 'hidden'"),
        ({"preset": "big"}, "there is no preset 'big': known: package, paper"),
        ({"seed": 1.5}, "whole number"),
        ({"seed": -1}, "seed=-1 must be at least 0"),
        ({"batch": "many"}, "whole number"),
        ({"batch": 0}, "at least 1"),
        ({"mask": 1.0}, "mask=1.0 must be less than 1"),
        ({"mask": 0.2, "mask_to": 0.1}, "mask_to=0.1 must not be less than mask=0.2"),
        ({"mask_to": 1.0}, "mask_to"),
        ({"rectangle": 0.5, "eraser": 0.4, "end": 0.2}, "together at most 1"),
        ({"end": 1.1}, "end=1.1 must be at most 1"),
        ({"clip": "hard"}, "clip='hard' is not one of variable-norm"),
        ({"channels": [8, 8]}, "three to nine"),
        ({"channels": 8}, "list"),
        ({"channels": "888"}, "list"),
        ({"learning_rate": None}, "number"),
        ({"pen_position": 1}, "true or false"),
        ({"lr_schedule": "never"}, "epochs, cosine, steps"),
        ({"sigma_temperature": "square"}, "root, linear"),
        ({"warm_up": -1}, "at least 0"),
        ({"save_every": 0}, "at least 1"),
        ({"validate_sketches": 0}, "at least 1"),
        ({"max_steps": 0}, "at least 1"),
        ({"workers": -1}, "at least 0"),
        ({"clusters": -1}, "at least 0"),
        ({"cluster_form": "cosine"}, "euclidean, squared"),
        ({"learning_rate": float("nan")}, "finite"),
        ({"learning_rate": float("inf")}, "finite"),
        ({"corner": 1e39}, "too large for single precision"),
        ({"learning_rate": 0}, "more than 0"),
        ({"decay": -1}, "more than 0"),
        ({"clip_at": 0}, "more than 0"),
        ({"precision": "64"}, "32-true"),
        ({"accelerator": "foo"}, "cpu"),
        ({"channels": [8, 8, 8, 0]}, "1 to 8192 channels"),
        ({"batch": 15, "devices": 2}, "multiple"),
        ({"channels": [8, 8, 8, 8.5]}, "whole number"),
        ({"channels": [8, 8, 8, True]}, "whole number"),
        ({"seed": 2**63}, "at most"),
        ({"threads": 1025}, "threads=1025 must be at most 1024"),
        ({"workers": 1025}, "at most 1024"),
        ({"batch": 2**16 + 1}, "at most 65536"),
        ({"decay": 1.01}, "decay=1.01 must be at most 1"),
        ({"cluster_rate": 1.5}, "at most 1"),
        ({"cluster_rate": -0.1}, "at least 0"),
        ({"jitter": 256}, "at most 255"),
        ({"side": 80, "pen": 80}, "pen=80 is as thick as the canvas of side=80"),
        ({"run": ""}, "run is empty"),
        ({"preset": [1]}, "there is no preset"),
        ({"best_of": 0}, "best_of=0 must be at least 1"),
        ({"candidates": 65}, "candidates=65 must be at most 64"),
        ({"temperature": -1}, "temperature=-1.0 must be at least 0"),
        ({"own_prefixes": 2}, "own_prefixes=2.0 must be at most 1"),
        ({"objective": "repair-codes", "start": "package"}, "which code_repair=false leaves out"),
        ({"objective": "repair-codes", "code_repair": True}, "say which with start=RUN"),
        ({"objective": "finetune-decoder"}, "start=RUN"),
        ({"modules": ["no_such_module"]}, "no_such_module.*cannot be imported"),
        ({"modules": ["..evil"]}, "not the name of a Python module"),
    ],
)
def test_what_is_wrong_is_said(values, words):
    with pytest.raises(UserError, match=words):
        config_of(**values)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"hidden": 3}, "option 'hidden' belongs to the section 'model': put it there"),
        ({"training": {"hidden": 3}}, "belongs to the section 'model'"),
        ({"model": {"best_off": 3}}, "unknown option 'best_off' of model; did you mean 'best_of'"),
        ({"training": 5}, "training must hold `option: value` lines"),
        ({"model": ["song"]}, "model must hold"),
        ({1: 2}, "unknown option"),
    ],
)
def test_options_of_a_wrong_section_are_refused(values, words):
    with pytest.raises(UserError, match=words):
        parse_config(values)


@pytest.mark.parametrize("name", ["snap", "layer_norm", "turn", "mirror", "drop", "shuffle", "paint", "masking"])
def test_options_that_were_removed_are_unknown(name):
    with pytest.raises(UserError, match=f"unknown option '{name}'"):
        config_of(**{name: 1})


def test_the_largest_values_are_allowed():
    largest = {"seed": 2**63 - 1, "threads": 1024, "workers": 1024}
    config = config_of(**largest, batch=2**16, decay=1, cluster_rate=1, jitter=255, side=80, pen=79, preset="tiny")
    assert {name: getattr(config, name) for name in largest} == largest
    assert (config.training.batch, config.training.decay, config.preparation.jitter) == (2**16, 1.0, 255.0)


def test_bad_files_and_changes(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        read_config(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("a: [1, 2")
    with pytest.raises(UserError, match="not valid YAML"):
        read_config(tmp_path / "bad.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(UserError, match="name: value"):
        read_config(tmp_path / "list.yaml")
    (tmp_path / "cat.svg").write_text("<svg/>")
    with pytest.raises(UserError, match="holds drawings"):
        read_config(tmp_path / "cat.svg")
    (tmp_path / "ok.yaml").write_text("")
    with pytest.raises(UserError, match="quotes"):
        read_config(tmp_path / "ok.yaml", ["run=["])
    assert "~" not in read_config(tmp_path / "ok.yaml", ["run=~/x"]).run
    with pytest.raises(UserError, match="name=value"):
        read_config(tmp_path / "ok.yaml", ["seed"])
    with pytest.raises(UserError, match="there is no section 'modell': did you mean model"):
        read_config(tmp_path / "ok.yaml", ["modell.hidden=3"])
    with pytest.raises(UserError, match="did you mean 'links'"):
        read_config(tmp_path / "ok.yaml", ["link=random"])


CONFIGS = sorted((Path(gra2seq.__file__).parent / "configs").glob("*.yaml"))


def test_there_are_configurations_in_the_package():
    assert {"tiny", "small", "package", "mine", "repair", "finetune-decoder"} <= {path.stem for path in CONFIGS}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_configuration_of_the_package_can_be_read_by_its_name(path):
    config = read_config(path.stem)
    assert config == read_config(path)
    command = "compare" if path.stem == "all-small" else "train"
    assert f"gra2seq {command} {path.stem}" in path.read_text(), "it says how it is run"
    if config.model.name in SYSTEMS:
        build(config.model, 3)


@pytest.mark.parametrize("name", ["mine", "repair", "finetune-decoder", "predict-ink"])
def test_configurations_that_go_on_with_the_package_are_of_its_model(name):
    """All of its weights are used, but for the parts beside it that are to be trained anew."""
    config, model = read_config(name), gra2seq.load()
    assert config.start == "package"
    check_same_model(PACKAGE_FOLDER, config)
    ours, theirs = set(build(config.model, 3).state_dict()), set(model.network.state_dict())
    kept = {"repair.": config.model.code_repair, "ink.": config.model.ink_prediction}
    kept["frame."] = config.model.frame_prediction
    left_out = tuple(prefix for prefix, there in kept.items() if not there)
    assert ours == {tensor for tensor in theirs if not tensor.startswith(left_out)}


def test_every_option_is_documented_and_has_one_section():
    names = [field.name for kind in SECTIONS.values() for field in dataclasses.fields(kind)]
    twice = {name for name in names if names.count(name) > 1}
    assert twice == set()
    for kind in (*SECTIONS.values(), RunConfig):
        for field in dataclasses.fields(kind):
            if field.name not in SECTIONS:
                assert len(field.metadata["help"]) > 5, field.name
                assert field.default == kind().__getattribute__(field.name)


def test_guided_drawing_needs_several_drawings_or_candidates():
    assert not DrawingConfig().guided
    assert DrawingConfig(best_of=2).guided
    assert DrawingConfig(candidates=2).guided


def test_patches_are_halved_by_every_convolution_and_by_pooling():
    assert ModelConfig().patch == 256
    assert ModelConfig(channels=(8, 8, 8)).patch == 16


def test_options_by_section_of_these_tests():
    values = by_section(model="song", hidden=3, seed=1, mask=0.5)
    assert values == {"model": {"name": "song", "hidden": 3}, "seed": 1, "preparation": {"mask": 0.5}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: &a [x, x]\ntraining: [*a, *a, *a]", "refers to its own values"),
        ("".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}' if n else 'x'] * 9)}]\n" for n in range(9)), "own values"),
        ("seed: 2020-13-45", "not valid YAML"),
        ("seed: !!int x", "not valid YAML"),
        ("a: " + "[" * 5000, "not valid YAML"),
        ("seed: " + "9" * 200_000, "larger than"),
    ],
    ids=["alias", "doubling", "date", "int", "deep", "long"],
)
def test_hostile_yaml_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        read_config(tmp_path / "a.yaml")
    assert len(str(caught.value)) <= 300


def test_a_change_that_is_no_value_is_one_sentence() -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_changes(["seed=2020-13-45"])
