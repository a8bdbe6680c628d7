"""Do a job again and again and kill it at random times: `python kill_harness.py JOB KILLS ARGUMENTS`.

One process imports everything and forks a child for every attempt, so that no attempt spends seconds on imports.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gra2seq
from gra2seq.cli import main as main_command
from gra2seq.config import parse_config
from gra2seq.data.info import convert, describe
from gra2seq.folder import pack
from gra2seq.formats.svg.document import SvgDocument
from gra2seq.search.codes import Codes
from gra2seq.search.encode import Layout, LocalEngine, encode_to_file
from gra2seq.search.work_folder import Existing
from gra2seq.system.tensor_files import read_tensors
from gra2seq.training.loop import train


def train_or_resume(run: str, values: dict[str, object]) -> None:
    train(parse_config({**values, "run": run}), resume=Path(run, "config.json").exists())


def check_run(run: str, values: dict[str, object]) -> None:  # noqa: ARG001
    """Whatever has its name can be read."""
    for path in Path(run).glob("*.safetensors"):
        read_tensors(path)


def convert_file(source: str, target: str) -> None:
    convert(source, target)


def check_converted(source: str, target: str) -> None:
    """All is there or nothing; then it is removed, for the next attempt."""
    if Path(target).exists():
        assert describe(target)["sketches"] == describe(source)["sketches"]
        shutil.rmtree(target) if Path(target).is_dir() else Path(target).unlink()


def pack_run(run: str, out: str) -> None:
    pack(run, out)


def check_packed(run: str, out: str) -> None:  # noqa: ARG001
    """The old model or the new one can be loaded, perhaps under the name it has between two renames."""
    gra2seq.load(out if Path(out).exists() else f"{out}.old")


def encode_or_resume(store: str, out: str, run: str) -> None:
    layout, engine = Layout(block=8), LocalEngine(run, jobs=1)
    encode_to_file([store], out, model=run, layout=layout, existing=Existing.RESUME, engine=engine)


def check_encoded(store: str, out: str, run: str) -> None:  # noqa: ARG001
    """Each file is complete or not there, and codes with a header are as the header says."""
    if Path(out).exists():
        np.load(out)
    if Path(out).with_suffix(".json").exists():
        Codes.open(out).verify()


def heal_files(source: str, out: str, model: str) -> None:
    """Three drawings of each SVG, in answers of their own."""
    words = ["heal", *sorted(map(str, Path(source).glob("*.svg"))), "--out-dir", out, "--model", model, "--missing-end"]
    sys.argv = ["gra2seq", *words, "--samples", "3", "--infill", "3", "--resume", "--quiet"]
    with contextlib.suppress(SystemExit):
        main_command()


def check_healed(source: str, out: str, model: str) -> None:  # noqa: ARG001
    """Every answer that has its name is whole, and where the first of a set is there, all are."""
    for path in Path(out).glob("*.svg"):
        SvgDocument.read(path)
    for path in Path(out).glob("*-1.svg"):
        for number in ("2", "3"):
            assert path.with_name(f"{path.stem[:-1]}{number}.svg").exists(), path


JOBS: dict[str, tuple[Callable[..., None], Callable[..., None]]] = {
    "train": (train_or_resume, check_run),
    "convert": (convert_file, check_converted),
    "pack": (pack_run, check_packed),
    "encode": (encode_or_resume, check_encoded),
    "heal": (heal_files, check_healed),
}


def start(work: Callable[..., None], arguments: dict[str, object]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        work(**arguments)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def finish(work: Callable[..., None], arguments: dict[str, object]) -> float:
    """Seconds that the job takes when nobody kills it."""
    started = time.monotonic()
    _, status = os.waitpid(start(work, arguments), 0)
    assert status == 0, "the job failed"
    return time.monotonic() - started


def main(job: str, kills: int, arguments: dict[str, object], seconds: float) -> None:
    """Kill after up to `seconds`; 0: as long as the job takes."""
    work, check = JOBS[job]
    random.seed(0)
    if not seconds:
        seconds = finish(work, arguments)
        check(**arguments)
    killed = 0
    while killed < kills:
        pid = start(work, arguments)
        time.sleep(random.uniform(0, seconds))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        assert status in (0, signal.SIGKILL), status
        killed += status == signal.SIGKILL
        check(**arguments)
    finish(work, arguments)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), float(sys.argv[4]))
