"""SVG files that are broken, or made to harm: refused with a reason, or read, but quickly."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from svg_samples import read_page as page
from svg_samples import strokes_of as strokes

from gra2seq.errors import UserError
from gra2seq.formats.svg import read_svg, reader, write_svg
from gra2seq.sketch.strokes import Sketch

SEEN = '<path d="M0 0h1"/>'
LINE_SEEN = '<path d="M50 50L150 150" fill="none" stroke="black"/>'

# Bad input


@pytest.mark.parametrize(
    "content", ["", "<text>only words</text>", "<defs><path d='M0 0h1'/></defs>", "<path d='M1 1'/>"]
)
def test_empty_drawings_are_refused(content: str) -> None:
    with pytest.raises(UserError, match="nothing is drawn in it"):
        page(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('<path d="M0 0L nan 3"/>', "path data cannot be read: 'M0 0L nan 3'"),
        ('<path d="M0 0L1e999 3"/>', "number beyond 1e"),
        ('<path d="M0 0L1e13 3"/>', "beyond 1,000,000,000,000 px: scale the drawing down"),
        ('<path d="M0 0L1"/>', "path command L takes 2 numbers a time, got 1"),
        ('<path d="M0 0L"/>', "path command L has no numbers"),
        ('<path d="L1 1"/>', "must begin with M"),
        ('<path d="M0 0 huch"/>', "cannot be read"),
        ('<path d="M0 0A1 1 0 2 0 5 5"/>', "path data cannot be read"),
        ('<polyline points="0 0 1"/>', "an odd one: a y is missing"),
        ('<polyline points="0 0 inf 1"/>', "points cannot be read"),
        ('<line x2="NaN"/>', "x2='NaN' is not a length"),
        ('<circle r="5 apples"/>', "is not a length"),
        ('<path transform="rotate(abc)" d="M0 0h1"/>', "transform cannot be read"),
        ('<path transform="matrix(1,2)" d="M0 0h1"/>', "transform cannot be read"),
        ('<path transform="twist(3)" d="M0 0h1"/>', "transform cannot be read"),
        ('<path transform="scale(2" d="M0 0h1"/>', "transform cannot be read"),
        ('<path transform="scale(1e20) scale(1e20)" d="M0 0h1"/>', "transform is too large"),
        (
            '<g transform="scale(1e25)"><g transform="scale(1e25)"><path d="M0 0h1"/></g></g>',
            "beyond 1,000,000,000,000 px",
        ),
        ('<svg viewBox="0 0 1"><path d="M0 0h1"/></svg>', "viewBox has 3 numbers, it needs 4"),
        ('<svg width="1e13" height="1e13"><path d="M0 0h1"/></svg>', "its size is beyond 1,000,000,000,000 px"),
    ],
)
def test_unreadable_values_are_refused(content: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        page(content)


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    whole = write_svg(Sketch.from_polylines([[(0, 0), (5, 5)], [(1, 1)]], category="cat")).encode()
    path = tmp_path / "cat.svg"
    for size in range(len(whole.rstrip())):
        path.write_bytes(whole[:size])
        with pytest.raises(UserError, match=r"cat\.svg: it is not SVG, or cut short or broken"):
            read_svg(path)


@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff", b"hello", b"<html/>", b'<?xml version="1.0" encoding="klingon"?><svg/>']
)
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(UserError, match=r"save (or fetch )?it again"):
        read_svg(data)


LINE = '<path d="M0 0h1"/>'
BILLION = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
FETCH = '<!ENTITY x SYSTEM "file:///etc/passwd">'
TOWER = "".join(f'<g id="u{n}">' + f'<use href="#u{n - 1}"/>' * 10 + "</g>" for n in range(1, 10))
USE = '<use href="#a"/>'
LONG = '<path id="a" d="M0 0' + "h1" * 100_000 + '"/>'
BOMBS = {
    "entities": (
        f'<!DOCTYPE svg [<!ENTITY l0 "lol">{BILLION}]><svg><text>&l9;</text></svg>',
        "document type",
    ),
    "long entity": (
        f'<!DOCTYPE svg [<!ENTITY a "{"x" * 100_000}">]><svg><text>{"&a;" * 100}</text></svg>',
        "document type declares entities that make it too long",
    ),
    "file": (f"<!DOCTYPE svg [{FETCH}]><svg><text>&x;</text></svg>", "document type"),
    "elements": (f"<svg>{LINE * 200_000}</svg>", "more than 20,000 elements"),
    "deep": (f"<svg>{'<g>' * 100_000}{'</g>' * 100_000}</svg>", "more than 100 deep"),
    "use of itself": ('<svg><g id="a"><use href="#a"/></g></svg>', "a <use> draws itself"),
    "use of use": (f'<svg><g id="u0">{LINE}</g>{TOWER}</svg>', "draws more than 20,000 elements"),
    "use of a path": (f"<svg>{LONG}{USE * 50}</svg>", "more than 1,000,000 points"),
    "points": (f'<svg><path d="M0 0{"h1" * 1_500_000}"/></svg>', "more than 1,000,000 points"),
    "dots": (f'<svg><path d="M0 0{"z" * 1_500_000}"/></svg>', "more than 1,000,000 points"),
    "curves": (f'<svg><path d="M0 0{"c0 9 9 9 0 0" * 100_000}"/></svg>', "more than 1,000,000 points"),
    "digits": (f'<svg><path d="M{"1" * 1_000_000} 0h1"/></svg>', "number of 1,000,000 characters, 1000 are read"),
    "flags": (f'<svg><path d="M0 0a{"1" * 1_000_000}"/></svg>', "number of 1,000,000 characters"),
    "transforms": (f'<svg><path transform="{"scale(1)" * 100_000}" d="M0 0h1"/></svg>', "10000 are read"),
    "comments": (f"<svg><style>{'/*' * 1_000_000}</style></svg>", "nothing is drawn"),
    "size": (f'<svg width="1e15" height="1e15" viewBox="0 0 1e15 1e15">{LINE}</svg>', "its size is beyond"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_files_that_grow_are_refused_quickly(bomb: str) -> None:
    text, message = BOMBS[bomb]
    start = time.process_time()
    with pytest.raises(UserError, match=message):
        read_svg(text.encode())
    assert time.process_time() - start < 10  # the slowest take about 2


def test_a_file_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_BYTES", 100)
    path = tmp_path / "big.svg"
    path.write_bytes(b" " * 101)
    with pytest.raises(UserError, match=r"big\.svg is larger than"):
        read_svg(path)


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    content = '<image href="http://localhost:1/x"/><use href="http://localhost:1/x#y"/>'
    content += "<style>@import url(http://localhost:1/x);</style>"
    assert strokes(content + SEEN) == [[[0, 0], [1, 0]]]


def test_a_bare_document_type_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr("socket.socket.connect", refuse)
    bare = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://localhost:1/svg11.dtd">'
    drawn = read_svg(f'{bare}<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1" stroke="red"/></svg>'.encode())
    assert drawn.points.tolist() == [[0, 0], [1, 0]]


def test_entities_of_illustrator_are_read() -> None:
    head = '<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg"><!ENTITY st0 "fill:none;stroke:#000;">]>'
    drawn = read_svg(f'{head}<svg xmlns="&ns;"><path style="&st0;" d="M0 0h1"/></svg>'.encode())
    assert drawn.points.tolist() == [[0, 0], [1, 0]]


def test_large_harmless_drawing_is_read_quickly() -> None:
    data = "M0 0" + "".join(f"L{n % 97}.5 {n % 89}" for n in range(100_000))
    start = time.process_time()
    assert len(page(f'<path d="{data}"/>')) == 100_001
    assert time.process_time() - start < 5  # usually 0.4


# Hostile files

RECT = '<rect id="a" width="1" height="1"/>'
USES = '<use href="#a"/>' * 15_000
LONG_NUMBER = "0." + "0" * 300_000 + "5"
UNFIT = "<g requiredExtensions='x'/>" * 4000
HOSTILE = {
    "open braces": (f"<style>{'{' * 3_000_000}</style>{LINE_SEEN}", "more than 1,000,000 rules"),
    "closed braces": (f"<style>{'}' * 3_000_000}</style>{LINE_SEEN}", "more than 1,000,000 rules"),
    "selectors": (f"<style>{'a,' * 3_000_000}a{{fill:red}}</style>{LINE_SEEN}", "more than 1,000,000 rules"),
    "selectors and declarations": (f"<style>{'a,' * 400_000}a{{{'fill:red;' * 400_000}}}</style>{LINE_SEEN}", ""),
    "nested": (f"<style>{'@media all{.a{' * 200_000}display:none</style>{LINE_SEEN}", ""),
    "strings": (f"<style>{chr(39) * 1_000_001}</style>{LINE_SEEN}", ""),
    "escapes": (f"<style>'{chr(92) * 3_000_000}</style>{LINE_SEEN}", ""),
    "addresses": (f"<style>{'url(' * 1_000_000}</style>{LINE_SEEN}", ""),
    "comments": (f'<path style="{"/*" * 1_000_000}" d="M0 0h1"/>{LINE_SEEN}', ""),
    "declarations": (f'<path style="{"fill:red;" * 300_000}" d="M0 0h1"/>{LINE_SEEN}', ""),
    "a long length": (f"{RECT.replace('1', LONG_NUMBER, 1)}{USES}", "width has 300,003 characters, 1000 are read"),
    "a long viewBox": (f'<symbol id="a" viewBox="{LONG_NUMBER} 0 1 1"/>{USES}', "viewBox has 300,009 characters"),
    "a long link": (f'<g id="a"><use href="#{"b" * 300_000}"/></g>{USES}', "href has 300,001 characters"),
    "a long colour": (f'<g fill="{"rgb(1," * 100_000}">{RECT * 15_000}</g>', ""),
    "a long width of lines": (f'<g stroke="red" stroke-width="{LONG_NUMBER}">{RECT * 15_000}</g>', ""),
    "a long switch": (f'<switch id="a">{UNFIT}</switch>{USES[: len(USES) // 2]}{LINE_SEEN}', ""),
    "white papers": (f'<g fill="white">{LINE_SEEN.replace("none", "white").replace("black", "none") * 15_000}</g>', ""),
    "large turns": (
        '<g transform="scale(1e30)" transform-origin="1e30 1e30">' * 20 + LINE_SEEN + "</g>" * 20,
        "beyond",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_read_or_refused_quickly(name: str) -> None:
    content, message = HOSTILE[name]
    start = time.process_time()
    if message:
        with pytest.raises(UserError, match=message):
            page(content)
    else:
        assert len(page(content).lengths)
    assert time.process_time() - start < 10  # the slowest take 3 on a busy machine; test_svg_limits is strict


def test_long_attributes_of_text_and_images_are_ignored() -> None:
    image = f'<image href="data:image/png;base64,{"A" * 5000}" width="5" height="5"/>'
    long = f'{image}<text x="{"1 " * 2000}">a</text><a href="https://{"a" * 5000}"/>'
    assert strokes(long + SEEN) == [[[0, 0], [1, 0]]]
