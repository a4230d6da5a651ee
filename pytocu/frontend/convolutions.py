"""``convolve`` and ``correlate`` of vectors: sums of products of shifted elements.

A kernel computes each element of the result as a sum; nothing but the operands is read.  A short operand whose length is
known is written out, as a stencil of slices.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.frontend.indexing import subscript
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reductions import combined, length, stand_in
from pytocu.frontend.requirements import refuse_later, require_equal
from pytocu.frontend.reshaping import array_of, broadcast
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv
from pytocu.ir.types import BOOL, F16, F32, element, scalar

SHORT = 16
"""Elements of an operand that is written out."""


def convolve(context: Context, a: Any, v: Any, mode: Any = "full") -> Value:
    """Sums of products of one vector with another backwards, for every shift of it"""
    first, second = (_vector(context, x) for x in (a, v))
    known_option(context, mode, "mode=")
    # NumPy looks at the numbers of axes later.
    n, m = dimensions(first)[0], dimensions(second)[0]
    for name, size in (("a", dim_max(n, m)), ("v", dim_min(n, m))) if _exchanged() else (("a", n), ("v", m)):
        require_equal(context, dim_min(size, 1), 1, "ValueError", f"{name} cannot be empty")
    if len(dimensions(first)) > 1 or len(dimensions(second)) > 1:
        refuse_later(context, n + m, "ValueError", "object too deep for desired array")
        return first
    attempt(context, np.convolve, stand_in(first), stand_in(second), mode)
    return _summed(context, first, second, _mode(mode))


@lru_cache
def _exchanged() -> bool:
    """Whether NumPy exchanges a vector and a longer one before it looks whether they are empty, which older versions do."""
    try:
        np.convolve([], [1.0])
    except ValueError as error:
        return str(error).startswith("v")
    return False


def correlate(context: Context, a: Any, v: Any, mode: Any = "valid") -> Value:
    """Sums of products of one vector with another, conjugated, for every shift of it"""
    first, second = array_of(context, a), array_of(context, v)
    known_option(context, mode, "mode=")
    attempt(context, np.correlate, stand_in(first), stand_in(second), mode)
    for name, operand in (("first", first), ("second", second)):
        sentence = f"{name} array argument cannot be empty"
        require_equal(context, dim_min(dimensions(operand)[0], 1), 1, "ValueError", sentence)
    if element(second.type).kind == "c":
        second = elementwise(context, "conjugate", second)
    backwards = subscript(context, second, slice(None, None, -1))
    return _summed(context, first, backwards, _mode(mode), turned=True)


def _mode(mode: Any) -> str:
    """The mode by its name; NumPy takes 0, 1 and 2 as well."""
    names = ("valid", "same", "full")
    return next(n for n in names if n[0] == mode[0].lower()) if isinstance(mode, str) else names[mode]


def _vector(context: Context, value: Any) -> Value:
    made = array_of(context, value)
    return made if dimensions(made) else context.builder.emit("newaxis", (made,), {"axis": 0})


def _summed(context: Context, first: Value, second: Value, mode: str, turned: bool = False) -> Value:
    """The convolution of two vectors, or the part of it that the mode names."""
    (n,), (m,) = dimensions(first), dimensions(second)
    dtype = promote.result_dtype((element(first.type), element(second.type)))
    short, long = dim_min(n, m), dim_max(n, m)
    match mode:
        case "full":
            start, size = 0, n + m - 1
        case "valid":
            start, size = short - 1, long - short + 1
        case _:
            # The middle lies half of the shorter one behind the beginning; NumPy's correlate turns the result around
            # where the first one is the shorter.
            exchanged = dim_min(dim_max(m - n, 0), 1) if turned else 0
            start, size = floordiv(short - 1 + exchanged, 2), long
    kept = F32 if dtype is F16 else dtype
    a, b = cast(context, first, kept), cast(context, second, kept)
    if not (isinstance(m, int) and m <= SHORT) and isinstance(n, int) and n <= SHORT:
        a, b, n, m = b, a, m, n
    size = context.length(size)
    write = _written_out if isinstance(m, int) and m <= SHORT else _by_sums
    return cast(context, write(context, a, b, start, size), dtype)


def _terms(context: Context, first: Value, second: Value) -> Value:
    row = "bitwise_and" if element(first.type) is BOOL else "multiply"
    return elementwise(context, row, first, second)


def _written_out(context: Context, first: Value, second: Value, start: DimLike, size: DimLike) -> Value:
    """``first[k + start - j] * second[j]`` for each j, added up in the order of the elements of `first`."""
    (n,), (m,) = dimensions(first), dimensions(second)
    assert isinstance(m, int)
    zero = element(first.type).numpy.type(0)
    padded = first
    if m > 1:
        border = broadcast(context, context.builder.const(zero.item(), scalar(element(first.type))), (m - 1,))
        padded = context.builder.emit("concatenate", (border, first, border), {"axis": 0})
    place = context.builder.emit("iota", (), {"axis": 0, "shape": (size,)})
    total: Value | None = None
    for j in range(m - 1, -1, -1):
        attrs = {"start": (m - 1 - j + start,), "step": (1,), "size": (size,)}
        term = _terms(context, context.builder.emit("slice", (padded,), attrs), subscript(context, second, j))
        if element(first.type).kind in "fc" and m > 1:
            # An infinity times the zeros of the border is no number, and is no term.
            number = elementwise(context, "add", place, length(context, start + (-j)))
            term = elementwise(context, "where", _inside(context, number, n), term, zero)
        total = term if total is None else elementwise(context, _sum_row(first), total, term)
    assert total is not None
    return total


def _sum_row(value: Value) -> str:
    return "bitwise_or" if element(value.type) is BOOL else "add"


def _inside(context: Context, number: Value, size: DimLike) -> Value:
    below = elementwise(context, "less", number, length(context, size))
    return elementwise(context, "bitwise_and", elementwise(context, "greater_equal", number, 0), below)


def _by_sums(context: Context, first: Value, second: Value, start: DimLike, size: DimLike) -> Value:
    """As :func:`_written_out`, for lengths of run time: a sum over the elements of `second` for each element."""
    (n,), (m,) = dimensions(first), dimensions(second)

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    place = context.builder.emit("iota", (), {"axis": 0, "shape": (size, 1)})
    back = context.builder.emit("iota", (), {"axis": 1, "shape": (1, m)})
    if start != 0:
        place = apply("add", place, length(context, start))
    number = apply("subtract", place, back)
    safe = apply("maximum", apply("minimum", number, length(context, n + (-1))), 0)
    values = context.builder.emit("gather", (first, safe), {"axes": (0,), "at": 0})
    row = context.builder.emit("newaxis", (second,), {"axis": 0})
    terms = apply("where", _inside(context, number, n), _terms(context, values, row), element(first.type).numpy.type(0))
    return combined(context, _sum_row(first), (terms,), (1,), False)[0]


FUNCTIONS: dict[str, Handler] = {"convolve": convolve, "correlate": correlate}
"""By NumPy's name; parameters are called as NumPy calls them."""
