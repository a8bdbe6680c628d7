"""The element tree of an SVG file and the styles of its elements.

The file may come from a stranger: declarations of entities are refused, nothing is ever
fetched, and elements and nesting are bounded. Of style sheets only what decides whether a shape is seen is
read, by the selectors that drawing programs write: *, tag, .class, tag.class and #id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from gra2seq.errors import UserError
from gra2seq.sketch.svg_pen import Doubles, Outline

MAX_ELEMENTS = 50_000  # read, and drawn after every <use> is put in
MAX_DEPTH = 100  # groups in groups, <use> counted

NAMESPACE = "http://www.w3.org/2000/svg"
INHERITED = {
    "visibility": "visible",
    "fill": "black",
    "stroke": "none",
    "data-part": "",
}  # and their defaults
STYLED = (*INHERITED, "display", "transform")

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
            found |= _declarations(own.get("style", ""))
            node.style = {name: value for name, value in found.items() if value != "inherit"}
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
        own = {key.rpartition("}")[2]: value for key, value in attributes.items()}
        node = Node(tag if space in ("", NAMESPACE) else "", own)
        if "id" in own:
            by_id.setdefault(own["id"], node)
        stack[-1].children.append(node)
        stack.append(node)

    def end(_name: str) -> None:
        node = stack.pop()
        if node.tag == "style":
            sheets.append("".join(node.text))

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
    return Page(above.children[0], by_id, _rules("".join(sheets)))


def _rules(sheet: str) -> dict[str, Declarations]:
    first, *commented = sheet.split("/*")
    sheet = first + "".join(part.partition("*/")[2] for part in commented)
    rules: dict[str, Declarations] = {}
    for block in sheet.split("}"):
        selectors, _, body = block.partition("{")
        found = _declarations(body)
        if found:
            for selector in selectors.split(","):
                rules[selector.strip()] = rules.get(selector.strip(), {}) | found
    return rules


def _declarations(text: str) -> Declarations:
    found = {}
    for declaration in text.split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() in STYLED:
            found[name.strip()] = value.replace("!important", "").strip()
    return found
