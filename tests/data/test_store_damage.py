"""Stores that were cut, forged or changed by a byte: refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stored_sketches import mixed, scribble

from gra2seq.data import store, store_format
from gra2seq.data.store import Store
from gra2seq.data.store_format import (
    SPLITS,
    block_checksums,
    checksum,
    file_of,
    map_arrays,
    read_header,
    write_header,
)
from gra2seq.data.store_writer import write_store
from gra2seq.errors import UserError
from gra2seq.sketch.strokes import Sketch


def assert_same(found: Sketch, expected: Sketch) -> None:
    np.testing.assert_array_equal(found.points, expected.points)
    np.testing.assert_array_equal(found.lengths, expected.lengths)
    assert (found.points.dtype, found.lengths.dtype) == (np.float32, np.int64)
    assert (found.category, found.key, found.parts) == (expected.category, expected.key, expected.parts)


@pytest.mark.parametrize("name", ["points", "lengths", "offsets", "category", "split", "keys", "parts", "checksums"])
@pytest.mark.parametrize("damage", ["cut", "longer", "gone"])
def test_store_with_a_cut_or_missing_file_is_not_opened(tmp_path: Path, name: str, damage: str) -> None:
    path = write_store(tmp_path / "a.store", mixed(10)).path / f"{name}.bin"
    content = path.read_bytes()
    path.unlink()
    if damage != "gone":
        path.write_bytes(content[:-1] if damage == "cut" else content + b"\0")
    with pytest.raises(UserError, match=f"{name}.bin.*make it again"):
        Store.open(tmp_path / "a.store")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "damaged"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "nested more than"),
        ('{"version": 99}', "version 99"),
        ('{"version": 1}', r"no checksums.*data convert FILES -o NEW\.store"),
        ('{"version": 2}', "damaged"),
        ('{"version": 2, "scale": 1e999}', "too large a number"),
        (None, "not a store"),
    ],
)
def test_bad_header_is_a_user_error(tmp_path: Path, text: str | None, message: str) -> None:
    path = write_store(tmp_path / "a.store", mixed(10)).path / "store.json"
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=message):
        Store.open(tmp_path / "a.store")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sketches": 9}, "bytes instead of"),
        ({"sketches": 10.0}, "sketches is 10.0"),
        ({"sketches": -1}, "sketches is -1"),
        ({"points": "ten"}, "points is ten"),
        ({"points": 10**30}, "bytes instead of"),
        ({"categories": [1, 2, 3]}, "list of names"),
        ({"categories": ["cat"]}, "category has no name"),
        ({"parts": ["ear"]}, "part label has no name"),
        ({"scale": 0.0}, "scale is 0"),
        ({"dtype": "O"}, "dtype"),
        ({"hash": None}, "hash is not text"),
    ],
    ids=str,
)
def test_forged_header_is_a_user_error(tmp_path: Path, change: dict[str, object], message: str) -> None:
    """With a right checksum, so that only the content can betray it."""
    path = write_store(tmp_path / "a.store", mixed(10)).path
    header = read_header(path)
    write_header(path, header | change)
    with pytest.raises(UserError, match=message):
        read_everything(path)


@pytest.mark.parametrize(
    ("name", "position", "value", "message"),
    [
        ("offsets", 3, -5, "offsets do not ascend"),
        ("offsets", 5, 10**15, "offsets do not ascend"),
        ("lengths", 0, 0, "strokes do not have the points"),
        ("lengths", 1, 2**30, "strokes do not have the points"),
        ("category", 2, 60_000, "category has no name"),
        ("split", 2, 4, "split has no name"),
        ("parts", 0, 60_000, "part label has no name"),
        ("keys", 0, 0xFF, "a key is not UTF-8"),
    ],
)
def test_forged_content_is_a_user_error(tmp_path: Path, name: str, position: int, value: int, message: str) -> None:
    """Checksums that fit do not make impossible drawings possible."""
    path = write_store(tmp_path / "a.store", mixed(10)).path
    header = read_header(path)
    arrays = map_arrays(path, header)
    forged = arrays[name].copy()
    forged.flat[position] = value
    file_of(path, name).write_bytes(forged.tobytes())
    table = np.array([block_checksums(map_arrays(path, header), 0)], "<u4")
    file_of(path, "checksums").write_bytes(table.tobytes())
    write_header(path, header | {"checksum_of_checksums": checksum(table)})
    with pytest.raises(UserError, match=message):
        read_everything(path)


def read_everything(path: Path) -> tuple[object, ...]:
    """All that a store can be asked for."""
    store = Store.open(path)
    sketches = [
        (split, s.points.tolist(), s.lengths.tolist(), s.category, s.key, s.parts) for split, s in store.records()
    ]
    chosen = [store.indices(split, None, 2).tolist() for split in SPLITS]
    scales = store.scale, store.offset_scale(store.indices(), 255.0)
    return sketches, chosen, scales, store.point_counts.tolist(), store.category_index.tolist(), store.hash


def content_or_error(path: Path) -> object:
    try:
        return read_everything(path)
    except UserError as error:
        return error


@pytest.mark.parametrize("odd", [False, True], ids=["int16", "float32"])
def test_every_flipped_byte_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: bool) -> None:
    """At every offset of every file: the same data, or an error that says what to do; never a raw exception."""
    monkeypatch.setattr(store, "BLOCK", 4)
    monkeypatch.setattr(store, "BLOCK_BITS", 2)
    monkeypatch.setattr(store_format, "BLOCK", 4)  # three blocks
    records = mixed(9)
    if odd:
        records[3] = ("train", scribble(3, whole=False))
    path = write_store(tmp_path / "a.store", records).path
    expected = read_everything(path)
    random = np.random.default_rng(0)
    for file in sorted(path.iterdir()):
        content = file.read_bytes()
        for offset in range(len(content)):
            changed = bytearray(content)
            changed[offset] ^= int(random.integers(1, 256))
            file.write_bytes(changed)
            outcome = content_or_error(path)
            if isinstance(outcome, UserError):
                assert str(path) in str(outcome)
                assert "make it again" in str(outcome).lower()
            else:
                assert outcome == expected
                assert file.name == "store.json", "only white space may change unnoticed"
        file.write_bytes(content)
    assert read_everything(path) == expected


def test_damage_is_found_only_where_it_is_read(tmp_path: Path) -> None:
    some = mixed(200)
    store = write_store(tmp_path / "a.store", (some[n % 200] for n in range(3000)))
    path = store.path / "points.bin"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    store = Store.open(store.path)
    assert_same(store[0], some[0][1])
    assert_same(store[2047], some[2047 % 200][1])
    for read in (lambda: store[2048], lambda: store.split(-1), store.verify, store.verify_blocks):
        with pytest.raises(UserError, match=r"points\.bin is damaged \(at the drawings 2048 to 2999\)"):
            read()


def test_verify_accepts_a_sound_store_and_finds_other_content(tmp_path: Path) -> None:
    store = write_store(tmp_path / "a.store", mixed(10))
    store.verify()
    write_header(store.path, read_header(store.path) | {"hash": "0" * 64})
    with pytest.raises(UserError, match="does not have the content"):
        Store.open(store.path).verify()
