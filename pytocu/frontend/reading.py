"""Numbers that kernels compute as Python's, for which the host waits: ``float(x)``, ``int(x)``, ``bool(x)``, ``x.item()``.

What the host reads are numbers that are not negative, like lengths (`pytocu.frontend.compaction.read_length`).  An int is the
difference of two, what it has above 0 and what it has below; a float is the two halves of its 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import CompileError, UnsupportedError, raised
from pytocu.frontend.compaction import read_length
from pytocu.frontend.indexing import subscript
from pytocu.frontend.numbers import item
from pytocu.frontend.operators import attempt, binary, c_long, elementwise, example
from pytocu.frontend.requirements import is_length, require, require_equal
from pytocu.frontend.reshaping import ravel
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, cast, dim_value, dimensions, is_array, is_numpy_scalar, is_weak
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_min, may_repeat, product
from pytocu.ir.types import F64, I64, U64, WEAK_INT, element, scalar

_MOST = 2**63 - 1
_HALF = 2**32


def no_scalar(context: Context, value: Value, help: str) -> CompileError:
    """The error for an array with axes where Python's numbers are made of one: the installed NumPy's.

    Older versions take arrays of one element, which newer ones do not, and which is refused.
    """
    for lengths in ((2,), (1,)):
        try:
            float(np.zeros(lengths))
        except TypeError as error:
            if lengths == (1,) or any(d != 1 for d in dimensions(value)):
                return raised(TypeError(str(error)), context.loc, help)
    return UnsupportedError("a Python number of an array with axes is not compiled", context.loc, help)


def scalar_of(context: Context, value: Value, what: str) -> Value:
    """The NumPy scalar that a function of Python makes a number of.

    Raises
    ------
    TypeError
        An array with axes.
    """
    if is_array(value) and dimensions(value):
        help = f"use np.{ {'int': 'int64', 'float': 'float64', 'complex': 'complex128'}.get(what, 'rint')}(x)"
        raise no_scalar(context, value, help)
    return context.builder.emit("cast", (value,), {}, (scalar(element(value.type)),)) if is_array(value) else value


def read_bool(context: Context, value: Value) -> Any:
    """A NumPy bool as Python's; in a vectorized function the kernel has it."""
    if context.elements is not None:
        return item(context, value)
    number = read_length(context, cast(context, value, I64), 1, "truth")
    return binary(context, "not_equal", dim_value(context, number), 0)


def read_int(context: Context, value: Value, what: str = "int()") -> Any:
    """A real NumPy scalar as Python's int, without its fraction; one that int64 does not hold is refused.

    Raises
    ------
    UnsupportedError
        A complex number.
    """
    dtype = element(value.type)
    if dtype.kind == "c":
        _refuse_complex(context, value, "int")
    beyond = f"{what} of a number that int64 does not hold is not compiled"
    if dtype.kind == "f":
        value = cast(context, value, F64)
        number = elementwise(context, "logical_not", elementwise(context, "isnan", value))
        value = require(context, value, number, "ValueError", "cannot convert float NaN to integer")
        finite = elementwise(context, "logical_not", elementwise(context, "isinf", value))
        value = require(context, value, finite, "OverflowError", "cannot convert float infinity to integer")
        fits = elementwise(context, "less", elementwise(context, "absolute", value), float(2**63))
        value = require(context, value, fits, "UnsupportedError", beyond)
    elif dtype is U64:
        fits = elementwise(context, "less_equal", value, np.uint64(_MOST))
        value = require(context, value, fits, "UnsupportedError", beyond)
    number = cast(context, value, I64)
    if dtype.kind in "bu":
        return dim_value(context, _read(context, number, "number"))
    fits = elementwise(context, "not_equal", number, np.int64(-_MOST - 1))
    number = require(context, number, fits, "UnsupportedError", beyond)
    above = elementwise(context, "maximum", number, np.int64(0))
    # Beside a NumPy number, so that it is not asked whether Python's operator would give another one.
    below = elementwise(context, "maximum", elementwise(context, "subtract", np.int64(0), number), np.int64(0))
    return dim_value(context, _read(context, above, "above") - _read(context, below, "below"))


def read_float(context: Context, value: Value) -> Any:
    """A real NumPy scalar as Python's float.

    Raises
    ------
    UnsupportedError
        A complex number.
    """
    if element(value.type).kind == "c":
        _refuse_complex(context, value, "float")
    wide = cast(context, value, F64)
    bits = context.builder.emit("view", (wide,), {}, (scalar(U64),))
    low = elementwise(context, "bitwise_and", bits, np.uint64(_HALF - 1))
    high = elementwise(context, "right_shift", bits, np.uint64(32))
    halves = (high, "high"), (low, "low")
    words = [dim_value(context, read_length(context, cast(context, w, I64), _HALF - 1, name)) for w, name in halves]
    return context.builder.emit("python_from_words", words)


def read_number(context: Context, value: Value, *args: Any) -> Any:
    """Python's number of the same kind, of an array of one element or of the element at a position

    Raises
    ------
    UnsupportedError
        A complex number.
    """
    if context.elements is not None and not args and is_numpy_scalar(value):
        return item(context, value)
    if args:
        value = value if is_array(value) else context.builder.emit("as_array", (value,))
        places = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        attempt(context, np.zeros((1,) * len(dimensions(value))).item, *map(_first_place, places))
        if places:
            value = _at(context, value, places)
    if args and is_array(value) and dimensions(value):
        return read_number(context, value)
    elif is_array(value) and dimensions(value):
        sizes = dimensions(value)
        for size in filter(may_repeat, sizes):
            require_equal(context, size, 1, "ValueError", "can only convert an array of size 1 to a Python scalar")
        known = [is_length(context, size, 1) is not None for size in sizes if size != 1 and not may_repeat(size)]
        help = "say which one: x.item(0, 0)"
        if known and all(known):
            # A length of the call that is 1 is no other one here.
            sentence = "can only convert an array of size 1 to a Python scalar"
            require_equal(context, product(sizes), 1, "ValueError", sentence, help=help)
        elif known:
            raise UnsupportedError("item() of an array that is not known to have one element", context.loc, help)
        value = context.builder.emit("index", (ravel(context, value),), {"axis": 0, "at": 0})
    value = scalar_of(context, value, "item")
    match element(value.type).kind:
        case "b":
            return read_bool(context, value)
        case "i" | "u":
            return read_int(context, value, "item()")
        case "f":
            return read_float(context, value)
    text = f"a Python complex number of a value known only at run time ({value.type}) is not compiled"
    raise UnsupportedError(text, context.loc, "use its parts: float(x.real), float(x.imag)")


def _first_place(place: Any) -> Any:
    """The place 0, or what is none."""
    if isinstance(place, Value):
        if is_weak(place):
            return 0 if place.type == WEAK_INT else example(place)
        return np.zeros((1,) * len(dimensions(place)), element(place.type).numpy)[()]
    return 0 if isinstance(place, np.integer) or type(place) is int else place


def _at(context: Context, value: Value, args: tuple[Any, ...]) -> Value:
    """The element at a position on each axis, or of all elements in a row."""
    if len(args) == 1 and len(dimensions(value)) != 1:
        value = ravel(context, value)
        (size,), (index,) = dimensions(value), args
        if isinstance(index, (int, np.integer)) and -(2**63) <= index < 2**63:
            index = int(index)
            least = index + 1 if index >= 0 else -index
            sentence = f"index {index} is out of bounds for size {{2}}"
            require_equal(context, dim_min(size, least), least, "IndexError", sentence, size)
    elif len(args) != len(dimensions(value)):
        raise raised(ValueError("incorrect number of indices for array"), context.loc)
    for index in args:
        if isinstance(index, int):
            c_long(context, index)
    return subscript(context, value, args)


def _read(context: Context, number: Value, name: str) -> DimLike:
    return read_length(context, number, _MOST, name)


def _refuse_complex(context: Context, value: Value, what: str) -> None:
    text = f"{what}() of a complex number leaves its imaginary part out ({value.type})"
    raise UnsupportedError(text, context.loc, f"write {what}(x.real)")


METHODS: dict[str, Handler] = {"item": read_number}

__all__ = ["read_bool", "read_float", "read_int", "read_number", "scalar_of"]
