"""A small data set, a model and a judge, none of them trained: what evaluations are tested with."""

import pytest
import torch

from gra2seq.data.datasets import open_dataset
from gra2seq.evaluation.judge import Judge
from gra2seq.model import untrained
from gra2seq.models.sketch_a_net import SketchANet
from gra2seq.options import options


@pytest.fixture(scope="module")
def data():
    return open_dataset("doodles:400", name="DS1")


@pytest.fixture(scope="module")
def model():
    return untrained(options({"preset": "tiny", "max_points": 25}))


@pytest.fixture(scope="module")
def judge(data):
    torch.manual_seed(0)
    return Judge(SketchANet(5), options({"model": "sketch-a-net"}).recipe(1.0, tuple(reversed(data.categories))))
