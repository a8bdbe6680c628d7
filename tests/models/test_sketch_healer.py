"""SketchHealer and SketchHealer 2.0: patches of their own, and the perceptual term."""

import numpy as np
import pytest
import torch
from gra2seq.options import options
from systems import SKETCHES, batch_for, tiny

from gra2seq.data.batches import prepare
from gra2seq.models import build
from gra2seq.sketch.masking import damage


def test_the_perceptual_gradient_reaches_the_decoder_through_the_drawing():
    torch.manual_seed(0)
    picked = tiny("sketch-healer-2")
    network = build(picked).train()
    network(batch_for(picked))[0]["perception"].backward()
    for name in ("decoder.out.weight", "decoder.lstm.weight_hh_l0", "encoder.graph.embed.weights.0"):
        assert network.get_parameter(name).grad.abs().sum() > 0, name


def test_the_perceptual_term_is_that_of_its_sketches_and_matters():
    """The same twice, and the same for a batch as for its halves: nothing random belongs to a process."""
    picked = tiny("sketch-healer-2", mask=0.0)
    torch.manual_seed(0)
    network = build(picked).eval()
    recipe, seeds = picked.recipe(30.0), [(0, i) for i in range(8)]
    whole, again = (network(prepare(SKETCHES, recipe, seeds=seeds))[0] for _ in range(2))
    halves = [network(prepare(SKETCHES[part], recipe, seeds=seeds[part]))[0] for part in (slice(4), slice(4, 8))]
    assert whole["perception"] == again["perception"]
    mean = sum(half["perception"].item() for half in halves) / 2
    assert whole["perception"].item() == pytest.approx(mean, rel=1e-4)
    assert whole["perception"] > 0.003 * whole["offset"]


def test_the_patch_systems_have_their_own_patches_and_the_same_damage():
    for name in ("sketch-healer", "sketch-healer-2", "sketch-lattice+"):
        picked = options({"model": name})
        canvas = picked.recipe(1.0).canvas
        assert (canvas.side, canvas.pen, canvas.patch) == (512, 12, 128)
    ours = options({}).recipe(1.0).canvas
    assert (ours.side, ours.pen, ours.patch) == (640, 16, 256)
    assert ours.wiped * ours.side == ours.patch
    draws = np.full(20, 0.9)
    draws[:3] = 0
    other = 0
    for sketch in SKETCHES:
        lost = [damage(sketch, used, draws, 0.5) for used in (ours, canvas)]
        hit = [each.hits(each.walk.points) for each in lost]
        other += (hit[0] != hit[1]).sum()
    assert other <= 0.02 * sum(map(len, SKETCHES)), "both lose the same points, but for rounding"
