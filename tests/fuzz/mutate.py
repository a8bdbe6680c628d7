"""Mutants of bytes: small damage, odd values and pieces of other files, all from one seeded generator."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

CHANGE_COUNTS = (1, 1, 1, 1, 2, 2, 3, 6)  # of one mutant; most must stay readable enough to get past the first check
MAX_SIZE = 1_000_000  # bytes of a mutant: limits on large files are tests of their own
MAX_REPEATS = 2000

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
ODD_BYTES = (b"\x00", b"\xff", b"\x7f", b"\x80", b"\n", b" ", b'"', b"\\", b"\xef\xbb\xbf", b"\xf0\x9f\x90\xb1")
ODD_NUMBERS = (
    *(b"0", b"-0", b"-1", b"1e308", b"1e999", b"-1e-999", b"NaN", b"Infinity", b"2147483648", b"18446744073709551616"),
    *(b"9" * 400, b"9" * 5000, b"0." + b"1" * 3000, b"1e", b"0x10", b"true", b"null", b'"1"', b"[]", b"{}"),
)
ODD_WORDS = (b"\x00" * 4, b"\xff" * 4, b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x01\x00\x00\x00", b"\xff" * 8)


def mutant(rng: random.Random, content: bytes, others: Sequence[bytes], tokens: Sequence[bytes] = ()) -> bytes:
    """A changed `content`; `others` lend pieces, `tokens` are words of the format."""
    for _ in range(rng.choice(CHANGE_COUNTS)):
        (change,) = rng.choices(tuple(CHANGES), tuple(CHANGES.values()))
        content = change(rng, content, others, tokens)[:MAX_SIZE]
    return content


def _span(rng: random.Random, content: bytes) -> tuple[int, int]:
    """Start and end of a piece, most often a short one."""
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + int(rng.paretovariate(0.7)))


def _flip_bit(rng: random.Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    if not content:
        return content
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]


def _cut(rng: random.Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _remove(rng: random.Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    start, end = _span(rng, content)
    return content[:start] + content[end:]


def _repeat(rng: random.Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    start, end = _span(rng, content)
    return content[:start] + content[start:end] * rng.choice((2, 2, 3, 20, MAX_REPEATS)) + content[end:]


def _insert(rng: random.Random, content: bytes, _others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    place = rng.randrange(len(content) + 1)
    piece = rng.choice((*ODD_BYTES, *ODD_NUMBERS, *ODD_WORDS, *tokens))
    return content[:place] + piece * rng.choice((1, 1, 1, 5)) + content[place:]


def _overwrite(rng: random.Random, content: bytes, _others: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    place = rng.randrange(len(content) + 1)
    piece = rng.choice((*ODD_WORDS, *ODD_BYTES, *tokens))
    return content[:place] + piece + content[place + len(piece) :]


def _change_number(rng: random.Random, content: bytes, *_: Sequence[bytes]) -> bytes:
    found = list(NUMBER.finditer(content[:10_000]))
    if not found:
        return content
    match = rng.choice(found)
    return content[: match.start()] + rng.choice(ODD_NUMBERS) + content[match.end() :]


def _splice(rng: random.Random, content: bytes, others: Sequence[bytes], _tokens: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other) + 1) :]


CHANGES: dict[Callable[[random.Random, bytes, Sequence[bytes], Sequence[bytes]], bytes], float] = {  # and how often
    _flip_bit: 1,
    _cut: 0.3,
    _remove: 1,
    _repeat: 1,
    _insert: 1,
    _overwrite: 1,
    _change_number: 3,
    _splice: 0.5,
}
