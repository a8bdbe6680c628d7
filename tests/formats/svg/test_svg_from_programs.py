"""SVG as drawing programs, browsers and strangers write it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from svg_samples import calm

from gra2seq.errors import UserError
from gra2seq.formats.svg import read_svg, write_svg
from gra2seq.formats.svg.values import paint, transform_origin
from gra2seq.sketch.strokes import Sketch

SEEN = '<path d="M50 50L150 150" fill="none" stroke="black"/>'
SPACES = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:serif="http://www.serif.com/"'


def page(content: str, attributes: str = 'viewBox="0 0 200 200"') -> Sketch:
    return read_svg(f'<svg xmlns="http://www.w3.org/2000/svg" {SPACES} {attributes}>{content}</svg>'.encode())


def strokes(content: str, attributes: str = 'viewBox="0 0 200 200"') -> list[list[list[float]]]:
    return [np.round(stroke.astype(float), 4).tolist() for stroke in page(content, attributes).strokes]


def is_seen(content: str, attributes: str = 'viewBox="0 0 200 200"') -> bool:
    """Whether it adds strokes to a drawing."""
    count = len(page(content + SEEN, attributes).lengths)
    assert count in (1, 2)
    return count == 2


# What is seen

FRAME = "M0 0H200V200H0z"  # the whole page
SQUARE = "M20 20H180V180H20z"


@pytest.mark.parametrize(
    "unseen",
    [
        '<path fill="#000000" fill-opacity="0.0" d="m0 0l200 0l0 200l-200 0z"/>',  # Google Drawings
        '<rect width="200" height="200" style="fill:rgb(100%,100%,100%);stroke:none"/>',  # Cairo
        *(
            f'<rect width="200" height="200" fill="{white}"/>'
            for white in ("rgb(255,255,255)", "#ffffffff", "#FFF", "#ffff", "rgb(255 255 255 / 40%)", "White")
            + ("hsl(0,0%,100%)", "color(display-p3 1.0000 1.0000 1.0000)", "#ffffff icc-color(cmyk, 0, 0, 0, 0)")
        ),
        *(
            f'<path fill="{clear}" d="{FRAME}"/>'
            for clear in ("rgba(0,0,0,0)", "#0000", "#12345600", "rgb(1 2 3 / 0%)", "hsla(0,0%,0%,0.0)", "Transparent")
        ),
        f'<path opacity="0" d="{FRAME}"/>',
        f'<g style="opacity: 0%"><path opacity="1" d="{FRAME}"/></g>',
        f'<g fill-opacity="0"><path d="{FRAME}"/></g>',
        f'<path style="fill: none; stroke: red; stroke-opacity:0" d="{FRAME}"/>',
        f'<g stroke-width="0px"><path fill="none" stroke="red" d="{FRAME}"/></g>',
        f'<style>.off {{ STROKE-WIDTH: 0 }}</style><path class="off" fill="none" stroke="red" d="{FRAME}"/>',
        f'<path fill="none" stroke="" d="{FRAME}"/>',
    ],
)
def test_invisible_shapes_are_no_strokes(unseen: str) -> None:
    assert not is_seen(unseen)


@pytest.mark.parametrize(
    "seen",
    [
        *(
            f'<path fill="{ink}" d="{SQUARE}"/>'
            for ink in ("#fffffe", "rgb(255,255,254)", "#ffe", "url(#a)", "snow", "")
        ),
        f'<path fill="rgba(0,0,0,0.1)" d="{SQUARE}"/>',
        f'<path fill="white" stroke="black" d="{SQUARE}"/>',
        f'<path fill-opacity="0" stroke="black" d="{SQUARE}"/>',
        f'<path stroke="black" stroke-width="0" d="{SQUARE}"/>',  # filled
        f'<path fill="none" stroke="black" stroke-width="0.1" d="{SQUARE}"/>',
        f'<g fill-opacity="0"><path fill-opacity="50%" d="{SQUARE}"/></g>',
        f'<path opacity="huh" fill-opacity="calc(0)" d="{SQUARE}"/>',
    ],
)
def test_faint_shapes_are_strokes(seen: str) -> None:
    assert is_seen(seen)


@pytest.mark.parametrize(
    "odd", ["#", "#ff", "#fffff", "rgb(", "rgb()", "rgb(a,b,c)", "color()", "color(xyz 1 1 1)", ""]
)
def test_unknown_colours_count_as_ink(odd: str) -> None:
    assert paint(odd) == "ink"


@pytest.mark.parametrize(
    "paper",
    [
        '<path d="M 0 200 L 200 200 L 200 0 L 0 0 z " style="fill: #ffffff"/>',  # matplotlib
        '<path d="M-5 -5H300V0V205H-5" fill="white"/>',  # closed by its filling
        '<polygon points="0,0 200,0 200,200 0,200" fill="white"/>',
        '<g transform="translate(200) scale(-2 4)"><path d="M0 0h100v50h-100z" fill="white"/></g>',
        '<path d="M0.1 0H199.9V199.9H0z" fill="white"/>',
        f'<path d="{FRAME}M0 0zM200 200V0z" fill="white"/>',
    ],
)
def test_a_filled_rectangle_over_the_page_is_background(paper: str) -> None:
    assert not is_seen(paper)
    red = paper.replace("white", "red").replace("#ffffff", "red")
    assert not is_seen(red)
    framed = red.replace("/>", ' stroke="black"/>', 1)
    assert len(page(SEEN + framed).lengths) > 1  # a frame drawn around the drawing
    assert len(page(framed + SEEN).lengths) == 1  # a page with an edge


def test_a_filled_rectangle_below_the_whole_drawing_is_background() -> None:
    below = '<rect x="40" y="40" width="120" height="120" fill="#eee"/>'
    assert not is_seen(below)
    assert len(page(SEEN + below).lengths) == 2  # not below
    assert len(page(below.replace("120", "20") + SEEN).lengths) == 2  # does not cover it
    assert len(page(below.replace("/>", ' stroke="red"/>') + SEEN).lengths) == 2
    assert len(page(below).lengths) == 1  # there is nothing else


@pytest.mark.parametrize(
    "shape",
    [
        "M20 20H180V180H20z",  # an eye, a window
        "M0 0H200V150H0z",
        "M0 0H200V200z",  # half the page
        "M100 0L200 100L100 200L0 100z",
        "M0 0H200V200H0zM50 50H150V150H50z",  # a frame
        "M0 0C50 100 150 100 200 0V200H0z",
    ],
)
def test_any_other_white_shape_is_part_of_the_drawing(shape: str) -> None:
    assert len(page(f'<path d="{shape}" fill="white"/>{SEEN}').lengths) == 1 + shape.count("z")


def test_background_of_pages_of_other_sizes() -> None:
    white = '<path d="M{}z" fill="white"/>'
    assert not is_seen(white.format("-50 -20h200v100h-200"), 'viewBox="-50 -20 200 100"')
    assert is_seen(white.format("0 0h120v100h-120"), 'viewBox="-50 -20 200 100"')
    assert not is_seen(white.format("0 0h200v100h-200"), 'width="200" height="100"')
    assert not is_seen(white.format("0 0h300v150h-300"), "")
    stretched = 'viewBox="10 10 100 100" width="300" height="50" preserveAspectRatio="none"'
    assert not is_seen(white.format("10 10h100v100h-100"), stretched)
    assert not is_seen(white.format("0 0h200v100h-200"), 'viewBox="0 0 200 100" transform="rotate(90)"')


# Attributes of other namespaces


def test_attributes_of_other_namespaces_are_ignored() -> None:
    other = 'serif:d="M0 0h9" serif:id="b" serif:transform="scale(9)" serif:fill="none" serif:display="none"'
    assert strokes(f'<path d="M1 1h1" id="a" {other}/><use href="#a" y="1"/><use href="#b"/>') == [
        [[1, 1], [2, 1]],
        [[1, 2], [2, 2]],
    ]
    assert strokes('<path serif:d="M0 0h9" d="M1 1h1"/>') == strokes('<path d="M1 1h1" serif:d="M0 0h9"/>')
    assert strokes(f'<g serif:viewBox="1" serif:style="display:none">{SEEN}</g>') == [[[50, 50], [150, 150]]]


def test_xlink_href_counts_without_href() -> None:
    content = '<defs><path id="a" d="M1 1h1"/><path id="b" d="M2 2h1"/></defs>'
    assert strokes(content + '<use xlink:href="#b"/>') == [[[2, 2], [3, 2]]]
    for links in ('href="#a" xlink:href="#b"', 'xlink:href="#b" href="#a"', 'serif:href="#b" href="#a"'):
        assert strokes(f"{content}<use {links}/>") == [[[1, 1], [2, 1]]]
    assert strokes(content + '<use serif:href="#b"/>' + SEEN) == [[[50, 50], [150, 150]]]


# Where a transform turns


@pytest.mark.parametrize(
    ("attributes", "x", "y"),
    [
        ('transform-origin="10 20"', 10, 20),
        ('style="transform-origin: 10px 20px"', 10, 20),
        ('style="TRANSFORM-ORIGIN: 10px 20px 0"', 10, 20),
        ('transform-origin="0 0"', 0, 0),
        ('transform-origin="LEFT top"', 0, 0),
        ('transform-origin="top left"', 0, 0),
        ('transform-origin="5% 20%"', 10, 20),  # of the viewBox
        ('transform-origin="center" style="transform-box: View-Box"', 100, 50),
        ('transform-origin="30px"', 30, 50),  # y in the middle
        ('transform-origin="bottom"', 100, 100),
        ('transform-origin="bottom right"', 200, 100),
        ('transform-origin="right 20px"', 200, 20),
    ],
)
def test_a_transform_turns_about_its_origin(attributes: str, x: float, y: float) -> None:
    turned = [[[x - (20 - y), y + (20 - x)], [x - (20 - y), y + (30 - x)]]]
    for content in (
        f'<path d="M20 20h10" transform="rotate(90)" {attributes}/>',
        f'<g transform="rotate(90)" {attributes}><path d="M20 20h10"/></g>',
    ):
        assert strokes(content, 'viewBox="0 0 200 100"') == turned


def test_an_origin_in_the_viewport_of_every_use() -> None:
    half = '<path id="a" d="M0 0h10" transform="scale(-1 1)" transform-origin="center"/>'
    content = f'<defs>{half}</defs><svg width="40"><use href="#a"/></svg><svg width="80"><use href="#a"/></svg>'
    assert strokes(content) == [[[40, 0], [30, 0]], [[80, 0], [70, 0]]]


@pytest.mark.parametrize(
    "bad", ["calc(1px + 2px) 0", "left right", "top 5px", "5px left", "1 2 3 4", "10vw 0", "x" * 2000]
)
def test_unreadable_transform_origin_is_refused_only_if_it_matters(bad: str) -> None:
    with pytest.raises(UserError, match=r"transform-origin.*(save the drawing again|write a number)"):
        page(f'<path d="M20 20h10" transform="rotate(90)" transform-origin="{bad}"/>')
    assert strokes(f'<path d="M20 20h10" transform-origin="{bad}"/>') == [[[20, 20], [30, 20]]]
    assert strokes(f'<path d="M20 20h10" transform="none" transform-origin="{bad}"/>') == [[[20, 20], [30, 20]]]
    assert strokes(f'<path d="M0 0h1" transform="translate(5)" transform-origin="{bad}"/>') == [[[5, 0], [6, 0]]]
    assert strokes(f'<text transform="scale(2)" transform-origin="{bad}">a</text>{SEEN}') == [[[50, 50], [150, 150]]]


def test_a_transform_about_the_shapes_own_box_is_refused() -> None:
    with pytest.raises(UserError, match="transform-box 'fill-box' cannot be read: save"):
        page('<path d="M20 20h10" transform="rotate(90)" style="transform-box: fill-box"/>')
    assert strokes('<path d="M20 20h10" style="transform-box: fill-box"/>') == [[[20, 20], [30, 20]]]


@calm
@given(*[st.integers(-90, 90)] * 3)
def test_transform_origin_equals_centre_of_rotate(angle: int, x: int, y: int) -> None:
    assert transform_origin(f"{x} {y}px", 1, 1) == (x, y)
    one = page(f'<path d="M3 4h9" transform="rotate({angle} {x} {y})"/>')
    other = page(f'<path d="M3 4h9" transform="rotate({angle})" transform-origin="{x} {y}"/>')
    np.testing.assert_allclose(one.points, other.points, atol=1e-3)


# Style sheets

BOTH = '<path class="a" d="M0 0h1"/><path class="b" d="M5 5h1"/>'
FIRST, SECOND = [[[0, 0], [1, 0]], [[5, 5], [6, 5]]]
FONTS = '@import url("https://fonts.example/css2?family=Roboto:wght@400;700{");'


@pytest.mark.parametrize(
    ("sheet", "expected"),
    [
        ("@media print{.a{fill:red}.b{display:none}}", [FIRST, SECOND]),
        ("@media print{.a{display:none}} .b{display:none}", [FIRST]),
        ("@media screen{.a{fill:red}.b{display:none}}", [FIRST]),
        ("@MEDIA print, all{.b{display:none}}.a{fill:red}", [FIRST]),
        ("@media (max-width: 10px){.b{display:none}}", [FIRST, SECOND]),
        ("@supports (x: y){@media all{.b{display:none}}.a{display:none}}", [FIRST, SECOND]),
        ("@keyframes spin{from{display:none}to{display:none}}.b{display:none}", [FIRST]),
        ("@font-face{font-family:x;src:url(data:font/woff;base64,AA==)}.b{display:none}", [FIRST]),
        ("@import 'x.css';.b{display:none}", [FIRST]),
        (FONTS + ".b{display:none}", [FIRST]),
        (FONTS.replace('"', "") + "@charset 'utf-8';.b{display:none}", [FIRST]),
        (".a{fill:red;.b{display:none}stroke:red}", [FIRST, SECOND]),  # .b in .a
        (".a{.c{fill:red};display:none}", [SECOND]),
        (".a{content:'}';} .b{display:none}", [FIRST]),
        (".a{content:'/*';} .b{display:none}", [FIRST]),
        (".a/* , } { */{} /* .a{ */ .b /**/ { /* ; */ display /* ; */ : none /* ; */ }", [FIRST]),
        (".b{Display:NONE}", [FIRST]),
        (".b{VISIBILITY : Hidden ! Important}", [FIRST]),
        (".b{display:none", [FIRST]),
        ("}}.b{display:none}", [FIRST]),
    ],
)
def test_style_sheets(sheet: str, expected: list[list[list[float]]]) -> None:
    assert strokes(f"<style>{sheet}</style>{BOTH}") == expected


def test_several_style_sheets_with_media() -> None:
    assert strokes(f"<style>@import 'x.css'</style><style>.b{{display:none}}</style>{BOTH}") == [FIRST]
    assert strokes(f'<style media="print">.a,.b{{display:none}}</style>{BOTH}') == [FIRST, SECOND]
    assert strokes(f'<style media="screen">.b{{display:none}}</style>{BOTH}') == [FIRST]


@pytest.mark.parametrize(
    "style",
    [
        "/* fill: red; */ display: none",
        "fill: url('a;b'); display: none",
        "src: url(data:x;base64,AA==);DISPLAY:none",
        "/**/visibility/**/:/**/HIDDEN",
        "display:None!important",
    ],
)
def test_styles_of_an_element(style: str) -> None:
    assert strokes(f'<path style="{style}" d="M0 0h9"/>{SEEN}') == [[[50, 50], [150, 150]]]


def test_comments_in_styles_are_ignored() -> None:
    assert strokes('<path style="fill: red /* ; display: none */" d="M0 0h9"/>') == [[[0, 0], [9, 0]]]
    assert strokes('<path display="NONE" d="M0 0h9"/>' + SEEN) == [[[50, 50], [150, 150]]]
    assert strokes('<path visibility="Visible" d="M0 0h9"/>') == [[[0, 0], [9, 0]]]


def test_a_part_may_have_any_name() -> None:
    sketch = Sketch.from_polylines([[(0, 0)], [(1, 1)]], parts=("inherit", "url(x)"))
    assert read_svg(write_svg(sketch).encode()).parts == ("inherit", "url(x)")


# <switch>


@pytest.mark.parametrize(
    ("children", "drawn"),
    [
        ("<{0} d='M1 0h1'/><{0} d='M2 0h1'/>", 1),
        ("<{0} requiredExtensions='http://ns.adobe.com/' d='M1 0h1'/><{0} d='M2 0h1'/><{0} d='M3 0h1'/>", 2),
        ("<{0} requiredExtensions='' d='M1 0h1'/><{0} d='M2 0h1'/>", 1),
        ("<{0} systemLanguage='de, fr' d='M1 0h1'/><{0} systemLanguage='de,EN-gb' d='M2 0h1'/><{0} d='M3 0h1'/>", 2),
        ("<{0} systemLanguage='eno' d='M1 0h1'/><{0} d='M2 0h1'/>", 2),
        ("<serif:path d='M1 0h1'/><title>a</title><defs/><g><{0} d='M2 0h1'/></g><{0} d='M3 0h1'/>", 2),
        ("<foreignObject requiredExtensions='x'/><switch><{0} d='M1 0h1'/><{0} d='M2 0h1'/></switch>", 1),
    ],
)
def test_switch_shows_first_suitable_child(children: str, drawn: int) -> None:
    assert strokes(f"<switch>{children.format('path')}</switch>") == [[[drawn, 0], [drawn + 1, 0]]]


def test_switch_without_readable_child_shows_nothing() -> None:
    assert not is_seen("<switch><foreignObject/><path d='M1 0h1'/></switch>")
    assert not is_seen("<switch><path systemLanguage='de' d='M1 0h1'/></switch>")
    assert not is_seen("<switch/>")
    assert is_seen("<switch><g><rect width='5' height='5'/></g></switch>")
    assert is_seen("<switch><path systemLanguage='de' id='a' d='M1 0h1'/></switch><use href='#a'/>")
