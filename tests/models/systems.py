"""Small systems and batches for tests of the models."""

from itertools import pairwise

import numpy as np
from gra2seq.options import options

from gra2seq.data.batches import prepare
from gra2seq.data.doodles import doodles
from gra2seq.sketch.strokes import END

SKETCHES = list(doodles(8, seed=4))


def tiny(name, **more):
    return options({"preset": "tiny", "model": name, **more})


def batch_for(picked, train=True, sketches=SKETCHES):
    seeds = [(0, i) for i in range(len(sketches))] if train else None
    return prepare(sketches, picked.recipe(30.0), seeds=seeds)


def one_by_one(network, batch, code):
    """What each sketch costs, row by row up to its end: offsets and pen."""
    found = []
    for rows, one in zip(batch.rows, code.split(1), strict=True):
        state, offset, pen = network.decoder.first_state(one), 0.0, 0.0
        for last, row in pairwise(rows):
            move, state = network.decoder.step(last[None], state)
            cost = [-part.item() for part in move.log_prob(row[None])]
            offset, pen = offset + cost[0], pen + cost[1]
            if row[END]:
                break
        found.append((offset, pen))
    return np.array(found)
