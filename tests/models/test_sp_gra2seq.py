"""SP-gra2seq: clusters and figures of training."""

import pytest
import torch
from systems import batch_for, network_of, tiny

from gra2seq.data.batches import prepare_training
from gra2seq.data.doodles import doodles
from gra2seq.models.registry import preparation_of


@pytest.mark.parametrize("form", ["euclidean", "squared"])
def test_no_centroid_is_at_0_after_training_with_masks(form):
    """Patches without ink, whose vector is 0, are absent: nothing pulls a centroid to 0."""
    config = tiny(mask=0.3, cluster_form=form, clusters=10, cluster_rate=0.25)
    preparation = preparation_of(config, 30.0)
    torch.manual_seed(0)
    network = network_of(config).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    sketches = list(doodles(48, seed=6))
    for step in range(12):
        chosen = range(step % 3 * 16, step % 3 * 16 + 16)
        batch = prepare_training([sketches[i] for i in chosen], preparation, [(step, i) for i in chosen])
        patches = batch.views["patches"]
        vectors = network.encoder.graph(patches).nodes.features
        assert vectors[patches.valid].norm(dim=-1).min() > 1e-3
        assert not vectors[~patches.valid].any()
        optimizer.zero_grad()
        sum(network(batch)[0].values()).backward()
        optimizer.step()
        places = network.encoder.centroids.places
        assert places.norm(dim=-1).min() > 0.05 * vectors[patches.valid].norm(dim=-1).mean()


def test_figures_of_training_and_validation():
    """Norm of v, cosines of linked and of any pairs, living clusters; in validation also silent filters a layer."""
    torch.manual_seed(0)
    config = tiny()
    network = network_of(config)
    _, figures = network.train()(batch_for(config))
    expected = {"norm", "cosine_linked", "cosine_any", "cosine_centroid", "living_clusters", "sigma"}
    assert set(figures) == expected
    batch = batch_for(config, validation=True)
    _, figures = network.eval()(batch)
    assert set(figures) == expected | {f"silent_{layer}" for layer in range(1, 5)}
    patches = batch.views["patches"]
    graph = network.encoder.graph(patches)
    vectors = graph.nodes.features
    pairs, linked = [], []
    for sketch in range(len(batch)):
        for i in range(patches.valid.shape[1]):
            for j in range(patches.valid.shape[1]):
                if i != j and patches.valid[sketch, i] and patches.valid[sketch, j]:
                    cosine = torch.cosine_similarity(vectors[sketch, i], vectors[sketch, j], dim=0).item()
                    pairs.append(cosine)
                    if graph.adjacency[sketch, i, j] != 0:
                        linked.append(cosine)
    assert figures["cosine_any"].item() == pytest.approx(sum(pairs) / len(pairs), abs=1e-4)
    assert figures["cosine_linked"].item() == pytest.approx(sum(linked) / len(linked), abs=1e-4)
    assert figures["norm"].item() == pytest.approx(vectors[patches.valid].norm(dim=-1).mean().item(), rel=1e-4)
    assigned = network.encoder.centroids.assign(vectors[patches.valid])
    assert figures["living_clusters"].item() == len(set(assigned.tolist()))


def test_centroids_start_on_patches_of_the_first_batch_and_move_in_training_only():
    config = tiny()
    network, batch = network_of(config).eval(), batch_for(config)
    network(batch)
    centroids = network.encoder.centroids
    assert not centroids.started
    network.train()(batch)
    assert centroids.started
    before = centroids.places.clone()
    network.eval()(batch)
    assert torch.equal(centroids.places, before)


def test_without_clusters_there_is_no_term():
    config = tiny(clusters=0)
    terms, figures = network_of(config).train()(batch_for(config))
    assert set(terms) == {"offset", "pen"}
    assert "living_clusters" not in figures
