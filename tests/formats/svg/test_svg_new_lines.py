"""New lines in a user's document: their place, their style and their curves."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from gra2seq.errors import UserError
from gra2seq.formats.svg import SvgDocument
from gra2seq.formats.svg.line_style import LineStyle

SVG = "{http://www.w3.org/2000/svg}"
ARC = [(50 + 30 * np.cos(t), 50 + 30 * np.sin(t)) for t in np.linspace(0, 3, 30)]


def page(content: str, attributes: str = 'viewBox="0 0 100 100"') -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{content}</svg>'


def style_of(content: str) -> LineStyle:
    """The style of the first line of a page."""
    return SvgDocument.read(page(content)).styles[0]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('<path d="M0 0h9" stroke="red"/>', LineStyle("red", 1, "butt", "miter")),
        (
            '<g stroke="red" stroke-width="2" stroke-linecap="round">'
            '<g stroke-linejoin="bevel"><path d="M0 0h9"/></g></g>',
            LineStyle("red", 2, "round", "bevel"),
        ),
        (
            "<style>.a{stroke:#00f;stroke-width:3px} #b{stroke-linecap:square}</style>"
            '<path class="a" id="b" d="M0 0h9"/>',
            LineStyle("#00f", 3, "square", "miter"),
        ),
        (
            "<style><![CDATA[path { stroke : green } .w { stroke-width: 4 }]]></style>"
            '<g class="w"><path style="stroke-linejoin:round" stroke="red" d="M0 0h9"/></g>',
            LineStyle("green", 4, "butt", "round"),
        ),
        ('<path style="stroke:red;stroke-width:1mm" d="M0 0h9"/>', LineStyle("red", 96 / 25.4, "butt", "miter")),
        ('<g transform="scale(2 3)"><path stroke="red" d="M0 0h9"/></g>', LineStyle("red", 6**0.5, "butt", "miter")),
        (
            '<g transform="scale(2)"><path stroke="red" vector-effect="non-scaling-stroke" d="M0 0h9"/></g>',
            LineStyle("red", 1, "butt", "miter", fixed_width=True),
        ),
        (
            '<g opacity=".5"><path opacity="50%" stroke="red" stroke-opacity=".8" d="M0 0h9"/></g>',
            LineStyle("red", 1, "butt", "miter", 0.2),
        ),
        ('<g color="teal"><path stroke="currentColor" d="M0 0h9"/></g>', LineStyle("teal", 1, "butt", "miter")),
        ('<path stroke="currentColor" d="M0 0h9"/>', LineStyle("currentColor", 1, "butt", "miter")),
        ('<path stroke="url(#g)" d="M0 0h9"/>', LineStyle("url(#g)", 1, "butt", "miter")),
        ('<path style="stroke:url(#g)" d="M0 0h9"/>', LineStyle("url(#g)", 1, "butt", "miter")),
        ('<path stroke="red" stroke-width="calc(1px)" d="M0 0h9"/>', LineStyle("red", 1, "butt", "miter")),
        ('<path fill="navy" d="M0 0h90v40z"/>', LineStyle("navy", 0.9)),
        ('<path fill="none" d="M0 0h100"/>', LineStyle("black", 1)),
    ],
)
def test_styles_are_resolved(content: str, expected: LineStyle) -> None:
    found = style_of(content)
    assert (found.stroke, found.linecap, found.linejoin, found.fixed_width) == (
        expected.stroke,
        expected.linecap,
        expected.linejoin,
        expected.fixed_width,
    )
    assert found.width == pytest.approx(expected.width)
    assert found.opacity == pytest.approx(expected.opacity)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('<path stroke="red" stroke-dasharray="6 2" d="M10 50h40"/>', "6 2"),
        (
            '<g transform="scale(2)" style="stroke-dasharray:3,1"><path stroke="red" d="M5 25h20"/></g>',
            "6 2",
        ),
        ('<path stroke="red" stroke-dasharray="1mm" d="M10 50h40"/>', "3.77953"),
        ('<path stroke="red" stroke-dasharray="none" d="M10 50h40"/>', None),
        ('<path stroke="red" stroke-dasharray="4 -1" d="M10 50h40"/>', None),
        ('<path stroke="red" stroke-dasharray="0 0" d="M10 50h40"/>', None),
        ('<path stroke="red" stroke-dasharray="dotted" d="M10 50h40"/>', None),
        (f'<path stroke="red" stroke-dasharray="{"1 " * 200}" d="M10 50h40"/>', None),
    ],
)
def test_a_dashed_line_goes_on_dashed(content: str, expected: str | None) -> None:
    (path,) = new_paths(SvgDocument.read(page(content)).add_healed([[(50, 50), (90, 60)]]))
    assert path["stroke"] == "red"
    assert path.get("stroke-dasharray") == expected


TWO = '<path stroke="red" stroke-width="2" d="M10 10h30"/><path stroke="blue" d="M10 90h30M60 90h30"/>'


def new_paths(document: SvgDocument, name: str = "gra2seq-healed") -> list[dict[str, str]]:
    """The attributes of the new lines, with those of their group."""
    root = ET.fromstring(document.text())
    group = root[-1]
    assert (group.tag, group.get("class")) == (SVG + "g", name)
    shared = {key: value for key, value in group.attrib.items() if key != "class"}
    return [shared | path.attrib for path in group]


def test_a_new_line_has_the_style_of_the_line_it_continues() -> None:
    document = SvgDocument.read(page(TWO))
    healed = document.add_healed([[(40, 10), (60, 20)], [(70, 20), (59, 89)], [(50, 50), (52, 52)]])
    paths = new_paths(healed)
    assert [path["stroke"] for path in paths] == ["red", "blue", "blue"]  # blue is the most common
    assert [path["stroke-width"] for path in paths] == ["2", "1", "1"]
    assert {path["fill"] for path in paths} == {"none"}
    assert healed.text().startswith(page(TWO).removesuffix("</svg>"))
    np.testing.assert_allclose(healed.sketch.strokes[3], [(40, 10), (60, 20)])


def test_ends_at_the_border_of_a_cut_give_their_style() -> None:
    document = SvgDocument.read(page('<path stroke="red" d="M0 50h100"/>' + TWO))
    cut = document.cut([np.array([(40, 40), (60, 40), (60, 60), (40, 60)])])
    (path,) = new_paths(cut.add_healed([[(40, 50), (50, 52), (60, 50)]]))
    assert path["stroke"] == "red"


def test_new_lines_are_smooth_curves_or_polylines() -> None:
    document = SvgDocument.read(page(TWO))
    (path,) = new_paths(document.add_healed([ARC]))
    assert path["d"].count("C") == 1
    assert "L" not in path["d"]
    curve = document.add_healed([ARC]).sketch.strokes[-1]
    assert abs(np.hypot(*(curve - 50).T) - 30).max() < 100 / 400
    (path,) = new_paths(document.add_healed([ARC], curves=False))
    assert "C" not in path["d"]
    np.testing.assert_allclose(document.add_healed([ARC], curves=False).sketch.strokes[-1], ARC, atol=1e-3)
    (path,) = new_paths(document.add_healed([[(5, 5)]]))
    assert path["d"] == "M5 5Z"


def test_new_lines_fit_a_page_that_is_stretched_or_moved() -> None:
    for attributes in (
        'viewBox="0 0 50 50" width="100" height="200" preserveAspectRatio="none"',
        'viewBox="-50 -50 400 400" width="10mm" height="10mm"',
        'viewBox="0 0 50 50" transform="rotate(90) scale(2)"',
    ):
        document = SvgDocument.read(page('<path stroke="red" d="M0 0L50 50"/>', attributes))
        healed = document.add_healed([[(10, 20), (30, 25)]])
        np.testing.assert_allclose(healed.sketch.strokes[-1], [(10, 20), (30, 25)], atol=1e-3)
        assert healed.styles[-1].width == pytest.approx(healed.styles[0].width)
        assert healed.text().split(">")[0] == document.text().split(">")[0]


def test_the_group_is_the_last_child_on_lines_of_its_own() -> None:
    text = page('\r\n  <path stroke="red" d="M0 0L50 50"/>\r\n').replace("</svg>", "</svg>\r\n<!-- end -->\r\n")
    healed = SvgDocument.read(text).add_healed([[(0, 0), (5, 0)]]).text()
    head, tail = text.split("</svg>")
    assert healed.startswith(head + '<g class="gra2seq-healed"')
    assert healed.endswith("/>\r\n</g>\r\n</svg>" + tail)
    empty = '<?xml version="1.0"?><svg viewBox="0 0 9 9"/>'
    healed = SvgDocument.read(empty).add_healed([[(0, 0), (5, 0)]]).text()
    assert healed.startswith('<?xml version="1.0"?><svg viewBox="0 0 9 9"><g class="gra2seq-healed"')
    assert healed.endswith("</g></svg>")


def test_style_sheets_do_not_change_new_lines() -> None:
    text = page("<style>path{stroke:red;stroke-width:5} .b{stroke:blue}</style>" + '<path class="b" d="M0 0h50"/>')
    healed = SvgDocument.read(text).add_healed([[(50, 0), (60, 10)]])
    assert healed.styles == [LineStyle("blue", 5, "butt", "miter")] * 2


def test_replaced_strokes_keep_page_fills_text_and_nearby_styles() -> None:
    rest = '<rect width="100" height="100" fill="#eee"/><text x="5">Hi</text><path d="M0 0h9v9z" fill="gold"/>'
    both = '<circle cx="50" cy="50" r="9" fill="pink" stroke="red"/>'
    text = page(rest + TWO + both, 'viewBox="0 0 100 100" width="7cm"')
    document = SvgDocument.read(text)
    drawn = document.replace_strokes([[(10, 12), (40, 12)], [(20, 88), (80, 88)]])
    unstroked = both.replace("red", "none")
    assert drawn.text().startswith(page(rest + unstroked, 'viewBox="0 0 100 100" width="7cm"').removesuffix("</svg>"))
    paths = new_paths(drawn, "gra2seq-redrawn")
    assert [path["stroke"] for path in paths] == ["red", "blue"]


def test_filled_drawings_are_replaced_as_a_whole() -> None:
    drawn = SvgDocument.read(page('<path d="M0 0h90v9z" fill="gold"/>')).replace_strokes([[(0, 0), (90, 5)]])
    (path,) = new_paths(drawn, "gra2seq-redrawn")
    assert (path["stroke"], path["stroke-width"]) == ("gold", "0.9")
    assert "M0 0h90v9z" not in drawn.text()


@pytest.mark.parametrize("bad", [[[(0, 0, 0)]], [[(0, np.inf)]], [[1, 2]]])
def test_bad_lines_are_refused(bad: list[list[tuple[float, ...]]]) -> None:
    with pytest.raises(UserError, match="a new line needs finite points"):
        SvgDocument.read(page(TWO)).add_healed(bad)
