"""RPCL-pix2seq: its mixture."""

import torch
from systems import batch_for, tiny

from gra2seq.data.doodles import doodles
from gra2seq.models import build
from gra2seq.nn import gaussian_mixture as mixture


def test_the_mixture_outlives_the_beginning_of_a_training(monkeypatch):
    """A fresh encoder's codes wander, and one component is left with all; put on codes anew, many share them."""
    monkeypatch.setattr(mixture, "CALM", 70)
    picked = tiny("rpcl-pix2seq", clusters=20, picture=16)
    torch.manual_seed(0)
    network = build(picked).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    batches = [batch_for(picked, sketches=list(doodles(16, seed=seed))) for seed in range(4)]
    living = []
    for step in range(130):
        terms, watch = network(batches[step % 4])
        optimizer.zero_grad()
        (terms["kl"] + terms["picture"]).backward()  # encoder and painter alone
        optimizer.step()
        living.append(int(watch["components"]))
    assert living[65] <= 6, "else this test shows nothing"
    assert living[-1] > 10
