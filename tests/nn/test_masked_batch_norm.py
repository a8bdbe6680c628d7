"""Batch norm against torch's on the real rows; absent rows change nothing."""

import torch

from gra2seq.nn.masked_batch_norm import BatchNorm


def test_equals_torch_on_real_rows_in_training_and_use():
    torch.manual_seed(0)
    ours, twin = BatchNorm(5), torch.nn.BatchNorm1d(5)
    for norm in (ours, twin):
        torch.nn.init.uniform_(norm.weight, generator=torch.Generator().manual_seed(1))
    for _ in range(3):
        x, real = torch.randn(4, 6, 5) * 3 + 1, torch.rand(4, 6) > 0.4
        y = ours(x, real)
        assert torch.allclose(y[real], twin(x[real]), atol=1e-5)
        assert (y[~real] == 0).all()
    assert torch.allclose(ours.mean, twin.running_mean, atol=1e-6)
    assert torch.allclose(ours.variance, twin.running_var, atol=1e-5)
    ours.eval(), twin.eval()
    assert torch.allclose(ours(x, real)[real], twin(x[real]), atol=1e-5)


def test_absent_rows_have_no_gradient():
    norm, real = BatchNorm(3), torch.tensor([True, False, True, True])
    x = torch.randn(4, 3, requires_grad=True)
    norm(x, real).square().sum().backward()
    assert (x.grad[1] == 0).all()
    assert (x.grad[0] != 0).any()


def test_one_row_does_not_divide_by_zero():
    norm = BatchNorm(3)
    assert norm(torch.randn(1, 3)).isfinite().all()
    assert norm(torch.randn(2, 3), torch.tensor([False, False])).isfinite().all()
    assert norm.variance.isfinite().all()
