"""Stores: what is written comes back, whole or not at all, at the same cost for any size."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from stored_sketches import mixed, scribble

from gra2seq.data.store import Store
from gra2seq.data.store_format import (
    SPLITS,
)
from gra2seq.data.store_writer import BUFFER_SKETCHES, write_store
from gra2seq.errors import UserError, unknown_name
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch


def assert_same(found: Sketch, expected: Sketch) -> None:
    np.testing.assert_array_equal(found.points, expected.points)
    np.testing.assert_array_equal(found.lengths, expected.lengths)
    assert (found.points.dtype, found.lengths.dtype) == (np.float32, np.int64)
    assert (found.category, found.key, found.parts) == (expected.category, expected.key, expected.parts)


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    records = mixed(50)
    store = write_store(tmp_path / "a.store", iter(records))
    assert len(store) == 50
    assert store.categories == ("cat", "The Great Wall of China", "pig")
    assert store.header["dtype"] == "<i2"
    for index, (split, sketch) in enumerate(records):
        assert store.split(index) == split
        assert_same(store[index], sketch)
    assert_same(store[-1], records[-1][1])
    assert [sketch.key for sketch in store[10:40:7]] == [sketch.key for _, sketch in records[10:40:7]]
    np.testing.assert_array_equal(store.point_counts, [len(sketch) for _, sketch in records])
    assert sum(store.header["point_histogram"]["counts"].values()) == 50
    for (split, sketch), (its_split, its_sketch) in zip(store.records(), records, strict=True):
        assert split == its_split
        assert_same(sketch, its_sketch)
    with pytest.raises(IndexError, match="no number 50"):
        store[50]


@pytest.mark.parametrize("odd", [0.5, 40000.0, -32768.0])
def test_points_are_widened_when_a_late_one_does_not_fit(
    tmp_path: Path, odd: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gra2seq.data.store_writer.BUFFER_SKETCHES", 4)
    sketches = [scribble(n) for n in range(11)]
    sketches.insert(7, Sketch(np.array([[1, odd]]), np.array([1])))
    store = write_store(tmp_path / "a.store", (("train", sketch) for sketch in sketches))
    assert store.header["dtype"] == "<f4"
    for found, expected in zip((store[n] for n in range(12)), sketches, strict=True):
        assert_same(found, expected)
    names = {"category", "checksums", "keys", "lengths", "offsets", "points", "split"}
    assert {path.name for path in store.path.iterdir()} == {"store.json", *(f"{name}.bin" for name in names)}


def test_a_sketch_is_the_callers_own(tmp_path: Path) -> None:
    store = write_store(tmp_path / "a.store", mixed(2))
    store[0].points[:] = 0
    assert_same(store[0], mixed(2)[0][1])


def test_blocks_do_not_change_the_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = write_store(tmp_path / "one.store", mixed(40))
    monkeypatch.setattr("gra2seq.data.store_writer.BUFFER_POINTS", 100)
    many = write_store(tmp_path / "many.store", mixed(40))
    other = write_store(tmp_path / "other.store", mixed(41))
    assert one.hash == many.hash != other.hash
    assert one.scale == many.scale


def test_half_a_character_survives(tmp_path: Path) -> None:
    odd = Sketch(np.zeros((1, 2)), np.array([1]), "\ud800", "\udfff", ("\ud801",))
    assert_same(write_store(tmp_path / "a.store", [("", odd)])[0], odd)


def test_indices_are_the_first_of_each_category_in_file_order(tmp_path: Path) -> None:
    records = mixed(200)
    store = write_store(tmp_path / "a.store", records)

    def slow(split: str | None, categories: list[str] | None, limit: int | None) -> list[int]:
        taken: dict[str, int] = {}
        found = []
        for index, (its_split, sketch) in enumerate(records):
            if split in (None, its_split) and (categories is None or sketch.category in categories):
                taken[sketch.category] = taken.get(sketch.category, 0) + 1
                if limit is None or taken[sketch.category] <= limit:
                    found.append(index)
        return found

    for split in (None, *SPLITS):
        for categories in (None, ["pig"], ["pig", "cat"]):
            for limit in (None, 0, 1, 7, 1000):
                found = store.indices(split, categories, limit)
                assert found.dtype == np.int64
                assert found.tolist() == slow(split, categories, limit)
    with pytest.raises(UserError, match="did you mean pig"):
        store.indices("train", ["Pigg"])
    with pytest.raises(UserError, match="no split 'dev'"):
        store.indices("dev")


def test_scale_is_sketch_rnns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gra2seq.data.offset_scale.BLOCK_SKETCHES", 3)  # the sum goes over several blocks
    records = mixed(40)
    store = write_store(tmp_path / "a.store", records)
    train = np.concatenate([sketch.to_stroke3()[1:, :2].ravel() for split, sketch in records if split == "train"])
    assert store.scale == pytest.approx(np.std(train.astype(np.float64)), rel=1e-9)
    some = np.concatenate([records[n][1].to_stroke3()[1:, :2].ravel() for n in (30, 2, 7)])
    assert store.offset_scale(np.array([30, 2, 7])) == pytest.approx(np.std(some.astype(np.float64)), rel=1e-9)


def test_scale_without_train_or_movement(tmp_path: Path) -> None:
    dot = Sketch(np.array([[3, 4]]), np.array([1]))
    assert write_store(tmp_path / "dot.store", [("train", dot)]).scale == 1.0
    only_test = [("test", sketch) for _, sketch in mixed(5)]
    every = np.concatenate([sketch.to_stroke3()[1:, :2].ravel() for _, sketch in only_test])
    assert write_store(tmp_path / "test.store", only_test).scale == pytest.approx(every.std(), rel=1e-6)


def _read_in_worker(store: Store, index: int) -> tuple[str, float]:
    return store[index].key, float(store[index].points.sum())


def test_worker_processes_read_the_same(tmp_path: Path) -> None:
    store = write_store(tmp_path / "a.store", mixed(20))
    assert len(pickle.dumps(store)) < 1000  # the way to it, not what is in it
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_read_in_worker, [store] * 4, range(4)))
    assert found == [_read_in_worker(store, index) for index in range(4)]


def test_a_replaced_store_is_noticed_by_a_worker(tmp_path: Path) -> None:
    store = write_store(tmp_path / "a.store", mixed(5))
    sent = pickle.dumps(store)
    store.path.rename(tmp_path / "b.store")
    write_store(tmp_path / "a.store", mixed(6))
    with pytest.raises(UserError, match="was replaced"):
        pickle.loads(sent)


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[Record]:
        yield from mixed(BUFFER_SKETCHES // 4)
        raise UserError("line 7 is cut off")

    with pytest.raises(UserError, match="line 7"):
        write_store(tmp_path / "a.store", broken())
    with pytest.raises(UserError, match="no drawing"):
        write_store(tmp_path / "a.store", [])
    with pytest.raises(UserError, match="split 'dev'"):
        write_store(tmp_path / "a.store", [("dev", scribble(1))])
    assert list(tmp_path.iterdir()) == []


def test_a_half_written_store_is_not_opened(tmp_path: Path) -> None:
    def peeking() -> Iterator[Record]:
        yield from mixed(5)
        [unfinished] = tmp_path.iterdir()
        with pytest.raises(UserError, match="not a store"):  # as it would be found after a kill
            Store.open(unfinished)
        assert not (tmp_path / "a.store").exists()
        yield from mixed(5)

    assert len(write_store(tmp_path / "a.store", peeking())) == 10


def test_an_existing_folder_is_not_overwritten(tmp_path: Path) -> None:
    store = write_store(tmp_path / "a.store", mixed(5))
    with pytest.raises(UserError, match="exists already"):
        write_store(store.path, mixed(6))
    assert len(Store.open(store.path)) == 5


def test_content_hash_is_that_of_the_first_layout(tmp_path: Path) -> None:
    """Runs and their manifests name data by this hash: it must not change with the layout."""
    found = write_store(tmp_path / "a.store", mixed(50)).hash
    assert found == "41704a9d7c84c18189d16f8a4abd5039760176a0537ad7a351bf0db218045c79"


def test_too_many_categories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gra2seq.data.store_writer.MAX_NAMES", 3)
    records = [("", scribble(n, category=f"category {n}")) for n in range(5)]
    write_store(tmp_path / "four.store", records[:4])
    with pytest.raises(UserError, match="more than 4 categories"):
        write_store(tmp_path / "a.store", records)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_leaves_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gra2seq.data.store_writer.file_of", lambda _folder, _name: Path("/dev/full"))
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)  # /dev/full is to stay
    with pytest.raises(UserError, match="No space left"):
        write_store(tmp_path / "a.store", mixed(10))
    assert list(tmp_path.iterdir()) == []


def test_unknown_name_lists_what_there_is() -> None:
    assert str(unknown_name("category", "xyz", ["cat", "pig"])) == "there is no category 'xyz': known: cat, pig"
    assert str(unknown_name("set", "x", [f"n{n:02}y" for n in range(30)])).endswith("n19y and 10 more")


OPEN_AND_MEASURE = """
import resource, sys, time
from pathlib import Path
from gra2seq.data.store import Store
def rss():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
before, start = rss(), time.perf_counter()
store = Store.open(sys.argv[1])
keys = [store[i].key for i in range(0, len(store), len(store) // 100)]
print(time.perf_counter() - start, rss() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_opening_costs_the_same_for_any_size(tmp_path: Path) -> None:
    some = mixed(200)
    write_store(tmp_path / "big.store", (some[n % 200] for n in range(40_000)))
    line = subprocess.run(
        [sys.executable, "-c", OPEN_AND_MEASURE, tmp_path / "big.store"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    seconds, grown = map(float, line.split())
    assert seconds < 0.5
    assert grown < 8e6  # the store is 4 MB; a Python object a sketch would be more


def test_reading_is_fast(tmp_path: Path) -> None:
    some = mixed(200)
    store = write_store(tmp_path / "big.store", (some[n % 200] for n in range(20_000)))
    order = np.random.default_rng(0).permutation(len(store)).tolist()
    start = time.perf_counter()
    for index in order:
        store[index]
    assert len(store) / (time.perf_counter() - start) > 20_000  # about 150,000 a second on a quiet core
