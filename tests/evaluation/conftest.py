"""What evaluations are tested with: small data, an untrained model and judge, and all systems after a few steps."""

from contextlib import nullcontext

import pytest
import torch

from gra2seq.config import parse_config
from gra2seq.config.systems import SYSTEMS
from gra2seq.data.datasets import open_dataset
from gra2seq.evaluation.compare import compare
from gra2seq.evaluation.equal_terms import Display
from gra2seq.evaluation.judge import Judge
from gra2seq.evaluation.protocol import Terms
from gra2seq.folder import untrained
from gra2seq.models.registry import preparation_of
from gra2seq.models.sketch_a_net import SketchANet


def judge_of(categories):
    """An untrained judge of these categories."""
    config = parse_config({"model": "sketch-a-net"})
    return Judge(SketchANet(len(categories)), preparation_of(config, 1.0, tuple(categories)))


@pytest.fixture(scope="session")
def make_judge():
    return judge_of


@pytest.fixture(scope="module")
def data():
    return open_dataset("doodles:400", name="DS1")


@pytest.fixture(scope="module")
def model():
    return untrained(parse_config({"preset": "tiny", "preparation": {"max_points": 25}}))


@pytest.fixture(scope="module")
def judge(data):
    torch.manual_seed(0)
    return judge_of(tuple(reversed(data.categories)))


@pytest.fixture(scope="session")
def compared(tmp_path_factory):
    """All systems after three steps: a function that compares them again, what it found, the folder, the reports."""
    folder = tmp_path_factory.mktemp("compare")
    reports = []
    training = {"max_steps": 3, "validate_every": 3, "validate_sketches": 10, "gallery": 0}
    shared = {"preset": "tiny", "data": "doodles:150", "workers": 0, "threads": 1, "training": training}

    def run():
        return compare(
            lambda name: parse_config({**shared, "model": {"name": name}, "run": str(folder / name)}),
            list(SYSTEMS),
            Terms(masks=[0.0, 0.3]),
            display=Display(lambda _: nullcontext(reports.append)),
        )

    return run, run(), folder, reports
