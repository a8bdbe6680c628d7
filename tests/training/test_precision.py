"""Training with products in 16 bits."""

import pytest
import torch
from quick_runs import losses, run

from gra2seq.errors import UserError
from gra2seq.nn.full_precision import full_precision


@pytest.mark.parametrize("model", ["sp-gra2seq", "gra2seq-plus", "sketch-rnn", "sketch-lattice"])
def test_losses_in_bfloat16_stay_within_two_per_cent(tmp_path, model):
    runs = {name: run(tmp_path / name, model=model, precision=name, max_steps=12) for name in ("32-true", "bf16-mixed")}
    single, half = ([row["loss"] for row in losses(folder)] for folder in runs.values())
    assert half == pytest.approx(single, rel=0.02)
    assert half != single, "products were computed in 16 bits"


def test_unknown_precision_is_refused(tmp_path):
    with pytest.raises(UserError, match="precision"):
        run(tmp_path / "run", precision="8-mixed", max_steps=1)


def test_full_precision_switches_autocast_off():
    @full_precision
    def product(a, b):
        return a @ b

    a = torch.ones(2, 2)
    with torch.autocast("cpu", torch.bfloat16):
        assert (a @ a).dtype == torch.bfloat16
        assert product(a.bfloat16(), b=a).dtype == torch.float32
        assert (a @ a).dtype == torch.bfloat16, "switched on again"
    assert product(a.double(), a.double()).dtype == torch.float64
