"""The elements of an SVG file.

The file may come from a stranger: entities that could grow are refused, nothing is ever fetched, and elements and
nesting are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from gra2seq.errors import UserError
from gra2seq.formats.svg.affine import Affine
from gra2seq.formats.svg.geometry import Span
from gra2seq.formats.svg.stylesheet import Declarations, StyleSheet, is_for_screens, parse_style_sheets

MAX_ELEMENTS = 20_000  # read, and drawn after every <use> is put in
MAX_DEPTH = 100  # groups in groups, <use> counted
MAX_VALUE = 1000  # characters of an attribute that is read again by every <use>
MAX_ENTITY_TEXT = 1_000_000  # characters that references to declared entities may stand for

NAMESPACE = "http://www.w3.org/2000/svg"
XLINK_HREF = "http://www.w3.org/1999/xlink}href"

SHAPES = {"path", "polyline", "polygon", "line", "rect", "circle", "ellipse"}
DRAWN = SHAPES | {"svg", "symbol", "g", "a", "switch", "use"}
CHOSEN = (DRAWN | {"text", "image", "foreignObject"}) - {"symbol"}  # what a <switch> may show
SHORT = {"x", "y", "width", "height", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "href", "viewBox",
         "preserveAspectRatio"}  # fmt: skip


@dataclass(eq=False, slots=True)
class Element:
    tag: str  # without namespace; "" for an element that is not SVG's
    attributes: dict[str, str]  # SVG's own
    start: int  # byte in the file where its first tag begins
    end: int = -1  # where its last tag begins, or where the only tag of an empty element ends
    children: list[Element] = field(default_factory=list)
    # Worked out once, however often the element is used:
    style: Declarations | None = None
    matrix: Affine | None = None
    spans: dict[tuple[float, float], Span] | None = None  # of its outline, by the size of the viewport


@dataclass(eq=False)
class Page:
    root: Element
    by_id: dict[str, Element]
    sheet: StyleSheet

    def style(self, element: Element) -> Declarations:
        """What the element itself declares."""
        if element.style is None:
            element.style = self.sheet.resolve(element.tag, element.attributes)
        return element.style


def parse_svg(data: bytes, encoding: str | None = None) -> Page:
    """The elements below <svg>; `encoding` overrules the one that the file declares."""
    builder = _Builder(data, encoding)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UserError(f"it is not SVG, or cut short or broken ({error}): save or fetch it again") from error
    except (ValueError, LookupError) as error:  # an encoding that Python does not know
        raise UserError(f"its text cannot be decoded ({error}): save it again as UTF-8") from error
    root = builder.above.children[0]
    if root.tag != "svg":
        raise UserError("it is XML, but its first element is not <svg>: save it again as SVG")
    return Page(root, builder.by_id, parse_style_sheets(builder.sheets))


class _Builder:
    """Builds elements from the events of a parser."""

    def __init__(self, data: bytes, encoding: str | None) -> None:
        self.above = Element("", {}, 0)
        self.by_id: dict[str, Element] = {}
        self.sheets: list[str] = []
        self._stack = [self.above]
        self._count = 0
        self._text: list[str] = []
        self._references = data.count(b"&")
        self.parser = parser = expat.ParserCreate(encoding, namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.EntityDeclHandler = self._entity

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        stack = self._stack
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise UserError(f"it has more than {MAX_ELEMENTS:,} elements: simplify it in a drawing program")
        if len(stack) > MAX_DEPTH:
            raise UserError(f"its elements are nested more than {MAX_DEPTH} deep: ungroup them")
        space, _, tag = name.rpartition("}")
        own = _own(attributes)
        element = Element(tag if space in ("", NAMESPACE) else "", own, self.parser.CurrentByteIndex)
        if element.tag in DRAWN:
            for key, value in own.items():
                if len(value) > MAX_VALUE and key in SHORT:
                    many = f"{key} has {len(value):,} characters, {MAX_VALUE} are read"
                    raise UserError(f"{many}: save it as plain SVG")
        elif element.tag == "style":
            self._text = []
            self.parser.CharacterDataHandler = self._text.append
        if "id" in own:
            self.by_id.setdefault(own["id"], element)
        stack[-1].children.append(element)
        stack.append(element)

    def _end(self, _name: str) -> None:
        element = self._stack.pop()
        element.end = self.parser.CurrentByteIndex
        if element.tag == "style":
            self.parser.CharacterDataHandler = None
            if is_for_screens(element.attributes.get("media", "")):
                self.sheets.append("".join(self._text))
        elif element.tag == "switch":
            element.children = [child for child in element.children if _may_be_chosen(child)][:1]

    def _entity(self, _name: str, parameter: int, value: str | None, *_where: str | None) -> None:
        """Plain short-hands, as Illustrator declares them, are fine; others can grow without end or fetch a file."""
        if parameter or value is None or "&" in value or "<" in value or "%" in value:
            raise UserError(
                "its document type declares entities that refer to others or to files: "
                "remove its <!DOCTYPE ...> (drawings need none) or save it again as plain SVG"
            )
        if self._references * len(value) > MAX_ENTITY_TEXT:
            raise UserError("its document type declares entities that make it too long: save it again as plain SVG")


def _own(attributes: dict[str, str]) -> dict[str, str]:
    """SVG's attributes, which have no namespace but for the old form of `href`; links to elsewhere are left out."""
    own = attributes
    if any("}" in name for name in attributes):
        own = {name: value for name, value in attributes.items() if "}" not in name}
    if "href" in own or XLINK_HREF in attributes:
        href = own.pop("href", attributes.get(XLINK_HREF, ""))
        if href.startswith("#"):
            own["href"] = href
    return own


def _may_be_chosen(element: Element) -> bool:
    """Whether a <switch> would show it to a reader of English with no extensions."""
    needed = element.attributes.get("requiredExtensions", "").strip()
    languages = element.attributes.get("systemLanguage", "en").lower().split(",")
    return element.tag in CHOSEN and not needed and any(word.strip().split("-")[0] == "en" for word in languages)
