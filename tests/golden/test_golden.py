"""Nothing changes in what the model in the package computes, unless scripts/record_golden.py says that it should.

Codes are compared directly. Drawings are compared in two ways, because a sampled drawing is a chain of discrete choices
(which Gaussian, which pen state): another processor's last bit can turn one choice, and all moves after it differ.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from golden_arrays import RECORDED, codes_of, drawings_of, next_rows, normalised, recorded_drawings, weights_digest

import gra2seq
from gra2seq.sketch.strokes import DOWN

TOLERANCE = 1e-4
MAX_TURNED_ROWS = 0.002  # share of pen moves whose random number lies within rounding of a choice's threshold
MAX_TURNED_DRAWINGS = 0.1  # share of sampled drawings that hold such a move


@pytest.fixture(scope="module")
def golden():
    with np.load(RECORDED) as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def model():
    return gra2seq.load()


def test_golden_arrays_belong_to_the_model_in_the_package(golden):
    assert str(golden["weights"]) == weights_digest(), (
        "the model in the package was replaced: run scripts/record_golden.py if that was deliberate"
    )


def test_codes_are_the_recorded_ones(golden, model):
    for name, codes in codes_of(model).items():
        np.testing.assert_allclose(codes, golden[name], rtol=0, atol=TOLERANCE, err_msg=name)


def test_each_pen_move_after_the_recorded_ones_is_the_recorded_one(golden, model):
    """The decoder is given the recorded rows, so a turned choice changes one row and not all that follow."""
    drawings = recorded_drawings(golden)
    rows, drawn = next_rows(model, golden["codes"][: len(drawings)], drawings)
    step, count = torch.arange(rows.shape[1]), torch.tensor([len(one) for one in drawings]).unsqueeze(1)
    offset = (rows - drawn)[..., :DOWN].abs().amax(dim=-1) > TOLERANCE
    # the pen of the last row is not compared: a sketch that ends is lifted there, whatever was sampled
    pen = (rows[..., DOWN:] != drawn[..., DOWN:]).any(dim=-1) & (step < count - 1)
    turned = (offset | pen)[step < count]
    assert turned.float().mean() <= MAX_TURNED_ROWS


def test_sampled_drawings_are_the_recorded_ones(golden, model):
    recorded = recorded_drawings(golden)
    same = [
        np.array_equal(one.lengths, other.lengths)
        and np.allclose(normalised(one), normalised(other), rtol=0, atol=TOLERANCE)
        for one, other in zip(drawings_of(model, golden["codes"]), recorded, strict=True)
    ]
    assert np.mean(same) >= 1 - MAX_TURNED_DRAWINGS
