"""SketchLattice and SketchLattice+: points and patches on a lattice."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from systems import SKETCHES, network_of, tiny, used_batch

from gra2seq.models.registry import preparation_of
from gra2seq.sketch.canvas import draw
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.lattice import lattice_centres
from gra2seq.sketch.masking import mask
from gra2seq.sketch.strokes import Sketch
from options_by_name import config_of


def lattice_view():
    return preparation_of(config_of(model="sketch-lattice+"), 1.0).views["patches"]


def test_lattice_patches_against_a_double_loop():
    view = lattice_view()
    canvas = view.canvas
    assert view.cells == 8
    for sketch in SKETCHES[:3]:
        pixels, expected = draw(Damage.none(sketch), canvas), []
        views, centres = view.cut(Damage.none(sketch), pixels)
        edges = [canvas.pad + i * canvas.inner // 8 for i in range(9)]
        for row in range(8):
            for column in range(8):
                cell = pixels[edges[row] : edges[row + 1], edges[column] : edges[column + 1]]
                if cell.any():
                    expected.append([(edges[i] + edges[i + 1]) // 2 for i in (column, row)])
        assert lattice_centres(pixels, canvas, 8).tolist() == expected
        assert centres.tolist() == expected
        half = canvas.patch // 2
        for (x, y), patch in zip(expected, views[1:], strict=True):
            assert (patch == pixels[y - half : y + half, x - half : x + half]).all()


def test_a_lattice_patch_does_not_show_what_was_wiped():
    """Two drawings that differ only under a mask, in a cell whose middle is not masked."""
    view = lattice_view()
    frame = [[0, 0], [1000, 0], [1000, 1000]]
    scribbles = [[[60, 940], [62, 935], [70, 940]], [[60, 940], [62, 935], [240, 940]]]
    noise = np.full(20, 0.9)
    noise[1] = 0
    damages = [mask(Sketch.from_polylines([frame, scribble]), noise, 0.5) for scribble in scribbles]
    seen = [view.cut(damage, draw(damage, view.canvas)) for damage in damages]
    assert (seen[0][0] == seen[1][0]).all()
    assert seen[0][1].tolist() == seen[1][1].tolist()


def test_absent_lattice_points_change_nothing():
    config = tiny("sketch-lattice")
    network, batch = network_of(config).eval(), used_batch(config)
    points = batch.views["points"]
    assert not points.valid.all()
    more = replace(
        points,
        points=torch.nn.functional.pad(points.points, (0, 0, 0, 7), value=33.0),
        valid=torch.nn.functional.pad(points.valid, (0, 7)),
    )
    padded = replace(batch, views={"points": more})
    assert torch.allclose(network.encode(batch), network.encode(padded), atol=1e-6)


def test_absent_lattice_patches_change_nothing():
    config = tiny("sketch-lattice+")
    network, batch = network_of(config).eval(), used_batch(config)
    patches = batch.views["patches"]
    slots = patches.valid.shape[1]
    row, column = patches.places // (1 + slots), patches.places % (1 + slots)
    more = replace(
        patches,
        valid=torch.nn.functional.pad(patches.valid, (0, 7)),
        centres=torch.nn.functional.pad(patches.centres, (0, 0, 0, 7), value=33.0),
        places=row * (1 + slots + 7) + column,
    )
    assert not patches.valid.all()
    padded = replace(batch, views={"patches": more})
    assert torch.allclose(network.encode(batch), network.encode(padded), atol=1e-6)


def test_graph_layers_of_sketch_lattice_are_trained_and_saved():
    names = [name for name, _ in network_of(tiny("sketch-lattice")).named_parameters()]
    assert sum("graph.layers" in name for name in names) == 4


@pytest.mark.parametrize("links", ["synonymous", "temporal", "spatial", "random", "drawing-order", "nearest-cosine"])
def test_lattice_patches_can_be_linked_in_other_ways(links):
    config = tiny("sketch-lattice+", links=links)
    assert network_of(config).eval().encode(used_batch(config)).isfinite().all()
