"""Several processes, and several machines, learn what one learns."""

import os
import socket
import subprocess
import sys

import pytest
from quick_runs import command, losses, run

import gra2seq
from gra2seq.config.systems import SYSTEMS

FIGURES = {
    "step",
    "sketches_per_second",
    "norm",
    "cosine_linked",
    "cosine_any",
    "cosine_centroid",
    "living_clusters",
    "sigma",
    "kl_a_dimension",
    "components",
    "unrepaired",
}

PLUS = ["model=gra2seq-plus", "mask=0.1", "mask_to=0.4", "rectangle=0.3"]
ALIKE = [
    ["cluster_form=euclidean"],
    pytest.param(["cluster_form=squared"], marks=pytest.mark.slow),
    pytest.param(
        [
            "cluster_form=squared",
            "mask=0",
            "mask_to=0.4",
            "rectangle=0.3",
            "end=0.3",
            "own_prefixes=0.5",
            "prefix_noise=2",
        ],
        marks=pytest.mark.slow,
    ),
    pytest.param(["objective=repair-codes", *PLUS, "code_repair=true", "start=START"], marks=pytest.mark.slow),
    pytest.param(["objective=finetune-decoder", *PLUS, "start=START"], marks=pytest.mark.slow),
    *(pytest.param([f"model={name}"], marks=pytest.mark.slow) for name in SYSTEMS if name != "sp-gra2seq"),
]


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return str(asked.getsockname()[1])


@pytest.mark.parametrize("chosen", ALIKE, ids=" ".join)
def test_two_processes_equal_one(tmp_path, config, chosen):
    """Batch norm, centroids, mixtures and losses are those of the global batch."""
    if "start=START" in chosen:
        run(tmp_path / "start", model="gra2seq-plus", max_steps=4)
    goal = ["max_steps=8", "validate_every=8", *(word.replace("START", str(tmp_path / "start")) for word in chosen)]
    one, two = tmp_path / "one", tmp_path / "two"
    subprocess.run(command(config, f"run={one}", *goal), check=True, capture_output=True, timeout=120)
    environment = {**os.environ, "MASTER_PORT": free_port()}
    done = subprocess.run(
        command(config, f"run={two}", *goal, "--devices", "2"),
        capture_output=True,
        text=True,
        env=environment,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    for a, b in zip(losses(one), losses(two), strict=True):
        for name in a.keys() - FIGURES:
            assert a[name] == pytest.approx(b[name], rel=2e-4), (a["step"], name)
    model_one, model_two = (gra2seq.load(folder).network.state_dict() for folder in (one, two))
    for name, value in model_one.items():
        # Adam moves a weight by the learning rate even where its gradient is nothing but rounding: a few may be apart.
        apart = (value.float() - model_two[name].float()).abs()
        assert (apart > 1e-4 + 1e-2 * value.float().abs()).double().mean() < 1e-4, name
        assert apart.max() < 2e-3, name


@pytest.mark.slow
def test_two_machines_equal_one(tmp_path, config):
    """Started by the launcher, once on each machine (here: twice on this one)."""
    goal = ["max_steps=6", "validate_every=6"]
    one, two = tmp_path / "one", tmp_path / "two"
    subprocess.run(command(config, f"run={one}", *goal), check=True, capture_output=True, timeout=120)
    port = free_port()
    launch = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
    launch += ["--master-addr", "127.0.0.1", "--master-port", port]
    words = ["-m", "gra2seq.cli", "train", str(config), f"run={two}", *goal, "num_nodes=2"]
    machines = [
        subprocess.Popen([*launch, "--node-rank", str(rank), *words], stderr=subprocess.DEVNULL) for rank in (1, 0)
    ]
    assert [machine.wait(timeout=180) for machine in machines] == [0, 0]
    for a, b in zip(losses(one), losses(two), strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=2e-4)
