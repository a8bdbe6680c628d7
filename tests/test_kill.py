"""SIGKILL at random times: nothing is lost, nothing is half-written, resumed equals uninterrupted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import gra2seq
from gra2seq.data.doodles import doodles
from gra2seq.data.store import Store
from gra2seq.data.store_writer import write_store
from gra2seq.formats.files import read, write
from gra2seq.formats.record import Record
from gra2seq.system.tensor_files import read_tensors
from gra2seq.training.logs import read_metrics
from options_by_name import QUICK, by_section

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]
KILLS = 20


def do(job, kills, seconds=0.0, **arguments):
    """A job that is killed so often, each time after up to `seconds` (0: as long as it takes), and then finishes."""
    harness = Path(__file__).with_name("kill_harness.py")
    done = subprocess.run(
        [sys.executable, harness, job, str(kills), json.dumps(arguments), str(seconds)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def rows(run, log):
    return [{k: v for k, v in row.items() if k != "sketches_per_second"} for row in read_metrics(run, log)]


def test_training_killed_at_random_times_equals_one_that_was_not(tmp_path):
    values = by_section(**QUICK, accelerator="cpu", max_steps=60, save_every=1, validate_every=5)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    do("train", 0, 1.0, run=str(whole), values=values)
    do("train", KILLS, 1.5, run=str(killed), values=values)
    assert rows(whole, "metrics.jsonl") == rows(killed, "metrics.jsonl")
    assert rows(whole, "valid.jsonl") == rows(killed, "valid.jsonl")
    for file in ("model.safetensors", "last.safetensors"):
        one, other = (read_tensors(run / file)[0] for run in (whole, killed))
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) for name in one), file
    assert names_in(killed) == names_in(whole)


@pytest.mark.parametrize("suffix", [".store", ".ndjson.gz", ".npz"])
def test_convert_killed_at_random_times_leaves_all_or_nothing(tmp_path, suffix):
    source, target = tmp_path / "source.ndjson", tmp_path / "out" / f"all{suffix}"
    write(source, [("train", sketch) for sketch in doodles(3000, seed=0)])
    do("convert", KILLS, source=str(source), target=str(target))
    assert names_in(target.parent) == [target.name]
    expected = [sketch.key for sketch in read(source)]
    if suffix == ".store":
        Store.open(target).verify()
        assert [sketch.key for sketch in Store.open(target)] == expected
    else:
        assert [sketch.key for sketch in read(target)] == expected


def test_pack_killed_at_random_times_keeps_weights_and_configuration_together(tmp_path, tiny_run):
    out = tmp_path / "out" / "model"
    do("pack", KILLS, run=str(tiny_run), out=str(out))
    assert names_in(out.parent) == ["model"]
    assert names_in(out) == ["config.json", "model.safetensors"]
    assert gra2seq.load(out)


def test_encode_killed_at_random_times_equals_one_that_was_not(tmp_path, tiny_run):
    store, whole, killed = tmp_path / "doodles.store", tmp_path / "whole" / "codes.npy", tmp_path / "out" / "codes.npy"
    write_store(store, (Record("train", sketch) for sketch in doodles(150, seed=1)))
    do("encode", 0, 1.0, store=str(store), out=str(whole), run=str(tiny_run))
    do("encode", KILLS, 0.6, store=str(store), out=str(killed), run=str(tiny_run))
    for suffix in (".npy", ".keys", ".json"):
        assert killed.with_suffix(suffix).read_bytes() == whole.with_suffix(suffix).read_bytes()
    assert names_in(killed.parent) == ["codes.json", "codes.keys", "codes.npy"]


def test_healing_of_many_files_killed_at_random_times_equals_one_that_was_not(tmp_path, tiny_run):
    source, whole, killed = (tmp_path / name for name in ("source", "whole", "killed"))
    source.mkdir()
    for number, sketch in enumerate(doodles(8, seed=0)):
        write(source / f"{number}.svg", sketch)
    do("heal", 0, 1.0, source=str(source), out=str(whole), model=str(tiny_run))
    do("heal", KILLS, 1.0, source=str(source), out=str(killed), model=str(tiny_run))
    assert names_in(killed) == names_in(whole)
    assert len(names_in(killed)) == 3 * 8
    assert all((killed / name).read_bytes() == (whole / name).read_bytes() for name in names_in(whole))
