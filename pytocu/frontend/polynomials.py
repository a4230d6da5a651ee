"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.creation import arange
from pytocu.frontend.indexing import subscript
from pytocu.frontend.joining import append, concatenate
from pytocu.frontend.operators import attempt, elementwise, known_int
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of, broadcast
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_strong, dim_value, dimensions, is_number
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max
from pytocu.ir.types import element, scalar


def polyval(context: Context, p: Any, x: Any) -> Value:
    """The value of a polynomial, whose number of coefficients is known, by Horner's rule"""
    value, coefficients = array_of(context, x), array_of(context, p)
    if not dimensions(coefficients):
        raise raised(TypeError("iteration over a 0-d array"), context.loc)
    count = dimensions(coefficients)[0]
    if not isinstance(count, int):
        raise UnsupportedError(
            "np.polyval of coefficients whose number is known only at run time",
            context.loc,
            "write a loop, for k in range(len(p)): y = y * x + p[k], or pass the coefficients as a tuple",
        )
    made = context.builder.const(0, scalar(element(value.type)))
    if dimensions(value):
        made = broadcast(context, made, dimensions(value))
    for number in range(count):
        coefficient = as_strong(context, subscript(context, coefficients, number))
        made = elementwise(context, "add", elementwise(context, "multiply", made, value), coefficient)
    return made if count else context.builder.emit("copy", (array_of(context, made),))


def _vector(context: Context, p: Any) -> Value:
    value = array_of(context, p)
    return value if dimensions(value) else context.builder.emit("newaxis", (value,), {"axis": 0})


def _by_powers(name: str, row: str, doc: str) -> Handler:
    """``np.polyadd`` and ``np.polysub``: zeros stand for the powers that one of them lacks."""

    def handler(context: Context, a1: Any, a2: Any) -> Value:
        first, second = _vector(context, a1), _vector(context, a2)
        attempt(context, getattr(np, name), stand_in(first), stand_in(second))
        lengths = [dimensions(v)[0] for v in (first, second)]
        made: list[Value] = []
        for value, own, other in ((first, *lengths), (second, *lengths[::-1])):
            missing = dim_max(other - own, 0)
            if missing != 0 and len(dimensions(value)) > 1:
                sentence = (
                    "all the input arrays must have same number of dimensions, but the array at index 0 has 1 dimension(s) and "
                    f"the array at index 1 has {len(dimensions(value))} dimension(s)"
                )
                require_equal(context, missing, 0, "ValueError", sentence)
                value = _of_length(context, value, dim_max(own, other))
            elif missing != 0:
                zero = context.builder.const(0, scalar(element(value.type)))
                rest = broadcast(context, zero, (missing,))
                value = concatenate(context, (rest, value))
                value = _of_length(context, value, dim_max(own, other))
            made.append(value)
        return elementwise(context, row, *made)

    handler.__doc__ = doc
    return handler


def _of_length(context: Context, value: Value, size: Any) -> Value:
    """An array whose length has another spelling."""
    shape = (size, *dimensions(value)[1:])
    return context.builder.emit("slice", (value,), {"start": (0,) * len(shape), "step": (1,) * len(shape), "size": shape})


def polyder(context: Context, p: Any, m: Any = 1) -> Value:
    """The coefficients of a derivative"""
    order = known_int(context, m, "m=")
    if order < 0:
        raise raised(ValueError("Order of derivative must be positive (see polyint)"), context.loc)
    value = array_of(context, p)
    attempt(context, np.polyder, stand_in(value))
    made = value
    # Of rows NumPy begins another derivative, whose lengths have to fit.
    for _ in range(order + (len(dimensions(value)) > 1)):
        value = made
        degree = dimensions(value)[0] - 1
        powers = arange(context, dim_value(context, degree), 0, -1)
        made = elementwise(context, "multiply", subscript(context, value, slice(None, -1)), powers)
    return made if len(dimensions(made)) == 1 else value


_MOST = 256
"""Integrals, each of which is a step of the code."""


def polyint(context: Context, p: Any, m: Any = 1, k: Any = None) -> Value:
    """The coefficients of an integral, with its constant"""
    order = known_int(context, m, "m=")
    if order < 0:
        raise raised(ValueError("Order of integral must be positive (see polyder)"), context.loc)
    if k is not None and (order != 1 or not is_number(k)):
        help = "integrate once for each constant: np.polyint(np.polyint(p, k=1.5), k=2.5)"
        raise UnsupportedError("np.polyint with k= that is not one number known now, for m=1", context.loc, help)
    if order > _MOST:
        raise UnsupportedError(f"np.polyint with m={order}", context.loc, "each integral is written out: integrate in a loop")
    value = array_of(context, p)
    attempt(context, np.polyint, stand_in(value))
    for _ in range(order):
        powers = arange(context, dim_value(context, dimensions(value)[0]), 0, -1)
        value = append(context, elementwise(context, "divide", value, powers), 0.0 if k is None else k)
    return value


FUNCTIONS: dict[str, Handler] = {
    "polyval": polyval,
    "polyadd": _by_powers("polyadd", "add", "The coefficients of a sum"),
    "polysub": _by_powers("polysub", "subtract", "The coefficients of a difference"),
    "polyder": polyder,
    "polyint": polyint,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
