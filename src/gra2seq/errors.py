"""The one error a user is meant to read: it says what is wrong and what to do."""

from __future__ import annotations

import unicodedata

MAX_MESSAGE = 300  # characters; a longer text is cut in the middle, because the remedy stands at its end
UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode categories that can change how a terminal shows the rest


class UserError(Exception):
    """Bad input, a bad option, a file that cannot be used. The command line prints it and exits with 2.

    Messages quote names and contents of files that others made: control characters are escaped, and a long text is
    shortened, so that a message is safe to print wherever it ends up.
    """

    def __init__(self, message: object) -> None:
        super().__init__(shortened(escaped(str(message))))


def escaped(text: str) -> str:
    r"""Control characters as they are written in source code: \n, \x1b, \u202e; all other letters stay."""
    if text.isprintable():
        return text
    return "".join(letter if unicodedata.category(letter) not in UNPRINTABLE else _code(letter) for letter in text)


def shortened(text: str) -> str:
    """At most `MAX_MESSAGE` characters: the middle of a longer text is left out."""
    if len(text) <= MAX_MESSAGE:
        return text
    tail = MAX_MESSAGE // 2
    return f"{text[: MAX_MESSAGE - tail - 3]}...{text[-tail:]}"


def _code(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
