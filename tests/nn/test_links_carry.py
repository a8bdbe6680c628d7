"""docs/links.md: what the code can know by its links. Synonymous links make it a function of the set of patches."""

import pytest
import torch

from gra2seq.nn.adjacency import symmetric, with_whole_view
from gra2seq.nn.graph_conv import GraphConv
from gra2seq.nn.links import LINKS, Nodes

SKETCHES, PATCHES, DIM = 3, 7, 16


def feature(rule: str, patches: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """The feature of each sketch, of its patches in this order; the whole view is their mean."""
    torch.manual_seed(0)
    mix = GraphConv(DIM).eval()
    valid = torch.ones(patches.shape[:2], dtype=torch.bool)
    adjacency = with_whole_view(LINKS[rule](Nodes(patches, valid, centres)), valid)
    nodes = torch.cat([patches.mean(dim=1, keepdim=True), patches], dim=1)
    return mix(nodes, symmetric(adjacency))


@pytest.mark.parametrize(
    ("rule", "knows_order"),
    [("synonymous", False), ("nearest-cosine", False), ("none", False), ("spatial", False), ("temporal", True)],
)
def test_only_links_along_the_order_make_the_code_depend_on_it(rule, knows_order):
    random = torch.Generator().manual_seed(1)
    patches = torch.randn(SKETCHES, PATCHES, DIM, generator=random)
    centres = torch.rand(SKETCHES, PATCHES, 2, generator=random)
    order = torch.tensor([4, 0, 6, 2, 5, 1, 3])
    before, after = feature(rule, patches, centres), feature(rule, patches[:, order], centres[:, order])
    assert torch.allclose(before, after, atol=1e-5) is not knows_order


def test_only_spatial_links_make_the_code_depend_on_places():
    random = torch.Generator().manual_seed(2)
    patches = torch.randn(SKETCHES, PATCHES, DIM, generator=random)
    one, other = (torch.rand(SKETCHES, PATCHES, 2, generator=random) for _ in range(2))
    for rule in ("synonymous", "nearest-cosine", "temporal", "none"):
        assert torch.equal(feature(rule, patches, one), feature(rule, patches, other))
    assert not torch.allclose(feature("spatial", patches, one), feature("spatial", patches, other), atol=1e-3)
