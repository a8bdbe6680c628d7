"""Files that were made to hurt, by rule: what each did to a version before these limits is in its comment.

Every entry of `HOSTILE` makes the content of a file; its name ends in the suffix of the file. `SMALL` are those of less
than 100 kB, which the fuzzer takes as seeds. Sizes are just large enough to exceed a limit without the check.
"""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import zipfile
from collections.abc import Callable

import numpy as np

Content = Callable[[], bytes]

OBJECTS = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
DRAWING = b'{"drawing":[[[1],[1]]]}\n'


def npy(header: str, content: bytes = b"") -> bytes:
    """A numpy array with this header."""
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text + content


def npz(compressed: bool = True, **members: bytes) -> bytes:
    """An archive of numpy arrays by name."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return data.getvalue()


def pickled(*rows: np.ndarray, protocol: int = 4) -> bytes:
    """An object array of stroke-3 arrays, as its pickle."""
    array = np.empty(len(rows), object)
    for number, row in enumerate(rows):
        array[number] = row
    return pickle.dumps(array, protocol)


def objects(pickle_bytes: bytes, compressed: bool = True) -> bytes:
    """An archive whose train split has this pickle."""
    return npz(compressed, train=npy(OBJECTS, pickle_bytes))


def numbers(dtype: str, shape: str, size: int) -> bytes:
    return npy(f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}", bytes(size))


def drawing(x: bytes, y: bytes = b"1") -> bytes:
    return b'{"drawing":[[[' + x + b"],[" + y + b"]]]}"


def text_among_numbers(count: int, length: int) -> bytes:
    return drawing(b'"' + b"a" * length + b'",' + b"1," * (count - 2) + b"1", b"1," * (count - 1) + b"1")


def lying_size() -> bytes:
    """An archive that declares 1 kB and unpacks to 100 MB: zipfile's read() unpacks all of it and cuts it then."""
    content = bytearray(npz(train=b"\x00" * 100_000_000))
    for signature, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = content.index(signature)
        content[start + place : start + place + 4] = struct.pack("<I", 1000)
    return bytes(content)


def encode_calls(count: int, length: int) -> bytes:
    """One long text that is encoded again and again; the results stay on the pickle's stack."""
    text = b"X" + struct.pack("<I", length) + b"a" * length
    encode = b"c_codecs\nencode\nq\x00"
    arguments = text + b"X\x06\x00\x00\x00latin1" + b"\x86q\x01"
    return b"\x80\x02" + encode + arguments + b"h\x00h\x01R" * count + b"."


ROW = np.array([[1, 2, 0], [3, 4, 1]], np.int16)
TABLE = b'{"train":[["cat","1",[]]]}'


def zigzag_svg(count: int) -> bytes:
    """A zigzag whose ends shrink, of which RDP keeps every corner, two a level."""
    shrinking = " ".join(f"{i * 0.001:.3f} {255 - i if i % 2 == 0 else 0}" for i in range(100))
    corners = " ".join(f"{i % 250} {i % 2 * 100}" for i in range(count))
    return f'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0L{shrinking} {corners}"/></svg>'.encode()


def names(table: bytes) -> bytes:
    """An archive of one drawing with this table of names."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(table)},), }}"
    return npz(train=npy(OBJECTS, pickled(ROW)), about=npy(header, table))


HOSTILE: dict[str, Content] = {
    # One text among the coordinates: numpy made every number as long as that text. 7.7 GB.
    "text-among-numbers.ndjson": lambda: text_among_numbers(55_000, 100_000),
    "text-among-numbers.json": lambda: text_among_numbers(55_000, 100_000),
    "text-among-numbers.ndjson.gz": lambda: gzip.compress(text_among_numbers(55_000, 100_000)),
    # float64 was made before points were counted. 4.9 GB, 21 s.
    "int8-points.npz": lambda: npz(train=numbers("|i1", "(1, 20000000, 3)", 60_000_000)),
    "int8-points-stored.npz": lambda: npz(False, train=numbers("|i1", "(1, 20000000, 3)", 60_000_000)),
    # Drawings of one point: each is an object of 600 bytes in memory, and 3 in the file.
    "one-point-drawings.npz": lambda: npz(False, train=numbers("|i1", "(5000000, 1, 3)", 15_000_000)),
    "one-point-drawings.ndjson": lambda: DRAWING * 50_000,
    "one-point-drawings-pickled.npz": lambda: objects(pickled(*np.ones((30_000, 1, 3), np.int8)), compressed=False),
    # Lists that are empty, nested or of one number. 1.5 GB, 16 s.
    "empty-lists.ndjson.gz": lambda: gzip.compress(b'{"drawing":[' + b"[]," * 5_000_000 + b"[]]}"),
    "empty-lists.json": lambda: b"[" + b"[]," * 2_000_000 + b"[]]",
    "nested-lists.json": lambda: b"[" + b"[[[[[[[[[[]]]]]]]]]]," * 500_000 + b"[]]",
    "short-lists.json": lambda: b"[[" + b"[0]," * 1_000_000 + b"[0]]]",
    "deep-lists.ndjson": lambda: b"[" * 100_000,
    "many-keys.json": lambda: b"{" + b",".join(b'"%x":1' % number for number in range(500_000)) + b"}",
    "points-with-pressure.json": lambda: b"[[" + b"[1,2]," * 900_000 + b"[1,2]]]",
    "too-many-points.ndjson": lambda: drawing(b"1," * 2_000_000 + b"1", b"1," * 2_000_000 + b"1"),
    "long-number.ndjson": lambda: drawing(b"0." + b"1" * 5_000_000),
    "long-exponent.ndjson": lambda: drawing(b"1e" + b"9" * 1_000_000),
    "wide-letters.ndjson": lambda: '{"word":"🐱","drawing":[[[1],[1]]]}'.encode() + b" " * 20_000_000,
    # Lines. 51 s.
    "newlines.ndjson.gz": lambda: gzip.compress(b"\n" * 30_000_000),
    "newlines.ndjson": lambda: b"\n" * 30_000_000,
    "spaced-newlines.ndjson": lambda: b" \n" * 5_000_000 + DRAWING,
    "line-without-end.ndjson": lambda: b'{"drawing":"' + b"a" * 70_000_000,
    "empty-members.ndjson.gz": lambda: gzip.compress(b"") * 20_000,
    "same-drawing.ndjson.gz": lambda: gzip.compress(DRAWING * 50_000),
    # Table of names. 1.15 GB.
    "table-of-names.npz": lambda: names(b'{"train":[' + b"[[],[],[]]," * 1_000_000 + b"[]]}"),
    "table-that-does-not-fit.npz": lambda: names(b'{"train":[["cat","1",[]],["cat","2",[]]]}'),
    "table-of-long-parts.npz": lambda: names(b'{"train":[["cat","1",[' + b'"p",' * 500_000 + b'"p"]]]}'),
    # Pickles. 8.9 s; raw OverflowError; or more memory than the file.
    "pickle-lists.npz": lambda: objects(b"\x80\x02" + b"]" * 3_000_000 + b".", compressed=False),
    "pickle-tuples.npz": lambda: objects(b"\x80\x02)" + b"\x85" * 3_000_000 + b".", compressed=False),
    "pickle-steps.npz": lambda: objects(b"\x80\x02" + b"N0" * 2_000_000 + b"N.", compressed=False),
    "pickle-numbers.npz": lambda: objects(b"\x80\x02" + b"K\x01" * 3_000_000 + b".", compressed=False),
    "pickle-encode.npz": lambda: objects(encode_calls(100_000, 100_000), compressed=False),
    "frame-length.npz": lambda: objects(b"\x80\x04\x95" + b"\xff" * 8 + b"N."),
    "bytes-length.npz": lambda: objects(b"\x80\x03B\xff\xff\xff\xffabc."),
    "memo-index.npz": lambda: objects(b"\x80\x02]r\xff\xff\xff\x7f."),
    "same-array.npz": lambda: objects(pickled(*[ROW] * 500_000), compressed=False),
    # Headers of arrays, which numpy evaluates. Raw MemoryError, IndexError, OverflowError.
    "header-dashes.npz": lambda: npz(train=npy("{'descr': " + "-" * 9000 + "1}")),
    "header-brackets.npz": lambda: npz(train=npy("(" * 9000)),
    "header-empty-descr.npz": lambda: npz(train=numbers("", "(1, 4, 3)", 12)),
    "header-tuple.npz": lambda: npz(train=npy("{'descr': ('<f2', ), 'fortran_order': False, 'shape': (1, 1, 3), }")),
    "header-huge-shape.npz": lambda: npz(train=numbers("<f8", f"(0, {'9' * 30}, 3)", 0)),
    "lying-size.npz": lying_size,
    # A level of RDP for every two corners. 18.6 s.
    "zigzag.svg": lambda: zigzag_svg(990_000),
    "no-members.npz": lambda: npz(),
}
SMALL = [name for name, make in HOSTILE.items() if name.startswith(("header", "frame", "bytes", "memo", "deep", "no-"))]


def decompressed_size(name: str, content: bytes) -> int:
    """How much a file unpacks to, from which its limits follow."""
    if name.endswith(".gz"):
        return len(gzip.decompress(content))
    if name.endswith(".npz"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return sum(info.file_size for info in archive.infolist())
    return len(content)
