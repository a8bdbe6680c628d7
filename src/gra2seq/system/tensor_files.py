"""Tensors in safetensors files, with a checksum; bounded before anything is allocated, nothing that can run."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from gra2seq.errors import UserError
from gra2seq.system.atomic_files import atomic_write
from gra2seq.system.json_files import parse_json

# Keys of the metadata: JSON and checksum on two lines of one entry, as entries are written in any order; others' own.
STATE, FORMAT = "state", "format"
MAX_HEADER = 4_000_000  # bytes; the largest model here has 0.1 MB

Shape = tuple[int, ...]


def save_tensors(
    path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any], backup: Path | None = None
) -> None:
    """Write tensors and a small JSON object atomically; with `backup` the file before is kept under that name."""
    arrays = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(dict(state))
    with atomic_write(path, backup) as temporary:
        save_file(arrays, temporary, {STATE: f"{text}\n{_checksum(arrays, text)}"})


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and state of a file; a damaged one is a UserError."""
    state = read_state(path)
    with _readable(path):
        tensors = load_file(path)
        text, _, checksum = _metadata(path).get(STATE, "{}").partition("\n")
        if checksum and checksum != _checksum(tensors, text):
            raise ValueError("its checksum does not match")
    return tensors, state


def read_state(path: Path) -> dict[str, Any]:
    """The JSON object of a file, without its tensors."""
    with _readable(path):
        state = parse_json(_metadata(path).get(STATE, "{}").partition("\n")[0], infinity=True)
        if not isinstance(state, dict):
            raise ValueError("its state is not a JSON object")
    return state


def read_shapes(path: Path) -> dict[str, Shape]:
    """Name and shape of every tensor, from the header only."""
    with _readable(path):
        _check_header(path)
        with safe_open(path, framework="pt") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def _metadata(path: Path) -> dict[str, str]:
    _check_header(path)
    with safe_open(path, framework="pt") as file:
        metadata: dict[str, str] = file.metadata() or {}
    unknown = metadata.keys() - {STATE, FORMAT}
    if unknown:
        raise ValueError(f"unknown metadata {min(unknown)[:40]!r}")
    return metadata


def _check_header(path: Path) -> None:
    """Safetensors itself would read a header of 100 MB."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
    if size > MAX_HEADER:
        raise ValueError(f"its header would have {size:,} bytes")


def _checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    """CRC-32 of the state and of name, type, shape and bytes of every tensor."""
    total = zlib.crc32(text.encode())
    for name, tensor in sorted(tensors.items()):
        total = zlib.crc32(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode(), total)
        total = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data, total)
    return f"{total:08x}"


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise UserError(f"no weights at {path}: name the folder of a run, or train one first") from error
    except (OSError, SafetensorError, ValueError, RuntimeError, OverflowError) as error:
        reason = str(error)[:200]
        raise UserError(f"{path} is damaged or cut short ({reason}): restore it from a copy or train again") from error
