"""SIGKILL at random times: nothing is lost, nothing is half-written, resumed equals uninterrupted."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import torch

import gra2seq
from gra2seq.data.doodles import doodles
from gra2seq.data.store import Store
from gra2seq.sketch.files import read, write
from gra2seq.system.tensor_files import read_tensors
from gra2seq.training.loop import read_metrics

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]
KILLS = 20

# One process imports everything, then forks a child that works and is killed: a start takes no seconds.
HARNESS = """
import json, os, random, shutil, signal, sys, time
from pathlib import Path
from gra2seq.data.info import convert
from gra2seq.folder import pack
from gra2seq.options import options
from gra2seq.training.loop import train

work, check, kills, arguments = {work}, {check}, int(sys.argv[1]), json.loads(sys.argv[2])

def child():
    pid = os.fork()
    if pid == 0:
        try:
            work(**arguments)
            os._exit(0)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
    return pid

def finish():
    started = time.monotonic()
    _, status = os.waitpid(child(), 0)
    assert status == 0, "the work failed"
    return time.monotonic() - started

random.seed(0)
whole, killed = {whole}, 0
while killed < kills:
    pid = child()
    time.sleep(random.uniform(0, whole))
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert status in (0, signal.SIGKILL), status
    killed += status == signal.SIGKILL
    check(**arguments)
finish()
"""


def kill_while(work, check, whole, **arguments):
    """Let `work` be killed again and again, `check` what it left, then let it finish."""
    program = HARNESS.format(work=work, check=check, whole=whole)
    done = subprocess.run(
        [sys.executable, "-c", program, str(KILLS), json.dumps(arguments)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


TRAIN = """lambda values: train(options(values), resume=(Path(values["run"]) / "config.json").exists())"""
SOUND_RUN = """lambda values: [
    __import__("gra2seq.system.tensor_files", fromlist=["x"]).read_tensors(path)
    for path in Path(values["run"]).glob("*.safetensors")
]"""


def test_training_killed_at_random_times_equals_one_that_was_not(tmp_path):
    tiny = {"preset": "tiny", "data": "doodles:200", "workers": 0, "threads": 1, "gallery": 0, "accelerator": "cpu"}
    goal = {**tiny, "max_steps": 60, "save_every": 1, "validate_every": 5, "validate_sketches": 20}
    whole, killed = ({**goal, "run": str(tmp_path / name)} for name in ("whole", "killed"))
    gra2seq_train(whole)
    kill_while(TRAIN, SOUND_RUN, 1.5, values=killed)
    rows = [
        [{k: v for k, v in row.items() if k != "sketches_per_second"} for row in read_metrics(tmp_path / name, log)]
        for log in ("metrics.jsonl", "valid.jsonl")
        for name in ("whole", "killed")
    ]
    assert rows[0] == rows[1]
    assert rows[2] == rows[3]
    for file in ("model.safetensors", "last.safetensors"):
        one, other = (read_tensors(tmp_path / name / file)[0] for name in ("whole", "killed"))
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) for name in one), file
    assert not [name for name in names_in(tmp_path / "killed") if name.endswith(".tmp")]


def gra2seq_train(values):
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import json, sys\nfrom gra2seq.options import options\nfrom gra2seq.training.loop import train\n"
            "train(options(json.loads(sys.argv[1])))",
            json.dumps(values),
        ],
        check=True,
        capture_output=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize("suffix", [".store", ".ndjson.gz", ".npz"])
def test_convert_killed_at_random_times_leaves_all_or_nothing(tmp_path, suffix):
    source, target = tmp_path / "source.ndjson", tmp_path / "out" / f"all{suffix}"
    write(source, [("train", sketch) for sketch in doodles(3000, seed=0)])
    remove = "(shutil.rmtree if Path(target).is_dir() else Path.unlink)(Path(target)) if Path(target).exists() else 0"
    complete = f"""lambda source, target: (
        (__import__("gra2seq.data.info", fromlist=["x"]).describe(target)["sketches"] == 3000 or 1 / 0)
        if Path(target).exists() else 0, {remove})"""
    kill_while(
        "lambda source, target: convert(source, target)", complete, "finish(); check(**arguments)".join(["", ""]) or
        "(finish() * 1.1, check(**arguments))[0]", source=str(source), target=str(target)
    )  # fmt: skip
    assert names_in(target.parent) == [target.name]
    expected = [sketch.key for _, sketch in read(source)]
    if suffix == ".store":
        Store.open(target).verify()
        assert [sketch.key for sketch in Store.open(target)] == expected
    else:
        assert len(list(read(target))) == len(expected)


def test_pack_killed_at_random_times_keeps_weights_and_configuration_together(tmp_path, tiny_run):
    """The folder was packed before; after each kill it is the old model or the new one, and can be loaded."""
    out = tmp_path / "out" / "model"
    sound = """lambda run, out: (
        lambda place: __import__("gra2seq").load(place)
    )(Path(out) if Path(out).exists() else Path(out + ".old"))"""
    kill_while("lambda run, out: pack(run, out)", sound, "finish() * 1.1", run=str(tiny_run), out=str(out))
    assert names_in(out.parent) == ["model"]
    assert names_in(out) == ["config.json", "model.safetensors"]
    assert gra2seq.load(out)
