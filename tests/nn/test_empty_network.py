"""Networks that are built to be filled from a file."""

import pytest
import torch
from torch import nn

from gra2seq.nn.empty_network import EmptyNetwork, TooLarge


def test_initialisers_change_neither_weights_nor_the_random_state():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    with EmptyNetwork(limit=10_000):
        network = nn.Sequential(nn.Linear(10, 20), nn.LSTM(20, 5), nn.Conv2d(1, 2, 3), nn.BatchNorm1d(7))
        nn.init.orthogonal_(network[0].weight)
        nn.init.kaiming_normal_(tensor=network[0].weight)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(network[3].weight, torch.ones(7)), "what is not random is still set"


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(10**9, 10**9),
        lambda: nn.Linear(100, 200),
        lambda: [nn.Linear(50, 50) for _ in range(10**9)],
        lambda: nn.Embedding(10**12, 1),
        lambda: torch.zeros(10**9),
        lambda: torch.ones((10**5, 10**5)),
        lambda: torch.full(size=(10**9, 2), fill_value=1.0),
        lambda: torch.randn(10**6, 10**6),
        lambda: torch.arange(10**12),
        lambda: torch.eye(10**6, 10**6),
    ],
)
def test_more_numbers_than_allowed_are_refused_before_they_are_made(make):
    with pytest.raises(TooLarge, match="larger than its weights"), EmptyNetwork(limit=10_000):
        make()
