"""A bad loss stops the run, a cut or full disk loses nothing, and it is said what is wrong."""

import json
import math
import shutil
import subprocess
import sys

import pytest
import torch
from quick_runs import losses, run
from safetensors import SafetensorError

import gra2seq
from gra2seq.data.batches import generator, prepare_training
from gra2seq.data.datasets import open_dataset
from gra2seq.errors import UserError
from gra2seq.models import model_files
from gra2seq.models.registry import build
from gra2seq.models.sketch_model import SketchModel
from gra2seq.system import tensor_files
from gra2seq.training.loop import train
from gra2seq.training.objectives import Reconstruct
from gra2seq.training.optimise import NotFinite
from gra2seq.training.validation import VALID_SEED, Validation
from options_by_name import QUICK, by_section, quick


def test_a_loss_that_is_not_finite_stops_and_names_the_batch(tmp_path, monkeypatch):
    run(tmp_path / "run", max_steps=4, save_every=2)
    before = (tmp_path / "run" / "last.safetensors").read_bytes()
    forward = SketchModel.forward

    def broken(self, batch):
        terms, figures = forward(self, batch)
        return {**terms, "pen": terms["pen"] * float("nan")}, figures

    monkeypatch.setattr(SketchModel, "forward", broken)
    with pytest.raises(NotFinite, match=r"step 5: loss, pen is not finite on the batch of doodle-") as caught:
        train(quick(run=str(tmp_path / "run"), max_steps=9), resume=True)
    assert "learning_rate" in str(caught.value)
    listed = json.loads((tmp_path / "run" / "not-finite-step-5.json").read_text())
    assert len(listed["sketches"]) == 16
    assert (tmp_path / "run" / "last.safetensors").read_bytes() == before


def test_a_gradient_that_is_not_finite_stops_before_the_weights(tmp_path, monkeypatch):
    monkeypatch.setattr("gra2seq.training.loop.clip", lambda *_: float("nan"))
    with pytest.raises(NotFinite, match="gradient is not finite"):
        run(tmp_path / "run", max_steps=2, save_every=1)
    assert not (tmp_path / "run" / "last.safetensors").exists()


def test_weights_are_not_overwritten(tmp_path, tiny_run):
    folder = tmp_path / "weights"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tiny_run / name, folder / name)
    with pytest.raises(UserError, match="holds a model already"):
        run(folder, max_steps=2)


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UserError, match="cannot write"):
        run(tmp_path / "file" / "run", max_steps=2)


def test_nothing_to_validate_on_is_said_at_once(tmp_path):
    with pytest.raises(UserError, match="every training sketch has more than max_points=3"):
        run(tmp_path / "run", max_points=3, max_steps=2)
    dataset, chosen = open_dataset("doodles:200"), quick(max_points=3)
    with pytest.raises(UserError, match="validate on has more than max_points=3"):
        Validation(chosen, dataset, Reconstruct(build(chosen.model)), dataset.valid, 10)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_checkpoint_cut_short_is_refused(tmp_path, tiny_run, share):
    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    for name in ("model.safetensors", "last.safetensors", "previous.safetensors"):
        data = (copy / name).read_bytes()
        (copy / name).write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UserError, match="damaged or cut short"):
        gra2seq.load(copy)
    with pytest.raises(UserError, match="damaged or cut short"):
        train(quick(run=str(copy), max_steps=9, validate_sketches=40), resume=True)


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    folder = run(tmp_path / "run", max_steps=4, save_every=2)
    before = (folder / "last.safetensors").read_bytes()

    def full(_tensors, path, _metadata=None):
        path.write_bytes(b"half")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(tensor_files, "save_file", full)
    with pytest.raises(UserError, match="No space left on device"):
        train(quick(run=str(folder), max_steps=8, save_every=2), resume=True)
    assert (folder / "last.safetensors").read_bytes() == before
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == [".lock"]


@pytest.mark.parametrize("ending", ["raise", pytest.param("sys.exit(2)", marks=pytest.mark.slow)])
def test_a_training_ends_at_once_when_a_worker_fails(tmp_path, ending):
    """With its error: workers outlive a SIGTERM only while a checkpoint is written."""
    values = by_section(**{**QUICK, "run": str(tmp_path / "run"), "workers": 1, "max_steps": 9})
    program = f"""
import sys
from gra2seq.config import parse_config
from gra2seq.data import batch_order
from gra2seq.errors import UserError
from gra2seq.training.loop import train

prepare = batch_order.prepare_training
def broken(sketches, preparation, seeds, **more):
    if seeds[0][1] == 5:
        raise UserError("the store is damaged")
    return prepare(sketches, preparation, seeds, **more)
batch_order.prepare_training = broken
try:
    train(parse_config({values!r}))
except UserError as error:
    print(error)
    {ending}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50)
    assert done.returncode in (1, 2)
    assert "the store is damaged" in done.stdout


def test_validation_damages_as_training_does_and_always_the_same(tmp_path):
    """Against sketch after sketch with the damage of training, drawn from the seed of validation."""
    chosen = {"rectangle": 0.4, "eraser": 0.2, "end": 0.2, "mask": 0.3, "max_steps": 1, "validate_every": 1}
    folder = run(tmp_path / "run", **chosen, learning_rate=1e-12)
    logged = json.loads((folder / "valid.jsonl").read_text().splitlines()[-1])
    model, data = gra2seq.load(folder), open_dataset(QUICK["data"])
    objective = Reconstruct(model.network)
    valid = Validation(model.config, data, objective, data.valid, model.config.training.validate_sketches)
    one_by_one, lost = [], 0
    for number, index in enumerate(valid.indices):
        sketch = data.store[int(index)]
        batch = prepare_training([sketch], model.preparation, [(VALID_SEED, number)], validation=True)
        damage = model.preparation.damage.draw(sketch, generator(VALID_SEED, number))
        lost += len(damage.visible) != len(sketch)
        with torch.no_grad():
            one_by_one.append({name: float(value) for name, value in model.network(batch)[0].items()})
    assert lost > 0.5 * len(one_by_one)
    for name in ("offset", "pen"):
        mean = sum(terms[name] for terms in one_by_one) / len(one_by_one)
        assert logged[name] == pytest.approx(mean, rel=1e-3)
        assert logged[name] == pytest.approx(valid.losses()[name], rel=1e-3), "the same at every step"
    assert {"silent_1", "silent_4", "norm", "cosine_linked", "cosine_any", "living_clusters"} <= logged.keys()


def test_a_run_whose_validations_are_never_finite_says_that_it_kept_nothing(tmp_path):
    chosen = {"max_steps": 1, "validate_every": 1, "learning_rate": 1e30, "clip": "none"}
    with pytest.raises(UserError, match="no validation gave a finite loss, so no weights were kept"):
        run(tmp_path / "run", **chosen)
    with pytest.raises(UserError, match="so no weights were kept"):
        train(quick(**chosen, run=str(tmp_path / "run")), resume=True)
    with pytest.raises(UserError, match="so no weights were kept"):
        run(tmp_path / "judge", **chosen, model="sketch-a-net")


def test_a_failed_resume_leaves_no_folder(tmp_path):
    with pytest.raises(UserError, match="nothing to resume"):
        train(quick(run=str(tmp_path / "none")), resume=True)
    assert not (tmp_path / "none").exists()


@pytest.fixture
def begun(tmp_path):
    """A run of two steps, to be damaged, and how it goes on."""
    folder = run(tmp_path / "run", max_steps=2)
    return folder, lambda: train(quick(run=str(folder), max_steps=3), resume=True)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("config.json", "config", None),
        ("config.json", "config", [1]),
        ("config.json", "dataset", None),
        ("manifest.json", "stretches", None),
        ("manifest.json", "stretches", "two"),
    ],
)
def test_a_damaged_record_is_said_by_name(begun, name, field, value):
    folder, go_on = begun
    about = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**about, field: value}))
    with pytest.raises(UserError, match=f"{name} is damaged \\(its '{field}' is not there\\)"):
        go_on()


def test_a_checkpoint_of_another_version_is_said(begun):
    folder, go_on = begun
    tensors, state = tensor_files.read_tensors(folder / "last.safetensors")
    odd = [{"mood": "good"}, {"step": "3"}, {"step": math.inf}, {"step": -1}, {"best": math.nan}, {"seconds": [1]}]
    for change in odd:
        tensor_files.save_tensors(folder / "last.safetensors", tensors, {**state, **change})
        with pytest.raises(UserError, match=rf"last\.safetensors is of another version \(.*{min(change)}"):
            go_on()


def test_a_log_that_ends_in_rubbish_is_cut_there(begun, tmp_path):
    folder, go_on = begun
    for name in ("metrics.jsonl", "valid.jsonl"):
        with (folder / name).open("ab") as log:
            log.write(b'{"step": 1, "lo\xff\xfe\x00')
    go_on()
    assert losses(folder) == losses(run(tmp_path / "whole", max_steps=3))


@pytest.mark.parametrize("scale", ["0", "-30.0", "NaN", "Infinity", '"30"', "null", "1e39", "1" + 400 * "0"])
def test_a_unit_that_is_none_is_said(tmp_path, scale):
    (tmp_path / "config.json").write_text(f'{{"scale": {scale}}}')
    with pytest.raises(UserError, match=r"scale|not a finite number"):
        model_files.scale_of(tmp_path)


def test_a_unit_may_be_a_whole_number(tmp_path):
    (tmp_path / "config.json").write_text('{"scale": 30}')  # as other programs write 30.0
    assert model_files.scale_of(tmp_path) == 30
