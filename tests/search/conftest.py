"""A small store of doodles and its codes by a tiny model."""

from __future__ import annotations

import numpy as np
import pytest

from gra2seq.data.doodles import doodles
from gra2seq.data.store_writer import write_store
from gra2seq.formats.record import Record
from gra2seq.search.encode import Layout, LocalEngine, encode_to_file

COUNT = 100
LAYOUT = Layout(block=16)


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("stores") / "doodles.store"
    write_store(path, (Record("train", sketch) for sketch in doodles(COUNT, seed=3)))
    return path


@pytest.fixture(scope="session")
def codes(tmp_path_factory, store, tiny_run):
    """codes.npy of the store, made in one process without interruption."""
    out = tmp_path_factory.mktemp("codes") / "codes.npy"
    encode_to_file([store], out, model=tiny_run, layout=LAYOUT, engine=LocalEngine(tiny_run, jobs=1))
    return out


@pytest.fixture
def contents():
    """The bytes of a codes file and of those beside it, by suffix."""

    def read(out):
        return {suffix: out.with_suffix(suffix).read_bytes() for suffix in (".npy", ".keys", ".json")}

    return read


@pytest.fixture
def mixture():
    """Codes around some centres, as drawings of categories have them."""

    def make(rows, width=32, seed=0, dtype=np.float16):
        random = np.random.default_rng(seed)
        centres = random.normal(0, 2, (max(rows // 100, 2), width))
        return (centres[random.integers(0, len(centres), rows)] + random.normal(0, 1, (rows, width))).astype(dtype)

    return make
