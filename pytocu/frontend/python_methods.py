"""Attributes and methods of Python numbers known only at run time."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

from pytocu.errors import MissingAttributeError, UnsupportedError
from pytocu.frontend.attributes import Method
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.numpy_calls import call_handler
from pytocu.frontend.operators import unary
from pytocu.frontend.refused import REFUSED
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, python_type_name
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_COMPLEX, WEAK_FLOAT

_NUMPY_SCALAR = "this is a Python scalar; np.float64(x) makes it a NumPy scalar"


def number_attribute(context: Context, value: Value, name: str) -> Any:
    """``value.name`` of a Python number.

    Raises
    ------
    UnsupportedError
        Python has the attribute and pytocu does not.
    MissingAttributeError
        Python has no such attribute.
    """
    kind = python_type_name(value)
    if not hasattr(getattr(builtins, kind), name):
        raise MissingAttributeError(f"'{kind}' object has no attribute '{name}'", context.loc, _NUMPY_SCALAR)
    match name:
        case "real" | "imag" if value.type == WEAK_COMPLEX:
            return on_host(context, f"python_{name}", value)
        case "real" | "numerator":
            return unary(context, "positive", value)
        case "imag":
            return 0.0 if value.type == WEAK_FLOAT else 0
        case "denominator":
            return 1
    if name in NUMBER_METHODS:
        return Method(value, name)
    help = REFUSED.get(name, "return the number, and ask outside the function")
    raise UnsupportedError(f"the attribute {name} of a Python {kind}", context.loc, help)


def _conjugate(context: Context, value: Value) -> Value:
    if value.type == WEAK_COMPLEX:
        return on_host(context, "python_conjugate", value)
    return unary(context, "positive", value)


def _is_integer(context: Context, value: Value) -> Any:
    return on_host(context, "python_is_integer", value) if value.type == WEAK_FLOAT else True


def _of_int(row: str, context: Context, value: Value) -> Value:
    return on_host(context, row, unary(context, "positive", value))


NUMBER_METHODS: dict[str, Handler] = {
    "bit_count": partial(_of_int, "python_bit_count"),
    "bit_length": partial(_of_int, "python_bit_length"),
    "conjugate": _conjugate,
    "is_integer": _is_integer,
}
"""Methods by name: ``(context, value)``."""


def call_method(method: Method, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context) -> Any:
    """Call a method of a number."""
    handler = partial(NUMBER_METHODS[method.name], context)
    return call_handler(method.value, f"{python_type_name(method.value)}.{method.name}", handler, args, kwargs, context)
