"""Eq. 5 by hand; empty clusters unmoved; both forms of the pull."""

import pytest
import torch

from gra2seq.nn.centroids import Centroids


def started(places, rate=0.05):
    places = torch.tensor(places)
    centroids = Centroids(*places.shape, rate=rate)
    centroids.places.copy_(places)
    centroids.started.fill_(True)
    return centroids


def test_assigned_by_cosine_not_by_distance():
    centroids = started([[1.0, 0.0], [0.0, 100.0]])
    assert centroids.assign(torch.tensor([[9.0, 8.0], [0.1, 0.2]])).tolist() == [0, 1]


def test_update_by_hand_and_empty_clusters_stay():
    centroids = started([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    patches = torch.tensor([[2.0, 0.0], [4.0, 1.0], [0.0, 3.0]])
    centroids.update_(patches, torch.tensor([0, 0, 1]))
    expected = [
        [0.05 * 3.0 + 0.95 * 1.0, 0.05 * 0.5],
        [0.0, 0.05 * 3.0 + 0.95 * 1.0],
        [-1.0, -1.0],
    ]
    assert torch.allclose(centroids.places, torch.tensor(expected))


def test_starts_on_the_patches_with_the_smallest_numbers():
    centroids = Centroids(2, 3)
    patches = torch.randn(5, 3)
    centroids.start_(patches, torch.tensor([0.9, 0.1, 0.5, 0.05, 0.7]))
    assert torch.equal(centroids.places, patches[[3, 1]])
    assert centroids.started


def test_starts_with_fewer_patches_than_clusters_but_not_without_any():
    centroids = Centroids(4, 3)
    centroids.start_(torch.empty(0, 3), torch.empty(0))
    assert not centroids.started
    patches = torch.randn(3, 3)
    centroids.start_(patches, torch.tensor([0.2, 0.1, 0.3]))
    assert torch.equal(centroids.places, patches[[1, 0, 2, 1]])


def test_pull_by_hand():
    centroids = started([[0.0, 0.0], [10.0, 0.0]])
    patches = torch.tensor([[3.0, 4.0], [10.0, 0.0], [10.0, 1.0]], requires_grad=True)
    cluster = torch.tensor([0, 1, 1])
    for form, expected in (("euclidean", (5 + 0 + 1) / 2), ("squared", (25 + 0 + 1) / 2 / 3)):
        assert centroids.pull(patches, cluster, sketches=2, form=form).item() == pytest.approx(expected)
    centroids.pull(patches, cluster, 2).backward()
    assert patches.grad.isfinite().all()  # also for the patch that sits on its centroid
    assert torch.allclose(patches.grad[0], torch.tensor([0.3, 0.4]))
    with pytest.raises(ValueError, match="euclidean or squared"):
        centroids.pull(patches, cluster, 2, form="cosine")


def test_no_gradient_reaches_the_centroids():
    centroids = started([[1.0, 0.0]])
    centroids.places.requires_grad_()
    patches = torch.tensor([[3.0, 4.0]], requires_grad=True)
    for form in ("euclidean", "squared"):
        centroids.pull(patches, centroids.assign(patches), 1, form).backward()
    assert patches.grad.abs().sum() > 0
    assert not list(centroids.parameters()), "no optimiser moves them"
