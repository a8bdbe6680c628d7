"""Weights and checkpoints from a damaged disk or a stranger."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
import torch
from quick_runs import losses, run

import gra2seq
from gra2seq.errors import UserError
from gra2seq.models.model_files import LAST, read_progress
from gra2seq.training.checkpoint import PREVIOUS
from gra2seq.training.loop import train
from options_by_name import quick

GOAL = {"max_steps": 8, "save_every": 2, "validate_every": 4}


def flip(path, share=0.5):
    content = bytearray(path.read_bytes())
    content[int(len(content) * share)] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", ["flipped", "cut", "gone"])
def test_damaged_last_checkpoint_falls_back_to_the_one_before_it(tmp_path, damage):
    whole = run(tmp_path / "whole", **GOAL)
    folder = run(tmp_path / "run", **{**GOAL, "max_steps": 6})
    last = folder / LAST
    assert (read_progress(last)["step"], read_progress(folder / PREVIOUS)["step"]) == (6, 4)
    if damage == "flipped":
        flip(last)
    elif damage == "cut":
        last.write_bytes(last.read_bytes()[:-1])
    else:
        last.unlink()
    notes = []
    go_on = quick(run=str(folder), **GOAL)
    train(go_on, resume=True, on_step=lambda report: notes.append(report.note))
    [note] = filter(None, notes)
    assert "last.safetensors" in note
    assert note.endswith("going on from the checkpoint before it, of step 4")
    assert losses(folder) == losses(whole)
    for (name, a), b in zip(
        gra2seq.load(whole).network.state_dict().items(),
        gra2seq.load(folder).network.state_dict().values(),
        strict=True,
    ):
        assert torch.equal(a, b), name


def test_two_damaged_checkpoints_are_refused(tmp_path):
    folder = run(tmp_path / "run", **GOAL)
    flip(folder / LAST)
    flip(folder / PREVIOUS)
    with pytest.raises(UserError, match=r"last\.safetensors is damaged"):
        train(quick(run=str(folder), **{**GOAL, "max_steps": 10}), resume=True)


@pytest.fixture
def copy(tiny_run, tmp_path):
    """A model folder to damage."""
    shutil.copytree(tiny_run, tmp_path / "copy")
    return tmp_path / "copy"


def change_config(folder, **options_):
    config = json.loads((folder / "config.json").read_text())
    config["config"]["model"] |= options_
    (folder / "config.json").write_text(json.dumps(config))


LIMITED = """
import resource, sys, time
import gra2seq
from gra2seq.errors import UserError
import gra2seq.folder
start, used = time.monotonic(), int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 200_000_000,) * 2)
try:
    gra2seq.load(sys.argv[1])
except UserError as error:
    print(error)
assert time.monotonic() - start < 10
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by RLIMIT_AS")
@pytest.mark.parametrize(
    "asked",
    [{"hidden": 10**9}, {"hidden": 5000}, {"rounds": 10**9}, {"clusters": 10**8}, {"channels": [2**20] * 4}],
    ids=str,
)
def test_network_larger_than_its_weights_is_refused_without_memory(copy, asked):
    change_config(copy, **asked)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(copy)], capture_output=True, text=True, check=True, timeout=120
    )
    built = "config.json asks for a network that cannot be built (it would be larger than its weights)" in done.stdout
    assert built or "at most" in done.stdout or "of 1 to 8192 channels" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[]",
        "{}",
        "7",
        '{"config": []}',
        '{"config": {}, "categories": "cat"}',
        '{"config": {}, "categories": [[]]}',
        '{"config": {"model": {"hidden": 1e999}}, "categories": []}',
        '{"config": {"model": {"hidden": NaN}}, "categories": []}',
        '{"config": {"model": {"hidden": [1]}}, "categories": []}',
        '{"config": {"preset": {}}, "categories": []}',
        '{"config": {"model": {"hidden": ' + "9" * 4000 + '}}, "categories": []}',
        '{"x": "' + "y" * 2_000_000 + '"}',
    ],
    ids=range(13),
)
def test_hostile_config_is_one_short_sentence(copy, text):
    (copy / "config.json").write_text(text)
    with pytest.raises(UserError) as raised:
        gra2seq.load(copy)
    assert "\n" not in str(raised.value)


def test_unknown_device_is_said(copy):
    for device in ("cuda:99", "abacus", "", "meta:1:2"):
        with pytest.raises(UserError, match="cannot be used here"):
            gra2seq.load(copy, device=device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_cuda_without_cuda_is_said(copy):
    with pytest.raises(UserError, match="device 'cuda' cannot be used here"):
        gra2seq.load(copy, device="cuda")


def test_flipped_byte_of_weights_is_found(copy):
    flip(copy / "model.safetensors", 0.9)
    with pytest.raises(UserError, match="its checksum does not match"):
        gra2seq.load(copy)
