"""Healing and evaluation on a real Ray cluster on this machine give what one process gives."""

from __future__ import annotations

import json

import pytest
import torch

from gra2seq import write
from gra2seq.data.doodles import doodles
from gra2seq.healing import drawing_items

RAY = "Ray is not installed: pip install 'gra2seq[ray]'"


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one core each."""
    ray = pytest.importorskip("ray", reason=RAY)
    from ray.cluster_utils import Cluster

    patch = pytest.MonkeyPatch()  # too little where other tests run: Ray gives a node 30 seconds to start
    patch.setenv("RAY_worker_niceness", "0")
    patch.setenv("RAY_raylet_start_wait_time_s", "120")
    both = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    both.add_node(num_cpus=1)
    both.wait_for_nodes()
    ray.init(address=both.address, log_to_driver=False)
    yield both
    ray.shutdown()
    both.shutdown()
    patch.undo()


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch):
    """As in every actor; and parts so small that there are several."""
    monkeypatch.setattr(drawing_items, "DRAWINGS", 4)
    monkeypatch.setattr("gra2seq.evaluation.judging.PART", 8)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.parametrize(
    ("words", "together"),
    [(["--missing-end"], 4), (["--missing-end", "--samples", 2], 4), (["--mask-prob", "0.3", "--jobs", "1"], 64)],
)
def test_heal_writes_the_same_bytes(call, tmp_path, tiny_run, words, together, monkeypatch):
    """With --mask-prob one process draws all together: the last bits depend on it, so that the cluster must too."""
    monkeypatch.setattr(drawing_items, "DRAWINGS", together)
    source, answers = tmp_path / "drawn.ndjson", {}
    write(source, list(doodles(10, seed=3)))
    for engine in ("local", "ray"):
        out = tmp_path / f"{engine}.ndjson"
        code, _, err = call("heal", source, "-m", tiny_run, "-o", out, "--engine", engine, "-q", *words)
        assert code == 0, err
        answers[engine] = out.read_bytes()
    assert answers["ray"] == answers["local"]


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_many_svg_files_are_answered_each(call, tmp_path, tiny_run):
    files = [tmp_path / f"{number}.svg" for number in range(6)]
    for path, sketch in zip(files, doodles(6, seed=4), strict=True):
        write(path, [sketch])
    for engine in ("local", "ray"):
        words = ["--out-dir", tmp_path / engine, "--engine", engine, "--missing-end", "-q"]
        code, _, err = call("heal", *files, "-m", tiny_run, *words)
        assert code == 0, err
    for path in files:
        assert (tmp_path / "ray" / path.name).read_bytes() == (tmp_path / "local" / path.name).read_bytes()
        assert (tmp_path / "ray" / path.name).read_bytes() != path.read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.parametrize("words", [["--mask", "0", "0.3"], ["--square", "0.4", "--draw", "infill"]])
def test_evaluate_prints_the_same_table(call, tmp_path, tiny_run, words):
    rows = {}
    for engine in ("local", "ray"):
        out_dir = tmp_path / engine  # results of the other engine are not found there
        code, out, err = call(
            "evaluate", tiny_run, "--data", "doodles:200", *words, "--engine", engine, "--json", "-o", out_dir
        )
        assert code == 0, err
        rows[engine] = json.loads(out)["rows"]
    assert rows["ray"] == rows["local"]
    assert rows["ray"][0]["sketches"] > 8


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_what_a_user_did_wrong_comes_back_as_one_line(call, tmp_path, tiny_run):
    source, out = tmp_path / "drawn.ndjson", tmp_path / "healed.ndjson"
    write(source, list(doodles(5, seed=3)))
    code, _, err = call("heal", source, "-m", tiny_run, "-o", out, "--engine", "ray", "--mask-prob", 7)
    assert (code, len(err.strip().splitlines())) == (2, 1)
    assert not out.exists()


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize("command", ["heal", "evaluate"])
def test_engine_and_address_are_checked_before_any_work(call, tmp_path, tiny_run, command):
    source = tmp_path / "drawn.ndjson"
    write(source, list(doodles(2, seed=3)))
    words = [source, "-m", tiny_run] if command == "heal" else [tiny_run, "--data", source]
    for more, message in (
        (["--engine", "rays"], "did you mean ray"),
        (["--address", "auto"], "--engine ray"),
        (["--engine", "ray", "--device", "cuda"], "leave out --device"),
    ):
        code, _, err = call(command, *words, *more)
        assert (code, message in " ".join(err.split())) == (2, True), err
