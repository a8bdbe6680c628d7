"""Signs that lines are no drawing of anything: the decoder finds them unlikely, or a stroke goes on and on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gra2seq.sketch.damage import Damage
from gra2seq.sketch.simplify import EPSILON, SIDE, rdp_sketch
from gra2seq.sketch.strokes import Doubles, Floats, Sketch

if TYPE_CHECKING:
    from gra2seq.model import Model

SIGNS = 2
UNLIKELINESS, INK_PER_STROKE = range(SIGNS)
MAX_ROWS = 300  # points of a drawing that are looked at: drawings of QuickDraw have 10 to 150
BATCH = 64  # drawings that are looked at together


def signs_of(model: Model, damages: Sequence[Damage], codes: Floats) -> Doubles:
    """(n, SIGNS), larger for lines that are less like drawings.

    `UNLIKELINESS` is the negative log-likelihood of the offset to a point, on average, under the drawing's own code
    (n, D): random walks and zigzags have large ones. `INK_PER_STROKE` is the length of all lines over the number of
    strokes and the longer side: large for spirals, loops and tangles, which the decoder finds easy.
    """
    simple = [_simplified(damage) for damage in damages]
    signs = np.empty((len(damages), SIGNS))
    for start in range(0, len(damages), BATCH):
        part = slice(start, start + BATCH)
        signs[part, UNLIKELINESS] = -_offset_log_likelihood(model, simple[part], codes[part])
    signs[:, INK_PER_STROKE] = [_ink(damage.visible) / damage.side / len(damage.visible.lengths) for damage in simple]
    return signs


def _simplified(damage: Damage) -> Damage:
    """As few points as drawings of the training data have: lines of a mouse have many more."""
    return Damage(rdp_sketch(damage.visible, EPSILON * damage.side / SIDE), frame=damage.frame)


def _ink(sketch: Sketch) -> float:
    return sum(float(np.hypot(*np.diff(stroke, axis=0).T).sum()) for stroke in sketch.strokes)


def _offset_log_likelihood(model: Model, damages: Sequence[Damage], codes: Floats) -> Doubles:
    """(n,) mean over the points of each drawing."""
    import torch

    from gra2seq.nn.lstm import pack, unpack

    counts = torch.tensor([min(len(damage.visible), MAX_ROWS) for damage in damages])
    most = int(counts.max())
    table = np.stack([_rows(damage, model.preparation.scale) for damage in damages])[:, : most + 1]
    rows, decoder = torch.from_numpy(table).to(model.device), model.network.decoder
    with torch.inference_mode():
        code = torch.from_numpy(codes).to(model.device)
        moves = decoder(rows[:, :-1], rows.new_zeros(len(rows), most), code, counts)
        true = pack(rows[:, 1:], counts)
        each = unpack(true, moves.log_prob_offset(true.data[:, :2]), most)
    mean: Doubles = each.double().sum(dim=1).cpu().numpy() / counts.numpy()
    return mean


def _rows(damage: Damage, scale: float) -> Floats:
    """(1 + MAX_ROWS, 5) the start, then the first rows of a drawing as the decoder draws it."""
    from gra2seq.data.views import decoder_units, stroke_rows  # and with it torch: the page is there before

    visible = damage.visible
    points = decoder_units(damage, visible.points)
    return stroke_rows(points, visible.lengths, scale, max(len(points), MAX_ROWS))[: 1 + MAX_ROWS]
