"""Galleries: drawings are found by their own codes, and what does not belong together is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

import gra2seq
from gra2seq.data.store import Store
from gra2seq.errors import UserError
from gra2seq.search import ann
from gra2seq.search import index as index_module
from gra2seq.search.codes import Codes, ModelName, Shard
from gra2seq.search.encode import Layout, LocalEngine, encode_to_file
from gra2seq.search.index import build_gallery
from gra2seq.studio.known_drawings import Gallery as StudioGallery

COUNT = 100


@pytest.fixture(scope="module")
def gallery(codes, tmp_path_factory):
    return build_gallery([codes], tmp_path_factory.mktemp("galleries") / "gallery")


@pytest.fixture(scope="module")
def shards(store, tiny_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    engine = LocalEngine(tiny_run, jobs=1)
    return [
        encode_to_file(
            [store], folder / "codes.npy", model=tiny_run, layout=Layout(Shard(number, 3), block=16), engine=engine
        ).out
        for number in (1, 2, 3)
    ]


def copy_of(codes, folder):
    folder.mkdir()
    for suffix in (".npy", ".keys", ".json"):
        shutil.copy(codes.with_suffix(suffix), folder / f"codes{suffix}")
    return folder / "codes.npy"


def test_drawings_are_found_by_their_codes(gallery, store, codes):
    found = gra2seq.Gallery.open(gallery.path).find(np.load(codes)[[17, 4]].astype(np.float32), 3)
    assert found.numbers.shape == found.distances.shape == (2, 3)
    assert found.distances[:, 0].tolist() == [0, 0]
    assert (np.diff(found.distances, axis=1) >= 0).all()
    number = int(found.numbers[0, 0])
    assert gallery.key(number).key == gallery.sketch(number).key == Store.open(store)[number].key
    single = gallery.find(np.load(codes)[17].astype(np.float32), 3)
    assert single.numbers.tolist() == found.numbers[0].tolist()


def test_more_than_there_are_gives_all(gallery):
    assert sorted(gallery.find(np.zeros(gallery.header.code), 1000).numbers.tolist()) == list(range(COUNT))


def test_shards_in_any_order_make_the_same_gallery(gallery, shards, tmp_path):
    other = build_gallery([shards[2], shards[0], shards[1]], tmp_path / "gallery")
    np.testing.assert_array_equal(other.codes, gallery.codes)
    assert [other.key(number) for number in range(COUNT)] == [gallery.key(number) for number in range(COUNT)]
    assert other.header == gallery.header


def test_missing_or_repeated_shards_are_refused(shards, codes, tmp_path):
    out = tmp_path / "gallery"
    with pytest.raises(UserError, match=r"shard 2/3 .* is missing"):
        build_gallery([shards[0], shards[2]], out)
    with pytest.raises(UserError, match="hold the same drawings"):
        build_gallery([shards[0], shards[1], shards[2], shards[1]], out)
    with pytest.raises(UserError, match="hold the same drawings"):
        build_gallery([codes, shards[0]], out)
    assert list(tmp_path.iterdir()) == []


def test_several_encodings_share_a_gallery(codes, tiny_run, tmp_path):
    more = tmp_path / "more.npy"
    encode_to_file(["doodles:20"], more, model=tiny_run, engine=LocalEngine(tiny_run, jobs=1))
    gallery = build_gallery([codes, more], tmp_path / "gallery")
    assert gallery.key(COUNT - 1).source == 0
    assert gallery.key(COUNT).source == 1
    assert gallery.sketch(COUNT + 3).key == gallery.key(COUNT + 3).key
    assert len(gallery) > COUNT + 20


def test_other_models_are_refused(gallery, codes, tmp_path, tiny_run):
    other = gra2seq.load(tiny_run)
    gallery.check_model(other)
    next(other.network.parameters()).data.view(-1)[0] += 1
    with pytest.raises(UserError, match="codes of another model"):
        gallery.check_model(other)
    foreign = copy_of(codes, tmp_path / "foreign")
    header = Codes.open(codes).header
    replace(header, model=ModelName.of(other)).write(foreign.with_suffix(".json"))
    with pytest.raises(UserError, match="different models"):
        build_gallery([codes, foreign], tmp_path / "gallery")


@pytest.mark.parametrize("suffix", [".npy", ".keys", ".json"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "gone"])
def test_damaged_codes_are_refused_and_nothing_is_written(codes, tmp_path, suffix, damage):
    damaged = copy_of(codes, tmp_path / "codes").with_suffix(suffix)
    data = bytearray(damaged.read_bytes())
    if damage == "gone":
        damaged.unlink()
    else:
        data[len(data) // 2] ^= 0x55
        damaged.write_bytes({"cut": data[: len(data) // 2], "flipped": data, "empty": b""}[damage])
    with pytest.raises(UserError):
        build_gallery([damaged.with_suffix(".npy")], tmp_path / "gallery")
    assert not (tmp_path / "gallery").exists()


@pytest.mark.parametrize("name", ["codes.npy", "norms.npy"])
def test_damaged_gallery_is_noticed_when_it_is_searched(gallery, tmp_path, name):
    folder = shutil.copytree(gallery.path, tmp_path / "gallery")
    data = bytearray((folder / name).read_bytes())
    data[-5] ^= 0x10
    (folder / name).write_bytes(data)
    with pytest.raises(UserError, match=f"{name} is damaged"):
        gra2seq.Gallery.open(folder).find(np.zeros(gallery.header.code))


def test_what_is_no_gallery_is_named(gallery, tmp_path):
    folder = shutil.copytree(gallery.path, tmp_path / "gallery")
    (folder / "gallery.json").write_text("{}")
    with pytest.raises(UserError, match="damaged"):
        gra2seq.Gallery.open(folder)
    with pytest.raises(UserError, match="not a gallery"):
        gra2seq.Gallery.open(tmp_path)


def test_absent_or_changed_drawings_are_named(store, tiny_run, tmp_path):
    moved = shutil.copytree(store, tmp_path / "here.store")
    out = tmp_path / "codes.npy"
    encode_to_file([moved], out, model=tiny_run, engine=LocalEngine(tiny_run, jobs=1))
    gallery = build_gallery([out], tmp_path / "gallery")
    moved.rename(tmp_path / "there.store")
    with pytest.raises(UserError, match=r"here\.store cannot be read"):
        gallery.sketch(3)
    assert gallery.key(3).key == Store.open(store)[3].key


def test_studio_shows_the_drawings_of_a_gallery(gallery):
    shown = StudioGallery.open(str(gallery.path))
    assert [sketch.key for sketch in shown.sketches] == [gallery.key(number).key for number in range(COUNT)]


@pytest.mark.parametrize("query", [np.zeros(3), np.zeros((2, 2, 2)), np.zeros((0, 128)), np.full(128, np.nan)])
def test_bad_queries_are_refused(gallery, query):
    with pytest.raises(UserError):
        gallery.find(query)


def test_existing_gallery_is_replaced_only_if_asked(codes, gallery, tmp_path):
    build_gallery([codes], tmp_path / "gallery")
    with pytest.raises(UserError, match="exists already"):
        build_gallery([codes], tmp_path / "gallery")
    assert build_gallery([codes], tmp_path / "gallery", replace=True).header == gallery.header


def test_many_codes_get_an_approximate_index_with_its_recall(codes, tmp_path, monkeypatch):
    monkeypatch.setattr(index_module, "MAX_EXACT", 50)
    monkeypatch.setattr(ann, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"gra2seq\[search\]"):
        build_gallery([codes], tmp_path / "gallery")
    assert not (tmp_path / "gallery").exists()


def test_approximate_gallery_finds_nearly_the_same(tiny_run, tmp_path):
    pytest.importorskip("faiss", reason="faiss is not installed: pip install 'gra2seq[search]'")
    out = tmp_path / "codes.npy"
    encode_to_file(["doodles:300"], out, model=tiny_run, engine=LocalEngine(tiny_run, jobs=1))
    said = []
    near = build_gallery([out], tmp_path / "near", "ivf-pq", report=said.append)
    true = build_gallery([out], tmp_path / "true", "exact")
    assert any("recall@10" in text for text in said)
    queries = np.asarray(true.codes[::30], np.float32)
    one, other = near.find(queries, 10).numbers, true.find(queries, 10).numbers
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(one, other, strict=True)]) > 0.8
