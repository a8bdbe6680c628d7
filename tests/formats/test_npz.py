from __future__ import annotations

import io
import os
import pickle
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gra2seq.errors import UserError
from gra2seq.formats import npz
from gra2seq.formats.npz import SPLITS, write_npz
from gra2seq.formats.safe_pickle import PickledArrays
from gra2seq.sketch.strokes import Sketch
from gra2seq.system.input_files import Limits
from sketch.some_sketches import ANY, WHOLE, assert_same, calm, sketches

CAT = Sketch.from_polylines([[(1, 2), (4, 6)], [(10, 10)]], category="cat", key="7", parts=("ear", "eye"))


def objects(*arrays: Any) -> np.ndarray:
    row = np.empty(len(arrays), object)
    for number, array in enumerate(arrays):
        row[number] = array
    return row


def archive(path: Path, pickle_bytes: bytes, name: str = "train.npy", shape: str = "(1,)") -> Path:
    """A .npz whose object array has this pickle."""
    header = f"{{'descr': '|O', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + pickle_bytes)
    return path


def read_npz(path: Path) -> dict[str, list[Sketch]]:
    """The sketches by split."""
    splits: dict[str, list[Sketch]] = {split: [] for split in SPLITS}
    for split, sketch in npz.read_npz(path):
        splits[split].append(sketch)
    return splits


def unpickle_arrays(data: bytes) -> list[np.ndarray]:
    return list(PickledArrays(io.BytesIO(data)))


# Written and read again


@calm
@given(st.lists(sketches(ANY) | sketches(WHOLE), max_size=4), st.lists(sketches(WHOLE), max_size=2))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, train: list[Sketch], test: list[Sketch]) -> None:
    path = tmp_path_factory.mktemp("npz") / "out.npz"
    write_npz(path, {"train": train, "test": test})
    again = read_npz(path)
    assert again["valid"] == []
    for one, other in zip([*train, *test], [*again["train"], *again["test"]], strict=True):
        np.testing.assert_array_equal(one.lengths, other.lengths)
        largest = float(np.abs(one.points).max())  # offsets are float64: only the tiniest beside the largest change
        np.testing.assert_allclose(one.points, other.points, rtol=1e-6, atol=largest * 1e-14)
        assert (one.category, one.key, one.parts) == (other.category, other.key, other.parts)


def test_sketch_rnn_reads_what_is_written(tmp_path: Path) -> None:
    write_npz(tmp_path / "cat.npz", {"train": [CAT, CAT], "valid": [CAT]})
    with np.load(tmp_path / "cat.npz", allow_pickle=True, encoding="latin1") as file:
        assert file["train"].shape == (2,)
        assert file["train"][0].dtype == np.int16
        np.testing.assert_array_equal(file["train"][1], CAT.to_stroke3())
        assert len(file["test"]) == 0


def test_sketches_of_equal_length_are_read(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", {"train": [CAT] * 3})
    assert len(read_npz(tmp_path / "a.npz")["train"]) == 3


def test_other_split_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has the splits train, valid, test, not 'holdout'"):
        write_npz(tmp_path / "a.npz", {"holdout": [CAT]})
    assert list(tmp_path.iterdir()) == []


# Files that others wrote


@pytest.mark.parametrize("dtype", ["<i2", ">i2", "<i4", "<f4", ">f8", "<f2", "i1"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_every_number_type_order_and_protocol_is_read(tmp_path: Path, dtype: str, order: str, protocol: int) -> None:
    rows = np.array(CAT.to_stroke3(), dtype, order=order)  # type: ignore[call-overload]
    path = archive(tmp_path / "sketchrnn_cat.full.npz", pickle.dumps(objects(rows), protocol))
    (sketch,) = read_npz(path)["train"]
    assert_same(sketch, CAT, names=False)
    assert sketch.category == "cat"  # the file's name, as sketch-rnn's has no other


def test_pickles_of_numpy_1_are_read(tmp_path: Path) -> None:
    data = pickle.dumps(objects(CAT.to_stroke3()), 2).replace(b"numpy._core", b"numpy.core")
    assert_same(read_npz(archive(tmp_path / "a.npz", data))["train"][0], CAT, names=False)


def test_pickles_of_python_2_are_read(tmp_path: Path) -> None:
    """Bytes are BINSTRING there, and whole numbers in a header may have an L."""

    def array(shape: bytes, dtype: bytes, data: bytes) -> bytes:
        made = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        kind = b"cnumpy\ndtype\n" + dtype.replace(b"(", b"K\x00K\x01\x87R(K\x03U\x01")
        return made + b"(K\x01" + shape + kind + b"tb\x89" + data + b"tb"

    size = b"NNN" + b"J\xff\xff\xff\xff" * 2 + b"K"
    rows = CAT.to_stroke3().astype("<i2").tobytes()
    inner = array(b"K\x03K\x03\x86", b"U\x02i2(<" + size + b"\x00", b"U" + bytes([len(rows)]) + rows)
    outer = b"\x80\x02" + array(b"K\x01\x85", b"U\x02O8(|" + size + b"?", b"]" + inner + b"a") + b"."
    assert pickle.loads(outer, encoding="latin1")[0].tolist() == CAT.to_stroke3().tolist()
    path = archive(tmp_path / "old.npz", outer, shape="(1L,)")
    assert_same(read_npz(path)["train"][0], CAT, names=False)


def test_a_plain_array_of_equally_long_drawings_is_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", train=np.stack([CAT.to_stroke3()] * 2))
    assert len(read_npz(tmp_path / "a.npz")["train"]) == 2


def test_arrays_of_other_names_are_not_opened(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "ran"),)

    np.savez(tmp_path / "a.npz", train=objects(CAT.to_stroke3()), other=objects(Evil()))
    assert len(read_npz(tmp_path / "a.npz")["train"]) == 1
    assert not (tmp_path / "ran").exists()


# Hostile files


class Call:
    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("inside", [True, False])
def test_a_hostile_file_is_refused_and_nothing_runs(tmp_path: Path, protocol: int, inside: bool) -> None:
    trace = tmp_path / "ran"
    for function, argument in (
        (os.system, f"touch {trace}"),
        (eval, f"open({str(trace)!r}, 'w')"),
        (os.mkdir, trace),
    ):
        call = Call(function, str(argument))
        evil = pickle.dumps(objects(CAT.to_stroke3(), call) if inside else call, protocol)
        path = archive(tmp_path / "evil.npz", evil)
        name = rf"(posix|nt|builtins|__builtin__)\.{function.__name__}"
        with pytest.raises(
            UserError, match=rf"evil\.npz: train\.npy: refused, its pickle asks for {name}.*nothing .*run"
        ):
            read_npz(path)
        assert not trace.exists()
    with np.load(path, allow_pickle=True) as file:  # the trap was real
        file["train"] if inside else pickle.loads(evil)
    assert trace.exists()


def protocol_4(module: str, name: str, rest: bytes) -> bytes:
    """STACK_GLOBAL, whose names are known only when it runs."""
    words = [b"\x8c" + bytes([len(word)]) + word.encode() for word in (module, name)]
    return b"\x80\x04" + b"".join(words) + b"\x93" + rest


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (protocol_4("os", "system", b"\x8c\x04true\x85R."), r"asks for os\.system"),
        (protocol_4("numpy", "fromfile", b"\x8c\x01x\x85R."), r"asks for numpy\.fromfile"),
        (protocol_4("numpy", "ndarray.tofile", b")R."), r"asks for numpy\.ndarray\.tofile"),
        (protocol_4("numpy", "memmap", b")R."), r"asks for numpy\.memmap"),
        (b"\x80\x02cbuiltins\nexec\n(S'1'\ntR.", r"asks for builtins\.exec"),
        (b"(S'true'\nios\nsystem\n.", "uses STRING|uses INST"),
        (b"(cos\nsystem\nS'true'\no.", r"asks for os\.system"),
        (b"Pname\n.", "uses PERSID"),
        (b"\x80\x02\x82\x01.", "uses EXT1"),
        (b"\x80\x02}.", "uses EMPTY_DICT"),  # nothing is hashed: nested tuples as keys overflow the stack
        (b"\x80\x02]r\xff\xff\xff\x7f.", "more memory than it has content"),
        (protocol_4("_codecs", "encode", b"\x8c\x01x\x8c\x05utf-7\x86R."), "other than latin1"),
        (b"\x80\x02K\x01.", "is not an array of arrays"),
        (protocol_4("numpy", "dtype", b"."), "is not an array of arrays"),
        (protocol_4("numpy", "dtype", b"K\x01b."), "damaged, or no arrays of numbers"),
        (protocol_4("numpy", "ndarray", b")R."), "damaged, or no arrays of numbers"),
        (b"\x80\x02" + b")" + b"\x85" * 40_000 + b".", "is not an array of arrays"),
    ],
)
def test_pickles_with_other_content_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        unpickle_arrays(data)


def test_arrays_of_other_than_numbers_are_refused() -> None:
    record = np.zeros(2, [("x", "i2"), ("y", "O")])
    for array in (
        objects("text"),
        np.array(["a"]),
        record,
        np.zeros(2, "M8[s]"),
        np.zeros(2, complex),
        [1, 2],
        "text",
    ):
        with pytest.raises(UserError, match=r"refused|damaged"):
            unpickle_arrays(pickle.dumps(objects(array), 4))


def test_an_array_named_many_times_is_refused() -> None:
    rows = np.zeros((1000, 3))
    with pytest.raises(UserError, match="many times over"):
        unpickle_arrays(pickle.dumps(objects(*[rows] * 1000), 4))


def test_a_wrong_shape_is_refused() -> None:
    data = pickle.dumps(objects(np.zeros((7, 3), np.int16)), 4)
    assert data.count(b"K\x07K\x03\x86") == 1
    for lie in (b"K\x09K\x03\x86", b"K\x07N\x86\x85\x85"):
        with pytest.raises(UserError, match=r"shape \(9, 3\) with 42 bytes|damaged|plain bytes"):
            unpickle_arrays(data.replace(b"K\x07K\x03\x86", lie))


def test_a_pickle_of_endless_lists_is_refused() -> None:
    with pytest.raises(UserError, match="more lists and tuples than arrays of numbers need"):
        unpickle_arrays(b"\x80\x02" + b"]" * 100_000 + b".")


def test_a_zip_bomb_is_refused_unopened(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("train.npy", b"]" * 50_000_000)
    path = tmp_path / "bomb.npz"
    path.write_bytes(bomb.getvalue())
    start = time.process_time()
    with pytest.raises(UserError, match="unpacks to more than 200 times its size"):
        read_npz(path)
    assert time.process_time() - start < 1


def test_a_file_that_is_too_large_is_refused_unopened(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", {"train": [CAT]})
    with pytest.raises(UserError, match=r"holds more than 0 MB: split it, or if you trust it .*--max-bytes N"):
        list(npz.read_npz(tmp_path / "a.npz", Limits(max_bytes=100)))


# Damaged and foreign files


def test_a_cut_or_changed_file_is_refused_or_read_right(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", {"train": [CAT, CAT], "test": [CAT]})
    whole = (tmp_path / "a.npz").read_bytes()
    path = tmp_path / "cut.npz"
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(UserError, match=r"cut\.npz is no \.npz file, or cut short or damaged"):
            read_npz(path)
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with suppress(UserError, IndexError):  # refused, or a split lost its name
            assert_same(read_npz(path)["test"][0], CAT, names=False)  # a byte that says nothing, as a time


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.zeros(3)}, "has no array named train, valid, test, but x"),
        ({"train": np.zeros((2, 3))}, r"train\.npy: shape \(2, 3\) is not one stroke-3 array a drawing"),
        ({"train": np.array(["a"])}, r"train\.npy: it holds values that are not numbers"),
        ({"train": np.zeros(2, [("x", "O")])}, r"train\.npy: it holds values that are not numbers"),
        ({"train": objects(np.zeros((2, 4)))}, "train 0: stroke-3 needs rows of"),
        ({"train": objects(np.zeros((0, 3)))}, "train 0: sketch is empty"),
        ({"train": objects(np.zeros((1, 3)), np.full((2, 3), np.nan))}, "train 1: .*NaN or infinite"),
        ({"train": objects(np.full((2, 3), 1e300))}, "train 0: .*NaN or infinite"),
        ({"train": objects(np.array([[np.inf, 0, 0], [-np.inf, 0, 0]]))}, "train 0: .*NaN or infinite"),
        ({"train": objects(np.zeros((1, 3))), "about": np.zeros(3, np.uint8)}, "table of names is damaged"),
        (
            {"train": objects(np.zeros((1, 3))), "about": np.frombuffer(b"{}", np.uint8)},
            "does not fit its drawings",
        ),
    ],
)
def test_other_arrays_are_refused(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=message):
        read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x05\x06" + b"\0" * 18, b"\x93NUMPY"])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.npz"):
        read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_refused(tmp_path: Path, way: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", way) as file:
        file.writestr("train.npy", b"x")
    with pytest.raises(UserError, match="packed in a way that numpy does not use"):
        read_npz(tmp_path / "a.npz")
