"""A small data set, a model and a judge, none of them trained: what evaluations are tested with."""

import pytest
import torch

from gra2seq.config import parse_config
from gra2seq.data.datasets import open_dataset
from gra2seq.evaluation.judge import Judge
from gra2seq.model import untrained
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
