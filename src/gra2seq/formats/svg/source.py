"""The text of an XML file that is edited in place: what no edit touches stays as it is, byte for byte."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from gra2seq.errors import UserError
from gra2seq.formats.svg.elements import Element

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
DECLARED = re.compile(rb"""^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
ATTRIBUTE = re.compile(rb"""(\s+)([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')""")
TAG = re.compile(rb"""<([^\s/>]+)((?:\s+[^\s=/>]+\s*=\s*(?:"[^"]*"|'[^']*'))*+)(\s*/?)>""")


class Edit(NamedTuple):
    """New bytes for those from `start` to `end`."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True)
class Source:
    """A file's text as UTF-8, and how it was encoded."""

    data: bytes
    encoding: str = "utf-8"
    mark: bytes = b""  # byte order mark

    @staticmethod
    def decode(data: bytes) -> Source:
        """From the bytes of a file."""
        mark = next((mark for mark in BYTE_ORDER_MARKS if data.startswith(mark)), b"")
        declared = DECLARED.match(data)
        encoding = BYTE_ORDER_MARKS[mark] if mark else declared.group(1).decode() if declared else "utf-8"
        try:
            text = data[len(mark) :].decode(encoding)
        except (UnicodeDecodeError, LookupError) as error:
            raise UserError(f"its text cannot be decoded ({error}): save it again as UTF-8") from error
        return Source(text.encode(), encoding, mark)

    def encode(self) -> bytes:
        """The bytes of the file, encoded as it was."""
        return self.mark + self.data.decode().encode(self.encoding, "xmlcharrefreplace")

    def edited(self, edits: Sequence[Edit]) -> Source:
        return Source(apply_edits(self.data, edits), self.encoding, self.mark)

    @property
    def newline(self) -> bytes:
        return b"\r\n" if b"\r\n" in self.data else b"\n"

    def tag(self, element: Element) -> bytes:
        """The first tag of an element."""
        found = TAG.match(self.data, element.start)
        if found is None:  # the XML parser accepted it
            raise UserError("a tag cannot be found in its text: save it again as plain SVG")
        return found.group()

    def end(self, element: Element) -> int:
        """Where an element ends."""
        if self.tag(element).endswith(b"/>"):
            return element.start + len(self.tag(element))
        return self.data.index(b">", element.end) + 1

    def removal(self, element: Element) -> Edit:
        """The edit that removes an element, with its line if nothing else stands on it."""
        start, end = element.start, self.end(element)
        line = self.data.rfind(b"\n", 0, start) + 1
        following = re.compile(rb"[ \t]*\r?\n").match(self.data, end)
        if following and not self.data[line:start].strip(b" \t") and line:
            return Edit(line, following.end(), b"")
        return Edit(start, end, b"")


def apply_edits(data: bytes, edits: Sequence[Edit], first: int = 0, last: int | None = None) -> bytes:
    """The bytes from `first` to `last` with edits that do not overlap; one inside a larger one is dropped."""
    pieces: list[bytes] = []
    place = first
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if edit.start < place:
            continue
        pieces += [data[place : edit.start], edit.text]
        place = edit.end
    return b"".join([*pieces, data[place:last]])


def with_attributes(tag: bytes, values: Mapping[str, str | None], name: str | None = None) -> bytes:
    """A tag with some attributes set, or removed where the value is None, perhaps of another element.

    The namespace prefix of the tag stays; attributes that are not named stay as they are written.
    """
    todo = dict(values)

    def changed(found: re.Match[bytes]) -> bytes:
        key = found.group(2).decode()
        if key not in values:
            return found.group()
        value = todo.pop(key)
        return b"" if value is None else found.group(1) + key.encode() + b"=" + quoteattr(value).encode()

    match = TAG.fullmatch(tag)
    if match is None:
        raise ValueError(f"not a tag: {tag[:40]!r}")
    head = match.group(1)
    if name is not None:
        head = head.rpartition(b":")[0] + (b":" if b":" in head else b"") + name.encode()
    body = ATTRIBUTE.sub(changed, match.group(2))
    added = "".join(f" {key}={quoteattr(value)}" for key, value in todo.items() if value is not None)
    return b"<" + head + body + added.encode() + match.group(3) + b">"


def self_closed(tag: bytes) -> bytes:
    """A first tag as that of an empty element."""
    return tag if tag.endswith(b"/>") else tag[:-1] + b"/>"


def with_style(tag: bytes, declarations: str) -> bytes:
    """A tag with declarations added to its `style`; entities in it stay as they are written."""
    for found in ATTRIBUTE.finditer(tag):
        if found.group(2) == b"style":
            old = found.group(3)[1:-1]
            joint = b"" if not old.strip() or (old.endswith(b";") and b"&" not in old) else b";"
            return tag[: found.end(3) - 1] + joint + declarations.encode() + tag[found.end(3) - 1 :]
    return with_attributes(tag, {"style": declarations})
