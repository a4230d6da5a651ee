"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.arange import arange
from pytocu.frontend.array_functions import truths
from pytocu.frontend.attributes import target_dtype
from pytocu.frontend.compaction import read_length
from pytocu.frontend.convolutions import convolve
from pytocu.frontend.indexing import subscript
from pytocu.frontend.joining import append, concatenate
from pytocu.frontend.layouts import laid_out_as
from pytocu.frontend.operators import attempt, elementwise, known_int
from pytocu.frontend.reductions import length, reduce, stand_in
from pytocu.frontend.requirements import refuse_later, require_equal
from pytocu.frontend.reshaping import array_of, broadcast
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_strong, cast, dim_value, dimensions, is_number
from pytocu.frontend.worded import after
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, dim_min
from pytocu.ir.types import element, scalar


def polyval(context: Context, p: Any, x: Any) -> Value:
    """The value of a polynomial by Horner's rule"""
    value, coefficients = array_of(context, x), array_of(context, p)
    if not dimensions(coefficients):
        raise raised(TypeError("iteration over a 0-d array"), context.loc)
    count = dimensions(coefficients)[0]
    if not isinstance(count, int):
        return _by_steps(context, coefficients, value)
    made = context.builder.const(0, scalar(element(value.type)))
    if dimensions(value):
        made = broadcast(context, made, dimensions(value))
    for number in range(count):
        coefficient = as_strong(context, subscript(context, coefficients, number))
        made = elementwise(context, "add", elementwise(context, "multiply", made, value), coefficient)
    if not count:
        made = context.builder.emit("copy", (array_of(context, made),))
    # NumPy begins with np.zeros_like(x).
    return laid_out_as(context, made, value, "K") if dimensions(made) == dimensions(value) else made


def _by_steps(context: Context, coefficients: Value, value: Value) -> Value:
    """The value of a polynomial of which a run knows how many coefficients there are."""
    start = context.builder.const(0, scalar(element(value.type)))
    if dimensions(value):
        start = broadcast(context, start, dimensions(value))
    else:
        text = "np.polyval of no coefficients at a number is not compiled: NumPy's result is an array without axes"
        require_equal(context, dim_min(dimensions(coefficients)[0], 1), 1, "UnsupportedError", text, help="pass a coefficient")
    made = after(context, _HORNER, {"p": coefficients, "x": value, "y": start, "range": range, "len": len}, "y")
    return laid_out_as(context, made, value, "K") if dimensions(made) == dimensions(value) else made


_HORNER = """
for k in range(len(p)):
    y = y * x + p[k]
"""


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
    if order and len(dimensions(value)) > 1:
        # NumPy divides rows as well, if the lengths fit, before it is surprised by them.
        elementwise(context, "divide", value, arange(context, dim_value(context, dimensions(value)[0]), 0, -1))
        try:
            np.polyint(stand_in(value))
        except ValueError as error:
            refuse_later(context, dimensions(value)[0] + dimensions(value)[-1], "ValueError", str(error))
        return value
    attempt(context, np.polyint, stand_in(value))
    for _ in range(order):
        powers = arange(context, dim_value(context, dimensions(value)[0]), 0, -1)
        value = append(context, elementwise(context, "divide", value, powers), 0.0 if k is None else k)
    return value


def polymul(context: Context, a1: Any, a2: Any) -> Value:
    """The coefficients of a product, without the zeros that its factors begin with"""
    factors = [_vector(context, p) for p in (a1, a2)]
    attempt(context, np.polymul, *map(stand_in, factors))
    return convolve(context, *(_without_leading(context, p) for p in factors))


def _without_leading(context: Context, value: Value) -> Value:
    """What follows the zeros at the beginning, and one zero where there is nothing else."""
    (size,) = dimensions(value)
    zero = broadcast(context, context.builder.const(0, scalar(element(value.type))), (1,))
    longer = concatenate(context, (value, zero))
    place = context.builder.emit("iota", (), {"axis": 0, "shape": (size,)})
    found = elementwise(context, "where", truths(context, value), place, length(context, size))
    first = read_length(context, reduce(context, "minimum", found, initial=length(context, size)), size, "first")
    return subscript(context, longer, slice(dim_value(context, first), dim_value(context, dim_max(size, first + 1))))


_PRODUCT = """
made = zeros(len(roots) + 1, dtype)
made[0] = 1
for k in range(len(roots)):
    made[k + 1] = 0.0 + made[k] * -roots[k]
    made[1 : k + 1] -= roots[k] * made[:k]
"""


def poly(context: Context, seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial with real zeros"""
    roots = array_of(context, seq_of_zeros)
    if not dimensions(roots):
        raise raised(TypeError("dispatcher for __array_function__ did not return an iterable"), context.loc)
    dtype = element(roots.type).numpy
    if dtype.kind == "c" or len(dimensions(roots)) == 2:
        text = "np.poly of complex zeros or of a matrix: whether its coefficients are real depends on the data"
        raise UnsupportedError(text, context.loc, "pass real zeros, or multiply with np.convolve(p, np.array([1, -zero]))")
    attempt(context, np.poly, np.zeros((1,) * len(dimensions(roots)), dtype))
    (count,) = dimensions(roots)
    if count == 0:
        return 1.0
    text = "np.poly of no zeros, which is a Python float and no array"
    help = "leave the case to an if on the length"
    require_equal(context, dim_min(count, 1), 1, "UnsupportedError", text, help=help)
    # NumPy takes float64 for what its older letters of floats do not have.
    dtype = np.dtype(np.mintypecode(dtype.char))
    roots = cast(context, roots, target_dtype(context, dtype))
    return after(context, _PRODUCT, {"roots": roots, "dtype": dtype, "zeros": np.zeros, "len": len, "range": range}, "made")


_QUOTIENT = """
w = u[0] + v[0]
scale = 1.0 / v[0]
steps = len(u) - len(v) + 1
q = zeros(max(steps, 1), w.dtype)
r = u.astype(w.dtype)
for k in range(steps):
    d = scale * r[k]
    q[k] = d
    r[k : k + len(v)] -= d * v
found = (q, r, less_equal(absolute(r.astype(result_type(w.dtype, float))), 1e-8))
"""


def polydiv(context: Context, u: Any, v: Any) -> tuple[Value, Value]:
    """The coefficients of a quotient and of the remainder, without what is nearly zero at its beginning"""
    u, v = (elementwise(context, "add", _vector(context, p), 0.0) for p in (u, v))
    if len(dimensions(u)) > 1 or len(dimensions(v)) > 1:
        raise UnsupportedError("np.polydiv of what are no vectors", context.loc, "divide one row by one row")
    names = {"u": u, "v": v, "zeros": np.zeros, "len": len, "max": max, "range": range, "float": float}
    names |= {"less_equal": np.less_equal, "absolute": np.absolute, "result_type": np.result_type}
    q, r, close = after(context, _QUOTIENT, names, "found")
    (size,) = dimensions(r)
    place = context.builder.emit("iota", (), {"axis": 0, "shape": (size,)})
    last = length(context, size + (-1))
    held = elementwise(context, "where", close, last, place)
    first = reduce(context, "minimum", held, initial=last)
    return q, subscript(context, r, slice(dim_value(context, read_length(context, first, size, "first")), None))


FUNCTIONS: dict[str, Handler] = {
    "polyval": polyval,
    "polyadd": _by_powers("polyadd", "add", "The coefficients of a sum"),
    "polysub": _by_powers("polysub", "subtract", "The coefficients of a difference"),
    "polyder": polyder,
    "polyint": polyint,
    "polymul": polymul,
    "polydiv": polydiv,
    "poly": poly,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
