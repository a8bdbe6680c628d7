"""What is fuzzed. To add a target: the suffix of its file, contents to start from, and the function that reads a path.

    TARGETS["svg"] = Target(".svg", lambda: [b"<svg><path d='M0 0L1 1'/></svg>"], tokens=(b"<use ", b"transform="))

The function is named "module:function" and gets the path of the mutant; a reader of folders or requests gets a
function of a module under tests/ that builds the folder or request around that file. Inputs that once did harm belong
into the contents to start from (`formats.hostile` has them for readers of drawings).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from formats import hostile


@dataclass(frozen=True)
class Target:
    """A reader and what its mutants are made from."""

    suffix: str
    seeds: Callable[[], list[bytes]]  # contents to start from: some valid, and past findings
    function: str = "gra2seq.formats.files:read"
    wrap: Callable[[bytes], bytes] | None = None  # a container, put around the mutant so that its checksum is right
    tokens: tuple[bytes, ...] = ()  # words of the format


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
}
