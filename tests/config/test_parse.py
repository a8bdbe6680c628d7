"""Options: presets, files, changes, and errors that say what to do."""

from pathlib import Path

import pytest

import gra2seq
from gra2seq.errors import UserError
from gra2seq.folder import SHIPPED
from gra2seq.models import build
from gra2seq.options import IN_USE, Options, as_dict, options, read_options
from gra2seq.training.manifest import THE_MODEL, check_same_model


def test_the_default_is_the_paper():
    paper = options({})
    assert paper == Options()
    assert (paper.nodes, paper.batch, paper.cluster_rate, paper.cluster_weight) == (20, 256, 0.05, 0.25)
    assert (paper.learning_rate, paper.decay, paper.mixtures, paper.hidden) == (1e-3, 0.95, 20, 1024)


def test_file_then_changes(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("preset: small\nseed: 3\nlearning_rate: 1e-4\n")
    picked = read_options(path, ["seed=5", "links=random", "least_log_std=-3", "run=runs/a=b"])
    assert (picked.seed, picked.links, picked.hidden, picked.least_log_std) == (5, "random", 512, -3.0)
    assert picked.learning_rate == 1e-4
    assert picked.run == "runs/a=b"
    assert options(as_dict(picked)) == picked


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"hiden": 3}, "did you mean 'hidden'"),
        ({"preset": "big"}, "unknown preset"),
        ({"seed": 1.5}, "whole number"),
        ({"seed": -1}, "negative"),
        ({"batch": "many"}, "whole number"),
        ({"batch": 0}, "at least 1"),
        ({"links": "best"}, "synonymous"),
        ({"mask": 1.0}, "probability"),
        ({"mask": 0.2, "mask_to": 0.1}, "mask_to=0.1 must be a probability from mask=0.2"),
        ({"mask_to": 1.0}, "mask_to"),
        ({"clip": "hard"}, "variable-norm"),
        ({"channels": [8, 8]}, "three"),
        ({"channels": 8}, "list"),
        ({"learning_rate": None}, "number"),
        ({"position": 1}, "true or false"),
        ({"fall": "steps"}, "epochs, cosine"),
        ({"warm_up": -1}, "negative"),
        ({"save_every": 0}, "at least 1"),
        ({"validate_sketches": 0}, "at least 1"),
        ({"max_steps": 0}, "at least 1"),
        ({"workers": -1}, "negative"),
        ({"clusters": -1}, "negative"),
        ({"learning_rate": float("nan")}, "more than 0"),
        ({"learning_rate": float("inf")}, "finite"),
        ({"decay": -1}, "more than 0"),
        ({"clip_at": 0}, "more than 0"),
        ({"precision": "bf16-mixed"}, "32-true"),
        ({"accelerator": "foo"}, "cpu"),
        ({"channels": [8, 8, 8, 0]}, "one or more"),
        ({"batch": 15, "devices": 2}, "multiple"),
        ({"channels": [8, 8, 8, 8.5]}, "whole number"),
        ({"channels": [8, 8, 8, True]}, "whole number"),
        ({"seed": 2**63}, "at most"),
        ({"threads": 1025}, "threads=1025 must be at most 1024"),
        ({"workers": 1025}, "at most 1024"),
        ({"batch": 2**16 + 1}, "at most 65536"),
        ({"decay": 1.01}, "decay=1.01 must be at most 1"),
        ({"cluster_rate": 1.5}, "at most 1"),
        ({"cluster_rate": -0.1}, "negative"),
        ({"jitter": 256}, "at most 255"),
        ({"holes": 1.1}, "holes=1.1 must be a share from 0 to 1"),
        ({"mend": True, "mask": 0}, "mend=true learns from damage"),
        ({"side": 80, "pen": 80}, "pen=80 is as thick as the canvas of side=80"),
        ({"preset": "tiny", "snap": 33}, "snap=33 is wider than a patch of 32 pixels"),
        ({"run": ""}, "run is empty"),
        ({"preset": [1]}, "unknown preset"),
        ({1: 2}, "unknown option"),
    ],
)
def test_what_is_wrong_is_said(values, words):
    with pytest.raises(UserError, match=words):
        options(values)


def test_the_largest_values_are_allowed():
    largest = {"seed": 2**63 - 1, "threads": 1024, "workers": 1024, "batch": 2**16, "decay": 1, "cluster_rate": 1}
    chosen = options({**largest, "jitter": 255, "side": 80, "pen": 79, "preset": "tiny", "snap": 32})
    assert {name: getattr(chosen, name) for name in largest} == largest


def test_bad_files(tmp_path):
    with pytest.raises(UserError, match="cannot read"):
        read_options(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("a: [1, 2")
    with pytest.raises(UserError, match="not valid YAML"):
        read_options(tmp_path / "bad.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(UserError, match="name: value"):
        read_options(tmp_path / "list.yaml")
    (tmp_path / "ok.yaml").write_text("")
    with pytest.raises(UserError, match="quotes"):
        read_options(tmp_path / "ok.yaml", ["run=["])
    assert "~" not in read_options(tmp_path / "ok.yaml", ["run=~/x"]).run
    with pytest.raises(UserError, match="name=value"):
        read_options(tmp_path / "ok.yaml", ["seed"])


@pytest.mark.parametrize("path", sorted(Path(__file__).parents[1].glob("configs/*.yaml")), ids=lambda path: path.stem)
def test_every_configuration_can_be_read(path):
    chosen = read_options(path)
    assert f"configs/{path.name}" in path.read_text(), "it says how it is run"
    assert chosen.snap == 1


def test_who_trains_on_takes_all_of_the_model_in_the_package():
    """What the network is and how it draws: of the weights only the mending is left behind, which is learnt later."""
    configs, model = Path(__file__).parents[1] / "configs", gra2seq.load()
    mine, mend, polish = (read_options(configs / f"{name}.yaml") for name in ("mine", "mend", "polish"))
    tensors = model.network.state_dict().keys()
    assert build(mine).state_dict().keys() == {name for name in tensors if not name.startswith("mend.")}
    for chosen in (mend, polish):
        assert build(chosen).state_dict().keys() == tensors
        check_same_model(SHIPPED, chosen)
    for chosen in (mine, mend, polish):
        for name in (*THE_MODEL, *IN_USE):
            assert getattr(chosen, name) == getattr(model.options, name), name
