"""Small systems and batches for tests of the models."""

import numpy as np

from gra2seq.data.batches import prepare, prepare_training
from gra2seq.data.doodles import doodles
from gra2seq.models.registry import build, preparation_of
from gra2seq.sketch.damage import Damage
from gra2seq.sketch.strokes import END
from options_by_name import tiny

__all__ = ["SKETCHES", "batch_for", "network_of", "one_by_one", "tiny", "used_batch"]

SKETCHES = list(doodles(8, seed=4))


def network_of(config):
    return build(config.model)


def batch_for(config, sketches=SKETCHES, *, validation=False):
    """A batch of training."""
    seeds = [(0, i) for i in range(len(sketches))]
    return prepare_training(sketches, preparation_of(config, 30.0), seeds, validation=validation)


def used_batch(config, damages=None):
    """A batch of intact drawings, or of these damages, as in use."""
    damages = [Damage.none(sketch) for sketch in SKETCHES] if damages is None else damages
    return prepare(damages, preparation_of(config, 30.0))


def one_by_one(network, batch, code):
    """What each sketch costs, row by row up to its end: offsets and pen."""
    found = []
    targets = batch.targets
    for rows, inputs, given, one in zip(targets.rows, targets.inputs, targets.given, code.split(1), strict=True):
        state, offset, pen = network.decoder.first_state(one), 0.0, 0.0
        for last, flag, row in zip(inputs, given, rows, strict=True):
            move, state = network.decoder.step(last[None], state, flag[None])
            cost = [-part.item() for part in move.log_prob(row[None])]
            offset, pen = offset + cost[0], pen + cost[1]
            if row[END]:
                break
        found.append((offset, pen))
    return np.array(found)
