"""Resume equals uninterrupted; several processes equal one; a bad loss stops the run; nothing is half-written."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import gra2seq
from gra2seq.data.batches import Schedule
from gra2seq.data.datasets import open_dataset
from gra2seq.errors import UserError
from gra2seq.models import build
from gra2seq.models.sketch_model import SketchModel
from gra2seq.options import SYSTEMS, options
from gra2seq.training import checkpoint
from gra2seq.training.average import Average
from gra2seq.training.loop import (
    NotFinite,
    Progress,
    Stopped,
    Validation,
    clip,
    learning_rate,
    read_metrics,
    seconds_left,
    train,
)

TINY = {
    "preset": "tiny",
    "data": "doodles:200",
    "workers": 0,
    "threads": 1,
    "gallery": 0,
    "validate_sketches": 20,
}
CONFIG = (
    "preset: tiny\ndata: doodles:200\nworkers: 0\nthreads: 1\ngallery: 0\nvalidate_sketches: 20\naccelerator: cpu\n"
)


def run(folder, **more):
    return train(options({**TINY, "run": str(folder), **more}), resume=more.pop("resume", False))


def losses(folder):
    return [{k: v for k, v in row.items() if k != "sketches_per_second"} for row in read_metrics(folder)]


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG)
    return path


def command(config, *more):
    return [sys.executable, "-m", "gra2seq.cli", "train", str(config), *more]


def test_a_run_leaves_what_it_promises(tmp_path):
    folder = run(tmp_path / "run", max_steps=12, validate_every=6, gallery=2)
    rows = read_metrics(folder)
    assert [row["step"] for row in rows] == list(range(1, 13))
    assert {"loss", "offset", "pen", "cluster", "norm", "cosine", "clusters", "gradient"} <= rows[0].keys()
    for row in rows:
        assert row["loss"] == pytest.approx(row["offset"] + row["pen"] + row["cluster"], rel=1e-5)
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "model.safetensors", "last.safetensors", "manifest.json", "tensorboard"} <= names
    assert not [name for name in names if name.startswith(".")], "no temporary file is left"
    assert len(list((folder / "gallery").glob("*.png"))) == 2
    stretch = json.loads((folder / "manifest.json").read_text())["stretches"][0]
    assert stretch["seed"] == 0
    assert stretch["versions"]["torch"] == torch.__version__
    assert stretch["dataset"]["store"]
    model = gra2seq.load(folder)
    assert len(model.categories) == 15


def test_it_learns(tmp_path):
    folder = run(tmp_path / "run", max_steps=120, validate_every=20, learning_rate=3e-3, decay=1.0)
    valid = [json.loads(line)["loss"] for line in (folder / "valid.jsonl").read_text().splitlines()]
    assert valid[-1] < 0.85 * valid[0]


def test_resumed_equals_uninterrupted(tmp_path):
    whole = run(tmp_path / "whole", max_steps=14, save_every=4, validate_every=7)
    run(tmp_path / "parts", max_steps=6, save_every=4, validate_every=7)
    parts = train(
        options({**TINY, "run": str(tmp_path / "parts"), "max_steps": 14, "save_every": 4, "validate_every": 7}),
        resume=True,
    )
    assert losses(whole) == losses(parts)
    one, other = gra2seq.load(whole), gra2seq.load(parts)
    for (name, a), b in zip(one.network.state_dict().items(), other.network.state_dict().values(), strict=True):
        assert torch.equal(a, b), name


def test_goes_on_after_kill_9(tmp_path, config):
    goal = ["max_steps=40", "save_every=5", "validate_every=20"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(config, f"run={whole}", *goal), check=True, capture_output=True, timeout=120)
    process = subprocess.Popen(command(config, f"run={killed}", *goal), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (killed / "last.safetensors").exists() and len(read_lines(killed)) >= 8:
            break
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = len(read_lines(killed))
    assert 5 <= done < 40, "the kill came too late to test anything"
    subprocess.run(command(config, f"run={killed}", *goal, "--resume"), check=True, capture_output=True, timeout=120)
    assert losses(whole) == losses(killed)


def read_lines(folder):
    path = folder / "metrics.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def test_resume_before_the_first_checkpoint_starts_at_the_beginning(tmp_path):
    whole = run(tmp_path / "whole", max_steps=5)
    early = run(tmp_path / "early", max_steps=3)
    (early / "last.safetensors").unlink()
    train(options({**TINY, "run": str(early), "max_steps": 5}), resume=True)
    assert losses(whole) == losses(early)


WATCHED = {"step", "sketches_per_second", "norm", "cosine", "clusters", "sigma", "kl_a_dimension", "components"}
ALIKE = [
    ["cluster_form=euclidean"],
    ["cluster_form=squared"],
    *(pytest.param([f"model={name}"], marks=pytest.mark.slow) for name in SYSTEMS if name != "sp-gra2seq"),
]


@pytest.mark.parametrize("chosen", ALIKE, ids=lambda words: words[0])
def test_two_processes_equal_one(tmp_path, config, chosen):
    """Batch norm, centroids, mixtures and losses are those of the global batch."""
    goal = ["max_steps=8", "validate_every=8", *chosen]
    one, two = tmp_path / "one", tmp_path / "two"
    subprocess.run(command(config, f"run={one}", *goal), check=True, capture_output=True, timeout=120)
    environment = {**os.environ, "MASTER_PORT": str(20_000 + (os.getpid() + len(chosen[0])) % 20_000)}
    done = subprocess.run(
        command(config, f"run={two}", *goal, "--devices", "2"),
        capture_output=True,
        text=True,
        env=environment,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    for a, b in zip(losses(one), losses(two), strict=True):
        for name in a.keys() - WATCHED:
            assert a[name] == pytest.approx(b[name], rel=2e-4), (a["step"], name)
    model_one, model_two = (gra2seq.load(folder).network.state_dict() for folder in (one, two))
    for name, value in model_one.items():
        assert torch.allclose(value.float(), model_two[name].float(), rtol=1e-2, atol=1e-4), name


@pytest.mark.slow
def test_two_machines_equal_one(tmp_path, config):
    """Started by the launcher, once on each machine (here: twice on this one)."""
    goal = ["max_steps=6", "validate_every=6"]
    one, two = tmp_path / "one", tmp_path / "two"
    subprocess.run(command(config, f"run={one}", *goal), check=True, capture_output=True, timeout=120)
    port = str(41_000 + os.getpid() % 20_000)
    launch = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
    launch += ["--master-addr", "127.0.0.1", "--master-port", port]
    words = ["-m", "gra2seq.cli", "train", str(config), f"run={two}", *goal, "num_nodes=2"]
    machines = [
        subprocess.Popen([*launch, "--node-rank", str(rank), *words], stderr=subprocess.DEVNULL) for rank in (1, 0)
    ]
    assert [machine.wait(timeout=180) for machine in machines] == [0, 0]
    for a, b in zip(losses(one), losses(two), strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=2e-4)


def test_a_loss_that_is_not_finite_stops_and_names_the_batch(tmp_path, monkeypatch):
    run(tmp_path / "run", max_steps=4, save_every=2)
    before = (tmp_path / "run" / "last.safetensors").read_bytes()
    forward = SketchModel.forward

    def broken(self, batch):
        terms, watch = forward(self, batch)
        return {**terms, "pen": terms["pen"] * float("nan")}, watch

    monkeypatch.setattr(SketchModel, "forward", broken)
    with pytest.raises(NotFinite, match=r"step 5: loss, pen is not finite on the batch of doodle-") as caught:
        train(options({**TINY, "run": str(tmp_path / "run"), "max_steps": 9}), resume=True)
    assert "learning_rate" in str(caught.value)
    listed = json.loads((tmp_path / "run" / "not-finite-step-5.json").read_text())
    assert len(listed["sketches"]) == 16
    assert (tmp_path / "run" / "last.safetensors").read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_and_goes_on(tmp_path, number):
    """The first signal ends the run between two steps with its checkpoint; the losses are those of one stretch."""
    whole = run(tmp_path / "whole", max_steps=9)
    asked = []

    def watch(report):
        if report.step == 4 and not asked:
            asked.append(1)
            signal.raise_signal(number)

    handler = signal.getsignal(number)
    with pytest.raises(Stopped, match="--resume"):
        train(options({**TINY, "run": str(tmp_path / "parts"), "max_steps": 9}), watch=watch)
    assert signal.getsignal(number) is handler
    train(options({**TINY, "run": str(tmp_path / "parts"), "max_steps": 9}), resume=True)
    assert losses(whole) == losses(tmp_path / "parts")


def test_a_finished_run_is_left_alone_until_its_limits_are_moved(tmp_path):
    folder = run(tmp_path / "run", max_steps=60, validate_every=2, patience=1, learning_rate=1e-12)
    done = len(read_metrics(folder))
    assert done < 60
    again = {**TINY, "run": str(folder), "max_steps": 60, "validate_every": 2, "learning_rate": 1e-12}
    train(options({**again, "patience": 1}), resume=True)
    assert len(read_metrics(folder)) == done
    train(options({**again, "patience": 0, "max_steps": done + 2}), resume=True)
    assert len(read_metrics(folder)) == done + 2


def test_a_gradient_that_is_not_finite_stops_before_the_weights(tmp_path, monkeypatch):
    monkeypatch.setattr("gra2seq.training.loop.clip", lambda *_: float("nan"))
    with pytest.raises(NotFinite, match="gradient is not finite"):
        run(tmp_path / "run", max_steps=2, save_every=1)
    assert not (tmp_path / "run" / "last.safetensors").exists()


def test_weights_are_not_overwritten(tmp_path, tiny_run):
    import shutil

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
    dataset, chosen = open_dataset("doodles:200"), options({**TINY, "max_points": 3})
    with pytest.raises(UserError, match="validate on has more than max_points=3"):
        Validation(chosen, dataset, build(chosen), dataset.valid, 10)


def test_time_given_is_time_taken(tmp_path):
    folder = run(tmp_path / "run", max_steps=500, max_minutes=1e-4, validate_every=500)
    state = checkpoint._read(folder / "last.safetensors")[1]
    assert state["finished"]
    assert state["step"] < 500
    assert (folder / "model.safetensors").exists(), "the last step is validated"
    chosen = options({**TINY, "batch": 10, "max_steps": 30, "max_minutes": 2})
    assert seconds_left(chosen, Progress(step=10, seconds=60), 5.0) == 40
    assert seconds_left(chosen, Progress(step=10, seconds=100), 5.0) == 20
    assert seconds_left(replace(chosen, max_minutes=0), Progress(step=10, seconds=100), 5.0) == 40


def test_free_options_of_a_resumed_run_are_kept(tmp_path):
    folder = run(tmp_path / "run", max_steps=2)
    train(options({**TINY, "run": str(folder), "max_steps": 4, "tries": 3}), resume=True)
    kept = gra2seq.load(folder).options
    assert (kept.tries, kept.max_steps) == (3, 4)


def test_early_stop(tmp_path):
    folder = run(tmp_path / "run", max_steps=500, validate_every=2, patience=2, learning_rate=1e-12)
    state = checkpoint._read(folder / "last.safetensors")[1]
    assert state["finished"]
    assert state["step"] < 500


def test_a_run_is_not_overwritten_and_not_mixed(tmp_path):
    run(tmp_path / "run", max_steps=2)
    with pytest.raises(UserError, match="--resume"):
        run(tmp_path / "run", max_steps=2)
    changed = options({**TINY, "run": str(tmp_path / "run"), "max_steps": 4, "hidden": 33})
    with pytest.raises(UserError, match="hidden was 32, is 33"):
        train(changed, resume=True)
    other = options({**TINY, "run": str(tmp_path / "run"), "max_steps": 4, "data": "doodles:210"})
    with pytest.raises(UserError, match="other drawings"):
        train(other, resume=True)
    with pytest.raises(UserError, match="nothing to resume"):
        train(options({**TINY, "run": str(tmp_path / "none")}), resume=True)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_checkpoint_cut_short_is_refused(tmp_path, tiny_run, share):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    for name in ("model.safetensors", "last.safetensors"):
        data = (copy / name).read_bytes()
        (copy / name).write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UserError, match="damaged or cut short"):
        gra2seq.load(copy)
    with pytest.raises(UserError, match="damaged or cut short"):
        train(options({**TINY, "run": str(copy), "max_steps": 9, "validate_sketches": 40}), resume=True)


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    folder = run(tmp_path / "run", max_steps=4, save_every=2)
    before = (folder / "last.safetensors").read_bytes()

    def full(_tensors, path, _metadata=None):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(UserError, match="No space left on device"):
        train(options({**TINY, "run": str(folder), "max_steps": 8, "save_every": 2}), resume=True)
    assert (folder / "last.safetensors").read_bytes() == before
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


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
        picked = options({"preset": "tiny", "learning_rate": 1e-2, "max_steps": 100, **more})
        return [learning_rate(picked, schedule, step) for step in range(101)]

    by_epoch = rates(decay=0.5)
    assert by_epoch[:10] == [1e-2] * 10
    assert by_epoch[10:20] == [5e-3] * 10
    assert min(rates(decay=0.1)) == 1e-5
    wave = rates(fall="cosine")
    assert wave[0] == pytest.approx(1e-2)
    assert wave[50] == pytest.approx((1e-2 + 1e-5) / 2)
    assert wave[100] == pytest.approx(1e-5)
    assert sorted(wave, reverse=True) == wave
    warm = rates(fall="cosine", warm_up=9)
    assert warm[0] == pytest.approx(1e-3)
    assert warm[9:] == wave[9:]


def test_the_mean_of_the_weights_is_judged_kept_and_resumed(tmp_path):
    goal = {"average": 0.5, "max_steps": 6, "validate_every": 3, "save_every": 3}
    whole = run(tmp_path / "whole", **goal)
    run(tmp_path / "parts", **{**goal, "max_steps": 3})
    train(options({**TINY, **goal, "run": str(tmp_path / "parts")}), resume=True)
    mean, again = (load_file(folder / "model.safetensors") for folder in (whole, tmp_path / "parts"))
    assert all(torch.equal(mean[name], again[name]) for name in mean)
    last = load_file(whole / "last.safetensors")
    kept = read_metrics(whole, "valid.jsonl")[-1]["step"] == 6
    weight = "decoder.out.weight"
    assert kept
    assert torch.equal(last[f"average.{weight}"], mean[weight])
    assert not torch.equal(last[f"model.{weight}"], mean[weight])
    plain = run(tmp_path / "plain", **{**goal, "average": 0.0})
    assert torch.equal(load_file(plain / "last.safetensors")[f"model.{weight}"], last[f"model.{weight}"])
    with pytest.raises(UserError, match="average"):
        train(options({**TINY, **goal, "max_steps": 9, "run": str(plain)}), resume=True)


def test_the_mean_against_a_slow_twin():
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    average, expected = Average(network, 0.8), network[0].weight.detach().clone()
    for step in range(1, 60):
        with torch.no_grad():
            network[0].weight += torch.randn(2, 2)
        average.update_(step)
        keep = min(0.8, step / (step + 10))
        expected = keep * expected + (1 - keep) * network[0].weight.detach()
    assert torch.allclose(average.mean["0.weight"], expected, atol=1e-5)
    before = network[0].weight.detach().clone()
    with average.used():
        assert torch.allclose(network[0].weight, expected, atol=1e-5)
    assert torch.equal(network[0].weight, before)


def test_a_run_older_than_an_option_can_be_resumed(tmp_path):
    folder = run(tmp_path / "run", max_steps=2)
    config = json.loads((folder / "config.json").read_text())
    for name in ("snap", "stretch", "average"):
        del config["options"][name]
    (folder / "config.json").write_text(json.dumps(config))
    train(options({**TINY, "run": str(folder), "max_steps": 3}), resume=True)
    with pytest.raises(UserError, match="snap was 1, is 4"):
        train(options({**TINY, "run": str(folder), "max_steps": 4, "snap": 4}), resume=True)
