"""Edges against a double loop, eq. 3 and eq. 4 by hand, masked nodes without influence."""

import math

import pytest
import torch

from gra2seq.errors import UserError
from gra2seq.nn.adjacency import NORMALISING, by_row, symmetric, with_whole_view
from gra2seq.nn.links import LINKS, Nodes, cosine, link_rule, register_links, synonymous

DEGREES = (0, 20, 40, 60, 80)


def fan(degrees=DEGREES):
    """Unit vectors at angles, one sketch."""
    angles = torch.tensor([math.radians(d) for d in degrees], dtype=torch.float64)
    return torch.stack([angles.cos(), angles.sin()], dim=-1).unsqueeze(0)


def nodes(features, valid=None, centres=None, uniform=None):
    batch, count, _ = features.shape
    valid = torch.ones(batch, count, dtype=torch.bool) if valid is None else valid
    centres = torch.zeros(batch, count, 2) if centres is None else centres
    return Nodes(features, valid, centres, uniform)


def slow_edges(features, valid, weighed=True):
    """Eq. 2, one entry after the other."""
    count = len(features)
    unit = [f / max(float(f.norm()), 1e-12) for f in features]
    a = torch.zeros(count, count, dtype=features.dtype)
    for i in range(count):
        if not valid[i]:
            continue
        a[i, i] = 1
        others = [j for j in range(count) if j != i and valid[j]]
        ranked = sorted(others, key=lambda j: (-float(unit[i] @ unit[j]), j))
        for share, j in zip((0.5, 0.2), ranked, strict=False):
            a[i, j] = share * (float(unit[i] @ unit[j]) if weighed else 1)
    return a


def test_edges_of_a_fan():
    a = synonymous(nodes(fan()))[0]
    c20, c40 = math.cos(math.radians(20)), math.cos(math.radians(40))
    assert a[0].tolist() == pytest.approx([1, 0.5 * c20, 0.2 * c40, 0, 0])
    # 20 degrees has two equally close neighbours: the rest of the row is decided, their order by rounding or index
    assert sorted(a[1].tolist()) == pytest.approx(sorted([0.5 * c20, 1, 0.2 * c20, 0, 0]))


@pytest.mark.parametrize(("name", "weighed"), [("synonymous", True), ("nearest-cosine", False)])
@pytest.mark.parametrize("seed", range(5))
def test_edges_equal_a_double_loop(name, weighed, seed):
    """DC-gra2seq chooses by the cosine too, but its edges weigh 1, 0.5 and 0.2."""
    torch.manual_seed(seed)
    features = torch.randn(4, 9, 6, dtype=torch.float64)
    valid = torch.rand(4, 9) > 0.3
    edges = LINKS[name](nodes(features, valid))
    for b in range(4):
        assert torch.allclose(edges[b], slow_edges(features[b], valid[b], weighed), atol=1e-12)


def test_ties_go_to_the_earlier_node():
    features = torch.ones(1, 4, 1, dtype=torch.float64)
    expected = [[1, 0.5, 0.2, 0], [0.5, 1, 0.2, 0], [0.5, 0.2, 1, 0], [0.5, 0.2, 0, 1]]
    assert torch.allclose(synonymous(nodes(features))[0], torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("real", [0, 1, 2, 3])
def test_few_valid_nodes(name, real):
    torch.manual_seed(0)
    valid = torch.arange(5).unsqueeze(0) < real
    a = LINKS[name](nodes(torch.randn(1, 5, 3), valid, torch.randn(1, 5, 2), torch.rand(1, 5, 5)))[0]
    assert a.isfinite().all()
    assert (a[real:] == 0).all()
    assert (a[:, real:] == 0).all()
    if name not in ("random", "within-reach", "none"):
        for row in a[:real]:
            assert (row != 0).sum() == min(real, 3)


def test_a_masked_node_has_no_influence():
    """Its Jacobian is exactly 0, also where it would be the best neighbour."""
    valid = torch.tensor([[True, True, False, True, True]])

    def edges(features):
        return symmetric(with_whole_view(synonymous(nodes(features, valid)), valid))

    jacobian = torch.autograd.functional.jacobian(edges, fan())
    assert (jacobian[..., 2, :] == 0).all()
    assert jacobian.abs().sum() > 0


def test_neighbours_are_chosen_after_masking():
    """With the nearest node masked, the next two are linked: none of the two edges is lost."""
    valid = torch.tensor([[True, False, True, True, True]])
    a = synonymous(nodes(fan(), valid))[0]
    cos = [math.cos(math.radians(d)) for d in DEGREES]
    assert a[0].tolist() == pytest.approx([1, 0, 0.5 * cos[2], 0.2 * cos[3], 0])


def test_cosine_of_zero_vectors_is_zero():
    features = torch.zeros(1, 3, 4, requires_grad=True)
    value = cosine(features)
    value.sum().backward()
    assert (value == 0).all()
    assert features.grad.isfinite().all()


def test_temporal_by_hand():
    valid = torch.tensor([[True, True, False, True, True]])
    a = LINKS["temporal"](nodes(torch.randn(1, 5, 3), valid))[0]
    expected = [
        [1, 0.5, 0, 0.2, 0],
        [0.5, 1, 0, 0.2, 0],
        [0, 0, 0, 0, 0],
        [0, 0.2, 0, 1, 0.5],
        [0, 0.2, 0, 0.5, 1],
    ]
    assert torch.allclose(a, torch.tensor(expected))


def test_spatial_by_hand():
    centres = torch.tensor([[[0.0, 0], [10, 0], [11, 0], [0, 3]]])
    a = LINKS["spatial"](nodes(torch.randn(1, 4, 3), centres=centres))[0]
    expected = [[1, 0.2, 0, 0.5], [0.2, 1, 0.5, 0], [0.2, 0.5, 1, 0], [0.5, 0.2, 0, 1]]
    assert torch.allclose(a, torch.tensor(expected))


def test_random_links_are_the_numbers_handed_in():
    uniform = torch.rand(1, 4, 4)
    valid = torch.tensor([[True, True, True, False]])
    a = LINKS["random"](nodes(torch.randn(1, 4, 3), valid, uniform=uniform))[0]
    assert (a[:3, :3] == uniform[0, :3, :3]).all()
    assert (a[3] == 0).all()


def test_whole_view_by_hand():
    a = torch.tensor([[[1.0, 0.4, 0], [0.4, 1, 0], [0, 0, 0]]])
    valid = torch.tensor([[True, True, False]])
    full = with_whole_view(a, valid)[0]
    expected = [[0.5, 0, 0, 0], [0.5, 1, 0.4, 0], [0.5, 0.4, 1, 0], [0, 0, 0, 0]]
    assert torch.allclose(full, torch.tensor(expected))
    assert with_whole_view(a, valid, corner=1.0)[0, 0, 0] == 1


def test_normalising_by_hand():
    """Eq. 4 with D the row sums 0.5, 1.9, 1.9 and an empty row."""
    a = torch.tensor([[0.5, 0, 0, 0], [0.5, 1, 0.4, 0], [0.5, 0.4, 1, 0], [0, 0, 0, 0]])
    s = symmetric(a)
    for i in range(3):
        for j in range(3):
            expected = a[i, j] / math.sqrt(float(a[i].sum()) * float(a[j].sum()))
            assert s[i, j] == pytest.approx(float(expected), rel=1e-6)
    assert (s[3] == 0).all()
    assert (s[:, 3] == 0).all()
    assert by_row(a).sum(dim=-1).tolist() == pytest.approx([1, 1, 1, 0])
    assert NORMALISING["none"](a) is a, "SketchHealer's release does not normalise"


def test_drawing_order_by_hand():
    """SketchHealer's links of five patches of which the third is masked."""
    valid = torch.tensor([[True, True, False, True, True]])
    nodes = Nodes(torch.zeros(1, 5, 2), valid, torch.zeros(1, 5, 2))
    expected = [
        [0.5, 0.3, 0.0, 0.0, 0.0],
        [0.3, 0.5, 0.0, 0.2, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.2, 0.0, 0.5, 0.3],
        [0.0, 0.0, 0.0, 0.3, 0.5],
    ]
    assert torch.allclose(LINKS["drawing-order"](nodes)[0], torch.tensor(expected))


def test_within_reach_by_hand():
    """SketchLattice's links: the largest distance is 10: 2 is within reach, 3 is not; a masked one has none."""
    centres = torch.tensor([[[0.0, 0], [0, 2], [0, 5], [0, 10], [0, 1000]]])
    valid = torch.tensor([[True, True, True, True, False]])
    expected = [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]]
    got = LINKS["within-reach"](Nodes(torch.zeros(1, 5, 2), valid, centres))[0]
    assert torch.equal(got, torch.tensor(expected, dtype=got.dtype))


def test_links_are_found_by_name_and_own_ones_can_be_registered(monkeypatch):
    monkeypatch.setattr("gra2seq.nn.links.LINKS", dict(LINKS))
    with pytest.raises(UserError, match="there is no link rule 'best': known: drawing-order"):
        link_rule("best")
    register_links("best", synonymous)
    assert link_rule("best") is synonymous
    with pytest.raises(UserError, match="already"):
        register_links("best", cosine)
