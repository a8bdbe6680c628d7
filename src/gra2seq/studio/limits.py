"""What one request may ask for, and the errors of asking for more."""

from __future__ import annotations

from gra2seq.errors import UserError

MAX_BODY = 1_000_000  # bytes of a request
MAX_DISCARDED = 20_000_000  # bytes of a refused request that are read so that the answer arrives
MAX_STROKES = 500  # of one drawing
MAX_POINTS = 10_000  # of one drawing: a minute of drawing with a mouse that reports 150 points a second
MAX_SHAPES = 200  # boxes, polygons and eraser paths of one region
MAX_COORDINATE = 1e6  # beyond this, single precision no longer shows a hand-drawn line
MIN_SIZE = 1e-9  # of boxes and erasers: less is nothing, even in double precision at the largest coordinates
MAX_SAMPLES = 24  # drawings of one request: as many as the decoder has lanes
MAX_STEPS = 16  # drawings between two
MAX_SEED = 2**53 - 1  # largest whole number that JavaScript holds exactly
MAX_TEMPERATURE = 2.0
MAX_SECONDS = 60.0  # from the arrival of a request to its last drawing
MAX_WAITING = 64  # requests that wait for the model; further ones are refused with status 503


class TooLargeError(UserError):
    """More than the limits allow: HTTP status 413."""


class BusyError(UserError):
    """The model is loading or has too much to do: HTTP status 503."""


class TooSlowError(UserError):
    """The time of a request is over: HTTP status 503."""


def check_count(what: str, count: int, most: int) -> None:
    """Refuse a drawing with more strokes, points, … than `most`."""
    if count > most:
        raise TooLargeError(f"the drawing has {count:,} {what}; at most {most:,} are taken: simplify it")
