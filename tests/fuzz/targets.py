"""What is fuzzed. To add a target: the suffix of its file, contents to start from, and the function that reads a path.

    TARGETS["svg"] = Target(".svg", lambda: [b"<svg><path d='M0 0L1 1'/></svg>"], tokens=(b"<use ", b"transform="))

The function is named "module:function" and gets the path of the mutant; for model folders, stores and requests to the
studio it is one of `fuzz.readers`, which builds the rest around that file. Inputs that once did harm are made by rule
in `formats.hostile`, or lie in the folder `corpus` as TARGET-NAME.SUFFIX; mutants are made from them too.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from formats import hostile
from fuzz import pictures

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Target:
    """A reader and what its mutants are made from."""

    suffix: str
    seeds: Callable[[], list[bytes]]  # contents to start from: some valid, and past findings
    function: str = "gra2seq.formats.files:read"
    wrap: Callable[[bytes], bytes] | None = None  # a container, put around the mutant so that its checksum is right
    tokens: tuple[bytes, ...] = ()  # words of the format
    extra_size: int = 0  # bytes that are read besides the mutant
    unpacked_size: Callable[[bytes], int] | None = None  # of a mutant, where that is not its own size
    max_seconds: float | None = None  # of processor time, where drawing is part of the work
    short: int = 150  # mutants in the normal tests


DRAWINGS = [
    {"word": "cat", "key_id": "5", "split": "test", "drawing": [[[1, 4, 9], [2, 6, 3]], [[10], [10]]]},
    {"drawing": [[[1.5, 4], [2, 6], [0, 99]], [[], [], []], [[10], [10], [120]]]},
    {"drawing": [[[1, 2, 0.5], [3, 4, 0.5], [5, 6, 0.5], [7, 8, 0.5]]]},
    {"word": "Käse 🐱", "drawing": [[[1, 2], [3, 4], ["ear", "ear"]]]},
]
LINES = [json.dumps(drawing).encode() for drawing in DRAWINGS]
JSON_TOKENS = (
    b"[",
    b"]",
    b"[[",
    b"]]",
    b"{",
    b"}",
    b",",
    b":",
    b'"drawing":',
    b'"word":',
    b"[[1],[2]]",
    b'"',
    b"\\ud800",
)


def small(suffix: str) -> list[bytes]:
    """Small past findings of a format."""
    return [hostile.HOSTILE[name]() for name in hostile.SMALL if name.endswith(suffix)]


def lines() -> list[bytes]:
    return [*LINES, b"\n".join(LINES), *small(".ndjson"), hostile.text_among_numbers(200, 1000)]


def texts() -> list[bytes]:
    bare = [json.dumps(drawing["drawing"]).encode() for drawing in DRAWINGS]
    return [*LINES, *bare, json.dumps(DRAWINGS).encode(), *small(".json")]


def archives() -> list[bytes]:
    table = hostile.names(hostile.TABLE)
    return [table, *map(hostile.objects, pickles()), hostile.npz(train=dense()), *small(".npz")]


def pickles() -> list[bytes]:
    rows = [hostile.ROW, np.array([[0.5, 1, 0], [2, -3, 1]]), np.array([[1, 2, 1]], np.int8)]
    return [
        *(hostile.pickled(*rows, protocol=protocol) for protocol in (2, 3, 4)),
        hostile.encode_calls(3, 10),
        b"\x80\x04\x95" + b"\xff" * 8 + b"N.",
        b"\x80\x03B\xff\xff\xff\xffabc.",
    ]


def dense() -> bytes:
    return hostile.numbers("<i2", "(2, 4, 3)", 48)


PICKLE_TOKENS = (
    b"(",
    b"]",
    b")",
    b"\x85",
    b"\x86",
    b"R",
    b"b",
    b"a",
    b"e",
    b"h\x00",
    b"q\x00",
    b"K\x01",
    b".",
    b"\x94",
)
SVG_TOKENS = (
    *(
        b"<g>",
        b"</g>",
        b"<use href='#a'/>",
        b"<path d='M0 0L9 9'/>",
        b"<svg>",
        b"</svg>",
        b"<!--",
        b"-->",
        b"<![CDATA[",
    ),
    *(b" transform='rotate(30 5 5)'", b" style='", b" viewBox='0 0 9 9'", b" id='a'", b" class='b'", b" fill='none'"),
    *(
        b" stroke='none'",
        b" display='none'",
        b"%",
        b"e9",
        b"A3 3 0 1 0 ",
        b"C",
        b"Q",
        b"z",
        b"M",
        b"&lt;",
        b"&#0;",
        b"<",
    ),
)
SVGS = [
    b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 10 10'>"
    b"<path d='M1 1L9 9M2,2c1 2 3 4 5 6a3 3 0 1 0 2-2z'/></svg>",
    b"<svg width='10' height='10'><g id='a' transform='translate(1 2) scale(.5)'><circle r='3' cx='4' cy='4'/></g>"
    b"<use href='#a' x='3'/><polyline points='0 0 5 5 9 1'/><rect x='1' y='1' width='4' height='5' rx='1'/></svg>",
    b"<svg><style>.b{stroke:red;fill:none} g > path{stroke-width:2}</style><g class='b' style='opacity:.5'>"
    b"<path class='b' d='M0 0H5V5h-2v-2S1 2 3 4T5 6Q1 1 2 2t1 1'/>"
    b"<ellipse rx='4' ry='2'/><line x2='5' y2='6'/></g></svg>",
    b"<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY c 'M0 0L9 9'>]><svg xmlns:x='http://www.w3.org/1999/xlink'>"
    b"<defs><symbol id='a' viewBox='0 0 5 5'><path d='&c;'/></symbol></defs>"
    b"<use x:href='#a' width='9' height='9'/></svg>",
]
REQUEST_TOKENS = (*JSON_TOKENS, b'"region":', b'"samples":', b'"seed":', b'"boxes":[[2,2,4,4]]', b"1e308", b"Origin: x")


def requests() -> list[bytes]:
    """Requests to every address of the studio: method and address on the first line, then the body."""
    drawing = {"strokes": [[[0, 0], [5, 9], [9, 0]], [[2, 5], [7, 5]]]}
    damaged = drawing | {"region": {"boxes": [[3, 3, 3, 4]]}, "samples": 1, "frame": [0, 0, 10, 10]}
    erased = drawing | {
        "region": {"erasers": [{"path": [[5, 9], [6, 6]], "radius": 2}], "polygons": [[[0, 0], [1, 0], [0, 2]]]}
    }
    bodies = [
        ("heal", damaged),
        ("heal", erased | {"samples": 2, "seed": 3, "temperature": 0.5}),
        *((name, drawing | {"samples": 1}) for name in ("complete", "redraw")),
        *((name, drawing) for name in ("encode", "graph", "search", "guess")),
        ("graph", drawing | {"region": damaged["region"], "links": "temporal"}),
        ("morph", {"drawings": [drawing["strokes"]] * 2, "steps": 2}),
        ("read", {"svg": SVGS[0].decode()}),
    ]
    posts = [f"POST /api/{name}\n{json.dumps(body)}".encode() for name, body in bodies]
    return [*posts, b"GET /api/doodle?seed=3&category=cat\n", b"GET /\n"]


def with_headers(content: bytes) -> bytes:
    """A request with the headers that the studio asks for."""
    first, _, body = content.partition(b"\n")
    return first + b"\nHost: 127.0.0.1:8017\nContent-Type: application/json\n\n" + body


def from_readers(name: str) -> Callable[[], list[bytes]]:
    """Contents that `fuzz.readers` makes; imported when they are wanted, because it builds a model."""

    def make() -> list[bytes]:
        from fuzz import readers

        return {
            "config": lambda: [*[readers.model_files()["config.json"]] * 4, DEEP],
            "weights": lambda: [readers.model_files()["model.safetensors"]],
            "header": lambda: [*[readers.weights_header()] * 4, DEEP],
            "store header": lambda: [*[readers.header_seed()] * 4, DEEP],
            "store": readers.store_seeds,
        }[name]()

    return make


def with_tensors(header: bytes) -> bytes:
    from fuzz.readers import with_tensors

    return with_tensors(header)


PICTURE: dict[str, Any] = {"unpacked_size": pictures.unpacked_size, "short": 60}
TRACE = "gra2seq.formats.tracing:read_picture"
DEEP = b'{"config":' + b"[" * 5000  # a deep config.json and header were a RecursionError
MODEL_BYTES = 2_000_000  # of the model folder around a mutant
HEADER_TOKENS = (b"'descr': ", b"'|O'", b"'<f8'", b"'shape': (", b"99999999999999999999", b"-", b"L", b"(", b"True")

TARGETS = {
    "ndjson": Target(".ndjson", lines, tokens=JSON_TOKENS),
    "ndjson-gz": Target(".ndjson.gz", lines, wrap=gzip.compress, tokens=JSON_TOKENS),
    "json": Target(".json", texts, tokens=JSON_TOKENS),
    "npz": Target(".npz", archives),
    "npz-array": Target(
        ".npz",
        lambda: [hostile.npy(hostile.OBJECTS, pickles()[0]), dense()],
        wrap=lambda content: hostile.npz(train=content),
        tokens=HEADER_TOKENS,
    ),
    "npz-pickle": Target(".npz", pickles, wrap=hostile.objects, tokens=PICKLE_TOKENS),
    "npz-names": Target(".npz", lambda: [hostile.TABLE], wrap=hostile.names, tokens=JSON_TOKENS),
    "svg": Target(".svg", lambda: [*SVGS, *small(".svg")], tokens=SVG_TOKENS, short=80),
    "svg-document": Target(".svg", lambda: SVGS, "fuzz.readers:edit_svg", tokens=SVG_TOKENS, short=60),
    "png": Target(".png", pictures.pngs, TRACE, pictures.with_png_checksums, pictures.PNG_TOKENS, **PICTURE),
    "jpg": Target(".jpg", pictures.jpgs, TRACE, tokens=pictures.JPG_TOKENS, **PICTURE),
    "model-config": Target(
        ".json", from_readers("config"), "fuzz.readers:load_model", None, JSON_TOKENS, MODEL_BYTES, short=40
    ),
    "model-weights": Target(
        ".safetensors", from_readers("weights"), "fuzz.readers:load_model", None, (), MODEL_BYTES, short=40
    ),
    "model-header": Target(
        ".safetensors",
        from_readers("header"),
        "fuzz.readers:load_model",
        with_tensors,
        JSON_TOKENS,
        MODEL_BYTES,
        short=40,
    ),
    "store-header": Target(".json", from_readers("store header"), "fuzz.readers:read_store_header", None, JSON_TOKENS),
    "store": Target(".bin", from_readers("store"), "fuzz.readers:read_store_file"),
    "studio": Target(
        ".txt", requests, "fuzz.readers:send_request", with_headers, REQUEST_TOKENS, max_seconds=10.0, short=40
    ),
}


def seeds_of(name: str) -> list[bytes]:
    """Contents that mutants of a target are made from; those of a corpus only where there is no container."""
    target = TARGETS[name]
    found = [file.read_bytes() for file in corpus_of(name)] if target.wrap is None else []
    return [*target.seeds(), *found]


def corpus_of(name: str) -> list[Path]:
    """Files that once made a target fail; they are kept for ever."""
    return sorted(path for path in CORPUS.glob(f"{name}-*{TARGETS[name].suffix}") if _target_of(path) == name)


def _target_of(path: Path) -> str:
    """The longest name of a target that a file's name begins with: svg-document-3.svg is not one of `svg`."""
    return max((name for name in TARGETS if path.name.startswith(f"{name}-")), key=len)
