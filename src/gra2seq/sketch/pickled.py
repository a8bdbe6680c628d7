"""Arrays of numbers out of a pickle, and nothing else.

An object array in a numpy file is a pickle: loaded the usual way it can run anything. Here it is first
looked through opcode by opcode, then rebuilt with stand-ins in the place of numpy's functions. Nothing of
numpy, or of anyone, is called while it is unpickled; bytes become arrays only after shape, type and size
agree.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError

MAX_OPCODES = 10_000_000  # of a pickle; a drawing needs about 20

# No dict or set (nothing is hashed), no instance, no persistent name, no extension.
OPCODES = {
    *(
        "PROTO",
        "FRAME",
        "MARK",
        "STOP",
        "NONE",
        "NEWTRUE",
        "NEWFALSE",
        "BININT",
        "BININT1",
        "BININT2",
        "LONG1",
    ),
    *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_LIST", "APPEND", "APPENDS"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES"),
    *("MEMOIZE", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET"),
    *("GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"),
}
# By numpy's own name with size and byte order, so that no stranger's text ever reaches numpy.dtype.
NUMBERS = {f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)} | {"f2", "f4", "f8", "b1"}
NUMBER_TYPES = {(code, order): np.dtype(order + code) for code in NUMBERS for order in "<>|="}


def unpickle_arrays(data: bytes) -> list[NDArray[Any]]:
    """The arrays in a pickled one-dimensional object array; anything else is refused with its reason."""
    try:
        _look_through(data)
        outer = _Unpickler(io.BytesIO(data), encoding="latin1").load()  # Python 2 wrote bytes as str
        if not isinstance(outer, _Array) or not isinstance(outer.data, list):
            raise UserError("it is not an array of arrays")
        inner = outer.data
        if not all(isinstance(array, _Array) for array in inner) or tuple(outer.shape) != (len(inner),):
            raise UserError("it is not one row of arrays")
        # One array named a million times would unpack to far more than the file says.
        if sum(len(array.data) for array in inner) > len(data):
            raise UserError("it names one array many times over")
        return [numbers_from(array.data, array.shape, array.type, bool(array.fortran)) for array in inner]
    except UserError as error:
        raise UserError(f"refused, {error}; nothing in it was run") from error
    except (pickle.UnpicklingError, ValueError, TypeError, AttributeError, LookupError, EOFError) as error:
        raise UserError(f"damaged, or no arrays of numbers ({error}): fetch the file again") from error


def numbers_from(data: object, shape: tuple[int, ...], kind: object, fortran: bool) -> NDArray[Any]:
    """An array from its bytes, if they are what shape and type (code, byte order) say."""
    dtype = NUMBER_TYPES.get((kind.code, kind.order)) if isinstance(kind, NumberType) else None
    if dtype is None:
        raise UserError("it holds values that are not numbers")
    if isinstance(data, str):
        data = data.encode("latin1")
    if not isinstance(data, bytes) or len(shape) > 3 or any(type(n) is not int or n < 0 for n in shape):
        raise UserError("it holds an array that is not plain bytes in at most 3 dimensions")
    if len(data) != dtype.itemsize * math.prod(shape):
        raise UserError(f"it holds an array of shape {shape} with {len(data)} bytes, which is not its size")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


class NumberType:
    """Stands in for numpy.dtype."""

    def __init__(self, code: object, *_: object) -> None:
        self.code = code if isinstance(code, str) else ""
        self.order = "|"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        # (version, byte order, subtype, field names, fields, size, alignment, flags)
        self.order = state[1] if isinstance(state[1], str) else ""
        if any(item is not None for item in state[2:5]):
            raise UserError("it holds records, not plain numbers")


class _Array:
    """Stands in for what numpy's `_reconstruct` makes: it only remembers what it is told."""

    shape: tuple[int, ...]
    type: object
    fortran: object
    data: Any

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, self.shape, self.type, self.fortran, self.data = state


def _reconstruct(*_: object) -> _Array:
    return _Array()


def _encode(text: str, encoding: str) -> bytes:
    """Stands in for _codecs.encode, by which Python 3 wrote bytes into pickles of protocol 2."""
    if encoding not in ("latin1", "latin-1"):
        raise UserError("it holds text in an encoding other than latin1")
    return text.encode("latin1")


STAND_INS: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): object(),  # only ever handed to `_reconstruct`
    ("numpy", "dtype"): NumberType,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,  # numpy 1
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,  # numpy 2
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return _stand_in(module, name)


def _look_through(data: bytes) -> None:
    """Refuse whatever an array of arrays does not need, before anything is built from it."""
    for count, (opcode, argument, _) in enumerate(pickletools.genops(data)):
        if count > MAX_OPCODES:
            raise UserError(f"its pickle has more than {MAX_OPCODES:,} steps: split the file")
        if opcode.name == "GLOBAL":
            _stand_in(*str(argument).split(" ", 1))
        elif opcode.name not in OPCODES:
            raise UserError(f"its pickle uses {opcode.name}, which arrays of numbers do not need")
        elif opcode.name == "LONG_BINPUT" and int(argument or 0) > count:
            raise UserError("its pickle asks for more memory than it has content")


def _stand_in(module: str, name: str) -> Any:
    try:
        return STAND_INS[module, name]
    except KeyError:
        raise UserError(f"its pickle asks for {module}.{name}, which arrays of numbers do not need") from None
