"""Style sheets and `style` attributes, as far as they decide where, whether and how a shape is drawn.

Selectors are those that drawing programs write: *, tag, .class, tag.class and #id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gra2seq.errors import UserError

MAX_RULES = 1_000_000  # selectors, declarations, blocks, comments and strings

INHERITED = {
    "visibility": "visible",
    "fill": "black",
    "fill-opacity": "1",
    "stroke": "none",
    "stroke-opacity": "1",
    "stroke-width": "1",
    "stroke-linecap": "butt",
    "stroke-linejoin": "miter",
    "stroke-dasharray": "none",
    "color": "",
    "data-part": "",
}  # and their defaults
STYLED = {*INHERITED, "display", "opacity", "transform", "transform-origin", "transform-box", "vector-effect"}
KEYWORDS = ("visibility", "display", "transform-box")

OPAQUE = re.compile(  # comments, strings and addresses: braces and semicolons in them mean nothing
    r"""/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|\burl\([^"')]*+\)?""",
    re.DOTALL | re.IGNORECASE,
)
BLANKED = {"/": " ", '"': '""', "'": '""'}
MARKS = re.compile("[{};]")
WORD = re.compile(r"\S+")
MEDIA = "@media"

Declarations = dict[str, str]

NOTHING: Declarations = {}  # shared by the many elements that declare nothing


@dataclass(eq=False)
class StyleSheet:
    """What each selector declares."""

    rules: dict[str, Declarations] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._classes = {name for selector in self.rules for name in selector.split(".")[1:]}

    def resolve(self, tag: str, attributes: dict[str, str]) -> Declarations:
        """What an element itself declares: its attributes, overruled by style sheets, then by its `style`."""
        found = {name: value for name, value in attributes.items() if name in STYLED}
        if self.rules:
            for selector in self._selectors(tag, attributes):
                found |= self.rules.get(selector, {})
        if "style" in attributes:
            found |= declarations(without_strings(attributes["style"]))
        if not found:
            return NOTHING
        return {
            name: value.strip().lower() if name in KEYWORDS else value
            for name, value in found.items()
            if name == "data-part" or value.strip().lower() not in ("", "inherit")
        }

    def for_tag(self, tag: str, attributes: dict[str, str]) -> Declarations:
        """What an element gets by rules that name its tag, and would lose if it became another element."""
        found: Declarations = {}
        for selector in self._selectors(tag, attributes):
            if selector.startswith(tag):
                found |= self.rules.get(selector, {})
        return found

    def _selectors(self, tag: str, attributes: dict[str, str]) -> list[str]:
        """The selectors that match an element, the most specific last."""
        words = (match.group() for match in WORD.finditer(attributes.get("class", "") if self._classes else ""))
        classes = list(dict.fromkeys(name for name in words if name in self._classes))
        selectors = ["*", tag, *("." + name for name in classes), *(f"{tag}.{name}" for name in classes)]
        return [*selectors, "#" + attributes.get("id", "")]


def parse_style_sheets(sheets: Iterable[str]) -> StyleSheet:
    """Rules nested in a rule, rules for print and rules in any other @ block are left out."""
    rules: dict[str, Declarations] = {}
    count = 0
    for sheet in sheets:
        text = without_strings(sheet) + "}"  # a last rule may have been left open
        blocks = [MEDIA]  # open blocks: MEDIA around rules, the selectors of a rule, "" for a block left out
        found: Declarations = {}  # in the one rule that may be open
        start = 0
        for mark in MARKS.finditer(text):
            piece, start = text[start : mark.start()].strip(), mark.end()
            count += 1 + (piece.count(",") if mark.group() == "{" else 0)
            if count > MAX_RULES:
                raise _too_many()
            if mark.group() == "{":
                blocks.append(_block(piece) if blocks[-1] == MEDIA else "")
                found = {} if blocks[-1] else found
                continue
            if blocks[-1] not in (MEDIA, ""):
                found |= declarations(piece)
            if mark.group() == "}" and len(blocks) > 1:
                selectors = blocks.pop()
                for selector in selectors.split(",") if found and selectors not in (MEDIA, "") else ():
                    rules[selector.strip()] = rules.get(selector.strip(), {}) | found
    return StyleSheet(rules)


def declarations(text: str) -> Declarations:
    """The properties in "name: value; …" that matter here."""
    found = {}
    for declaration in text.split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip().lower()
        if name in STYLED:
            found[name] = value.partition("!")[0].strip()
    return found


def without_strings(text: str) -> str:
    """CSS without comments, and with local references as the only content of its strings and addresses."""
    return OPAQUE.sub(_blank(), text)


def is_for_screens(media: str) -> bool:
    """Whether a style sheet for these media applies on any screen."""
    return any(word.strip().lower() in ("", "all", "screen", "only screen") for word in media.split(","))


def _blank() -> Callable[[re.Match[str]], str]:
    count = 0

    def blank(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        if count > MAX_RULES:
            raise _too_many()
        first = found.group()[0]
        if first in BLANKED:
            return BLANKED[first]
        address = found.group()
        return address if address.lower().startswith("url(#") and len(address) < 100 else "url()"

    return blank


def _block(head: str) -> str:
    if not head.startswith("@"):
        return head
    return MEDIA if head[: len(MEDIA)].lower() == MEDIA and is_for_screens(head[len(MEDIA) :]) else ""


def _too_many() -> UserError:
    return UserError(f"its style sheets hold more than {MAX_RULES:,} rules: remove its <style>")
