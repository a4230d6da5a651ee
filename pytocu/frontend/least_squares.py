"""``np.linalg.lstsq`` by singular values, ``np.linalg.multi_dot``, and equations of more axes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.frontend import library_calls
from pytocu.frontend.attributes import transpose
from pytocu.frontend.compaction import read_length
from pytocu.frontend.matrix_products import dot, matrix_product, write_product
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reductions import combined, length, reduce, stand_in
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of, ravel, reshape
from pytocu.frontend.statistics import squared
from pytocu.frontend.values import Context, cast, dim_value, dimensions
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, dim_min, product
from pytocu.ir.types import F64, I32, I64, DType, element


def lstsq(context: Context, a: Any, b: Any, rcond: Any = None) -> tuple[Value, Value, Value, Value]:
    """The least-squares solution of ``a @ x = b`` by singular values, the sums of squared residuals, the rank, the values"""
    matrix, right = array_of(context, a), array_of(context, b)
    rcond = known_option(context, rcond, "rcond=")
    attempt(context, np.linalg.lstsq, stand_in(matrix), stand_in(right), rcond)
    return solved(context, matrix, right, rcond)[:4]


def solved(context: Context, matrix: Value, right: Value, rcond: Any) -> tuple[Value, Value, Value, Value, Value]:
    """What :func:`lstsq` gives, and the sums of squares of all right sides; the share may be a run-time value here."""
    dtype = promote.result_dtype(tuple(_floating(element(v.type)) for v in (matrix, right)))
    matrix, right = cast(context, matrix, dtype), cast(context, right, dtype)
    vector = len(dimensions(right)) == 1
    rows, columns = dimensions(matrix)
    require_equal(context, rows, dimensions(right)[0], "LinAlgError", "Incompatible dimensions")
    least = dim_min(rows, columns)
    require_equal(context, dim_min(least, 1), 1, "UnsupportedError", "np.linalg.lstsq of an empty matrix is not compiled")
    if vector:
        right = context.builder.emit("newaxis", (right,), {"axis": 1})
    left, values, turned = library_calls.call(context, "linalg.svd", (matrix,), full_matrices=False)

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    real = element(values.type).numpy
    share: Any = apply("multiply", dim_value(context, dim_max(rows, columns)), np.finfo(real).eps) if rcond is None else rcond
    if rcond is not None and not isinstance(rcond, Value) and (rcond <= 0 or rcond >= 1):
        # As LAPACK takes what is no share.
        share = np.finfo(real).eps / 2
    largest = context.builder.emit("index", (values,), {"axis": 0, "at": 0})
    tolerance = cast(context, apply("multiply", largest, share), element(values.type))
    large = apply("invert", apply("less_equal", values, tolerance))
    turned_right = matrix_product(context, _adjoint(context, left), right)
    inverse = apply("where", large, apply("divide", 1, apply("where", large, values, real.type(1))), real.type(0))
    scaled = apply("multiply", turned_right, context.builder.emit("newaxis", (inverse,), {"axis": 1}))
    found = matrix_product(context, _adjoint(context, turned), scaled)
    (rank,) = combined(context, "add", (cast(context, large, I64),), (0,), False)
    # The residuals of all right sides, where the rank is full and there are more equations than unknowns.
    apart = apply("subtract", right, matrix_product(context, matrix, found))
    sides = dimensions(right)[1]
    sums = reduce(context, "add", squared(context, apart, element(apart.type)), 0)
    full = apply("equal", rank, length(context, columns))
    more = apply("greater", length(context, rows), length(context, columns))
    shown = apply("multiply", cast(context, apply("bitwise_and", full, more), I64), length(context, sides))
    count = read_length(context, shown, 2**31 - 1, "residuals")
    residuals = context.builder.emit("slice", (sums,), {"start": (0,), "step": (1,), "size": (count,)})
    residuals = context.builder.emit("copy", (residuals,))
    if vector:
        found = context.builder.emit("index", (found,), {"axis": 1, "at": 0, "keep": True})
    return context.builder.emit("copy", (found,)), residuals, cast(context, rank, I32), values, sums


def _floating(dtype: DType) -> DType:
    return dtype if dtype.kind in "fc" else F64


def _adjoint(context: Context, value: Value) -> Value:
    """The conjugate transposed."""
    turned = context.builder.emit("transpose", (value,), {"axes": (1, 0)})
    return elementwise(context, "conjugate", turned) if element(value.type).kind == "c" else turned


def multi_dot(context: Context, arrays: Any, *, out: Any = None) -> Any:
    """The product of several matrices: from a vector at an end on, or with the least work where all lengths are known"""
    if out is not None:
        made = multi_dot(context, arrays)
        values = [array_of(context, v) for v in arrays]
        if len(dimensions(values[0])) == 1 or len(dimensions(values[-1])) == 1:
            text = "multi_dot of a vector with the argument out= is not supported"
            raise UnsupportedError(text, context.loc, "write out[...] = np.linalg.multi_dot(...)")
        return write_product(context, np.linalg.multi_dot, values, made, out)
    if not isinstance(arrays, (tuple, list)):
        raise UnsupportedError("multi_dot takes a tuple or list of arrays here", context.loc, "write multi_dot((a, b, c))")
    values = [array_of(context, a) for a in arrays]
    attempt(context, np.linalg.multi_dot, [stand_in(v) for v in values])
    if len(dimensions(values[-1])) == 1:
        made = values.pop()
        while values:
            made = dot(context, values.pop(), made)
        return made
    if len(dimensions(values[0])) == 1 or len(values) == 2:
        return _from_left(context, values)
    sizes = [*(dimensions(v)[0] for v in values), dimensions(values[-1])[1]]
    known = [s for s in sizes if isinstance(s, int)]
    return _by_least_work(context, values, known) if len(known) == len(sizes) else _from_left(context, values)


def _from_left(context: Context, values: list[Value]) -> Value:
    made = values[0]
    for value in values[1:]:
        made = dot(context, made, value)
    return made


def _by_least_work(context: Context, values: list[Value], sizes: list[int]) -> Value:
    """The order that a table over all pairs of ends gives: the work of a product is that of both sides and their own."""
    count = len(values)
    work = {(k, k + 1): (0, 0) for k in range(count)}
    for width in range(2, count + 1):
        for first in range(count - width + 1):
            last = first + width
            work[first, last] = min(
                (work[first, cut][0] + work[cut, last][0] + sizes[first] * sizes[cut] * sizes[last], cut)
                for cut in range(first + 1, last)
            )

    def made(first: int, last: int) -> Value:
        if last == first + 1:
            return values[first]
        cut = work[first, last][1]
        return dot(context, made(first, cut), made(cut, last))

    return made(0, count)


_MISFIT = "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"


def tensorsolve(context: Context, a: Any, b: Any, axes: Any = None) -> Value:
    """The x of which the products with `a`, summed over all axes of x, are b"""
    value, right = array_of(context, a), array_of(context, b)
    ndim, given = len(dimensions(value)), len(dimensions(right))
    axes = known_option(context, axes, "axes=")
    if axes is not None:
        order = list(range(ndim))
        for axis in attempt(context, tuple, axes):
            attempt(context, order.remove, axis)
            order.insert(ndim, axis)
        value = transpose(context, value, tuple(order))
    shape = dimensions(value)[-(ndim - given) :]
    count = product(shape)
    require_equal(context, product(dimensions(value)), count * count, "LinAlgError", _MISFIT)
    square = reshape(context, value, (dim_value(context, count), dim_value(context, count)))
    found = library_calls.solve(context, square, ravel(context, right))
    return reshape(context, found, tuple(dim_value(context, d) for d in shape))


def tensorinv(context: Context, a: Any, ind: Any = 2) -> Value:
    """The inverse of what multiplies over the axes behind the first `ind` ones"""
    value, ind = array_of(context, a), known_option(context, ind, "ind=")
    some = attempt(context, operator.gt, ind, 0)
    attempt(context, np.linalg.tensorinv, np.ones((1,) * 2), 1 if some else ind)
    attempt(context, lambda: ()[ind:])
    behind, before = dimensions(value)[ind:], dimensions(value)[:ind]
    columns = dim_value(context, product(behind))
    square = reshape(context, value, (columns, -1))
    found = library_calls.LINALG["inv"](context, square)
    return reshape(context, found, tuple(dim_value(context, d) for d in (*behind, *before)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "linalg.lstsq": lstsq,
    "linalg.multi_dot": multi_dot,
    "linalg.tensorinv": tensorinv,
    "linalg.tensorsolve": tensorsolve,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
