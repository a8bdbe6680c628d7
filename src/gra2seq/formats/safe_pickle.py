"""Arrays of numbers out of a pickle, and nothing else.

An object array in a numpy file is a pickle: loaded the usual way it can run anything. Here its opcodes are checked
first, then it is rebuilt with stand-ins in the place of numpy's functions. No function of numpy, or of anyone else, is
called while it is unpickled; bytes become arrays only after shape, type and size agree.
"""

from __future__ import annotations

import math
import pickle
import pickletools
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gra2seq.errors import UserError

# Allowed opcodes by the size of their argument. No dict or set (nothing is hashed), no instance, no persistent name,
# no extension, nothing that needs an 8-byte length.
FIXED = {
    0: "MARK STOP NONE NEWTRUE NEWFALSE EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST APPEND APPENDS MEMOIZE "
    "STACK_GLOBAL REDUCE BUILD",
    1: "PROTO BININT1 BINPUT BINGET",
    2: "BININT2",
    4: "BININT LONG_BINGET",
}
COUNTED = {  # the argument begins with its length in so many bytes
    1: "LONG1 SHORT_BINUNICODE SHORT_BINSTRING SHORT_BINBYTES",
    4: "BINUNICODE BINSTRING BINBYTES",
}
CONTAINERS = "EMPTY_LIST TUPLE TUPLE1 TUPLE2 TUPLE3"  # one byte each, but 56 bytes of memory or more
BYTES_PER_CONTAINER, SLACK = 8, 50_000  # the least that an array of numbers has, beside a fixed number for small files
DAMAGED = (pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, LookupError, TypeError, ValueError)
MAX_NAME = 200  # bytes of a name that a pickle asks for

_CODES = {opcode.name: ord(opcode.code) for opcode in pickletools.opcodes}
_FRAME, _LONG_BINPUT, _GLOBAL, _STOP = (_CODES[name] for name in ("FRAME", "LONG_BINPUT", "GLOBAL", "STOP"))
_CONTAINERS = {_CODES[name] for name in CONTAINERS.split()}
_SIZES = {_CODES[name]: size for size, names in FIXED.items() for name in names.split()}
_LENGTHS = {_CODES[name]: size for size, names in COUNTED.items() for name in names.split()}

# By numpy's own name with size and byte order, so that text from a file never reaches numpy.dtype.
NUMBERS = {f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)} | {"f2", "f4", "f8", "b1"}
NUMBER_TYPES = {(code, order): np.dtype(order + code) for code in NUMBERS for order in "<>|="}


class PickledArrays:
    """The arrays in a pickled one-dimensional object array, made one by one; anything else is refused at once."""

    def __init__(self, stream: BytesIO) -> None:
        """`stream` stands at the beginning of the pickle, which is its last content."""
        start = stream.tell()
        try:
            with stream.getbuffer() as data:
                size = len(data) - start
                with data[start:] as pickled:
                    _check_opcodes(pickled)
            outer = _Unpickler(stream, encoding="latin1").load()  # Python 2 wrote bytes as str
            self._arrays = _inner_arrays(outer, size)
        except UserError as error:
            raise UserError(f"refused, {error}; nothing in it was run") from error
        except DAMAGED as error:
            raise UserError(f"damaged, or no arrays of numbers ({error}): fetch the file again") from error

    def __len__(self) -> int:
        return len(self._arrays)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for array in self._arrays:
            try:
                yield numbers_from(array.data, array.shape, array.type, bool(array.fortran))
            except UserError as error:
                raise UserError(f"refused, {error}; nothing in it was run") from error


def numbers_from(data: object, shape: object, kind: object, fortran: bool) -> NDArray[Any]:
    """An array from its bytes, if they are what shape and type (code, byte order) say."""
    dtype = NUMBER_TYPES.get((kind.code, kind.order)) if isinstance(kind, NumberType) else None
    if dtype is None:
        raise UserError("it holds values that are not numbers")
    if isinstance(data, str):
        try:
            data = data.encode("latin1")
        except UnicodeEncodeError as error:
            raise UserError("it holds text where numbers belong") from error
    if (
        not isinstance(data, bytes | memoryview)
        or not isinstance(shape, tuple)
        or len(shape) > 3
        or any(type(n) is not int or n < 0 for n in shape)
    ):
        raise UserError("it holds an array that is not plain bytes in at most 3 dimensions")
    if len(data) != dtype.itemsize * math.prod(shape):
        raise UserError(f"it holds an array of shape {_shown(shape)} with {len(data)} bytes, which is not its size")
    if 0 in shape:  # then the other sizes may be of any length, which numpy refuses with an error of its own
        shape = tuple(min(n, 1000) for n in shape)
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


class NumberType:
    """Stands in for numpy.dtype."""

    __slots__ = ("code", "order")

    def __init__(self, code: object, *_: object) -> None:
        self.code = code if isinstance(code, str) else ""
        self.order = "|"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        # (version, byte order, subtype, field names, fields, size, alignment, flags)
        self.order = state[1] if isinstance(state[1], str) else ""
        if any(item is not None for item in state[2:5]):
            raise UserError("it holds records, not plain numbers")


class _Array:
    """Stands in for what numpy's `_reconstruct` makes: it only remembers its state."""

    __slots__ = ("data", "fortran", "shape", "type")

    def __init__(self) -> None:
        self.shape: Any = None
        self.type: Any = None
        self.fortran: Any = None
        self.data: Any = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, self.shape, self.type, self.fortran, self.data = state


def _reconstruct(*_: object) -> _Array:
    return _Array()


def _encode(text: str, encoding: str) -> str:
    """Stands in for _codecs.encode, by which Python 3 wrote bytes into pickles of protocol 2.

    The text itself is returned, which `numbers_from` encodes: a pickle may call this a million times on one long text.
    """
    if encoding not in ("latin1", "latin-1"):
        raise UserError("it holds text in an encoding other than latin1")
    return text


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


def _check_opcodes(data: memoryview) -> None:
    """Refuse whatever an array of arrays does not need, and lengths beyond the data, before anything is built.

    A loop of its own, because `pickletools.genops` takes four times as long.
    """
    position, containers, end = 0, 0, len(data)
    while position < end:
        code = data[position]
        position += 1
        size = _SIZES.get(code)
        if size is not None:
            position += size
            if code in _CONTAINERS:
                containers += 1
                if containers > position // BYTES_PER_CONTAINER + SLACK:
                    raise UserError("its pickle has more lists and tuples than arrays of numbers need")
            elif code == _STOP:
                return
        elif code in _LENGTHS:
            start = position + _LENGTHS[code]
            position = start + int.from_bytes(data[position:start], "little")
        elif code == _LONG_BINPUT:
            position += 4
            # The memo is an array up to the largest index, and every entry before it needs at least one byte.
            if int.from_bytes(data[position - 4 : position], "little") > position:
                raise UserError("its pickle asks for more memory than it has content")
        elif code == _FRAME:
            position += 8
            if int.from_bytes(data[position - 8 : position], "little") > end - position:
                raise UserError("its pickle has a frame that is longer than its content")
        elif code == _GLOBAL:
            position = _check_global(data, position)
        else:
            raise UserError(f"its pickle uses {_opcode_name(code)}, which arrays of numbers do not need")
    raise EOFError("it ends too early")


def _check_global(data: memoryview, position: int) -> int:
    """Check the two names, a line each, from `position` on; returns where they end."""
    lines = bytes(data[position : position + 2 * MAX_NAME]).split(b"\n", 2)
    if len(lines) < 3:
        raise UserError("its pickle asks for a name without end")
    module, name = (line.decode("utf-8", "backslashreplace") for line in lines[:2])
    _stand_in(module, name)
    return position + len(lines[0]) + len(lines[1]) + 2


def _opcode_name(code: int) -> str:
    return next((name for name, other in _CODES.items() if other == code), f"the unknown opcode {code}")


def _stand_in(module: str, name: str) -> Any:
    try:
        return STAND_INS[module, name]
    except KeyError:
        raise UserError(f"its pickle asks for {module}.{name}, which arrays of numbers do not need") from None


def _inner_arrays(outer: object, size: int) -> list[_Array]:
    """The arrays of a pickle of `size` bytes, if it is one row of arrays."""
    if not isinstance(outer, _Array) or not isinstance(outer.data, list):
        raise UserError("it is not an array of arrays")
    inner = outer.data
    if not all(isinstance(array, _Array) for array in inner) or tuple(outer.shape) != (len(inner),):
        raise UserError("it is not one row of arrays")
    # One array named a million times would unpack to far more than the file says.
    if (len(inner) > SLACK and len(set(map(id, inner))) < len(inner)) or sum(map(_data_size, inner)) > size:
        raise UserError("it names one array many times over")
    return inner


def _data_size(array: _Array) -> int:
    return len(array.data) if isinstance(array.data, str | bytes) else 0


def _shown(shape: tuple[int, ...]) -> str:
    """A shape for an error message; Python refuses to print integers of thousands of digits."""
    sizes = [str(n) if n < 10**18 else "(a huge number)" for n in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
