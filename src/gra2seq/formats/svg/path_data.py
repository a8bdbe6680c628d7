"""The small languages inside SVG attributes: path data, lists of numbers, transforms, lengths, colours.

They are read strictly, because a reader that skips what it does not know draws something else, and every step
is linear in the input: files come from strangers.
"""

from __future__ import annotations

import math
import re

import numpy as np

from gra2seq.errors import UserError
from gra2seq.formats.svg.geometry import Doubles, Outline, Pen
from gra2seq.sketch.strokes import MAX_POINTS_READ

MAX_NUMBER = 1e30  # beyond it products overflow
MAX_TRANSFORM = 10_000  # characters
MAX_WORD = 100  # characters of a colour, an opacity, a transform's origin: they are read for every shape anew
SEPARATORS = " ,\t\n\r\f"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
FLAG = re.compile(r"[01]")  # of an arc: may be written without a space before the next number
COMMAND = re.compile(r"([MmZzLlHhVvCcSsQqTtAa])")
ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
PIXELS |= {"em": 16.0, "ex": 8.0, "rem": 16.0}  # of a browser's plain text
HEX = re.compile(r"#([0-9a-f]+)(?![\w-])", re.ASCII)  # what may follow is the same colour for a printer
CALL = re.compile(r"(rgba?|hsla?|color)\(([^()]*)\)")
RGB_SPACES = ("srgb", "srgb-linear", "display-p3", "a98-rgb", "prophoto-rgb", "rec2020")
SIDES = {"left": "0%", "top": "0%", "center": "50%", "right": "100%", "bottom": "100%"}


def path_outline(data: str) -> Outline:
    """The `d` of a <path>."""
    pen = Pen()
    before, *parts = COMMAND.split(data)
    if before.strip(SEPARATORS):
        raise _unreadable("path data", data)
    drawn = len(parts) // 2  # a command draws one segment at least
    control, after = (0.0, 0.0), ""  # the last control point, for S and T, and the command it belongs to
    for letter, text in zip(parts[::2], parts[1::2], strict=True):
        if not after and letter not in "Mm":
            raise UserError(f"path data begins with {letter!r}, it must begin with M: {_short(data)}")
        values = _arc_numbers(text) if letter in "Aa" else numbers(text, "path data", data)
        name, size = letter.upper(), ARGUMENTS[letter.upper()]
        if len(values) % size if size else values:
            raise UserError(f"path command {letter} takes {size} numbers a time, got {len(values)}: {_short(text)}")
        if size and not values:
            raise UserError(f"path command {letter} has no numbers: {_short(data)}")
        drawn += max(0, len(values) // (size or 1) - 1)
        if drawn > MAX_POINTS_READ:  # said before a second is spent on them
            raise UserError(f"it has more than {MAX_POINTS_READ:,} points: simplify it in a drawing program")
        for start in range(0, max(len(values), 1), size or 1):
            v = values[start : start + size]
            x, y = pen.x, pen.y
            if letter.islower():
                v = _absolute(name, v, x, y)
            match name if start == 0 or name != "M" else "L":
                case "M":
                    pen.move(v[0], v[1])
                case "L":
                    pen.line(v[0], v[1])
                case "H":
                    pen.line(v[0], y)
                case "V":
                    pen.line(x, v[0])
                case "C":
                    control = (v[2], v[3])
                    pen.cubic(v[0], v[1], v[2], v[3], v[4], v[5])
                case "S":
                    x1, y1 = (2 * x - control[0], 2 * y - control[1]) if after in "CS" else (x, y)
                    control = (v[0], v[1])
                    pen.cubic(x1, y1, v[0], v[1], v[2], v[3])
                case "Q":
                    control = (v[0], v[1])
                    pen.quadratic(v[0], v[1], v[2], v[3])
                case "T":
                    control = (2 * x - control[0], 2 * y - control[1]) if after in "QT" else (x, y)
                    pen.quadratic(control[0], control[1], v[0], v[1])
                case "A":
                    pen.arc(v[0], v[1], v[2], v[3] > 0, v[4] > 0, v[5], v[6])
                case "Z":
                    pen.close()
            after = name
    return pen.outline()


def numbers(text: str, what: str, whole: str = "") -> list[float]:
    """A list of numbers between spaces and commas, and nothing else; `whole` is shown if it is not."""
    if NUMBER.sub("", text).strip(SEPARATORS):
        raise _unreadable(what, whole or text)
    return _checked([float(number) for number in NUMBER.findall(text)], what)


def length(text: str, whole: float, what: str) -> float:
    """In pixels; a percentage is one of `whole`."""
    number, unit = _number_and_unit(text)
    if number is None or (unit != "%" and unit not in PIXELS):
        raise UserError(f"{what}={_short(text)} is not a length: write a number such as 12 or 12px")
    return _checked([number * (whole / 100 if unit == "%" else PIXELS[unit])], what)[0]


def is_length(text: str) -> bool:
    """Whether it says a length by itself, as 12 or 12mm do, and 50%, 100vw or calc(…) do not."""
    number, unit = _number_and_unit(text)
    return number is not None and unit in PIXELS


def shows(text: str) -> bool:
    """Whether something of this opacity or line width is seen; what cannot be read is not obeyed."""
    number, _ = _number_and_unit(text[:MAX_WORD])
    return number is None or number > 0


def paint(text: str) -> str:
    """What a paint leaves on paper: "none", "white" or "ink". What is no plain colour, as a gradient, is ink."""
    text = text[:MAX_WORD].strip().lower()
    if text in ("none", "transparent"):
        return "none"
    if text == "white":
        return "white"
    channels = _channels(text)
    if len(channels) == 4 and channels[3] <= 0:
        return "none"
    return "white" if len(channels) in (3, 4) and min(channels[:3]) >= 1 else "ink"


def transform_origin(text: str, width: float, height: float) -> tuple[float, float]:
    """The point that a transform leaves in place; percentages and sides are those of the viewport."""
    words = text.lower().split() if len(text) <= MAX_WORD else []
    if not 1 <= len(words) <= 3:
        raise _unreadable("transform-origin", text)
    x, y = words[0], words[1] if len(words) > 1 else "center"
    if (x in ("top", "bottom") and y in SIDES) or (y in ("left", "right") and x in SIDES):
        x, y = y, x
    if x in ("top", "bottom") or y in ("left", "right"):
        raise _unreadable("transform-origin", text)
    what = "transform-origin"
    return length(SIDES.get(x, x), width, what), length(SIDES.get(y, y), height, what)


def transform(text: str) -> Doubles:
    """A list such as "translate(3 4) rotate(30)" as one 2 x 3 matrix; the last one acts first."""
    if len(text) > MAX_TRANSFORM:
        raise UserError(f"a transform has {len(text)} characters, {MAX_TRANSFORM} are read: combine its parts")
    matrix = np.eye(3)
    for call in text.split(")")[:-1]:
        name, opened, arguments = call.strip(SEPARATORS).partition("(")
        values = numbers(arguments.replace("px", "").replace("deg", ""), "transform")
        made = _matrix(name.strip(), values) if opened else None
        if made is None:
            raise _unreadable("transform", text)
        matrix = matrix @ np.vstack([made, [0, 0, 1]])
        if np.abs(matrix).max() > MAX_NUMBER:
            raise UserError(f"transform is too large: {_short(text)}")
    if text.rpartition(")")[2].strip(SEPARATORS) not in ("", "none"):
        raise _unreadable("transform", text)
    return matrix[:2]


def _number_and_unit(text: str) -> tuple[float | None, str]:
    """A number at the beginning, None if there is none, and what follows it."""
    text = text.strip()
    match = NUMBER.match(text)
    return (float(match.group()), text[match.end() :].strip()) if match else (None, "")


def _channels(text: str) -> list[float]:
    """Red, green, blue and perhaps opacity from 0 to 1, in lower case; empty if it is not written in numbers.

    Of hsl only the lightness is told, as if the colour were grey: that is enough to know white.
    """
    if found := HEX.match(text):
        digits = found.group(1)
        wide = 1 if len(digits) in (3, 4) else 2 if len(digits) in (6, 8) else 0
        places = range(0, len(digits), wide) if wide else ()
        return [int(digits[place : place + wide], 16) / (16**wide - 1) for place in places]
    if not (call := CALL.match(text)):
        return []
    name, words = call.group(1), call.group(2).replace(",", " ").replace("/", " ").split()
    if name == "color":
        if not words or words.pop(0) not in RGB_SPACES:
            return []
    elif name.startswith("hsl"):
        words[:3] = words[2:3] * 3
    whole = {"rgb": 255, "hsl": 100}.get(name[:3], 1)
    channels = []
    for index, word in enumerate(words):
        number, unit = _number_and_unit(word)
        if number is None or unit not in ("", "%"):
            return []
        channels.append(number / (100 if unit == "%" else whole if index < 3 else 1))
    return channels


def _matrix(name: str, v: list[float]) -> Doubles | None:
    """One transform function, None if there is none of this name and number of arguments."""
    match name, len(v):
        case "matrix", 6:
            rows = [[v[0], v[2], v[4]], [v[1], v[3], v[5]]]
        case "translate", 1 | 2:
            rows = [[1, 0, v[0]], [0, 1, v[1] if len(v) == 2 else 0]]
        case "scale", 1 | 2:
            rows = [[v[0], 0, 0], [0, v[-1], 0]]
        case "rotate", 1 | 3:
            c, s = math.cos(math.radians(v[0])), math.sin(math.radians(v[0]))
            x, y = v[1:] if len(v) == 3 else (0.0, 0.0)
            rows = [[c, -s, x - c * x + s * y], [s, c, y - s * x - c * y]]
        case "skewX", 1:
            rows = [[1, math.tan(math.radians(v[0])), 0], [0, 1, 0]]
        case "skewY", 1:
            rows = [[1, 0, 0], [math.tan(math.radians(v[0])), 1, 0]]
        case _:
            return None
    return np.array(rows, np.float64)


def _arc_numbers(text: str) -> list[float]:
    values: list[float] = []
    position = 0
    while True:
        while position < len(text) and text[position] in SEPARATORS:
            position += 1
        if position == len(text):
            return _checked(values, "path data")
        match = (FLAG if len(values) % 7 in (3, 4) else NUMBER).match(text, position)
        if match is None:
            raise _unreadable("path data", text)
        values.append(float(match.group()))
        position = match.end()


def _absolute(name: str, values: list[float], x: float, y: float) -> list[float]:
    """Relative coordinates of a command, seen from the pen at x, y."""
    match name:
        case "V":
            return [values[0] + y]
        case "A":
            return [*values[:5], values[5] + x, values[6] + y]
        case _:
            return [value + (y if index % 2 else x) for index, value in enumerate(values)]


def _checked(values: list[float], what: str) -> list[float]:
    if values and max(map(abs, values)) > MAX_NUMBER:
        raise UserError(f"{what} holds a number beyond {MAX_NUMBER:g}: scale the drawing down")
    return values


def _unreadable(what: str, text: str) -> UserError:
    return UserError(f"{what} cannot be read: {_short(text)}: save the drawing again as plain SVG")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
