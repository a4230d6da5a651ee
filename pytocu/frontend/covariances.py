"""``cov`` and ``corrcoef``: products of centred rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend import statistics
from pytocu.frontend.attributes import target_dtype, transpose
from pytocu.frontend.averages import average
from pytocu.frontend.creation import diag
from pytocu.frontend.joining import as_row, concatenate
from pytocu.frontend.literals import known_array
from pytocu.frontend.matrix_products import matrix_product
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reductions import combined, length, reduce
from pytocu.frontend.requirements import is_length, require, require_equal
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import Dim, dim_min, lower_bound
from pytocu.ir.types import F64, element


def cov(
    context: Context,
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Value:
    """The covariances of rows, or of columns"""
    ddof, bias = known_option(context, ddof, "ddof="), known_option(context, bias, "bias=")
    if ddof is not None and ddof != attempt(context, int, ddof):
        raise raised(ValueError("ddof must be integer"), context.loc)
    values = [array_of(context, v) for v in (m, *([] if y is None else [y]))]
    for name, value in zip("my", values, strict=False):
        if len(dimensions(value)) > 2:
            raise raised(ValueError(f"{name} has more than 2 dimensions"), context.loc)
    if dtype is None:
        kept = promote.result_dtype((*(element(v.type) for v in values), F64))
    else:
        kept = target_dtype(context, dtype)
    rows = [_rows(context, v, bool(known_option(context, rowvar, "rowvar=")), number) for number, v in enumerate(values)]
    rows = [cast(context, r, kept) for r in rows]
    table = rows[0]
    if is_length(context, dimensions(table)[0], 0):
        # Whatever stands beside no variables, and in whatever dtype.
        return array_of(context, known_array(context, np.zeros((0, 0))))
    if len(rows) > 1:
        for part in rows:
            # There are two variables at least, and the result is a matrix.
            text = "np.cov of no variables beside others is not compiled"
            require_equal(context, dim_min(dimensions(part)[0], 1), 1, "UnsupportedError", text)
        table = concatenate(context, rows, 0)
    if ddof is None:
        # NumPy's own comparison: None is no 0.
        ddof = 1 if bias == 0 else 0
    weights, importance = None, None
    if fweights is not None:
        weights = _weights(context, fweights, "fweights", table)
    if aweights is not None:
        importance = _weights(context, aweights, "aweights", table)
        weights = importance if weights is None else elementwise(context, "multiply", weights, importance)
    # An array of integers holds no distances from a mean; NumPy says so.
    attempt(context, np.cov, np.ones((1, 2)), dtype=kept.numpy)
    fact: Value
    if weights is None:
        middle = statistics.mean(context, table, 1)
        fact = cast(context, length(context, dimensions(table)[1] - int(ddof)), F64)
    else:
        middle = average(context, table, 1, weights)
        total = reduce(context, "add", weights, 0)
        fact = total
        if ddof != 0:
            lost: Any = ddof
            if importance is not None:
                squares = reduce(context, "add", elementwise(context, "multiply", weights, importance), 0)
                lost = elementwise(context, "divide", elementwise(context, "multiply", float(ddof), squares), total)
            fact = elementwise(context, "subtract", total, lost)
    centred = elementwise(context, "subtract", table, context.builder.emit("newaxis", (middle,), {"axis": 1}))
    centred = cast(context, centred, kept)
    other = centred if weights is None else elementwise(context, "multiply", centred, as_row(context, weights))
    other = transpose(context, other, ())
    if element(other.type).kind == "c":
        other = elementwise(context, "conjugate", other)
    made = matrix_product(context, centred, other)
    # Where no degree of freedom is left NumPy divides by 0.
    fact = elementwise(context, "where", elementwise(context, "less_equal", fact, 0), 0.0, fact)
    made = cast(context, elementwise(context, "multiply", made, elementwise(context, "divide", 1, fact)), element(made.type))
    return made if len(rows) > 1 else _squeezed(context, made)


def _rows(context: Context, value: Value, by_rows: bool, number: int) -> Value:
    """A matrix whose rows are the variables."""
    match len(dimensions(value)):
        case 0:
            return as_row(context, as_row(context, value))
        case 1:
            return as_row(context, value)
    if by_rows or (number == 1 and dimensions(value)[0] == 1):
        return value
    return transpose(context, value, ())


def _weights(context: Context, given: Any, name: str, table: Value) -> Value:
    value = cast(context, array_of(context, given), F64)
    if len(dimensions(value)) > 1:
        raise raised(RuntimeError(f"cannot handle multidimensional {name}"), context.loc)
    if not dimensions(value):
        raise raised(IndexError("tuple index out of range"), context.loc)
    sentence = f"incompatible numbers of samples and {name}"
    require_equal(context, dimensions(value)[0], dimensions(table)[1], "RuntimeError", sentence)

    def every(condition: Value) -> Value:
        return combined(context, "bitwise_and", (condition,), (0,), False)[0]

    if name == "fweights":
        whole = elementwise(context, "equal", value, elementwise(context, "rint", value))
        value = require(context, value, every(whole), "TypeError", "fweights must be integer")
    positive = elementwise(context, "invert", elementwise(context, "less", value, 0))
    return require(context, value, every(positive), "ValueError", f"{name} cannot be negative")


def _squeezed(context: Context, value: Value) -> Value:
    """The matrix, or the number of a single variable."""
    size = dimensions(value)[0]
    if size == 1:
        for _ in range(2):
            value = context.builder.emit("index", (value,), {"axis": 0, "at": 0, "keep": True})
    elif isinstance(size, Dim) and (lower_bound(size) or 0) < 2 and is_length(context, size, 1) is None:
        text = "np.cov of a matrix with as many rows as may be one: whether the result has axes is known only at run time"
        raise UnsupportedError(text, context.loc, "give the number of rows: x.reshape(3, -1)")
    return value


def corrcoef(context: Context, x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Value:
    """The correlation coefficients of rows, or of columns"""
    made = cov(context, x, y, rowvar, dtype=dtype)
    if not dimensions(made):
        return elementwise(context, "divide", made, made)
    spread = diag(context, made)
    if element(spread.type).kind == "c":
        spread = context.builder.emit("real", (spread,))
    spread = elementwise(context, "sqrt", spread)
    made = elementwise(context, "divide", made, context.builder.emit("newaxis", (spread,), {"axis": 1}))
    made = elementwise(context, "divide", made, as_row(context, spread))
    if element(made.type).kind != "c":
        return elementwise(context, "clip", made, -1, 1)
    parts = [elementwise(context, "clip", context.builder.emit(part, (made,)), -1, 1) for part in ("real", "imag")]
    return context.builder.emit("compose", parts)


FUNCTIONS: dict[str, Handler] = {"cov": cov, "corrcoef": corrcoef}
"""By NumPy's name; parameters are called as NumPy calls them."""
