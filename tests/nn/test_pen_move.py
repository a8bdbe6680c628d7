"""The mixture against torch.distributions and scipy; it integrates to 1; sampling follows what it says."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from torch.distributions import Categorical, MixtureSameFamily, MultivariateNormal

from gra2seq.nn.pen_move import FLOOR, PenMove, raw_size
from gra2seq.nn.temperature import Temperature
from pen_moves import many, pen_move


def moves(shape=(), mixtures=4, seed=0, dtype=torch.float64):
    torch.manual_seed(seed)
    return PenMove(torch.randn(*shape, raw_size(mixtures), dtype=dtype))


def noise_of(move):
    """Two uniforms and two normals for each sample."""
    generator, shape = torch.Generator().manual_seed(0), (*move.raw.shape[:-1], 2)
    uniform, normal = torch.rand(shape, generator=generator), torch.randn(shape, generator=generator)
    return torch.cat([uniform, normal], dim=-1).to(move.raw)


def covariance(move):
    std, rho = move.log_std.exp(), move.tilt.tanh()
    off = rho * std[..., 0] * std[..., 1]
    return torch.stack([torch.stack([std[..., 0] ** 2, off], -1), torch.stack([off, std[..., 1] ** 2], -1)], dim=-2)


def test_log_prob_against_torch_distributions():
    move = moves((3, 5))
    twin = MixtureSameFamily(Categorical(logits=move.logits), MultivariateNormal(move.mean, covariance(move)))
    offsets = torch.randn(3, 5, 2, dtype=torch.float64)
    assert torch.allclose(move.log_prob_offset(offsets), twin.log_prob(offsets), atol=1e-10)


def test_log_prob_against_scipy():
    move = moves(mixtures=3, seed=2)
    offset = np.array([0.3, -0.8])
    weights = torch.softmax(move.logits, -1).numpy()
    density = sum(
        w * multivariate_normal(m, c).pdf(offset)
        for w, m, c in zip(weights, move.mean.numpy(), covariance(move).numpy(), strict=True)
    )
    assert float(move.log_prob_offset(torch.from_numpy(offset))) == pytest.approx(math.log(density), rel=1e-9)


def test_integrates_to_one():
    move = moves(mixtures=3, seed=1)
    axis = torch.linspace(-25, 25, 1501, dtype=torch.float64)
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1)
    total = move.log_prob_offset(grid).exp().sum() * (axis[1] - axis[0]) ** 2
    assert float(total) == pytest.approx(1, abs=1e-3)


def test_the_floor_and_the_end():
    move = moves((2,))
    rows = torch.tensor([[1e4, 1e4, 1, 0, 0], [1e4, 1e4, 0, 0, 1]], dtype=torch.float64)
    offset, pen = move.log_prob(rows)
    assert float(offset[0]) == pytest.approx(FLOOR)
    assert offset[1] == 0
    assert torch.allclose(pen, torch.log_softmax(move.pen, -1)[[0, 1], [0, 2]])
    assert float(move.log_prob(rows, floor=False)[0][0]) < FLOOR


@pytest.mark.parametrize("lowest", [-4.0, None])
@pytest.mark.parametrize("size", [50, 1000])
def test_gradients_stay_finite_far_away_and_for_extreme_numbers(lowest, size):
    torch.manual_seed(0)
    raw = (torch.randn(10, raw_size(4)) * size).requires_grad_()
    rows = torch.zeros(10, 5)
    rows[:, :2] = 1e3
    rows[:, 2] = 1
    offset, pen = PenMove(raw, min_log_std=lowest).log_prob(rows)
    (offset.sum() + pen.sum()).backward()
    assert raw.grad.isfinite().all()


def test_samples_have_the_moments_of_the_mixture():
    move = moves(mixtures=2, seed=3)
    often = many(move, 400_000)
    rows = often.sample(noise=noise_of(often))
    weights = torch.softmax(move.logits, -1)
    mean = (weights.unsqueeze(-1) * move.mean).sum(0)
    apart = move.mean - mean
    spread = (weights[:, None, None] * (covariance(move) + apart[:, :, None] * apart[:, None, :])).sum(0)
    assert torch.allclose(rows[:, :2].mean(0), mean, atol=0.03)
    assert torch.allclose(torch.cov(rows[:, :2].T), spread, rtol=0.015, atol=0.03)
    assert torch.allclose(rows[:, 2:].mean(0), torch.softmax(move.pen, -1), atol=0.01)


@pytest.mark.parametrize(("linear", "expected"), [(False, [1.0, 1.5]), (True, [0.5, 0.75])])
def test_temperature_divides_logits_and_multiplies_sigma_by_its_root_or_by_itself(linear, expected):
    """Ha and Eck's formula has the root, the released code (and Magenta's) the temperature itself."""
    move = pen_move(
        torch.zeros(1),
        torch.zeros(1, 2),
        torch.log(torch.tensor([[2.0, 3.0]])),
        torch.zeros(1),
        torch.tensor([0.0, 1, 2]),
    )
    often = many(move, 400_000)
    rows = often.sample(Temperature(0.25, linear_sigma=linear), noise_of(often))
    assert torch.allclose(rows[:, :2].std(0), torch.tensor(expected), atol=0.02)
    assert torch.allclose(rows[:, 2:].mean(0), torch.softmax(move.pen / 0.25, -1), atol=0.01)
    warm = often.sample(Temperature(0.25, 0.5, linear), noise_of(often))
    assert torch.equal(warm[:, :2], rows[:, :2]), "the offsets keep theirs"
    assert torch.allclose(warm[:, 2:].mean(0), torch.softmax(move.pen / 0.5, -1), atol=0.01)
    with pytest.raises(ValueError, match="negative"):
        move.sample(Temperature(-1.0))


def test_temperature_zero_takes_the_likeliest_and_needs_no_randomness():
    move = moves((6,))
    with pytest.raises(ValueError, match="without noise"):
        move.sample()
    rows = move.sample(Temperature(0.0))
    best = move.logits.argmax(-1)
    assert torch.equal(rows[:, :2], move.mean[torch.arange(6), best])
    assert torch.equal(rows[:, 2:].argmax(-1), move.pen.argmax(-1))


def test_a_soft_sample_is_a_sample_and_lets_gradients_through():
    torch.manual_seed(0)
    raw = torch.randn(2000, 3 + 6 * 4, dtype=torch.float64)[:1].expand(2000, -1).clone().requires_grad_()
    moves = PenMove(raw)
    gumbel = -torch.empty(2000, 4 + 3, dtype=torch.float64).exponential_().log()
    normal = torch.randn(2000, 2, dtype=torch.float64)
    rows = moves.soft_sample(gumbel, normal, temperature=1e-3)  # so cold that the choice is hard
    chosen = (moves.logits + gumbel[:, :4]).argmax(dim=-1)
    expected = torch.nn.functional.softmax(moves.logits[0], dim=-1)
    assert torch.allclose(torch.bincount(chosen, minlength=4).double() / 2000, expected, atol=0.05)
    mean = moves.mean[torch.arange(2000), chosen]
    assert torch.allclose((rows[:, :2] - mean).mean(dim=0), torch.zeros(2, dtype=torch.float64), atol=0.2)
    assert torch.allclose(rows[:, 2:].sum(dim=-1), torch.ones(2000, dtype=torch.float64))
    assert torch.allclose(rows[:, 2:].max(dim=-1).values, torch.ones(2000, dtype=torch.float64))
    warm = moves.soft_sample(gumbel, normal)
    warm.square().sum().backward()
    assert raw.grad.isfinite().all()
    assert (raw.grad.abs().sum(dim=0) > 0).all()


def test_the_deviation_is_that_of_the_gaussian_an_offset_comes_from():
    """Gaussians far apart, so that an offset tells its own; x and y count alike, and the temperature does not."""
    mean = torch.tensor([[0.0, 0.0], [1e6, 0.0], [0.0, 1e6]])
    log_std = torch.tensor([[0.0, 0.0], [1.0, -2.0], [-3.0, -3.0]])
    move = pen_move(torch.zeros(3), mean, log_std, torch.zeros(3), torch.tensor([0.5, 0.0, -1.0]))
    often = many(move, 500)
    for temperature in (0.1, 1.0):
        rows, found = often.sample_and_deviation(Temperature(temperature), noise_of(often))
        origin = torch.cdist(rows[:, :2], mean).argmin(dim=-1)
        assert set(origin.tolist()) == {0, 1, 2}
        deviation = [math.sqrt((math.exp(2 * x) + math.exp(2 * y)) / 2) for x, y in log_std.tolist()]
        assert torch.allclose(found, torch.tensor(deviation)[origin])
    assert torch.equal(often.sample(noise=noise_of(often)), rows)
    assert float(move.sample_and_deviation(Temperature(0.0))[1]) == 1.0


@pytest.mark.parametrize("lowest", [-3.0, None])
def test_samples_keep_the_bounds_that_the_likelihood_has(lowest):
    """Numbers far beyond them: those of the bounded Gaussian, also of several candidates."""
    torch.manual_seed(0)
    move = PenMove(torch.randn(200, raw_size(4), dtype=torch.float64) * 1000, min_log_std=lowest)
    bound = -20.0 if lowest is None else lowest
    assert move.log_std.aminmax() == (bound, 20.0)
    assert move.tilt.abs().max() == 6
    noise = torch.rand(200, 1, 4, dtype=torch.float64)
    component = move.logits.argmax(dim=-1)  # logits lie so far apart that the choice is certain
    row = torch.arange(200)
    mean, std, rho = move.mean[row, component], move.log_std[row, component].exp(), move.tilt[row, component].tanh()
    first, second = noise[:, 0, 2], noise[:, 0, 3]
    tilted = torch.stack([first, rho * first + (1 - rho**2).sqrt() * second], dim=-1)
    for rows, deviation in (
        move.sample_and_deviation(noise=noise[:, 0]),
        (part[:, 0] for part in move.candidates().sample_and_deviation(noise=noise)),
    ):
        assert torch.allclose(rows[:, :2], mean + std * tilted, rtol=1e-12)
        assert torch.allclose(deviation, (std**2).mean(dim=-1).sqrt(), rtol=1e-12)
