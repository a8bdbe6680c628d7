"""One model used by many threads, and by processes forked after it was used."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import torch

from gra2seq.config import parse_config
from gra2seq.data.doodles import doodles
from gra2seq.folder import untrained
from gra2seq.model import Model
from gra2seq.sketch.strokes import Sketch

THREADS = 8
HOLE = [(60, 60, 90, 90)]
SYSTEMS = ("gra2seq-plus", "sp-gra2seq")  # with picture branch and code repair; with clusters


@pytest.fixture(scope="module", params=SYSTEMS)
def model(request: pytest.FixtureRequest) -> Model:
    config = {"preset": "tiny", "model": {"name": request.param}, "preparation": {"max_points": 40}}
    return untrained(parse_config(config))


def as_bytes(sketches: list[Sketch]) -> list[bytes]:
    return [sketch.points.tobytes() + sketch.lengths.tobytes() for sketch in sketches]


def jobs(model: Model) -> list[Callable[[], object]]:
    """What the threads do at once: results as values that can be compared exactly."""
    sketches = list(doodles(3, seed=3))

    def graph(links: str | None) -> Callable[[], object]:
        def look() -> object:
            found = vars(model.graph(sketches[0], links=links))
            return {name: np.asarray(value).tobytes() for name, value in found.items() if isinstance(value, np.ndarray)}

        return look

    return [
        lambda: model.encode(sketches).tobytes(),
        lambda: model.encode(sketches, holes=HOLE).tobytes(),
        lambda: as_bytes(model.heal(sketches[:2], holes=HOLE, seed=1)),
        lambda: as_bytes(model.complete(sketches[:2], seed=2)),  # type: ignore[arg-type]
        *map(graph, (None, "temporal", "spatial", "random")),
    ]


def test_threads_get_the_results_of_serial_calls(model: Model) -> None:
    before = {name: tensor.clone() for name, tensor in model.network.state_dict().items()}
    work = jobs(model)
    expected = [job() for job in work]
    start = Barrier(THREADS)

    def run(thread: int) -> list[tuple[int, object]]:
        start.wait()
        order = [(thread + step) % len(work) for step in range(len(work))]  # different jobs meet each other
        return [(number, work[number]()) for number in order]

    with ThreadPoolExecutor(THREADS) as pool:
        for results in pool.map(run, range(THREADS)):
            assert all(result == expected[number] for number, result in results)
    assert [job() for job in work] == expected, "the model is not what it was"
    after = model.network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


FORK_AFTER_USE = """
    import os, tempfile
    import numpy as np, torch
    from gra2seq.config import parse_config
    from gra2seq.data.doodles import doodles
    from gra2seq.folder import untrained
    from gra2seq.training.loop import train

    torch.set_num_threads(2)
    model = untrained(parse_config({"preset": "tiny", "preparation": {"max_points": 40}}))
    sketches = list(doodles(16, seed=0))
    codes = model.encode(sketches)
    torch.randn(500, 500) @ torch.randn(500, 500)  # OpenMP's threads are started
    for _ in range(3):
        model.heal(sketches[:8], holes=[(10, 10, 80, 80)], candidates=4, best_of=2)  # and OpenCV's

    child = os.fork()
    if child == 0:
        torch.randn(500, 500) @ torch.randn(500, 500)
        os._exit(0 if np.allclose(model.encode(sketches), codes, atol=1e-5) else 1)
    assert os.waitpid(child, 0)[1] == 0

    torch.set_num_threads(1)  # two that wait for each other are slow on a busy machine
    training = {"max_steps": 2, "validate_every": 2, "gallery": 0, "validate_sketches": 10, "batch": 8}
    values = {"preset": "tiny", "data": "doodles:50", "workers": 1, "accelerator": "cpu", "training": training}
    with tempfile.TemporaryDirectory() as folder:
        train(parse_config({**values, "run": f"{folder}/run"}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_forked_after_use_do_not_hang() -> None:
    """A child that encodes, and the worker of a training."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORK_AFTER_USE)]
    done = subprocess.run(command, env=environment, timeout=300, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
