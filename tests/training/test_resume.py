"""Resume equals uninterrupted: after kill -9, Ctrl-C, at the end; a run is not mixed with another."""

import json
import os
import signal
import subprocess
import time

import pytest
import torch
from quick_runs import command, losses, run

import gra2seq
from gra2seq.errors import UserError
from gra2seq.models.model_files import read_progress
from gra2seq.training.logs import read_metrics
from gra2seq.training.loop import Stopped, train
from gra2seq.training.manifest import configs_of_stretches
from options_by_name import quick


def test_resumed_equals_uninterrupted(tmp_path):
    whole = run(tmp_path / "whole", max_steps=14, save_every=4, validate_every=7)
    run(tmp_path / "parts", max_steps=6, save_every=4, validate_every=7)
    parts = train(
        quick(run=str(tmp_path / "parts"), max_steps=14, save_every=4, validate_every=7),
        resume=True,
    )
    assert losses(whole) == losses(parts)
    one, other = gra2seq.load(whole), gra2seq.load(parts)
    for (name, a), b in zip(one.network.state_dict().items(), other.network.state_dict().values(), strict=True):
        assert torch.equal(a, b), name


def test_resume_after_kill_gives_the_same_losses(tmp_path, config):
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
    train(quick(run=str(early), max_steps=5), resume=True)
    assert losses(whole) == losses(early)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_resume_after_a_signal_gives_the_same_losses(tmp_path, number):
    """The first signal ends the run between two steps with its checkpoint; the losses are those of one stretch."""
    whole = run(tmp_path / "whole", max_steps=9)
    asked = []

    def on_step(report):
        if report.step == 4 and not asked:
            asked.append(1)
            signal.raise_signal(number)

    handler = signal.getsignal(number)
    with pytest.raises(Stopped, match="--resume"):
        train(quick(run=str(tmp_path / "parts"), max_steps=9), on_step=on_step)
    assert signal.getsignal(number) is handler
    train(quick(run=str(tmp_path / "parts"), max_steps=9), resume=True)
    assert losses(whole) == losses(tmp_path / "parts")


def test_finished_run_is_not_trained_until_its_limits_are_raised(tmp_path):
    folder = run(tmp_path / "run", max_steps=60, validate_every=2, patience=1, learning_rate=1e-12)
    done = len(read_metrics(folder))
    assert done < 60
    again = {"run": str(folder), "max_steps": 60, "validate_every": 2, "learning_rate": 1e-12}
    train(quick(**again, patience=1), resume=True)
    assert len(read_metrics(folder)) == done
    train(quick(**{**again, "patience": 0, "max_steps": done + 2}), resume=True)
    assert len(read_metrics(folder)) == done + 2


def test_free_options_of_a_resumed_run_are_kept(tmp_path):
    folder = run(tmp_path / "run", max_steps=2)
    train(quick(run=str(folder), max_steps=4, best_of=3), resume=True)
    kept = gra2seq.load(folder).config
    assert (kept.drawing.best_of, kept.training.max_steps) == (3, 4)


def test_a_run_is_not_overwritten_and_not_mixed(tmp_path):
    run(tmp_path / "run", max_steps=2)
    with pytest.raises(UserError, match="--resume"):
        run(tmp_path / "run", max_steps=2)
    changed = quick(run=str(tmp_path / "run"), max_steps=4, hidden=33)
    with pytest.raises(UserError, match=r"model\.hidden was 32, is 33"):
        train(changed, resume=True)
    other = quick(run=str(tmp_path / "run"), max_steps=4, data="doodles:210")
    with pytest.raises(UserError, match="other drawings"):
        train(other, resume=True)
    with pytest.raises(UserError, match="nothing to resume"):
        train(quick(run=str(tmp_path / "none")), resume=True)


def test_a_run_older_than_an_option_can_be_resumed(tmp_path):
    folder = run(tmp_path / "run", max_steps=2)
    config = json.loads((folder / "config.json").read_text())
    del config["config"]["preparation"]["stretch"]
    del config["config"]["training"]["average"]
    (folder / "config.json").write_text(json.dumps(config))
    train(quick(run=str(folder), max_steps=3), resume=True)
    with pytest.raises(UserError, match=r"preparation\.stretch was 0\.0, is 0\.1"):
        train(quick(run=str(folder), max_steps=4, stretch=0.1), resume=True)


def test_a_scheduler_that_ends_all_processes_loses_no_step(tmp_path, config):
    """Also those that prepare batches: they wait until the checkpoint is written."""
    words = command(config, f"run={tmp_path / 'run'}", "workers=1", "max_steps=100000", "validate_every=100000")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True) as training:
        assert any("step" in line for line in training.stderr), "it begins"
        os.killpg(training.pid, signal.SIGTERM)
        said = training.stderr.read()
    assert training.returncode == 130, said
    kept = read_progress(tmp_path / "run" / "last.safetensors")["step"]
    assert kept == read_metrics(tmp_path / "run")[-1]["step"] > 0


def test_resuming_a_finished_run_adds_no_stretch(tmp_path):
    folder = run(tmp_path / "run", max_steps=2)
    train(quick(run=str(folder), max_steps=2, threads=2), resume=True)
    assert [stretch["threads"] for stretch in configs_of_stretches(folder)] == [1]
    train(quick(run=str(folder), max_steps=3, threads=2), resume=True)
    assert [stretch["threads"] for stretch in configs_of_stretches(folder)] == [1, 2]
