"""A user's document: what an edit does not concern stays byte for byte."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from svg_samples import calm

from gra2seq.errors import UserError
from gra2seq.formats.svg import SvgDocument, read_svg
from gra2seq.formats.svg.line_style import LineStyle
from gra2seq.sketch.strokes import Sketch

SVG = "{http://www.w3.org/2000/svg}"
HOLE = [np.array([(40, 40), (60, 40), (60, 60), (40, 60)])]

INKSCAPE = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- Created with Inkscape (http://www.inkscape.org/) -->

<svg
   width="100mm"
   height="100mm"
   viewBox="0 0 100 100"
   version="1.1"
   id="svg1"
   inkscape:version="1.3 (0e150ed6c4, 2023-07-21)"
   sodipodi:docname="cat.svg"
   xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"
   xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd"
   xmlns="http://www.w3.org/2000/svg"
   xmlns:svg="http://www.w3.org/2000/svg">
  <sodipodi:namedview id="namedview1" pagecolor="#ffffff" inkscape:zoom="1.5" />
  <defs id="defs1" />
  <g inkscape:label="Layer 1" inkscape:groupmode="layer" id="layer1">
    <path
       style="fill:none;stroke:#000000;stroke-width:0.5;stroke-linecap:round;stroke-linejoin:round"
       d="M 10,50 C 30,50 70,50 90,50"
       id="path1"
       sodipodi:nodetypes="cc" />
    <path style="fill:none;stroke:#ff0000;stroke-width:2" d="m 10,10 20,0" id="path2" />
    <ellipse style="fill:none;stroke:#0000ff" id="eye" cx="50" cy="50" rx="5" ry="4" />
  </g>
  <g inkscape:groupmode="layer" id="layer2" inkscape:label="Notes" style="display:none">
    <path style="fill:none;stroke:#000000" d="M 45,45 55,55" id="path3" />
  </g>
</svg>
"""
ILLUSTRATOR = """<?xml version="1.0" encoding="utf-8"?>
<!-- Generator: Adobe Illustrator 24.0.1, SVG Export Plug-In  -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
	<!ENTITY ns_svg "http://www.w3.org/2000/svg">
	<!ENTITY ns_xlink "http://www.w3.org/1999/xlink">
]>
<svg version="1.1" id="Layer_1" xmlns="&ns_svg;" xmlns:xlink="&ns_xlink;" x="0px" y="0px"
viewBox="0 0 100 100" style="enable-background:new 0 0 100 100;" xml:space="preserve">
<style type="text/css"><![CDATA[
	.st0{fill:#FFE600;}
	.st1{fill:none;stroke:#231F20;stroke-width:3;stroke-linecap:round;stroke-miterlimit:10;}
	polyline{stroke-dasharray:none}
]]></style>
<rect class="st0" width="100" height="100"/>
<g>
	<polyline class="st1" points="5,50 50,50 95,55 	"/>
	<line class="st1" x1="5" y1="5" x2="95" y2="5"/>
	<path class="st1" d="M10,90c0-5,5-5,5,0S20,95,20,90"/>
</g>
</svg>
"""
FIGMA = """<svg width="100" height="100" viewBox="0 0 100 100" fill="none" xmlns="http://www.w3.org/2000/svg">
<rect width="100" height="100" fill="white"/>
<g id="Frame 1" clip-path="url(#clip0_1_2)">
<path id="Vector" d="M20 20V80" stroke="#1E1E1E" stroke-width="2" stroke-linecap="round"/>
<circle id="Ellipse" cx="50" cy="50" r="19" fill="#D9D9D9" stroke="#1E1E1E"/>
<path id="Solid" d="M70 70H90V90H70Z" fill="#D9D9D9"/>
</g>
<defs>
<clipPath id="clip0_1_2"><rect width="100" height="100" fill="white"/></clipPath>
</defs>
</svg>
"""
PROGRAMS = {"inkscape": INKSCAPE, "illustrator": ILLUSTRATOR, "figma": FIGMA}


def page(content: str, attributes: str = 'viewBox="0 0 100 100"') -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{content}</svg>'


def by_id(text: str) -> dict[str, str]:
    """Each element with an id, as XML without its children and tail."""
    found = {}
    for element in ET.fromstring(text).iter():
        if name := element.get("id"):
            found[name] = f"{element.tag} {sorted(element.attrib.items())}"
    return found


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_text_without_an_edit_is_the_same(program: str, ends: str, tmp_path: Path) -> None:
    text = PROGRAMS[program].replace("\n", ends)
    path = tmp_path / "drawing.svg"
    path.write_bytes(text.encode())
    document = SvgDocument.read(path)
    assert document.text() == SvgDocument.read(text).text() == text
    assert document.to_bytes() == path.read_bytes()
    np.testing.assert_array_equal(document.sketch.points, read_svg(path).points)
    assert document.cut([np.array([(0, 0), (1, 0), (1, 1)])]).text() == text
    assert document.add_healed([]).text() == text


def test_inkscape_lines_are_cut_and_all_else_stays() -> None:
    text = INKSCAPE.replace("\n", "\r\n")
    cut = SvgDocument.read(text).cut(HOLE).text()
    before, after = by_id(text), by_id(cut)
    assert before.keys() - after.keys() == {"eye"}
    assert {name for name in after if after[name] != before[name]} == {"path1"}
    start, end = text.index("M 10,50"), text.index('90,50"') + 5
    new = cut[start : cut.index('"', start)]
    assert new.startswith("M10 50C")
    assert " 40 50M60 50C" in new
    eye = text.index("    <ellipse"), text.index(' ry="4" />\r\n') + len(' ry="4" />\r\n')
    assert cut == text[:start] + new + text[end : eye[0]] + text[eye[1] :]


def test_illustrator_shapes_become_paths_in_their_class() -> None:
    cut = SvgDocument.read(ILLUSTRATOR).cut(HOLE)
    kept, changed = '<path class="st1" d="', '\t<polyline class="st1" points="5,50 50,50 95,55 \t"/>\n'
    own_rule = ' style="stroke-dasharray:none"'  # of polylines, which a path has no part in
    assert f'{kept}M5 50L40 50M60 51.1111111111L95 55"{own_rule}/>' in cut.text()
    assert cut.text().split("\t" + kept + "M5")[0] == ILLUSTRATOR.split(changed)[0]
    assert cut.text().endswith(ILLUSTRATOR.split(changed)[1])
    assert {element.style.stroke for element in cut.elements} == {"#231F20"}


def test_figma_fills_stay_where_lines_are_cut() -> None:
    document = SvgDocument.read(FIGMA)
    assert document.notes == [
        "1 filled shape has no stroke: its outline is read as lines",
        "a background rectangle is not a drawn line",
    ]
    cut = document.cut([np.array([(60, 0), (100, 0), (100, 100), (60, 100)])]).text()
    assert '<circle id="Ellipse" cx="50" cy="50" r="19" fill="#D9D9D9" stroke="none"/>' in cut
    (line,) = [element for element in ET.fromstring(cut).iter(SVG + "path") if "A19 19" in element.get("d", "")]
    assert (line.get("fill"), line.get("stroke"), line.get("id")) == ("none", "#1E1E1E", None)
    assert '<path id="Solid" d="M70 70H90V90H70Z" fill="#D9D9D9"/>' in cut


def test_byte_order_mark_and_encoding_stay(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?>' + page('<path d="M0 50H100" stroke="red"/><text>Käse ☺</text>')
    for data in (text.encode("utf-16"), b"\xef\xbb\xbf" + text.replace("UTF-16", "UTF-8").encode()):
        document = SvgDocument.read(data)
        assert document.to_bytes() == data
        cut = document.cut(HOLE).to_bytes()
        assert cut[:2] == data[:2]
        assert len(read_svg(cut).lengths) == 2
    latin = text.replace("UTF-16", "ISO-8859-1").replace("☺", "ß").encode("latin-1")
    path = tmp_path / "latin.svg"
    path.write_bytes(latin)
    assert SvgDocument.read(str(path)).cut(HOLE).to_bytes() == latin.replace(b"M0 50H100", b"M0 50L40 50M60 50L100 50")


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ('<line id="a" x1="0" y1="50" x2="50" y2="50"/>', '<path id="a" d="M0 50L40 50"/>'),
        ('<rect x="50" y="50" width="40" height="40" id="a"/>', '<path id="a" d="M60 50L90 50L90 90L50 90L50 60"/>'),
        ('<polygon points="50 50 90 50 90 90"/>', '<path d="M60 50L90 50L90 90L60 60"/>'),
        ("<polyline points='50,50 90,50'></polyline>", '<path d="M60 50L90 50"></path>'),
        ('<path d="M0 50h50"><title>a</title></path>', '<path d="M0 50L40 50"><title>a</title></path>'),
        ('<line y1="50" x2="50" y2="50"><title>a</title></line >', '<path d="M0 50L40 50"><title>a</title></path >'),
        ('<circle cx="50" cy="50" r="3"/>', ""),
    ],
)
def test_shapes_become_paths_with_their_other_attributes(shape: str, expected: str) -> None:
    around = '<g fill="none" stroke="red">{}</g>'
    assert SvgDocument.read(page(around.format(shape))).cut(HOLE).text() == page(around.format(expected))


def test_transforms_and_nested_viewboxes_place_the_region() -> None:
    inner = '<svg x="10" y="10" width="80" height="80" viewBox="0 0 8 8"><g transform="translate(1)">{}</g></svg>'
    line = '<path d="M0 4h6" stroke="red"/>'  # on the page from 20 50 to 80 50
    cut = SvgDocument.read(page(inner.format(line))).cut(HOLE)
    assert cut.text() == page(inner.format('<path d="M0 4L2 4M4 4L6 4" stroke="red"/>'))
    np.testing.assert_allclose(cut.sketch.points, [[20, 50], [40, 50], [60, 50], [80, 50]])
    assert cut.elements[0].matrix == (10, 0, 0, 10, 20, 10)
    assert cut.styles[0].width == 10


def test_use_is_cut_where_it_stands_and_nowhere_else() -> None:
    defs = '<defs><g id="a" stroke="red"><path id="b" d="M0 0h40"/><path d="M0 9h5"/></g></defs>'
    uses = '<use href="#a" x="30" y="50" class="x"/><use href="#a" x="5" y="5"/>'
    cut = SvgDocument.read(page(defs + uses)).cut(HOLE)
    first = '<g class="x"><g transform="translate(30 50)"><g stroke="red"><path d="M0 0L10 0M30 0L40 0"/>'
    assert cut.text() == page(defs + first + '<path d="M0 9h5"/></g></g></g><use href="#a" x="5" y="5"/>')
    expected = [
        [[30, 50], [40, 50]],
        [[60, 50], [70, 50]],
        [[30, 59], [35, 59]],
        [[5, 5], [45, 5]],
        [[5, 14], [10, 14]],
    ]
    assert [stroke.tolist() for stroke in cut.sketch.strokes] == expected


def test_a_shape_that_is_used_elsewhere_is_cut_only_here() -> None:
    content = '<path id="a" stroke="red" d="M30 50h40"/><use href="#a" y="20"/>'
    cut = SvgDocument.read(page(content)).cut(HOLE)
    assert [stroke.tolist() for stroke in cut.sketch.strokes] == [
        [[30, 50], [40, 50]],
        [[60, 50], [70, 50]],
        [[30, 70], [70, 70]],
    ]


def test_symbols_are_cut_in_their_own_viewport() -> None:
    symbol = '<symbol id="s" viewBox="0 0 10 10"><path stroke="red" d="M0 5h10"/></symbol>'
    cut = SvgDocument.read(page(symbol + '<use href="#s" x="30" y="30" width="40" height="40"/>')).cut(HOLE)
    assert [stroke.tolist() for stroke in cut.sketch.strokes] == [[[30, 50], [40, 50]], [[60, 50], [70, 50]]]


def test_a_switch_does_not_show_what_it_did_not_show() -> None:
    content = '<switch><path stroke="red" d="M45 50h9"/><path stroke="red" d="M0 0h9"/></switch>'
    cut = SvgDocument.read(page(content + '<path stroke="red" d="M1 1h9"/>')).cut(HOLE)
    assert [stroke.tolist() for stroke in cut.sketch.strokes] == [[[1, 1], [10, 1]]]


def test_prefixed_documents_stay_prefixed() -> None:
    text = '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:line y1="50" x2="50" y2="50" stroke="red"/></s:svg>'
    healed = SvgDocument.read(text).cut(HOLE).add_healed([[(40, 50), (60, 50)]]).text()
    assert '<s:path stroke="red" d="M0 50L40 50"/><s:g class="gra2seq-healed"' in healed
    assert len(read_svg(healed.encode()).lengths) == 2


def test_everything_may_be_lost() -> None:
    document = SvgDocument.read(page('<path d="M45 45h9" stroke="red" stroke-width="4"/>')).cut(HOLE)
    assert document.text() == page("")
    with pytest.raises(UserError, match="nothing is drawn"):
        _ = document.sketch
    healed = document.add_healed([[(45, 45), (50, 50)]])
    assert healed.styles == [LineStyle("red", 4, "butt", "miter")]


rectangles = st.tuples(*[st.integers(0, 90)] * 2, *[st.integers(5, 60)] * 2)


@calm
@given(st.sampled_from(sorted(PROGRAMS)), rectangles)
def test_only_elements_that_cross_the_region_change(program: str, box: tuple[int, int, int, int]) -> None:
    x, y, width, height = box
    document = SvgDocument.read(PROGRAMS[program])
    region = [np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])]
    cut = document.cut(region)
    before, after = by_id(document.text()), by_id(cut.text())
    touched = set()
    for element in document.elements:
        points = np.concatenate([document.sketch.strokes[index] for index in element.strokes])
        low, high = points.min(axis=0), points.max(axis=0)
        if (low <= (x + width, y + height)).all() and (high >= (x, y)).all():
            touched.add(element.id)
    assert {name for name in before if after.get(name) != before[name]} <= touched
    again = cut.cut(region)
    assert again.text() == cut.text()  # nothing is left to cut


def test_bad_documents_are_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.svg"
    path.write_text("<svg>")
    for source in (path, str(path)):
        with pytest.raises(UserError, match=r"bad\.svg: it is not SVG"):
            SvgDocument.read(source)
    with pytest.raises(UserError, match="the SVG: it is not SVG"):
        SvgDocument.read("<svg>")
    with pytest.raises(UserError, match="does not exist"):
        SvgDocument.read(tmp_path / "none.svg")


def test_notes_say_what_is_not_read() -> None:
    content = '<text>a</text><image href="x.png"/><g display="none"><path d="M0 0h1"/></g><path d="M0 0h1v1z"/>' * 3
    assert SvgDocument.read(page(content)).notes == [
        "3 filled shapes have no stroke: their outlines are read as lines",
        "text and images are left alone",
        "hidden layers stay hidden",
    ]
    assert SvgDocument.read(page('<path stroke="red" fill="none" d="M0 0h1"/>')).notes == []


def test_entities_in_attributes_stay_as_written() -> None:
    head = '<!DOCTYPE svg [<!ENTITY st0 "fill:gold;stroke:#000">]>'
    text = head + page('<circle style="&st0;" cx="50" cy="60" r="5" id="a&amp;b&#x41;"/>')
    cut = SvgDocument.read(text).cut(HOLE).text()
    assert cut.startswith(
        head + page('<circle style="&st0;;stroke:none" cx="50" cy="60" r="5" id="a&amp;b&#x41;"/>')[:-6]
    )
    assert '<path style="&st0;;fill:none" d="M55 60A5 5 0 0 1' in cut
    assert [element.stroked for element in SvgDocument.read(cut).elements] == [False, True]


def test_outlined_lines_are_read_as_their_centre_lines() -> None:
    band = '<path d="M5 5H95V9H5Z" fill="teal"/>'
    document = SvgDocument.read(page(band))
    assert document.notes == ["1 filled shape is a line drawn by its outline: its centre line is read"]
    (line,) = document.sketch.strokes
    np.testing.assert_allclose(line[:, 1], 7, atol=1)
    np.testing.assert_allclose(np.sort(line[[0, -1], 0]), [5, 95], atol=3)
    (element,) = document.elements
    assert element.style.stroke == "teal"
    assert abs(element.style.width - 4) < 0.5
    assert SvgDocument.read(page('<path d="M5 5H95V50H5Z"/>')).notes == [
        "1 filled shape has no stroke: its outline is read as lines"
    ]
    mixed = SvgDocument.read(page(band + '<path d="M5 50H95" stroke="red"/>' + band))
    assert "2 filled shapes are lines" in mixed.notes[0]
    assert [len(element.strokes) for element in mixed.elements] == [1, 1, 1]
    np.testing.assert_array_equal(mixed.sketch.strokes[1], [[5, 50], [95, 50]])
    healed = document.add_healed([[(95, 7), (99, 30)]])
    assert band in healed.text()
    assert 'stroke="teal"' in healed.text()


def test_outlined_ring_is_one_closed_line() -> None:
    ring = "M90 50A40 40 0 1 1 10 50A40 40 0 1 1 90 50ZM86 50A36 36 0 1 0 14 50A36 36 0 1 0 86 50Z"
    (line,) = SvgDocument.read(page(f'<path d="{ring}"/>')).sketch.strokes
    np.testing.assert_allclose(np.hypot(*(line - 50).T), 38, atol=1)
    assert len(line) > 12


def test_copies_for_use_are_bounded() -> None:
    far = "".join(f'<use href="#a" x="{n}"/>' for n in range(300))
    target = f'<g id="a"><path stroke="red" d="M0 50h100"/><text>{"long " * 1000}</text></g>'
    with pytest.raises(UserError, match="would be copied for its <use>"):
        SvgDocument.read(page(target + far)).cut(HOLE)


def test_shapes_of_too_many_segments_are_not_cut() -> None:
    with pytest.raises(UserError, match="more than 100,000 segments is not cut"):
        SvgDocument.read(page(f'<path stroke="red" d="M0 50{"h.001" * 100_001}"/>')).cut(HOLE)


def test_sketch_and_elements_agree() -> None:
    document = SvgDocument.read(page('<path id="p" d="M0 0h1M2 2h1" stroke="red"/><circle id="c" r="9"/>'))
    assert isinstance(document.sketch, Sketch)
    assert [(element.id, element.strokes) for element in document.elements] == [("p", range(2)), ("c", range(2, 3))]
    assert len(document.styles) == 3
