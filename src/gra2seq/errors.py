"""The one error a user is meant to read: it says what is wrong and what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MAX_MESSAGE = 300  # characters of an error; a longer one is cut in the middle, because the remedy stands at its end
MAX_NAMES = 20  # known names in an error
JOINERS = "\u200c\u200d"  # of letters in some scripts, and of emoji


class UserError(Exception):
    """Bad input, a bad option, a file that cannot be used. The command line prints it and exits with 2.

    Messages quote names and contents of files that others made: they are made printable and short here, so that they
    are safe wherever they end up.

    >>> import gra2seq
    >>> try:
    ...     gra2seq.read("nowhere.svg")
    ... except gra2seq.UserError as error:
    ...     print("cannot go on:", "nowhere.svg" in str(error))
    cannot go on: True
    """

    def __init__(self, message: object) -> None:
        super().__init__(printable(str(message), MAX_MESSAGE))


def unknown_name(what: str, name: str, known: Iterable[str], where: str = "") -> UserError:
    """The error for a name that is not among `known`, with the nearest ones."""
    spelled = {entry.casefold(): entry for entry in known}
    near = [spelled[match] for match in get_close_matches(name.casefold()[:100], spelled, cutoff=0.5)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {_shortened(sorted(spelled.values()))}"
    return UserError(" ".join(filter(None, (f"there is no {what} {name!r}", where))) + f": {hint}")


def printable(text: str, limit: int | None = None) -> str:
    r"""Text as a terminal can show it safely on one line, its middle left out if it is longer than `limit`.

    Control characters, marks that change the direction of writing and halves of surrogate pairs become \xNN or \uNNNN:
    the name of a file can neither move the cursor nor hide a part of the message.
    """
    if not text.isprintable():
        text = "".join(_escaped(letter) if _is_unsafe(letter) else letter for letter in text)
    if limit is not None and len(text) > limit:
        text = f"{text[: limit // 2 - 3]} … {text[-limit // 2 :]}"
    return text


def _is_unsafe(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in JOINERS


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def _shortened(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
