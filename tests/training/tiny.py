"""A run of seconds, as all tests of the loop use it."""

import sys

from gra2seq.options import options

from gra2seq.training.loop import read_metrics, train

TINY = {
    "preset": "tiny",
    "data": "doodles:200",
    "workers": 0,
    "threads": 1,
    "gallery": 0,
    "validate_sketches": 20,
}
CONFIG = (
    "preset: tiny\ndata: doodles:200\nworkers: 0\nthreads: 1\ngallery: 0\nvalidate_sketches: 20\naccelerator: cpu\n"
)


def run(folder, **more):
    return train(options({**TINY, "run": str(folder), **more}))


def losses(folder):
    return [{k: v for k, v in row.items() if k != "sketches_per_second"} for row in read_metrics(folder)]


def command(config, *more):
    return [sys.executable, "-m", "gra2seq.cli", "train", str(config), *more]
