"""The model on every device of this machine, and in every precision."""

from __future__ import annotations

import numpy as np
import pytest

import gra2seq
from gra2seq.data.doodles import doodles
from gra2seq.errors import UserError
from gra2seq.evaluation.judge import load_judge

SKETCHES = list(doodles(12, seed=5))


@pytest.fixture(scope="module")
def expected(tiny_run):
    return gra2seq.load(tiny_run).encode(SKETCHES)


def test_codes_are_those_of_the_cpu(tiny_run, expected, device):
    model = gra2seq.load(tiny_run, device)
    assert model.device.type == device
    np.testing.assert_allclose(model.encode(SKETCHES), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("precision", "tolerance"), [("bf16-mixed", 0.03), ("16-mixed", 0.005)])
def test_codes_in_16_bits_are_near_those_in_32(tiny_run, expected, device, precision, tolerance):
    codes = gra2seq.load(tiny_run, device, precision=precision).encode(SKETCHES)
    off = np.linalg.norm(codes - expected) / np.linalg.norm(expected)
    assert 0 < off < tolerance


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
def test_every_way_of_drawing_works(tiny_run, device, precision):
    model, sketch = gra2seq.load(tiny_run, device, precision=precision), SKETCHES[0]
    x, y, width, height = sketch.box
    hole = [(x, y, width / 2, height / 2)]
    for options in ({}, {"infill": 2, "keep_lines": True}, {"best_of": 2, "candidates": 2}):
        healed = model.heal([sketch], holes=hole, seed=1, **options)
        assert np.isfinite(healed[0].points).all()
        assert healed == model.heal([sketch], holes=hole, seed=1, **options)
    assert len(model.complete([sketch], seed=1)) == 1
    assert len(model.morph(*SKETCHES[:2], steps=2)) == 2
    assert model.graph(sketch).adjacency.any()


def test_judge_names_the_same_categories(device):
    here, there = load_judge("open8"), load_judge("open8", device)
    assert here.classify(SKETCHES).tolist() == there.classify(SKETCHES).tolist()


def test_unknown_precision_and_device_are_named(tiny_run):
    with pytest.raises(UserError, match="did you mean bf16-mixed"):
        gra2seq.load(tiny_run, precision="bf16")
    with pytest.raises(UserError, match=r"device 'gpu' cannot be used here"):
        gra2seq.load(tiny_run, "gpu")


@pytest.mark.parametrize("command", ["heal", "redraw", "complete", "encode", "evaluate"])
def test_commands_take_device_and_precision(call, tmp_path, tiny_run, device, command):
    source, out = tmp_path / "drawn.ndjson", tmp_path / f"out.{'npy' if command == 'encode' else 'ndjson'}"
    gra2seq.write(source, SKETCHES[:2])
    words = [source, "-m", tiny_run, "-o", out]
    if command == "evaluate":
        words = [tiny_run, "--data", "doodles:60", "--mask", "0", "-o", tmp_path / "tables"]
    if command == "heal":
        words += ["--missing-end"]
    if command != "evaluate":
        words += ["--force"]
    code, _, err = call(command, *words, "--device", device, "--precision", "bf16-mixed")
    assert code == 0, err
    code, _, err = call(command, *words, "--precision", "half")
    assert (code, "precision" in err) == (2, True)
    code, _, err = call(command, *words, "--device", "gpu")
    assert (code, "device 'gpu'" in err) == (2, True)
