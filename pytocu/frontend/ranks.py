"""Formulas over singular values: condition numbers and ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.decompositions import singular_values
from pytocu.frontend.operators import elementwise, known_option
from pytocu.frontend.reductions import combined, reduce
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, cast, dim_value, dimensions
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, dim_min
from pytocu.ir.types import I64, element


def cond(context: Context, x: Any, p: Any = None) -> Value:
    """The condition number by singular values: the largest over the smallest one"""
    value = array_of(context, x)
    if known_option(context, p, "p=") not in (None, 2, -2):
        help = "write np.linalg.norm(x, p) * np.linalg.norm(np.linalg.inv(x), p)"
        raise UnsupportedError(f"np.linalg.cond with p={p!r} is not compiled", context.loc, help)
    numbers = elementwise(context, "logical_not", elementwise(context, "isnan", value))
    value = require(context, value, numbers, "UnsupportedError", "np.linalg.cond of a matrix with NaN is not compiled")
    found = singular_values(context, value, False)
    for size in dimensions(value)[-2:]:
        sentence = "np.linalg.cond of an empty matrix is not compiled"
        require_equal(context, dim_min(size, 1), 1, "UnsupportedError", sentence)
    last = len(dimensions(found)) - 1
    largest, smallest = (
        context.builder.emit("index", (found,), {"axis": last, "at": at}) for at in (0, dimensions(found)[last] - 1)
    )
    made = elementwise(context, "divide", *((smallest, largest) if p == -2 else (largest, smallest)))
    # 0 / 0 is infinite.
    return elementwise(context, "where", elementwise(context, "isnan", made), element(made.type).numpy.type(np.inf), made)


def matrix_rank(
    context: Context, A: Any, tol: Any = None, hermitian: Any = False, *, rtol: Any = None
) -> Value:
    """How many singular values are above a tolerance"""
    value = array_of(context, A)
    if len(dimensions(value)) < 2:
        raise UnsupportedError("np.linalg.matrix_rank of a vector is not compiled", context.loc, "write np.any(x != 0)")
    if tol is not None and rtol is not None:
        raise raised(ValueError("`tol` and `rtol` can't be both set."), context.loc)
    found = singular_values(context, value, bool(known_option(context, hermitian, "hermitian=")))
    dtype = element(found.type)
    if tol is None:
        rows, columns = dimensions(value)[-2:]
        eps = np.finfo(dtype.numpy).eps
        share = elementwise(context, "multiply", dim_value(context, dim_max(rows, columns)), eps) if rtol is None else rtol
        zero = dtype.numpy.type(0)
        largest = reduce(context, "maximum", found, -1, keepdims=True, initial=zero)
        tol = elementwise(context, "multiply", largest, _column(context, share))
    else:
        tol = _column(context, tol)
    above = cast(context, elementwise(context, "greater", found, tol), I64)
    return combined(context, "add", (above,), (len(dimensions(above)) - 1,), False)[0]


def _column(context: Context, value: Any) -> Any:
    """A tolerance for each matrix beside the singular values; a number is that of all."""
    if not isinstance(value, Value) or not dimensions(value):
        return value
    return context.builder.emit("newaxis", (value,), {"axis": len(dimensions(value))})


FUNCTIONS: dict[str, Handler] = {"linalg.cond": cond, "linalg.matrix_rank": matrix_rank}
"""By NumPy's name; parameters are called as NumPy calls them."""
