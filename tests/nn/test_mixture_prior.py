"""The mixture of Gaussians against torch's, and that penalised rivals make spare components die."""

import math

import pytest
import torch

from gra2seq.nn.mixture_prior import CALM, EVERY, RATE, GaussianMixture


def clustered(generator, count=400, clusters=3, dim=2):
    middles = torch.tensor([[4.0, 0.0], [-4.0, 0.0], [0.0, 5.0]])[:clusters, :dim]
    chosen = torch.randint(clusters, (count,), generator=generator)
    return middles[chosen] + 0.3 * torch.randn(count, dim, generator=generator)


def certain(codes):
    """Codes without a variance of their own."""
    return codes, torch.zeros_like(codes)


def test_joint_and_shares_against_torch():
    torch.manual_seed(0)
    mixture = GaussianMixture(4, 3)
    mixture.means.copy_(torch.randn(4, 3))
    mixture.variances.copy_(torch.rand(4, 3) + 0.2)
    mixture.weights.copy_(torch.tensor([0.1, 0.2, 0.3, 0.4]))
    codes = torch.randn(6, 3)
    normal = torch.distributions.Normal(mixture.means, mixture.variances.sqrt())
    expected = mixture.weights.log() + normal.log_prob(codes.unsqueeze(1)).sum(dim=-1)
    assert torch.allclose(mixture.log_joint(codes), expected, atol=1e-4)
    assert torch.allclose(mixture.shares(codes).sum(dim=-1), torch.ones(6))


def test_kl_against_a_double_loop():
    torch.manual_seed(0)
    mixture = GaussianMixture(3, 4)
    mixture.means.copy_(torch.randn(3, 4))
    mixture.variances.copy_(torch.rand(3, 4) + 0.5)
    mean, log_variance = torch.randn(5, 4), torch.randn(5, 4) * 0.1
    share = mixture.shares(mean)
    total = 0.0
    for n in range(5):
        for k in range(3):
            one = torch.distributions.Normal(mean[n], (0.5 * log_variance[n]).exp())
            other = torch.distributions.Normal(mixture.means[k], mixture.variances[k].sqrt())
            apart = torch.distributions.kl_divergence(one, other).sum().item()
            g = share[n, k].item()
            total += g * apart + g * math.log(g / mixture.weights[k].item())
    assert mixture.kl(mean, log_variance).item() == pytest.approx(total / 5 / 4, rel=1e-4)


def test_one_component_at_the_origin_is_the_standard_kl():
    from gra2seq.nn.kl import standard_kl

    mixture = GaussianMixture(1, 4)
    mixture.means.zero_()
    mean, log_variance = torch.randn(5, 4), torch.randn(5, 4)
    assert torch.allclose(mixture.kl(mean, log_variance), standard_kl(mean, log_variance), atol=1e-6)


@pytest.mark.parametrize("components", [3, 8])
def test_em_steps_find_the_clusters_and_penalised_spare_components_die(components):
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(components)
    mixture = GaussianMixture(components, 2)
    for _ in range(CALM + 1500):
        mixture.update_(*certain(clustered(generator)))
    alive = mixture.weights > 0.05
    assert 1 < int(alive.sum()) <= 3 if components == 3 else int(alive.sum()) <= 4
    assert mixture.weights.sum().item() == pytest.approx(1)
    assert mixture.weights.isfinite().all()
    assert mixture.means.isfinite().all()
    codes = clustered(generator)
    nearest = mixture.means[mixture.shares(codes).argmax(dim=-1)]
    assert (codes - nearest).norm(dim=-1).mean() < 1.5


def test_without_penalty_spare_components_stay_alive():
    generator = torch.Generator().manual_seed(1)
    living = []
    for calm in (True, False):
        torch.manual_seed(8)
        start = torch.Generator().manual_seed(2)
        mixture = GaussianMixture(8, 2)
        mixture.start_(clustered(start, 8))
        for _ in range(CALM + 1500):
            if calm:
                mixture.step.zero_()  # never gets to the rivals
            mixture.update_(*certain(clustered(generator)))
        living.append(int((mixture.weights > 0.02).sum()))
    assert living[0] > living[1], living


def test_a_rival_is_pushed_away_and_loses_weight():
    codes, stepped = torch.tensor([[0.0, 0.1], [0.0, -0.1]]), {}
    for penalty in (0.0, 0.1):
        mixture = GaussianMixture(3, 2, penalty=penalty)
        mixture.started.fill_(True)
        mixture.means.copy_(torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 9.0]]))
        mixture.step.fill_(CALM + EVERY - CALM % EVERY - 1)  # the next is a rival-penalised one
        mixture.update_(*certain(codes))
        stepped[penalty] = mixture
    calm, strict = stepped[0.0], stepped[0.1]
    assert torch.equal(calm.means[1], torch.tensor([2.0, 0.0]))
    assert strict.means[1, 0] > 2, "it moved away from the codes"
    assert strict.weights[1] < calm.weights[1]
    assert strict.weights[2] / strict.weights[0] == pytest.approx(calm.weights[2] / calm.weights[0]), (
        "no other component is penalised"
    )
    assert torch.equal(strict.means[::2], calm.means[::2])


def test_in_many_dimensions_several_components_live_and_the_rival_is_the_second_nearest():
    torch.manual_seed(0)
    mixture, codes = GaussianMixture(50, 128), 0.02 * torch.randn(64, 128)  # as a fresh network gives them
    for _ in range(CALM):
        mixture.update_(*certain(codes))
    assert int((mixture.weights * 50 > 0.1).sum()) > 5
    far = GaussianMixture(3, 128)
    far.started.fill_(True)
    far.means.copy_(torch.stack([torch.full((128,), place) for place in (0.0, 5.0, 9.0)]))
    share = far._winner_and_rival(far.log_joint(torch.zeros(2, 128)))
    assert share.tolist() == [[1.0, pytest.approx(-1e-4), 0.0]] * 2
    far.weights.copy_(torch.tensor([0.5, 0.0, 0.5]))
    assert far._winner_and_rival(far.log_joint(torch.zeros(1, 128))).tolist() == [[1.0, 0.0, pytest.approx(-1e-4)]]
    far.weights.copy_(torch.tensor([1.0, 0.0, 0.0]))
    assert far._winner_and_rival(far.log_joint(torch.zeros(1, 128))).tolist() == [[1.0, 0.0, 0.0]], "no living rival"


def test_update_counts_the_variance_of_the_codes_themselves():
    """One EM step at a rate against a loop over codes and components (released code)."""
    torch.manual_seed(0)
    mixture = GaussianMixture(3, 2)
    mixture.started.fill_(True)
    mixture.means.copy_(torch.randn(3, 2))
    mixture.variances.copy_(torch.rand(3, 2) + 0.5)
    before = GaussianMixture(3, 2)
    before.load_state_dict(mixture.state_dict())
    codes, variance = torch.randn(7, 2), torch.rand(7, 2)
    share = mixture.shares(codes)
    mixture.update_(codes, variance)
    for k in range(3):
        mass = share[:, k].sum()
        pace = RATE / max(float(mass), 7 * float(before.weights[k]), 1)
        pull = sum(share[n, k] * (codes[n] - before.means[k]) for n in range(7))
        spread = sum(
            share[n, k] * (variance[n] + (codes[n] - before.means[k]) ** 2 - before.variances[k]) for n in range(7)
        )
        assert torch.allclose(mixture.means[k], before.means[k] + pace * pull, atol=1e-5)
        assert torch.allclose(mixture.variances[k], before.variances[k] + pace * spread, atol=1e-5)
    narrow = GaussianMixture(3, 2)
    narrow.load_state_dict(before.state_dict())
    narrow.update_(codes, torch.zeros_like(variance))
    assert (mixture.variances > narrow.variances).all()


def test_the_kl_has_a_gradient_through_the_responsibilities():
    """By finite differences, and unlike with frozen shares. (With equal variances these are optimal: no difference.)"""
    torch.manual_seed(0)
    mixture = GaussianMixture(3, 2).double()
    mixture.means.copy_(torch.randn(3, 2))
    mixture.variances.copy_(torch.rand(3, 2) * 2 + 0.2)
    mean, log_variance = torch.randn(4, 2).double().requires_grad_(), torch.randn(4, 2).double()
    assert torch.autograd.gradcheck(lambda mean: mixture.kl(mean, log_variance), (mean,))
    mixture.kl(mean, log_variance).backward()
    share = mixture.shares(mean).detach()
    frozen = mean.detach().clone().requires_grad_()
    apart = 0.5 * ((log_variance.exp().unsqueeze(1) + (frozen.unsqueeze(1) - mixture.means) ** 2) / mixture.variances)
    ((share * apart.sum(dim=-1)).sum(dim=-1).mean() / 2).backward()
    assert not torch.allclose(mean.grad, frozen.grad, atol=1e-4)


def test_components_are_reset_to_codes_after_the_initial_steps():
    """By then one component may have all codes, and the others none to come back to."""
    torch.manual_seed(0)
    mixture, codes = GaussianMixture(5, 2), torch.randn(20, 2)
    mixture.started.fill_(True)
    mixture.weights.copy_(torch.tensor([1.0, 0, 0, 0, 0]))
    for step, alive in ((CALM - 2, 1), (CALM - 1, 5)):
        mixture.step.fill_(step)
        mixture.update_(*certain(codes))
        assert int((mixture.weights > 0.02).sum()) == alive
    assert torch.allclose(mixture.means, codes[:5], atol=0.3)
