"""Values of SVG attributes: numbers, lengths, opacities and colours.

They are read strictly, because a reader that skips what it does not know draws something else.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gra2seq.errors import UserError

MAX_NUMBER = 1e30  # beyond it products overflow
MAX_DIGITS = 1000  # characters of one number
MAX_WORD = 100  # characters of a colour, an opacity, a transform's origin
SEPARATORS = " ,\t\n\r\f"
NUMBER_PATTERN = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
NUMBER = re.compile(NUMBER_PATTERN, re.ASCII)
PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
PIXELS |= {"em": 16.0, "ex": 8.0, "rem": 16.0}  # of a browser's default font
HEX = re.compile(r"#([0-9a-f]+)(?![\w-])", re.ASCII)  # an ICC colour, the same one for a printer, may follow
CALL = re.compile(r"(rgba?|hsla?|color)\(([^()]*)\)")
RGB_SPACES = ("srgb", "srgb-linear", "display-p3", "a98-rgb", "prophoto-rgb", "rec2020")
SIDES = {"left": "0%", "top": "0%", "center": "50%", "right": "100%", "bottom": "100%"}


def numbers(text: str, what: str) -> list[float]:
    """A short list of numbers between spaces and commas, and nothing else; `what` names it in an error."""
    if NUMBER.sub("", text).strip(SEPARATORS):
        raise unreadable(what, text)
    values = [float(number) for number in NUMBER.findall(text)]
    for value in values:
        check_number(value, what)
    return values


def check_number(value: float, what: str) -> float:
    """The value itself, unless it is too large to compute with."""
    if not abs(value) <= MAX_NUMBER:
        raise UserError(f"{what} holds a number beyond {MAX_NUMBER:g}: scale the drawing down")
    return value


def length(text: str, whole: float, what: str) -> float:
    """A length in pixels; a percentage is one of `whole`."""
    number, unit = _number_and_unit(text)
    if number is None or (unit != "%" and unit not in PIXELS):
        raise UserError(f"{what}={shortened(text)} is not a length: write a number such as 12 or 12px")
    return check_number(number * (whole / 100 if unit == "%" else PIXELS[unit]), what)


def is_length(text: str) -> bool:
    """Whether the text is a length by itself, as 12 or 12mm are, and 50%, 100vw or calc(…) are not."""
    number, unit = _number_and_unit(text)
    return number is not None and unit in PIXELS


def is_visible(text: str) -> bool:
    """Whether something of this opacity or line width is visible; a value that cannot be read does not hide it."""
    return fraction(text) > 0


def fraction(text: str) -> float:
    """An opacity from 0 to 1 (a width counts as 1 if it is above 0); 1 if it cannot be read."""
    return _fraction(text[:MAX_WORD])


@lru_cache(maxsize=1024)
def _fraction(text: str) -> float:
    number, unit = _number_and_unit(text)
    return 1.0 if number is None else min(max(number / (100 if unit == "%" else 1), 0.0), 1.0)


def paint(text: str) -> str:
    """What a paint leaves on a white page: "none", "white" or "ink" (any other colour, a gradient, a pattern)."""
    return _paint(text[:MAX_WORD])


@lru_cache(maxsize=1024)
def _paint(text: str) -> str:
    text = text.strip().lower()
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
    what = "transform-origin"
    words = text.lower().split() if len(text) <= MAX_WORD else []
    if not 1 <= len(words) <= 3:
        raise unreadable(what, text)
    x, y = words[0], words[1] if len(words) > 1 else "center"
    if (x in ("top", "bottom") and y in SIDES) or (y in ("left", "right") and x in SIDES):
        x, y = y, x
    if x in ("top", "bottom") or y in ("left", "right"):
        raise unreadable(what, text)
    return length(SIDES.get(x, x), width, what), length(SIDES.get(y, y), height, what)


def unreadable(what: str, text: str) -> UserError:
    return UserError(f"{what} cannot be read: {shortened(text)}: save the drawing again as plain SVG")


def shortened(text: str) -> str:
    """The text in quotes, cut to what fits into an error."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _number_and_unit(text: str) -> tuple[float | None, str]:
    """The number at the beginning (None if there is none) and what follows it."""
    return _parse_number_and_unit(text) if len(text) <= MAX_WORD else _parse_number_and_unit.__wrapped__(text)


@lru_cache(maxsize=4096)
def _parse_number_and_unit(text: str) -> tuple[float | None, str]:
    text = text.strip()
    match = NUMBER.match(text)
    return (float(match.group()), text[match.end() :].strip()) if match else (None, "")


def _channels(text: str) -> list[float]:
    """Red, green, blue and perhaps opacity from 0 to 1 of a lower-case colour; empty if it is not in numbers.

    Of hsl only the lightness is used, as if the colour were grey: enough to recognise white.
    """
    if found := HEX.match(text):
        digits = found.group(1)
        width = 1 if len(digits) in (3, 4) else 2 if len(digits) in (6, 8) else 0
        places = range(0, len(digits), width) if width else ()
        return [int(digits[place : place + width], 16) / (16**width - 1) for place in places]
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
