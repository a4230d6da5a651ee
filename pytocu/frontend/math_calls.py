"""``math`` and Python's conversions on Python scalars known only at run time.

They live on the host, so Python's own functions run there.  A NumPy scalar becomes Python's number first, as ``float(x)`` does,
for which the host waits (`pytocu.frontend.reading`) unless a kernel computes what is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.numbers import as_numpy, item, perhaps_complex
from pytocu.frontend.operators import attempt, binary, elementwise
from pytocu.frontend.reading import no_scalar, read_float, read_int, scalar_of
from pytocu.frontend.rounding import around
from pytocu.frontend.values import Context, as_value, describe, dimensions, is_array, is_numpy_scalar, is_weak, python_type_name
from pytocu.ir.core import Value
from pytocu.ir.python_functions import PYTHON_FUNCTIONS
from pytocu.ir.types import F64, WEAK_COMPLEX, WeakType, element

REFUSED = {
    "dist": "write math.hypot(a - c, b - d)",
    "sumprod": "write a * b + c * d",
}
"""Functions of ``math`` that are not compiled on run-time values, and what to write."""

_PARTS = {"modf": ("fraction", "integer"), "frexp": ("mantissa", "exponent")}
_NUMPY = {"pow": "power", "lgamma": "", "gamma": "", "erf": "", "erfc": "", "fsum": "sum", "ulp": "spacing"}


def on_host(context: Context, row: str, *values: Any) -> Value:
    """One step on Python scalars."""
    return context.builder.emit(row, [as_value(context, v) for v in values])


_OF_INTS = ("comb", "factorial", "gcd", "isqrt", "lcm", "perm")
"""Functions that take ints and what has ``__index__``; the others take ``float(x)``."""


def _python_number(context: Context, name: str, k: int, value: Any) -> Any:
    """The Python number that a function of ``math`` makes of its argument `k`."""
    if is_weak(value):
        return value
    known = _NUMPY.get(name, name)
    help = f"use np.{known}, which takes scalars and arrays" if known else "give it one element: x[i]"
    if is_array(value) and name in _OF_INTS and (dimensions(value) or not element(value.type).is_integer):
        raise raised(TypeError("only integer scalar arrays can be converted to a scalar index"), context.loc, help)
    if is_array(value) and dimensions(value):
        raise no_scalar(context, value, help)
    if isinstance(value, Value):
        dtype = element(value.type)
        said = "ndarray" if is_array(value) else dtype.numpy.type.__name__
        if name in _OF_INTS:
            if dtype.kind in "iu":
                return read_int(context, scalar_of(context, value, "int"), f"math.{name}")
            raise raised(TypeError(f"'numpy.{said}' object cannot be interpreted as an integer"), context.loc, help)
        elif name == "trunc" and (said == "ndarray" or dtype is not F64):
            raise raised(TypeError(f"type numpy.{said} doesn't define __trunc__ method"), context.loc, help)
        elif not (name == "ldexp" and k) and name != "prod":
            return read_float(context, scalar_of(context, value, "float"))
    raise UnsupportedError(f"math.{name} of {describe(value)} is not compiled", context.loc, help)


def _math_handler(name: str) -> Callable[..., Any]:
    def handler(frame: Any, *values: Any, **keywords: Any) -> Any:
        context: Context = frame.context
        if name == "fsum":
            if len(values) == 1 and (is_weak(values[0]) or is_numpy_scalar(values[0])):
                raise raised(TypeError(f"'{python_type_name(values[0])}' object is not iterable"), context.loc)
            if len(values) == 1 and isinstance(values[0], (tuple, list)):
                values = tuple(values[0])
            else:
                attempt(context, math.fsum, *[()] * len(values))
                raise UnsupportedError("math.fsum of what is no tuple or list", context.loc, "use np.sum(x)")
        if name == "isclose":
            if len(values) != 2:
                attempt(context, math.isclose, *[1] * len(values))
            values = (*values, keywords.pop("rel_tol", 1e-09), keywords.pop("abs_tol", 0.0))
        for keyword in keywords:
            raise UnsupportedError(f"math.{name} with the argument {keyword}= is not compiled", context.loc)
        if name in REFUSED:
            raise UnsupportedError(f"math.{name} of values known only at run time is not compiled", context.loc, REFUSED[name])
        arity = 1 if name in _PARTS else PYTHON_FUNCTIONS[f"math_{name}"].arity
        if arity is not None and len(values) != arity:
            # Python's own sentence; it counts before it looks at what it is given.
            attempt(context, getattr(math, name), *[1] * len(values))
        values = tuple(_python_number(context, name, k, item(context, v)) for k, v in enumerate(values))
        if name in _PARTS:
            return tuple(on_host(context, f"math_{name}_{part}", *values) for part in _PARTS[name])
        return on_host(context, f"math_{name}", *values)

    return handler


MATH: dict[Any, Callable[..., Any]] = {
    getattr(math, name): _math_handler(name)
    for name in dir(math)
    if name in REFUSED or name in _PARTS or f"math_{name}" in PYTHON_FUNCTIONS
}
"""Functions of ``math`` with a meaning on run-time values, or refused by name: ``(frame, *args)``."""


def _weak_kind(value: Value) -> str:
    """Python's type of a Python scalar; empty for what a kernel computes."""
    return value.type.kind if isinstance(value.type, WeakType) else ""


def python_float(frame: Any, value: Value) -> Any:
    """``float(x)``."""
    value = item(frame.context, value)
    match _weak_kind(value):
        case "":
            return read_float(frame.context, as_numpy(frame.context, scalar_of(frame.context, value, "float"), F64.name))
        case "float" if not perhaps_complex(value):
            return value
    return on_host(frame.context, "python_float", value)


def python_complex(frame: Any, real: Any = 0, imag: Any = 0) -> Any:
    """``complex(x)`` and ``complex(x, y)``."""
    values = [as_value(frame.context, item(frame.context, v)) for v in (real, imag)]
    numbers: list[Any] = []
    for value in values:
        number = value
        if not _weak_kind(value):
            number = scalar_of(frame.context, value, "complex")
            if element(value.type).kind == "c":
                text = f"complex() of a value known only at run time ({value.type}) is not compiled"
                raise UnsupportedError(text, frame.context.loc, "use x + 1j * y, which stays in the kernel")
            number = read_float(frame.context, number)
        numbers.append(number)
    return on_host(frame.context, "python_complex", *numbers)


def python_int(frame: Any, value: Value) -> Any:
    """``int(x)``."""
    value = item(frame.context, value)
    match _weak_kind(value):
        case "":
            number = scalar_of(frame.context, value, "int")
            # Python's int or NumPy's, it is Python's now.
            whole = element(number.type).is_integer
            return read_int(frame.context, as_numpy(frame.context, number, element(number.type).name) if whole else number)
        case "int":
            return value
    return on_host(frame.context, "python_int", value)


def python_round(frame: Any, number: Value, ndigits: Any = None) -> Any:
    """``round(x)`` and ``round(x, ndigits)``."""
    context: Context = frame.context
    if is_array(number):
        raise raised(TypeError("type numpy.ndarray doesn't define __round__ method"), context.loc, "use np.round(x)")
    if number.type == WEAK_COMPLEX or (not _weak_kind(number) and element(number.type).kind in "bc"):
        text = f"type {python_type_name(number)} doesn't define __round__ method"
        raise raised(TypeError(text), context.loc, "use np.round(x)")
    if not _weak_kind(number) and ndigits is not None:
        return around(context, number, ndigits)
    number = item(context, number)
    kind = _weak_kind(number)
    if not kind:
        return read_int(context, number if element(number.type).is_integer else elementwise(context, "rint", number), "round()")
    if ndigits is None:
        return python_int(frame, number) if kind != "float" else on_host(context, "python_round", number)
    if isinstance(ndigits, np.integer):
        ndigits = int(ndigits)
    elif isinstance(ndigits, Value) and not _weak_kind(ndigits) and element(ndigits.type).is_integer and not is_array(ndigits):
        ndigits = read_int(context, ndigits, "round()")
    return on_host(context, "python_round_to", ndigits, binary(context, "add", number, 0) if kind == "bool" else number)
