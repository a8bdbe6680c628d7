from __future__ import annotations

import pickle
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from gra2seq.data import datasets
from gra2seq.data.cache import default_cache
from gra2seq.data.datasets import NAMED, Dataset, open_dataset, open_store
from gra2seq.data.doodles import CATEGORIES, doodle, doodles
from gra2seq.data.splits import hashed_split, with_splits
from gra2seq.data.store import Store
from gra2seq.data.store_writer import write_store
from gra2seq.errors import UserError
from gra2seq.formats import files
from gra2seq.formats.record import Record
from gra2seq.sketch.strokes import Sketch

SPLIT_OF = ("train", "train", "valid", "test", "test")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def some(category: str, count: int = 10) -> list[Record]:
    """Squares of different sizes: two fifths train, one fifth valid, two fifths test."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    sketches = (Sketch(square * (n + 2), np.array([3, 1]), category, f"{category}-{n}") for n in range(count))
    return [(SPLIT_OF[n % 5], sketch) for n, sketch in enumerate(sketches)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One file a category, as QuickDraw comes."""
    folder = tmp_path / "drawings"
    folder.mkdir()
    for category in ("cat", "pig", "The Great Wall of China"):
        files.write(folder / f"{category}.ndjson.gz", some(category))
    (folder / "counts.tsv").write_text("not a drawing")
    return folder


def keys(dataset: Dataset, indices: np.ndarray) -> list[str]:
    return [dataset.store[int(index)].key for index in indices]


def test_a_store(tmp_path: Path) -> None:
    write_store(tmp_path / "pigs.store", some("pig"))
    dataset = open_dataset(tmp_path / "pigs.store")
    assert dataset.name == "pigs"
    assert keys(dataset, dataset.train) == ["pig-0", "pig-1", "pig-5", "pig-6"]
    assert keys(dataset, dataset.valid) == ["pig-2", "pig-7"]
    assert keys(dataset, dataset.test) == ["pig-3", "pig-4", "pig-8", "pig-9"]
    assert dataset.categories == ("pig",)


def test_a_file_is_read_once(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int | None]] = []
    path = folder / "cat.ndjson.gz"
    first = open_dataset(str(path), cache=cache, progress=lambda *news: told.append(news))
    assert (first.name, told) == ("cat", [(10, None)])
    monkeypatch.setattr(files, "read", None)
    start = time.perf_counter()
    again = open_dataset(path, cache=cache)
    assert time.perf_counter() - start < 1
    assert again.store.path == first.store.path
    assert again.store.path.parent == cache


def test_a_changed_file_is_read_again(folder: Path, cache: Path) -> None:
    path = folder / "cat.ndjson.gz"
    assert len(open_store(path, cache=cache)) == 10
    files.write(path, some("cat", 12))
    assert len(open_store(path, cache=cache)) == 12


@pytest.mark.parametrize("damage", ["cut", "flipped", "old version"])
def test_unusable_cache_is_rebuilt_with_a_note(
    folder: Path, cache: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(folder, cache=cache)
    points = store.path / "points.bin"
    if damage == "cut":
        points.write_bytes(b"")
    elif damage == "flipped":
        points.write_bytes(points.read_bytes()[:-1] + b"\x7f")
    else:
        (store.path / "store.json").write_text('{"version": 1}')
    assert not caplog.records
    again = open_store(folder, cache=cache)
    again.verify()
    assert again.hash == store.hash
    [note] = caplog.messages
    assert note == f"the cached store {store.path} cannot be used and is rebuilt"


def test_several_files(folder: Path, cache: Path) -> None:
    dataset = open_dataset([folder / "pig.ndjson.gz", str(folder / "cat.ndjson.gz")], cache=cache)
    assert dataset.store.categories == ("pig", "cat")
    assert len(dataset.train) == 8


def test_a_folder(folder: Path, cache: Path) -> None:
    dataset = open_dataset(folder, cache=cache)
    assert dataset.name == "drawings"
    assert dataset.categories == ("The Great Wall of China", "cat", "pig")
    assert len(dataset.store) == 30


def test_hidden_files_of_a_folder_are_skipped(folder: Path, cache: Path) -> None:
    (folder / ".cat.ndjson.gz").write_bytes(b"half a file")
    assert len(open_dataset(folder, cache=cache).store) == 30


def test_only_the_files_of_the_chosen_categories_are_read(folder: Path, cache: Path) -> None:
    dataset = open_dataset(folder, categories=["pig", "cat"], train_limit=3, valid_limit=1, cache=cache)
    assert dataset.store.categories == ("cat", "pig")
    assert keys(dataset, dataset.train) == ["cat-0", "cat-1", "cat-5", "pig-0", "pig-1", "pig-5"]
    assert keys(dataset, dataset.valid) == ["cat-2", "pig-2"]
    assert len(dataset.test) == 8


def test_a_folder_whose_files_are_not_named_by_category(tmp_path: Path, cache: Path) -> None:
    files.write(tmp_path / "all" / "part1.ndjson", some("cat") + some("pig"))
    dataset = open_dataset(tmp_path / "all", categories=["pig"], cache=cache)
    assert dataset.categories == ("pig",)
    assert len(dataset.train) == 4


def test_named_sets_are_the_papers() -> None:
    assert NAMED["DS1"].categories == ("bee", "bus", "flower", "giraffe", "pig")
    assert set(NAMED["DS3"].categories or ()) == {*NAMED["DS1"].categories, "car", "cat", "horse"}
    assert len(NAMED["DS2"].categories or ()) == 10
    assert NAMED["DS1"].test_limit is None
    assert NAMED["DS1-small"].test_limit == 100
    assert (NAMED["OPEN8"].train_limit, NAMED["OPEN8"].test_limit) == (2000, 250)


def test_a_named_set_takes_the_first_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = datasets.Selection(("pig", "cat"), train_limit=2, test_limit=1)
    monkeypatch.setitem(NAMED, "PETS", chosen)
    store = write_store(tmp_path / "a.store", [*some("dog"), *some("cat"), *some("pig")]).path
    dataset = open_dataset(store, name="pets")
    assert keys(dataset, dataset.train) == ["cat-0", "cat-1", "pig-0", "pig-1"]
    assert keys(dataset, dataset.test) == ["cat-3", "pig-3"]
    assert len(dataset.valid) == 4
    assert len(open_dataset(store, name="pets", test_limit=2).test) == 4
    assert len(open_dataset(store, name="ALL").train) == 12


def test_scale_is_that_of_the_chosen_train_drawings(tmp_path: Path) -> None:
    records = [*some("cat"), *some("pig", 50)]
    dataset = open_dataset(write_store(tmp_path / "a.store", records).path, categories=["cat"])
    offsets = [
        sketch.to_stroke3()[1:, :2].ravel() * 255 / (max(sketch.box[2:]) or 255)
        for split, sketch in records[:10]
        if split == "train"
    ]
    assert dataset.scale == pytest.approx(np.concatenate(offsets).std(), rel=1e-6)
    assert dataset.scale != pytest.approx(dataset.store.scale)
    about = dataset.describe()
    assert (about["train"], about["categories"], about["store"]) == (4, ["cat"], dataset.store.hash)
    assert pickle.loads(pickle.dumps(dataset)).describe() == about


def test_drawings_without_a_split_get_one_that_stays() -> None:
    sketches = [doodle("cat", n) for n in range(5)]
    many = [Sketch(sketches[0].points, sketches[0].lengths, "cat", f"{n}") for n in range(4000)]
    shares = Counter(split for split, _ in with_splits(("", sketch) for sketch in many))
    assert shares["train"] == pytest.approx(3600, abs=80)
    assert shares["valid"] == pytest.approx(200, abs=60)
    assert shares["test"] == pytest.approx(200, abs=60)
    # Fixed for all time: a drawing that changes sides would leak from test into train.
    assert [n for n, sketch in enumerate(many[:50]) if hashed_split(sketch) == "test"] == [10, 16, 32, 41]
    keyless = [Sketch(sketch.points * k, sketch.lengths) for sketch in sketches for k in range(1, 60)]
    assert {hashed_split(sketch) for sketch in keyless} == {"train", "valid", "test"}
    assert list(with_splits([("test", many[0])])) == [("test", many[0])]


def test_doodles_need_no_file(cache: Path) -> None:
    told: list[tuple[int, int | None]] = []
    dataset = open_dataset("doodles:40:3", cache=cache, progress=lambda *news: told.append(news))
    assert dataset.name == "doodles:40:3"
    assert (len(dataset.train), len(dataset.valid), len(dataset.test)) == (
        40,
        len(CATEGORIES),
        len(CATEGORIES),
    )
    assert set(dataset.categories) == set(CATEGORIES)
    assert told[-1] == (40 + 2 * len(CATEGORIES),) * 2
    every = [dataset.store[index].key for index in range(len(dataset.store))]
    assert len(set(every)) == len(every)
    first = next(doodles(1, seed=9))
    np.testing.assert_allclose(dataset.store[0].points, first.points)
    assert dataset.store[0].parts == first.parts
    assert open_dataset("doodles:40:3", cache=cache).store.path == dataset.store.path
    assert open_dataset("doodles:40:4", cache=cache).store.hash != dataset.store.hash


def test_doodles_of_a_named_set(cache: Path) -> None:
    dataset = open_dataset("doodles:20", name="DS1", cache=cache)
    assert set(dataset.categories) == set(NAMED["DS1"].categories or ())
    assert (len(dataset.train), len(dataset.valid)) == (20, 5)


@pytest.mark.parametrize("source", ["doodles:", "doodles:0", "doodles:many", "doodles:1:2:3", "doodles:-4"])
def test_doodles_spelled_wrongly(source: str, cache: Path) -> None:
    with pytest.raises(UserError, match="doodles:COUNT:SEED"):
        open_dataset(source, cache=cache)


def test_the_cache_has_a_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert open_dataset("doodles:5").store.path.parent == tmp_path / "xdg" / "gra2seq"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_cache() == tmp_path / "home" / ".cache" / "gra2seq"


def _open(source: str, cache: Path) -> str:
    return open_store(source, cache=cache).hash


def test_two_processes_build_at_once(cache: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = set(pool.map(_open, ["doodles:1500"] * 4, [cache] * 4))
    assert len(found) == 1
    stores = list(cache.glob("*.store"))
    assert [Store.open(path).hash for path in stores] == list(found)
    assert not list(cache.glob(".*"))


def test_what_a_user_may_do_wrong(tmp_path: Path, folder: Path, cache: Path) -> None:
    def refused(message: str, source: object, **options: object) -> None:
        with pytest.raises(UserError, match=message):
            open_dataset(source, cache=cache, **options)  # type: ignore[arg-type]

    store = write_store(tmp_path / "a.store", some("cat")).path
    (tmp_path / "empty").mkdir()
    refused("does not exist", tmp_path / "nowhere.npz")
    refused("not a store", tmp_path / "nowhere.store")
    refused("no source", [])
    refused("holds no drawing file", tmp_path / "empty")
    refused("cannot be opened together", [store, folder])
    refused("did you mean cat", store, categories=["catt"])
    refused("did you mean pig", folder, categories=["cat", "pigs"])
    refused("did you mean giraffe", "doodles:10", categories=["girafe"])
    refused("did you mean DS1", store, name="DS11")
    refused("not both", store, name="DS1", categories=["cat"])
    refused("is empty", store, categories=[])
    refused("no drawing", store, train_limit=0, valid_limit=0, test_limit=0)
    (tmp_path / "blocked").touch()
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        open_dataset(folder, cache=tmp_path / "blocked" / "cache")
