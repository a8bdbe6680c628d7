"""The one error a user is meant to read, and text that is safe to print."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MAX_MESSAGE = 300  # characters; a longer text is cut in the middle, because the remedy stands at its end
UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode categories that can change how a terminal shows the rest
JOINERS = "\u200c\u200d"  # of letters in some scripts, and of emoji


class UserError(Exception):
    """Bad input, a bad option, a file that cannot be used. The command line prints it and exits with 2.

    Messages quote names and contents of files that others made: control characters are escaped, and a long text is
    shortened, so that a message is safe to print wherever it ends up.
    """

    def __init__(self, message: object) -> None:
        super().__init__(printable(str(message), MAX_MESSAGE))


def printable(text: str, limit: int | None = None) -> str:
    r"""Text as a terminal can show it safely on one line, its middle left out if it is longer than `limit`.

    Control characters, marks that change the direction of writing and halves of surrogate pairs become \xNN or \uNNNN:
    the name of a file can neither move the cursor nor hide a part of the message.
    """
    shown = text if text.isprintable() else "".join(_escaped(letter) for letter in text)
    if limit is not None and len(shown) > limit:
        tail = limit // 2
        return f"{shown[: limit - tail - 3]}...{shown[-tail:]}"
    return shown


def unknown_name(what: str, name: str, known: Iterable[str], where: str = "") -> UserError:
    """The error for a name that is not among `known`, with the nearest ones."""
    spelled = {entry.casefold(): entry for entry in known}
    near = [spelled[match] for match in get_close_matches(name.casefold()[:100], spelled, cutoff=0.5)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {_first_names(sorted(spelled.values()))}"
    return UserError(" ".join(filter(None, (f"there is no {what} {name!r}", where))) + f": {hint}")


def _escaped(letter: str) -> str:
    unsafe = unicodedata.category(letter) in UNPRINTABLE and letter not in JOINERS
    return letter.encode("unicode_escape").decode("ascii") if unsafe else letter


def _first_names(names: Sequence[str], most: int = 20) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
