"""Distinct blocks equal plain convolutions, forward and backward."""

import numpy as np
import pytest
import torch

from gra2seq.data.blocks import Blocks
from gra2seq.data.doodles import doodles
from gra2seq.data.views import PatchView
from gra2seq.nn import patch_cnn
from gra2seq.nn.patch_cnn import PatchCNN
from gra2seq.sketch import quadtree
from gra2seq.sketch.canvas import Canvas, draw
from gra2seq.sketch.masking import mask
from gra2seq.sketch.quadtree import leaves, number_blocks, together

CHANNELS = {256: (8, 32, 64, 128, 256, 512, 512), 64: (4, 8, 8, 16, 16), 16: (4, 8, 8)}


def random_patches(side, ink, seed=0, count=5):
    random = np.random.default_rng(seed)
    return (random.random((count, side, side)) < ink).astype(np.uint8)


def drawn_patches(side, count=6):
    canvas = Canvas(side=side * 5 // 2, pen=max(side // 16, 1), patch=side)
    damages = [mask(sketch, np.linspace(0, 1, 20), 0.2) for sketch in doodles(count, seed=5)]
    return np.concatenate([PatchView(canvas).cut(damage, draw(damage, canvas))[0] for damage in damages])


def compare(patches, channels, blank=0.0, dtype=torch.float64, tolerance=1e-12, bias=False):
    torch.manual_seed(0)
    cnn = PatchCNN(channels, blank=blank, bias=bias).to(dtype)
    for added in cnn.biases:
        torch.nn.init.normal_(added, std=0.3)
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
@pytest.mark.parametrize("blank", [0.0, -1.0])
def test_equals_plain_on_random_patches(side, ink, blank):
    compare(random_patches(side, ink), CHANNELS[side], blank)


@pytest.mark.parametrize("side", [64, 256])
@pytest.mark.parametrize("blank", [0.0, -1.0])
def test_equals_plain_on_drawings(side, blank):
    compare(drawn_patches(side, count=2 if side == 256 else 6), CHANNELS[side], blank)


@pytest.mark.parametrize("blank", [0.0, -1.0])
@pytest.mark.parametrize("ink", [0.0, 0.01, 0.3])
def test_with_biases_equals_plain(ink, blank):
    """With a bias blank paper is not 0 at the next level, so that blank blocks must be computed too (DC-gra2seq)."""
    compare(random_patches(64, ink), CHANNELS[64], blank, bias=True)
    compare(drawn_patches(64), CHANNELS[64], blank, bias=True)
    assert not PatchCNN(CHANNELS[64], blank=blank, bias=True).skips_blank


def test_equals_plain_in_single_precision_at_paper_size():
    compare(drawn_patches(256, count=1), CHANNELS[256], dtype=torch.float32, tolerance=2e-5)


@pytest.mark.parametrize("blank", [0.0, -1.0])
def test_blank_patches(blank):
    patches = np.zeros((3, 64, 64), np.uint8)
    compare(patches, CHANNELS[64], blank)
    patches[1, 63, 63] = 1
    compare(patches, CHANNELS[64], blank)


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


@pytest.mark.parametrize("blank", [0.0, -1.0])
@pytest.mark.parametrize("ink", [0.0, 0.003, 0.3, 1.0])
def test_sparse_products_give_the_same(monkeypatch, ink, blank):
    """As a CPU computes where most features are 0; here whatever their share is."""
    monkeypatch.setattr(patch_cnn, "FEW", 2.0)
    monkeypatch.setattr(patch_cnn, "WIDE", 1)
    monkeypatch.setattr(patch_cnn, "FEW_THREADS", 1000)
    monkeypatch.setattr(patch_cnn._Quarters, "forward", None)  # fails where the usual way is taken
    torch.manual_seed(1)
    cnn = PatchCNN(CHANNELS[64], blank=blank).double()
    for patches in (random_patches(64, ink), drawn_patches(64)):
        blocks = Blocks.of(number_blocks(leaves(patches), cnn.skips_blank, gradient=False))
        with torch.no_grad():
            assert torch.allclose(cnn(blocks), cnn.plain(torch.from_numpy(patches)), rtol=0, atol=1e-12)


def test_nan_features_are_not_lost(monkeypatch):
    """A model that has diverged must be detected."""
    monkeypatch.setattr(patch_cnn, "FEW", 2.0)
    monkeypatch.setattr(patch_cnn, "WIDE", 1)
    monkeypatch.setattr(patch_cnn, "FEW_THREADS", 1000)
    blocks = Blocks.of(number_blocks(leaves(drawn_patches(64)), gradient=False))
    for number in range(len(CHANNELS[64])):
        cnn = PatchCNN(CHANNELS[64])
        with torch.no_grad():
            cnn.weights[number][0] = torch.nan
            assert cnn(blocks).isnan().any(), number


def test_sparse_products_are_used_where_few_features_are_above_0_and_no_gradient_is_needed(monkeypatch):
    taken, of_few = [], patch_cnn._of_few

    def spy(features, *rest):
        taken.append((features > 0).mean())
        return of_few(features, *rest)

    monkeypatch.setattr(patch_cnn, "_of_few", spy)
    threads = torch.get_num_threads()
    monkeypatch.setattr(patch_cnn, "FEW_THREADS", threads)
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
    monkeypatch.setattr(patch_cnn, "FEW_THREADS", threads - 1)
    with torch.no_grad():
        cnn(blocks)
    assert len(taken) == count, "neither a gradient nor many threads"


def test_silent_filters_are_counted_a_layer():
    """A filter is silent if no block of the batch makes it positive: against plain convolutions."""
    patches = drawn_patches(64)
    torch.manual_seed(0)
    cnn = PatchCNN(CHANNELS[64])
    with torch.no_grad():
        cnn.weights[0][1] = -1.0  # never positive where blank is 0
        cnn.weights[2][:4] = -1.0
    blocks = Blocks.of(number_blocks(leaves(patches)))
    found = cnn.silent_filters(blocks)
    x = torch.from_numpy(patches).float().unsqueeze(1)
    for number, weight in enumerate(cnn.weights, 1):
        x = torch.nn.functional.conv2d(x, weight.detach(), stride=2)
        silent = 1 - (x > 0).any(dim=3).any(dim=2).any(dim=0).float().mean()
        assert found[f"silent_{number}"].item() == pytest.approx(silent.item()), number
        x = x.clamp(min=0)
    assert found["silent_1"] >= 1 / 4
    assert found["silent_3"] >= 4 / 8
    assert len(found) == len(cnn.weights)
