"""The pace of a hand: when each point of a drawing would be drawn, for animations.

The constants are fitted to the times in 8,450 raw drawings of QuickDraw (train and validation split; 41,184 strokes,
32,734 pauses), each by the least mean absolute error of the logarithm, so that half of the real times are longer and
half are shorter. `python benchmarks/quickdraw_raw.py DATA` measures them again. Lengths are in longer sides of the
drawing. Medians by length of the stroke, and by the way of the pen through the air:

    stroke, sides   0.02-0.05  0.05-0.1  0.1-0.2  0.2-0.4  0.4-0.8  0.8-1.6  1.6-3.2  over 3.2
    time, s              0.15      0.20     0.27     0.41     0.63     1.12     2.30      3.53
    sides a second       0.23      0.38     0.55     0.72     0.90     0.97     0.99      1.17

    way in the air, sides   0-0.05  0.05-0.1  0.1-0.2  0.2-0.4  0.4-0.8  over 0.8
    pause, s                  0.33      0.34     0.36     0.43     0.58      0.68

Over all strokes the median speed is 0.77 sides a second (quartiles 0.46 and 1.24), the median pause 0.44 s (0.26 and
0.72), the median drawing 6.2 s. Short strokes are slower because the pen must start and stop: one constant and one
speed describe all lengths.
"""

from __future__ import annotations

import numpy as np

from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Doubles, Sketch

STROKE_SECONDS = 0.105  # s that any stroke takes, however short: starting and stopping
SPEED = 1.04  # longer sides of the drawing a second, beyond that constant
PAUSE_SECONDS = 0.30  # s between two strokes in the same place
AIR_SECONDS = 0.46  # s more of a pause for each longer side that the pen moves in the air


def timeline(sketch: Sketch, seconds: float | None = None) -> Doubles:
    """The time in seconds at which the pen reaches each point, (P,): from 0, never decreasing, pauses included.

    Along a stroke the speed is even. `seconds` scales all times so that the last point is reached then; a drawing
    of a single point takes no time. Without `seconds` it is the pace of a hand.
    """
    if seconds is not None and not (np.isfinite(seconds) and seconds >= 0):
        raise UserError(f"a drawing cannot take {seconds} seconds: give a number of 0 or more")
    points = sketch.points.astype(np.float64)
    side = max(sketch.box[2:])
    way = np.hypot(*np.diff(points, axis=0, prepend=points[:1]).T) / (side if side > 0 else 1.0)  # (P,) up to each
    starts, lengths = sketch.starts, sketch.lengths
    pause = PAUSE_SECONDS + AIR_SECONDS * way[starts]
    pause[0] = 0.0
    way[starts] = 0.0
    drawn = np.add.reduceat(way, starts)  # (S,)
    duration = STROKE_SECONDS + drawn / SPEED
    weight = np.where(np.repeat(drawn > 0, lengths), way, 1.0)  # equal points share the time of their dot evenly
    weight[starts] = 0.0
    total = np.add.reduceat(weight, starts)
    took = weight * np.repeat(duration / np.where(total > 0, total, 1.0), lengths)  # (P,) from the point before
    pause[1:] += np.where(lengths[:-1] == 1, duration[:-1], 0.0)  # a dot of one point is drawn before the pause
    took[starts] = pause
    times = np.cumsum(took)
    return times if seconds is None or times[-1] == 0 else times / times[-1] * seconds
