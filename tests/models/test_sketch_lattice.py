"""SketchLattice and SketchLattice+: patches on a lattice."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from gra2seq.options import options
from systems import SKETCHES, batch_for, tiny

from gra2seq.models import build
from gra2seq.sketch.lattice import lattice_centres
from gra2seq.sketch.masking import damage, look_by_lattice
from gra2seq.sketch.strokes import Sketch


def test_lattice_patches_against_a_double_loop():
    recipe = options({"model": "sketch-lattice+"}).recipe(1.0)
    canvas = recipe.canvas
    for sketch in SKETCHES[:3]:
        lost = damage(sketch, canvas)
        seen = look_by_lattice(lost, 8)
        pixels, expected = seen.canvas, []  # nothing is lost here
        edges = [canvas.pad + i * canvas.inner // 8 for i in range(9)]
        for row in range(8):
            for column in range(8):
                cell = pixels[edges[row] : edges[row + 1], edges[column] : edges[column + 1]]
                if cell.any():
                    expected.append([(edges[i] + edges[i + 1]) // 2 for i in (column, row)])
        assert lattice_centres(pixels, canvas, 8).tolist() == expected
        assert seen.centres.tolist() == expected
        half = canvas.patch // 2
        for (x, y), view in zip(expected, seen.views[1:], strict=True):
            assert (view == pixels[y - half : y + half, x - half : x + half]).all()


def test_a_lattice_patch_does_not_tell_what_was_wiped():
    """Two drawings that differ only under a mask, in a cell whose middle is not masked."""
    picked = options({"model": "sketch-lattice+"})
    recipe = picked.recipe(1.0)
    frame = [[0, 0], [1000, 0], [1000, 1000]]
    scribbles = [[[60, 940], [62, 935], [70, 940]], [[60, 940], [62, 935], [240, 940]]]
    draws = np.full(20, 0.9)
    draws[1] = 0
    seen = [
        look_by_lattice(damage(Sketch.from_strokes([frame, scribble]), recipe.canvas, draws, 0.5), 8)
        for scribble in scribbles
    ]
    assert (seen[0].canvas == seen[1].canvas).all()
    assert seen[0].centres.tolist() == seen[1].centres.tolist()


@pytest.mark.parametrize("name", ["sketch-lattice", "sketch-lattice+"])
def test_absent_lattice_nodes_change_nothing(name):
    picked = tiny(name)
    network = build(picked).eval()
    batch = batch_for(picked, train=False)
    slots = batch.valid.shape[1]
    row, column = batch.places // (1 + slots), batch.places % (1 + slots)
    more = replace(
        batch,
        valid=torch.nn.functional.pad(batch.valid, (0, 7)),
        centres=torch.nn.functional.pad(batch.centres, (0, 0, 0, 7), value=33.0),
        places=row * (1 + slots + 7) + column,
    )
    assert not batch.valid.all()
    assert torch.allclose(network.encode(batch), network.encode(more), atol=1e-6)


def test_lattice_blocks_are_trained_and_saved():
    network = build(tiny("sketch-lattice"))
    names = [name for name, _ in network.named_parameters()]
    assert sum("graph.layers" in name for name in names) == 4


@pytest.mark.parametrize("links", ["synonymous", "temporal", "spatial", "random", "drawing-order"])
def test_lattice_patches_can_be_linked_in_other_ways(links):
    picked = tiny("sketch-lattice+", links=links)
    assert build(picked).eval().encode(batch_for(picked)).isfinite().all()
