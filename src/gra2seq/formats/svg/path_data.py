"""Path data (the `d` of a <path>) and lists of points: read in blocks, so that long ones take little memory."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from gra2seq.errors import UserError
from gra2seq.formats.svg.geometry import TOO_MANY_POINTS, Pen
from gra2seq.formats.svg.values import MAX_DIGITS, NUMBER_PATTERN, check_number, shortened, unreadable
from gra2seq.sketch.strokes import MAX_POINTS_READ

ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
COUNTS = ARGUMENTS | {letter.lower(): count for letter, count in ARGUMENTS.items()}
FLAGS = (3, 4)  # places of an arc's flags among its numbers; they may be written without a space after them
LETTERS = "".join(COUNTS)
TOKEN = re.compile(rf"{NUMBER_PATTERN}|[^ ,\t\n\r\f]", re.ASCII)  # a number, a command or an odd character
BOUNDARY = re.compile(rf"[ ,\t\n\r\f{LETTERS}]|(?<![eE])[-+]|(?<=\.\d)\.", re.ASCII)  # no number goes on across it
BLOCK = 1 << 16  # characters


def draw_path(data: str, pen: Pen) -> None:
    """Draw path data with a pen that takes absolute coordinates."""
    command, size, count, drawn = "", 0, 0, 0  # `count`: numbers of this command so far
    values: list[float] = []
    stroke = _Stroke(pen)
    for token in _tokens(data, "path data"):
        found = COUNTS.get(token)
        if found is None:
            if not size:
                raise _misplaced(token, command, data)
            count += 1
            if size == 7 and len(values) in FLAGS:
                _split_flags(token, values, data)
            else:
                values.append(_number(token, data))
            if len(values) < size:
                continue
        else:
            if size:
                _check_finished(command, size, count, values, data)
            if not command and token not in "Mm":
                raise UserError(f"path data begins with {token!r}, it must begin with M: {shortened(data)}")
            command, size, count = token, found, 0
            if found:
                continue
        drawn += 1
        if drawn > MAX_POINTS_READ:
            raise UserError(TOO_MANY_POINTS)
        if values:
            stroke.draw(command, values)
            values.clear()
        else:
            stroke.close()
        if command in "Mm":
            command = "L" if command == "M" else "l"  # further pairs are lines
    _check_finished(command, size, count, values, data)


def coordinates(text: str) -> array[float]:
    """The numbers of a `points` attribute."""
    values = array("d")
    for token in _tokens(text, "points"):
        if token in COUNTS:
            raise unreadable("points", text)
        values.append(_number(token, text, "points"))
        if len(values) > 2 * MAX_POINTS_READ:
            raise UserError(TOO_MANY_POINTS)
    return values


class _Stroke:
    """Path commands, relative and smooth ones too, as the moves of a pen."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen
        self._control = (0.0, 0.0)  # the last control point, for S and T
        self._after = "M"  # the last command

    def draw(self, command: str, v: list[float]) -> None:
        pen = self._pen
        x, y = pen.x, pen.y
        name = command
        if command > "Z":  # lower case: relative
            name = command.upper()
            _make_absolute(name, v, x, y)
        if name == "L":
            pen.line(v[0], v[1])
        elif name == "H":
            pen.line(v[0], y)
        elif name == "V":
            pen.line(x, v[0])
        elif name == "M":
            pen.move(v[0], v[1])
        elif name == "A":
            pen.arc(v[0], v[1], v[2], v[3] > 0, v[4] > 0, v[5], v[6])
        else:
            self._curve(name, v, x, y)
        self._after = name

    def close(self) -> None:
        self._pen.close()
        self._after = "Z"

    def _curve(self, name: str, v: list[float], x: float, y: float) -> None:
        near = (2 * x - self._control[0], 2 * y - self._control[1])  # the reflected control point
        if name == "C":
            self._control = (v[2], v[3])
            self._pen.cubic(v[0], v[1], v[2], v[3], v[4], v[5])
        elif name == "S":
            x1, y1 = near if self._after in "CS" else (x, y)
            self._control = (v[0], v[1])
            self._pen.cubic(x1, y1, v[0], v[1], v[2], v[3])
        elif name == "Q":
            self._control = (v[0], v[1])
            self._pen.quadratic(v[0], v[1], v[2], v[3])
        else:
            self._control = near if self._after in "QT" else (x, y)
            self._pen.quadratic(*self._control, v[0], v[1])


def _make_absolute(name: str, v: list[float], x: float, y: float) -> None:
    if name == "H":
        v[0] += x
    elif name == "V":
        v[0] += y
    else:
        for index in range(5 if name == "A" else 0, len(v), 2):
            v[index] += x
            v[index + 1] += y


def _tokens(text: str, what: str) -> Iterator[str]:
    """Numbers, commands and characters that are neither, block by block."""
    if not text.isascii():  # digits of other scripts are no numbers in SVG
        raise unreadable(what, text)
    start = 0
    while start < len(text):
        found = BOUNDARY.search(text, start + BLOCK)
        end = found.start() if found else len(text)
        yield from TOKEN.findall(text, start, end)
        start = end


def _number(token: str, data: str, what: str = "path data") -> float:
    if len(token) > MAX_DIGITS:
        raise UserError(f"{what} holds a number of {len(token):,} characters, {MAX_DIGITS} are read: round it")
    try:
        value = float(token)
    except ValueError:
        raise unreadable(what, data) from None
    return value if -1e30 <= value <= 1e30 else check_number(value, what)


def _split_flags(token: str, values: list[float], data: str) -> None:
    """Add a flag of an arc, and what is written behind it without a space: the other flag and a number."""
    while token and len(values) in FLAGS:
        if token[0] not in "01":
            raise unreadable("path data", data)
        values.append(float(token[0]))
        token = token[1:]
    if token:
        values.append(_number(token, data))


def _check_finished(command: str, size: int, count: int, values: list[float], data: str) -> None:
    """Whether the last command has all its numbers."""
    if values:
        raise UserError(f"path command {command} takes {size} numbers a time, got {count}: {shortened(data)}")
    if size and not count:
        raise UserError(f"path command {command} has no numbers: {shortened(data)}")


def _misplaced(token: str, command: str, data: str) -> UserError:
    """A token that is no command where only a command may stand."""
    try:
        float(token)
    except ValueError:
        return unreadable("path data", data)
    if not command:
        return unreadable("path data", data)
    return UserError(f"path command {command} takes no numbers: {shortened(data)}")
