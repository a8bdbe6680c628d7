"""Safetensors files: every flipped byte is found, and nothing large is read of a header that lies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from gra2seq.errors import UserError
from gra2seq.system.tensor_files import read_shapes, read_state, read_tensors, save_tensors

TENSORS = {
    "matrix": torch.arange(12.0).reshape(3, 4),
    "half": torch.ones(5, dtype=torch.float16),
    "started": torch.tensor(True),
    "none": torch.zeros(0, 3),
}


def same(found: dict[str, torch.Tensor]) -> bool:
    return found.keys() == TENSORS.keys() and all(
        torch.equal(found[n], t) and found[n].dtype == t.dtype for n, t in TENSORS.items()
    )


def test_tensors_and_state_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_tensors(path, TENSORS, {"step": 3, "best": float("inf")})
    tensors, state = read_tensors(path)
    assert same(tensors)
    assert state == read_state(path) == {"step": 3, "best": float("inf")}
    assert read_shapes(path) == {"matrix": (3, 4), "half": (5,), "started": (), "none": (0, 3)}


def test_every_flipped_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_tensors(path, TENSORS, {"step": 3})
    content = path.read_bytes()
    random = np.random.default_rng(0)
    unnoticed = 0
    for offset in range(len(content)):
        changed = bytearray(content)
        changed[offset] ^= int(random.integers(1, 256))
        path.write_bytes(changed)
        found = content_or_error(path)
        if isinstance(found, UserError):
            assert "is damaged or cut short" in str(found)
        else:
            unnoticed += 1
            assert same(found[0])
            assert found[1] == {"step": 3}
    assert unnoticed < 10, "white space at the end of the header"


def content_or_error(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, object]] | UserError:
    try:
        return read_tensors(path)
    except UserError as error:
        return error


def test_files_without_checksum_are_read(tmp_path: Path) -> None:
    """Those of other programs, and those written before there were checksums."""
    for metadata in (None, {"format": "pt"}, {"state": '{"step": 3}'}):
        save_file(TENSORS, tmp_path / "a.safetensors", metadata)
        assert same(read_tensors(tmp_path / "a.safetensors")[0])


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"state": "[" * 50_000}, "nested more than"),
        ({"state": "[1]"}, "not a JSON object"),
        ({"state": '{"step": ' + "9" * 5000 + "}"}, "limit"),
        ({"x" * 5000: "y"}, "unknown metadata"),
    ],
    ids=["deep", "list", "digits", "name"],
)
def test_odd_metadata_is_one_short_sentence(tmp_path: Path, metadata: dict[str, str], message: str) -> None:
    save_file(TENSORS, tmp_path / "a.safetensors", metadata)
    for read in (read_tensors, read_state):
        with pytest.raises(UserError, match=message) as raised:
            read(tmp_path / "a.safetensors")
        assert len(str(raised.value)) < 600


def test_header_with_wrong_sizes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    huge = json.dumps({"a": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 4 * 10**18]}}).encode()
    for content in (
        (50_000_000).to_bytes(8, "little") + b"{}",
        (2**63).to_bytes(8, "little"),
        len(huge).to_bytes(8, "little") + huge,
        b"",
        b"\0" * 7,
    ):
        path.write_bytes(content)
        for read in (read_tensors, read_state, read_shapes):
            with pytest.raises(UserError, match="damaged or cut short"):
                read(path)
