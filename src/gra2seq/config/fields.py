"""Fields of the configuration: a default, and the bounds, choices and help that validation and documents share."""

from __future__ import annotations

import dataclasses
import math
import operator
import types
import typing
from collections.abc import Sequence
from typing import Any, Literal

from gra2seq.errors import UserError

BOUNDS = (
    ("at_least", operator.ge, "at least"),
    ("at_most", operator.le, "at most"),
    ("above", operator.gt, "more than"),
    ("below", operator.lt, "less than"),
)
MAX_SINGLE = 3.4e38  # networks compute in single precision
KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def option(
    default: Any,
    help: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
    free: bool | Literal["budget"] = False,
) -> Any:
    """A dataclass field with its documentation and bounds; a `free` one may change when a run is resumed.

    One that is free as a `budget` says how long a model learns, and of how many weights the best are taken: models that
    are compared have the same.
    """
    metadata = {
        "help": help,
        "at_least": at_least,
        "at_most": at_most,
        "above": above,
        "below": below,
        "choices": tuple(choices),
        "free": free,
    }
    return dataclasses.field(
        default=default, metadata={name: value for name, value in metadata.items() if value is not None}
    )


def convert(name: str, value: Any, kind: Any) -> Any:
    """A value of YAML or the command line as the field's type: 1 is a float where one is wanted, 1.5 is no integer."""
    try:
        if isinstance(kind, types.UnionType):
            return None if value is None else convert(name, value, typing.get_args(kind)[0])
        if typing.get_origin(kind) is tuple:
            if isinstance(value, str):
                raise ValueError
            return tuple(convert(name, item, typing.get_args(kind)[0]) for item in value)
        if kind is bool and isinstance(value, bool):
            return value
        if kind is bool or isinstance(value, bool) or value is None:
            raise ValueError
        if kind is str and not isinstance(value, str | int | float):
            raise ValueError
        if kind is int and float(value) != int(float(value)):
            raise ValueError
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        wanted = KINDS.get(kind, "a list")
        raise UserError(f"option {name}={str(value)[:80]!r} must be {wanted}") from None


def check(name: str, value: Any, metadata: typing.Mapping[str, Any]) -> None:
    """Raise a `UserError` if a value is outside of the bounds of its field."""
    if metadata.get("choices") and value not in metadata["choices"]:
        raise UserError(f"{name}={value!r} is not one of {', '.join(metadata['choices'])}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if not math.isfinite(value):
        raise UserError(f"{name}={value} must be a finite number")
    if isinstance(value, float) and abs(value) > MAX_SINGLE:
        raise UserError(f"{name}={value} is too large for single precision: at most {MAX_SINGLE:g}")
    for bound, fits, words in BOUNDS:
        if bound in metadata and not fits(value, metadata[bound]):
            raise UserError(f"{name}={value} must be {words} {metadata[bound]:g}")
