r"""Key files: one line a code that says which drawing it belongs to, as `SOURCE/NUMBER<TAB>CATEGORY<TAB>KEY`.

SOURCE counts the sources in the .json file beside it, NUMBER the drawings of that source, both from 0. CATEGORY and
KEY are the drawing's own; tabs, line ends and backslashes in them are written as \t, \n, \r and \\.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

UTF8 = ("utf-8", "surrogatepass")  # as in stores: JSON may hold half a surrogate pair
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LETTERS = {escape: letter for letter, escape in _ESCAPES.items()}
_TABLE = str.maketrans(_ESCAPES)


@dataclass(frozen=True)
class Key:
    """Which drawing a code belongs to."""

    source: int
    number: int  # in its source
    category: str
    key: str

    def line(self) -> bytes:
        """One line, with its end."""
        words = (f"{self.source}/{self.number}", self.category.translate(_TABLE), self.key.translate(_TABLE))
        return ("\t".join(words) + "\n").encode(*UTF8)

    @staticmethod
    def of_line(line: bytes) -> Key:
        """ValueError if it is no such line."""
        place, category, key = line.decode(*UTF8).removesuffix("\n").split("\t")
        source, number = place.split("/")
        return Key(int(source), int(number), _unescaped(category), _unescaped(key))


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda match: _LETTERS.get(match[0], match[0]), text)
