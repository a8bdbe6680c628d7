"""What a run leaves behind, when it ends, how it clips and how its learning rate moves."""

import json
import signal
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from quick_runs import losses, run
from safetensors.torch import load_file

import gra2seq
from gra2seq.data.batch_order import Schedule
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.folder import pack
from gra2seq.models import model_files
from gra2seq.system.tensor_files import read_tensors
from gra2seq.training.checkpoint import Progress
from gra2seq.training.logs import read_metrics
from gra2seq.training.loop import Stopped, train
from gra2seq.training.optimise import clip, learning_rate
from gra2seq.training.report import seconds_left
from options_by_name import quick, tiny


def test_a_run_leaves_what_it_promises(tmp_path):
    folder = run(tmp_path / "run", max_steps=12, validate_every=6, gallery=2)
    rows = read_metrics(folder)
    assert [row["step"] for row in rows] == list(range(1, 13))
    assert {"loss", "offset", "pen", "cluster", "norm", "cosine_linked", "living_clusters", "gradient"} <= rows[
        0
    ].keys()
    for row in rows:
        assert row["loss"] == pytest.approx(row["offset"] + row["pen"] + row["cluster"], rel=1e-5)
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "model.safetensors", "last.safetensors", "manifest.json", "tensorboard"} <= names
    assert [name for name in names if name.startswith(".")] == [".lock"], "no temporary file is left"
    assert len(list((folder / "gallery").glob("*.png"))) == 2
    stretch = json.loads((folder / "manifest.json").read_text())["stretches"][0]
    assert stretch["config"]["seed"] == 0
    assert stretch["versions"]["torch"] == torch.__version__
    assert stretch["dataset"]["store"]
    model = gra2seq.load(folder)
    assert len(model.categories) == 15


def test_the_validation_loss_falls(tmp_path):
    folder = run(tmp_path / "run", max_steps=120, validate_every=20, learning_rate=3e-3, decay=1.0)
    valid = [json.loads(line)["loss"] for line in (folder / "valid.jsonl").read_text().splitlines()]
    assert valid[-1] < 0.85 * valid[0]


def test_a_time_limit_ends_the_run(tmp_path):
    folder = run(tmp_path / "run", max_steps=500, max_minutes=1e-4, validate_every=500)
    state = read_tensors(folder / "last.safetensors")[1]
    assert state["finished"]
    assert state["step"] < 500
    assert (folder / "model.safetensors").exists(), "the last step is validated"
    chosen = quick(batch=10, max_steps=30, max_minutes=2).training
    assert seconds_left(chosen, Progress(step=10, seconds=60), 5.0) == 40
    assert seconds_left(chosen, Progress(step=10, seconds=100), 5.0) == 20
    assert seconds_left(replace(chosen, max_minutes=0), Progress(step=10, seconds=100), 5.0) == 40
    assert seconds_left(chosen, Progress(step=10, seconds=130), 5.0) == 0, "never less than nothing"


def test_patience_ends_the_run(tmp_path):
    folder = run(tmp_path / "run", max_steps=500, validate_every=2, patience=2, learning_rate=1e-12)
    state = read_tensors(folder / "last.safetensors")[1]
    assert state["finished"]
    assert state["step"] < 500


def test_clipping():
    def network(grads):
        module = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(len(g))) for g in grads])
        for parameter, grad in zip(module, grads, strict=True):
            parameter.grad = torch.tensor(grad)
        return module

    grads = [[3.0, 4.0], [0.3, 0.4]]
    expected = {
        "variable-norm": [[0.6, 0.8], [0.3, 0.4]],
        "value": [[1.0, 1.0], [0.3, 0.4]],
        "norm": (np.array(grads) / np.sqrt(25.25)).tolist(),
        "none": grads,
    }
    for how, wanted in expected.items():
        module = network(grads)
        assert clip(module, how, 1.0) == pytest.approx(np.sqrt(25.25))
        for parameter, want in zip(module, wanted, strict=True):
            assert parameter.grad.tolist() == pytest.approx(want)


def test_the_learning_rate_rises_and_falls_as_asked():
    schedule = Schedule(40, batch=4, seed=0)  # ten steps an epoch

    def rates(**more):
        training = tiny(learning_rate=1e-2, max_steps=100, **more).training
        return [learning_rate(training, schedule, step) for step in range(101)]

    by_epoch = rates(decay=0.5)
    assert by_epoch[:10] == [1e-2] * 10
    assert by_epoch[10:20] == [5e-3] * 10
    assert min(rates(decay=0.1)) == 1e-5
    wave = rates(lr_schedule="cosine")
    assert wave[0] == pytest.approx(1e-2)
    assert wave[50] == pytest.approx((1e-2 + 1e-5) / 2)
    assert wave[100] == pytest.approx(1e-5)
    assert sorted(wave, reverse=True) == wave
    by_step = rates(lr_schedule="steps", decay=0.9)
    assert by_step[:20] == pytest.approx([1e-2 * 0.9**step for step in range(20)])
    assert by_step[-1] == 1e-5
    warm = rates(lr_schedule="cosine", warm_up=9)
    assert warm[0] == pytest.approx(1e-3)
    assert warm[9:] == wave[9:]


def test_begins_with_the_weights_of_another_run(tmp_path):
    first = run(tmp_path / "first", model="gra2seq-plus", node_position="none", max_steps=20)
    notes = []
    chosen = {"run": str(tmp_path / "on"), "start": str(first), "model": "gra2seq-plus", "node_position": "canvas"}
    train(quick(**chosen, max_steps=1), on_step=lambda report: notes.append(report.note))
    weight = "encoder.synonyms.graph.position.weight"
    assert notes[0] == f"begins with the weights of {first}; new: {weight}"
    begun, fresh = losses(tmp_path / "on")[0]["loss"], losses(first)[0]["loss"]
    assert begun < fresh - 1, "the first step knows what the other run has learnt"
    about = json.loads((tmp_path / "on" / "config.json").read_text())
    assert about["scale"] == json.loads((first / "config.json").read_text())["scale"] != 7.0
    (first / "config.json").write_text(json.dumps({"scale": 7.0}))
    (first / "model.safetensors").write_bytes(b"gone")
    train(quick(**chosen, max_steps=2), resume=True)  # its own weights and scale now, not the other's
    assert json.loads((tmp_path / "on" / "config.json").read_text())["scale"] == about["scale"]
    assert read_metrics(tmp_path / "on")[-1]["step"] == 2
    packed = pack(tmp_path / "on", tmp_path / "packed")
    assert str(tmp_path) not in (packed / "config.json").read_text()
    alike = {**chosen, "run": str(tmp_path / "alike"), "start": str(packed), "node_position": "none"}
    train(quick(**alike, max_steps=1), on_step=lambda report: notes.append(report.note))
    assert f"begins with the weights of {packed}; unused: {weight}" in notes
    assert losses(tmp_path / "alike")[0]["loss"] < fresh - 1, "a packed model, in 16 bits, will do"


PLUS = {"model": "gra2seq-plus", "mask": 0.3, "rectangle": 0.5}
REPAIR = {**PLUS, "objective": "repair-codes", "code_repair": True}


def holes_of(sketches):
    """The upper left quarter of each drawing."""
    return [[(*sketch.box[:2], sketch.box[2] / 2, sketch.box[3] / 2)] for sketch in sketches]


def test_code_repair_is_trained_beside_a_model_that_stays_as_it_is(tmp_path):
    first = run(tmp_path / "first", max_steps=40, **PLUS)
    asked = {**REPAIR, "learning_rate": 3e-3, "average": 0.9, "start": str(first)}
    for name, value in (("picture_branch", False), ("spread", False), ("links", "spatial")):
        with pytest.raises(UserError, match=rf"other options \({name} was .*, is .*\): give its own"):
            run(tmp_path / "other", **{**asked, name: value})
    assert not (tmp_path / "other").exists()
    parts = run(tmp_path / "parts", **asked, max_steps=15)
    whole = run(tmp_path / "whole", **asked, max_steps=40)
    few = run(tmp_path / "few", **asked, max_steps=1, dataset="DS1")
    assert gra2seq.load(few).categories == gra2seq.load(first).categories, "it is the same model"
    run(parts, resume=True, **asked, max_steps=40)
    assert losses(parts)[15:] == losses(whole)[15:], "a resumed run goes on as if it had not been stopped"
    valid = read_metrics(whole, "valid.jsonl")[-1]
    assert valid["repair"] < 0.97 * valid["unrepaired"]
    before, after = (load_file(folder / "model.safetensors") for folder in (first, whole))
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    assert all(name.startswith("repair.") for name in after.keys() - before.keys())
    model, plain, packed = (gra2seq.load(one) for one in (whole, first, pack(whole, tmp_path / "packed")))
    sketches = list(doodles(4, seed=9))
    codes = plain.encode(sketches)
    assert np.array_equal(model.encode(sketches), codes), "codes of intact drawings are not repaired"
    assert packed.encode(sketches) == pytest.approx(codes, abs=float(abs(codes).max()) * 2**-8), "to 16 bits"
    repaired, unrepaired = (one.encode(sketches, holes=holes_of(sketches)) for one in (model, plain))
    assert abs(repaired - unrepaired).max() > 0.01
    assert np.array_equal(model.encode(sketches, holes=holes_of(sketches), repair=False), unrepaired)
    assert len(packed.heal(sketches, mask_prob=0.2)) == 4


def test_a_decoder_is_finetuned_while_all_else_stays_as_it_is(tmp_path):
    first = run(tmp_path / "first", max_steps=30, **PLUS)
    repaired = run(tmp_path / "repaired", **REPAIR, start=str(first), max_steps=5)
    asked = {
        **PLUS,
        "objective": "finetune-decoder",
        "code_repair": True,
        "learning_rate": 1e-2,
        "start": str(repaired),
    }
    tuned = run(tmp_path / "tuned", **asked, max_steps=10)
    whole = run(tmp_path / "whole", **asked, max_steps=30)
    run(tuned, resume=True, **asked, max_steps=30)
    assert losses(tuned)[10:] == losses(whole)[10:], "a resumed run goes on as if it had not been stopped"
    before, after = (read_metrics(folder, "valid.jsonl")[-1] for folder in (first, whole))
    assert after["loss"] < 0.98 * (before["offset"] + before["pen"])
    before, after = (load_file(folder / "model.safetensors") for folder in (repaired, whole))
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert torch.equal(tensor, after[name]) != name.startswith("decoder."), name
    sketches = list(doodles(4, seed=9))
    codes = [gra2seq.load(one).encode(sketches, holes=holes_of(sketches)) for one in (repaired, whole)]
    assert (codes[0] == codes[1]).all()


def test_weights_that_do_not_fit_are_said_and_nothing_is_written(tmp_path):
    first = run(tmp_path / "first", max_steps=1)
    with pytest.raises(UserError, match=r"has decoder\.lstm\.\w+ as .* this model as .*: give both the same preset"):
        run(tmp_path / "larger", start=str(first), hidden=48)
    with pytest.raises(UserError, match="no model at"):
        run(tmp_path / "larger", start=str(tmp_path / "nowhere"))
    assert not (tmp_path / "larger").exists()


def test_a_finished_run_says_which_limit_ended_it(tmp_path):
    limits = {"max_steps": 2, "patience": 1, "max_minutes": 1e-4}
    for name, limit in limits.items():
        chosen = {"run": str(tmp_path / name), "validate_every": 1, "learning_rate": 1e-12, name: limit}
        train(quick(**chosen))
        notes = []
        train(quick(**chosen), resume=True, on_step=lambda report, notes=notes: notes.append(report.note))
        assert notes[-1].endswith(f"({name}={limit:g})")


def test_few_sketches_are_repeated_and_reported(tmp_path):
    notes = []
    chosen = {"max_steps": 1, "validate_every": 1}
    few = quick(**chosen, data="doodles:15", run=str(tmp_path / "few"))
    train(few, on_step=lambda report: notes.append(report.note))
    assert "15 sketches do not fill a batch of 16: they are repeated" in notes
    notes.clear()
    enough = quick(**chosen, data="doodles:16", run=str(tmp_path / "enough"))
    train(enough, on_step=lambda report: notes.append(report.note))
    assert notes == [""]


def test_stopped_beyond_what_is_now_its_end_it_is_validated_and_finished(tmp_path):
    def stop(report):
        if report.step == 4:
            signal.raise_signal(signal.SIGTERM)

    chosen = {"run": str(tmp_path), "validate_every": 9, "average": 0.9}
    with pytest.raises(Stopped):
        train(quick(**chosen, max_steps=9), on_step=stop)
    done = len(read_metrics(tmp_path))
    assert not (tmp_path / "model.safetensors").exists()
    train(quick(**chosen, max_steps=3), resume=True)
    assert len(read_metrics(tmp_path)) == done, "no step more"
    assert model_files.read_progress(tmp_path / "last.safetensors")["finished"]
    assert model_files.read_progress(tmp_path / "model.safetensors")["step"] == done
    mean = {name: value.clone() for name, value in gra2seq.load(tmp_path).network.state_dict().items()}
    kept = read_tensors(tmp_path / "last.safetensors")[0]
    assert all(
        torch.equal(value, mean[name.removeprefix("average.")]) for name, value in kept.items() if "average" in name
    )


@pytest.mark.parametrize(
    "accelerator",
    [
        pytest.param("cuda", marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")),
        pytest.param("tpu", marks=pytest.mark.skipif(find_spec("torch_xla") is not None, reason="there may be one")),
    ],
)
def test_an_accelerator_that_is_not_there_is_said_and_nothing_is_written(tmp_path, accelerator):
    with pytest.raises(UserError, match=f"accelerator={accelerator} with devices=1 is not available here"):
        run(tmp_path / "run", accelerator=accelerator)
    assert not (tmp_path / "run").exists()
