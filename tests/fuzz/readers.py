"""Readers of more than one file: each builds a model folder, a store or a request around the mutant it is given.

What they need besides is made when this module is imported, so that it does not count as cost of a mutant.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch

from gra2seq.config import as_dict, parse_config
from gra2seq.data import store_format
from gra2seq.data.doodles import doodles
from gra2seq.data.store import Store
from gra2seq.data.store_writer import write_store
from gra2seq.errors import UserError
from gra2seq.folder import load, untrained
from gra2seq.formats.record import Record
from gra2seq.formats.svg.document import SvgDocument
from gra2seq.model import Model
from gra2seq.models.model_files import CONFIG, WEIGHTS, save_weights
from gra2seq.sketch.damage import damages_of
from gra2seq.sketch.strokes import Sketch
from gra2seq.studio.app import create_app
from gra2seq.studio.engine import Engine
from gra2seq.studio.known_drawings import Gallery
from gra2seq.studio.signs import signs_of

HOST = "127.0.0.1:8017"
FORGED = 0x80  # bit of a store mutant's first byte: the file keeps the size that it should have
REGION = [np.array([[2.0, 2.0], [8.0, 2.0], [8.0, 8.0]])]


def edit_svg(path: Path) -> None:
    """Cut a region out of a document, add a line, and write it."""
    document = SvgDocument.read(path)
    _ = document.page, document.notes
    cut = document.cut(REGION)
    cut.add_healed([np.array([[0.0, 0.0], [5.0, 5.0], [9.0, 4.0]])]).to_bytes()


@cache
def tiny_model() -> Model:
    torch.set_num_threads(1)
    cv2.setNumThreads(0)
    return untrained(parse_config({"preset": "tiny", "preparation": {"max_points": 24}}), categories=("cat",))


@cache
def model_files() -> dict[str, bytes]:
    """Content of the two files of a model folder."""
    model = tiny_model()
    about = {"config": as_dict(model.config), "categories": list(model.categories), "scale": 30.0}
    with tempfile.TemporaryDirectory() as folder:
        save_weights(Path(folder, WEIGHTS), model.network, {"step": 1, "best": 2.5})
        return {CONFIG: json.dumps(about).encode(), WEIGHTS: Path(folder, WEIGHTS).read_bytes()}


def weights_header() -> bytes:
    """The JSON in front of the tensors."""
    content = model_files()[WEIGHTS]
    return content[8 : 8 + int.from_bytes(content[:8], "little")]


def with_tensors(header: bytes) -> bytes:
    """A weights file with this header."""
    content = model_files()[WEIGHTS]
    return len(header).to_bytes(8, "little") + header + content[8 + len(weights_header()) :]


def load_model(path: Path) -> None:
    """Load a folder of which one file is the mutant; a model that loads must also work."""
    name = CONFIG if path.suffix == ".json" else WEIGHTS
    with tempfile.TemporaryDirectory() as folder:
        for other, content in model_files().items():
            Path(folder, other).write_bytes(path.read_bytes() if other == name else content)
        model = load(folder)
        model.encode(Sketch(np.array([[0, 0], [5, 5]], np.float32), np.array([2])))


@cache
def store_files() -> dict[str, bytes]:
    """Content of the files of a small store, by name."""
    sketches = [
        Sketch.from_polylines([[(0, 0), (9, number)], [(4, 4)]], category=name, key=f"{number}é", parts=("ear", "eye"))
        for number, name in enumerate(("cat", "pig", "cat", "bus"))
    ]
    records = [Record(split, sketch) for split, sketch in zip(("train", "valid", "test", ""), sketches, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "small.store")
        write_store(path, records)
        return {file.name: file.read_bytes() for file in sorted(path.iterdir())}


def store_seeds() -> list[bytes]:
    """Each binary file behind a byte that says which it is, and whether it keeps its size."""
    names = binary_names()
    return [bytes([number | mark]) + store_files()[name] for number, name in enumerate(names) for mark in (0, FORGED)]


def binary_names() -> list[str]:
    return [name for name in store_files() if name.endswith(".bin")]


def header_seed() -> bytes:
    return store_files()[store_format.HEADER]


def read_store_header(path: Path) -> None:
    """Open a store with the mutant as its header; where that is JSON, its checksum is made right."""
    content = path.read_bytes()
    try:
        header = json.loads(content)
        header.pop("checksum", None)
        content = json.dumps({**header, "checksum": store_format.header_checksum(header)}).encode()
    except (ValueError, AttributeError, RecursionError, TypeError):
        pass
    _read_store({store_format.HEADER: content})


def read_store_file(path: Path) -> None:
    """Open a store of which one binary file is the mutant, with all checksums made right, as a forger would."""
    content = path.read_bytes() or b"\0"
    names = binary_names()
    name = names[(content[0] & ~FORGED) % len(names)]
    size, content = len(store_files()[name]), content[1:]
    _read_store({name: content[:size].ljust(size, b"\0") if path.read_bytes()[:1] >= b"\x80" else content}, forge=True)


def _read_store(changed: dict[str, bytes], forge: bool = False) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in (store_files() | changed).items():
            (folder / file).write_bytes(content)
        if forge and f"{store_format.CHECKSUMS}.bin" not in changed:
            _forge_checksums(folder)
        store = Store.open(folder)
        for split, sketch in store.records():
            assert split in store_format.SPLITS
            Sketch(sketch.points, sketch.lengths, sketch.category, sketch.key)
        store.indices("train", limit_per_category=1)
        store.offset_scale(store.indices())
        store.verify()


def _forge_checksums(folder: Path) -> None:
    header = store_format.read_header(folder)
    try:
        arrays = store_format.map_arrays(folder, header)
    except UserError:
        return
    rows = range(store_format.block_count(header["sketches"]))
    table = np.array([store_format.block_checksums(arrays, row) for row in rows], "<u4")
    store_format.file_of(folder, store_format.CHECKSUMS).write_bytes(table.tobytes())
    header["checksum_of_checksums"] = store_format.checksum(table)
    header["hash"] = store_format.content_hash(folder, header)
    store_format.write_header(folder, header)


@cache
def small_gallery() -> Gallery:
    sketches = list(doodles(6, seed=1))
    codes = tiny_model().encode(sketches)
    signs = signs_of(tiny_model(), damages_of(sketches), codes)
    return Gallery("doodles", sketches, "fuzz", codes, signs)


def send_request(path: Path) -> None:
    """Send the mutant to the studio: `METHOD address`, headers and an empty line, then the body.

    A refusal (status 4xx) is a UserError; a server error, or an answer that is not JSON, is a failure.
    """
    head, _, body = path.read_bytes().partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, address = first.decode("latin-1").partition(" ")
    target, _, query = address.partition("?")
    headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method.upper(),
        "path": target or "/",
        "raw_path": target.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": headers,
        "scheme": "http",
        "server": ("127.0.0.1", 8017),
        "client": ("127.0.0.1", 50000),
        "root_path": "",
    }
    status, answer = asyncio.run(_exchange(scope, body))
    if status >= 500 and status != 503:
        raise AssertionError(f"status {status}: {answer[:200]!r}")
    if status >= 400:
        raise UserError(json.loads(answer)["error"])
    if b"see the terminal" in answer:
        raise AssertionError(f"a stream failed: {answer[-200:]!r}")


async def _exchange(scope: dict[str, Any], body: bytes) -> tuple[int, bytes]:
    engine = Engine()
    engine.use(tiny_model())
    engine.gallery = small_gallery()
    app = create_app(engine, [HOST])
    unread, sent = [body], []

    async def receive() -> dict[str, Any]:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        await asyncio.sleep(3600)  # the client stays
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    engine.close()
    status = next(message["status"] for message in sent if message["type"] == "http.response.start")
    return status, b"".join(message.get("body", b"") for message in sent)


for _prepare in (model_files, store_files, small_gallery):
    _prepare()
