"""Distinct blocks equal plain convolutions, forward and backward."""

import numpy as np
import pytest
import torch

from gra2seq.data.doodles import doodles
from gra2seq.nn import patch_cnn
from gra2seq.nn.patch_cnn import Blocks, PatchCNN
from gra2seq.sketch import quadtree
from gra2seq.sketch.canvas import Canvas
from gra2seq.sketch.masking import look
from gra2seq.sketch.quadtree import leaves, number_blocks, together

CHANNELS = {256: (8, 32, 64, 128, 256, 512, 512), 64: (4, 8, 8, 16, 16), 16: (4, 8, 8)}


def random_patches(side, ink, seed=0, count=5):
    random = np.random.default_rng(seed)
    return (random.random((count, side, side)) < ink).astype(np.uint8)


def drawn_patches(side, count=6):
    canvas = Canvas(side=side * 5 // 2, pen=max(side // 16, 1), patch=side)
    draws = np.linspace(0, 1, 20)
    return np.concatenate([look(s, canvas, draws, 0.2).views for s in doodles(count, seed=5)])


def compare(patches, channels, paper=0.0, dtype=torch.float64, tolerance=1e-12):
    torch.manual_seed(0)
    cnn = PatchCNN(channels, paper=paper).to(dtype)
    blocks = Blocks.of(number_blocks(leaves(patches), skip_blank=cnn.skips_blank))
    weights = torch.randn(len(patches), channels[-1], dtype=dtype)
    results = []
    for features in (cnn(blocks), cnn.plain(torch.from_numpy(patches))):
        cnn.zero_grad()
        (features * weights).sum().backward()
        results.append([features.detach()] + [parameter.grad.clone() for parameter in cnn.parameters()])
    for ours, plain in zip(*results, strict=True):
        assert (ours - plain).abs().max() <= tolerance * plain.abs().max().clamp(min=1e-30)


@pytest.mark.parametrize("side", [16, 64])
@pytest.mark.parametrize("ink", [0.003, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("paper", [0.0, -1.0])
def test_equals_plain_on_random_patches(side, ink, paper):
    compare(random_patches(side, ink), CHANNELS[side], paper)


@pytest.mark.parametrize("side", [64, 256])
@pytest.mark.parametrize("paper", [0.0, -1.0])
def test_equals_plain_on_drawings(side, paper):
    compare(drawn_patches(side, count=2 if side == 256 else 6), CHANNELS[side], paper)


def test_equals_plain_in_single_precision_at_paper_size():
    compare(drawn_patches(256, count=1), CHANNELS[256], dtype=torch.float32, tolerance=2e-5)


@pytest.mark.parametrize("paper", [0.0, -1.0])
def test_blank_patches(paper):
    patches = np.zeros((3, 64, 64), np.uint8)
    compare(patches, CHANNELS[64], paper)
    patches[1, 63, 63] = 1
    compare(patches, CHANNELS[64], paper)


def test_blank_is_exactly_zero():
    cnn = PatchCNN(CHANNELS[64])
    assert (cnn(Blocks.of(number_blocks(leaves(np.zeros((1, 64, 64), np.uint8))))) == 0).all()


def test_equal_blocks_have_one_number():
    """A patch repeated a hundred times costs no more products than once."""
    patch = random_patches(64, 0.3, count=1)
    once = number_blocks(leaves(patch))
    often = number_blocks(leaves(np.repeat(patch, 100, axis=0)))
    for a, b in zip(once.levels, often.levels, strict=True):
        assert len(a.children) == len(b.children)
    assert (often.patches == often.patches[0]).all()


def test_sketches_are_numbered_together():
    parts = [random_patches(64, 0.2, seed=seed, count=3) for seed in range(3)]
    cnn = PatchCNN(CHANNELS[64]).double()
    all_at_once = cnn(Blocks.of(number_blocks(together([leaves(part) for part in parts]))))
    one_by_one = torch.cat([cnn(Blocks.of(number_blocks(leaves(part)))) for part in parts])
    assert torch.allclose(all_at_once, one_by_one, atol=1e-12)


def test_numbers_too_large_for_one_word():
    """Rows of numbers above 2^16 take the way through pairs; it must name the same rows alike."""
    random = np.random.default_rng(0)
    rows = random.integers(0, 1 << 20, (50, 4)).astype(np.int32)[random.integers(0, 50, 400)]
    distinct, inverse = quadtree._number_rows(rows)
    assert (distinct[inverse] == rows).all()
    assert len(distinct) == len(np.unique(rows, axis=0))


def test_wrong_depth_is_refused():
    blocks = Blocks.of(number_blocks(leaves(random_patches(64, 0.2))))
    with pytest.raises(ValueError, match="levels"):
        PatchCNN(CHANNELS[256])(blocks)


def test_blocks_for_use_give_the_same_features_and_refuse_a_gradient():
    cnn, found = PatchCNN(CHANNELS[64]), leaves(drawn_patches(64))
    whole, use = (Blocks.of(number_blocks(found, gradient=gradient)) for gradient in (True, False))
    features = cnn(use.to(torch.device("cpu")))
    assert torch.equal(features, cnn(whole))
    with pytest.raises(ValueError, match="without what a gradient needs"):
        features.sum().backward()


@pytest.mark.parametrize("paper", [0.0, -1.0])
@pytest.mark.parametrize("ink", [0.0, 0.003, 0.3, 1.0])
def test_features_above_0_alone_give_the_same(monkeypatch, ink, paper):
    """As a CPU computes where most features are 0; here whatever their share is."""
    monkeypatch.setattr(patch_cnn, "FEW", 2.0)
    monkeypatch.setattr(patch_cnn, "WIDE", 1)
    monkeypatch.setattr(patch_cnn, "ALONE", 1000)
    monkeypatch.setattr(patch_cnn._Quarters, "forward", None)  # nobody goes the other way
    torch.manual_seed(1)
    cnn = PatchCNN(CHANNELS[64], paper=paper).double()
    for patches in (random_patches(64, ink), drawn_patches(64)):
        blocks = Blocks.of(number_blocks(leaves(patches), cnn.skips_blank, gradient=False))
        with torch.no_grad():
            assert torch.allclose(cnn(blocks), cnn.plain(torch.from_numpy(patches)), rtol=0, atol=1e-12)


def test_features_that_are_no_numbers_are_not_lost(monkeypatch):
    """A model that has diverged must not look well."""
    monkeypatch.setattr(patch_cnn, "FEW", 2.0)
    monkeypatch.setattr(patch_cnn, "WIDE", 1)
    monkeypatch.setattr(patch_cnn, "ALONE", 1000)
    blocks = Blocks.of(number_blocks(leaves(drawn_patches(64)), gradient=False))
    for number in range(len(CHANNELS[64])):
        cnn = PatchCNN(CHANNELS[64])
        with torch.no_grad():
            cnn.weights[number][0] = torch.nan
            assert cnn(blocks).isnan().any(), number


def test_features_above_0_alone_are_taken_where_they_are_few_and_no_gradient_is_wanted(monkeypatch):
    taken, of_few = [], patch_cnn._of_few

    def spy(features, *rest):
        taken.append((features > 0).mean())
        return of_few(features, *rest)

    monkeypatch.setattr(patch_cnn, "_of_few", spy)
    threads = torch.get_num_threads()
    monkeypatch.setattr(patch_cnn, "ALONE", threads)
    patches = drawn_patches(256, count=1)
    blocks = Blocks.of(number_blocks(leaves(patches)))
    torch.manual_seed(0)
    cnn = PatchCNN(CHANNELS[256])
    with torch.no_grad():
        cnn(blocks)
        assert not taken, "half of the features of fresh weights are above 0"
        for weight in list(cnn.weights)[2:]:
            weight.sub_(weight.abs().mean() * 0.7)
        features, plain = cnn(blocks), cnn.plain(torch.from_numpy(patches))
    assert taken
    assert max(taken) < patch_cnn.FEW
    assert plain.abs().max() > 0
    assert (features - plain).abs().max() < 2e-5 * plain.abs().max()
    count = len(taken)
    cnn(blocks).sum().backward()
    monkeypatch.setattr(patch_cnn, "ALONE", threads - 1)
    with torch.no_grad():
        cnn(blocks)
    assert len(taken) == count, "neither a gradient nor many threads"
