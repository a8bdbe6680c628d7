"""The element tree of an SVG file and the styles of its elements.

The file may come from a stranger: declarations of entities are refused, nothing is ever
fetched, and elements and nesting are bounded. Of style sheets only what decides where and whether a shape is seen
is read, by the selectors that drawing programs write: *, tag, .class, tag.class and #id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from gra2seq.errors import UserError
from gra2seq.formats.svg.geometry import Doubles, Outline

MAX_ELEMENTS = 50_000  # read, and drawn after every <use> is put in
MAX_DEPTH = 100  # groups in groups, <use> counted
MAX_RULES = 1_000_000  # of style sheets: selectors, declarations and blocks
MAX_VALUE = 1000  # characters of an attribute that is read anew by every <use>

NAMESPACE = "http://www.w3.org/2000/svg"
XLINK_HREF = "http://www.w3.org/1999/xlink}href"
INHERITED = {
    "visibility": "visible",
    "fill": "black",
    "fill-opacity": "1",
    "stroke": "none",
    "stroke-opacity": "1",
    "stroke-width": "1",
    "data-part": "",
}  # and their defaults
STYLED = (*INHERITED, "display", "opacity", "transform", "transform-origin", "transform-box")
KEYWORDS = ("visibility", "display", "transform-box")

SHAPES = {"path", "polyline", "polygon", "line", "rect", "circle", "ellipse"}
DRAWN = SHAPES | {"svg", "symbol", "g", "a", "switch", "use"}
CHOSEN = (DRAWN | {"text", "image", "foreignObject"}) - {"symbol"}  # what a <switch> may show
SHORT = ("x", "y", "width", "height", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "href", "viewBox",
         "preserveAspectRatio")  # fmt: skip

OPAQUE = re.compile(  # comments, strings and addresses: marks in them mean nothing
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|\burl\([^"')]*+\)?""",
    re.DOTALL | re.IGNORECASE,
)
MARKS = re.compile("[{};]")
MEDIA = "@media"

Declarations = dict[str, str]


@dataclass(eq=False)
class Node:
    tag: str  # without namespace; "" for an element that is not SVG's
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)
    text: list[str] = field(default_factory=list)  # kept for <style> only
    # Worked out once, however often the node is used:
    style: Declarations | None = None
    matrix: Doubles | None = None
    outline: Outline | None = None


@dataclass(eq=False)
class Page:
    root: Node
    by_id: dict[str, Node]
    rules: dict[str, Declarations]

    def style(self, node: Node) -> Declarations:
        """What the element itself says: its attributes, overruled by style sheets, then by its `style`."""
        if node.style is None:
            own = node.attributes
            found = {name: own[name] for name in STYLED if name in own}
            classes = own.get("class", "").split()
            selectors = ["*", node.tag, *("." + name for name in classes)]
            selectors += [*(f"{node.tag}.{name}" for name in classes), "#" + own.get("id", "")]
            for selector in selectors:
                found |= self.rules.get(selector, {})
            found |= _declarations(_plain(own.get("style", "")))
            node.style = {
                name: value.strip().lower() if name in KEYWORDS else value
                for name, value in found.items()
                if name == "data-part" or value.strip().lower() not in ("", "inherit")
            }
        return node.style


def parse_svg(data: bytes) -> Page:
    """The tree below <svg>, by expat alone."""
    above = Node("", {})
    stack = [above]
    by_id: dict[str, Node] = {}
    sheets: list[str] = []
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS:
            raise UserError(f"it has more than {MAX_ELEMENTS:,} elements: simplify it in a drawing program")
        if len(stack) > MAX_DEPTH:
            raise UserError(f"its elements are nested more than {MAX_DEPTH} deep: ungroup them")
        space, _, tag = name.rpartition("}")
        own = _own(attributes)
        node = Node(tag if space in ("", NAMESPACE) else "", own)
        for key in SHORT if node.tag in DRAWN else ():
            if len(own.get(key, "")) > MAX_VALUE:
                raise UserError(f"{key} has {len(own[key]):,} characters, {MAX_VALUE} are read: save it as plain SVG")
        if "id" in own:
            by_id.setdefault(own["id"], node)
        stack[-1].children.append(node)
        stack.append(node)

    def end(_name: str) -> None:
        node = stack.pop()
        if node.tag == "style" and _on_screen(node.attributes.get("media", "")):
            sheets.append("".join(node.text))
        elif node.tag == "switch":
            node.children = [child for child in node.children if _may_be_chosen(child)][:1]

    def text(characters: str) -> None:
        if stack[-1].tag == "style":
            stack[-1].text.append(characters)

    def doctype(_name: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        if has_subset:  # a bare <!DOCTYPE svg PUBLIC …>, as many programs write, declares nothing and is not fetched
            raise UserError(
                "it declares a document type with content, which can hide entities that grow without end: "
                "remove its <!DOCTYPE ...> (drawings need none) or save it again as plain SVG"
            )

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UserError(f"it is not SVG, or cut short or broken ({error}): save or fetch it again") from error
    except (ValueError, LookupError) as error:  # an encoding that Python does not know
        raise UserError(f"its text cannot be decoded ({error}): save it again as UTF-8") from error
    if above.children[0].tag != "svg":
        raise UserError("it is XML, but its first element is not <svg>: save it again as SVG")
    return Page(above.children[0], by_id, _rules(sheets))


def _own(attributes: dict[str, str]) -> dict[str, str]:
    """SVG's attributes, which have no namespace but for the old form of `href`; links to elsewhere are left out."""
    own = {name: value for name, value in attributes.items() if "}" not in name}
    href = own.pop("href", attributes.get(XLINK_HREF, ""))
    return own | {"href": href} if href.startswith("#") else own


def _may_be_chosen(node: Node) -> bool:
    """Whether a <switch> would show it to a reader of English with no extensions."""
    needed = node.attributes.get("requiredExtensions", "").strip()
    languages = node.attributes.get("systemLanguage", "en").lower().split(",")
    return node.tag in CHOSEN and not needed and any(word.strip().split("-")[0] == "en" for word in languages)


def _rules(sheets: list[str]) -> dict[str, Declarations]:
    """What each selector says. Rules inside a rule, for paper, or in any other block with an @ are left out."""
    rules: dict[str, Declarations] = {}
    count = 0
    for sheet in sheets:
        text = _plain(sheet) + "}"  # a last rule may have been left open
        blocks = [MEDIA]  # that are open: MEDIA around rules, the selectors of a rule, "" around what is left out
        found: Declarations = {}  # in the one rule that may be open
        start = 0
        for mark in MARKS.finditer(text):
            piece, start = text[start : mark.start()].strip(), mark.end()
            count += 1 + (piece.count(",") if mark.group() == "{" else 0)
            if count > MAX_RULES:
                raise UserError(f"its style sheets hold more than {MAX_RULES:,} rules: remove its <style>")
            if mark.group() == "{":
                blocks.append(_block(piece) if blocks[-1] == MEDIA else "")
                found = {} if blocks[-1] else found
                continue
            if blocks[-1] not in (MEDIA, ""):
                found |= _declarations(piece)
            if mark.group() == "}" and len(blocks) > 1:
                selectors = blocks.pop()
                for selector in selectors.split(",") if found and selectors not in (MEDIA, "") else ():
                    rules[selector.strip()] = rules.get(selector.strip(), {}) | found
    return rules


def _block(head: str) -> str:
    if not head.startswith("@"):
        return head
    return MEDIA if head[: len(MEDIA)].lower() == MEDIA and _on_screen(head[len(MEDIA) :]) else ""


def _on_screen(media: str) -> bool:
    """Whether what is meant for these media is shown on any screen."""
    return any(word.strip().lower() in ("", "all", "screen", "only screen") for word in media.split(","))


def _plain(text: str) -> str:
    """CSS without comments, and with nothing in its strings and addresses."""
    return OPAQUE.sub(lambda found: {"/": " ", '"': '""', "'": '""'}.get(found.group()[0], "url()"), text)


def _declarations(text: str) -> Declarations:
    found = {}
    for declaration in text.split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip().lower()
        if name in STYLED:
            found[name] = value.partition("!")[0].strip()
    return found
