"""Diagonals and triangles: sums along them, their positions, and assignments to them.

The positions of a triangle are computed from its shape: how many there are follows from lengths, and which row the
p-th of them lies in is found by halves among the ends of rows.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend import inplace
from pytocu.frontend.creation import diag
from pytocu.frontend.gathering import along
from pytocu.frontend.library_calls import search
from pytocu.frontend.operators import attempt, c_long, clamped, elementwise, example, known_int
from pytocu.frontend.reductions import known_axis, length, reduce_into
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of, as_length, diagonal, diagonal_number, ravel
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_strong, as_value, contains_dynamic, dim_value, dimensions, is_array, is_weak
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv
from pytocu.ir.types import WeakType, element

_SQUARE = "All dimensions of input must be of equal length"


def trace(
    context: Context, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Value:
    """The sum along a diagonal"""
    last = diagonal(context, array_of(context, a), offset, axis1, axis2)
    return reduce_into(context, "add", last, -1, dtype, *inplace.out_array(context, out, inplace.NO_OUTPUT))


def diagflat(context: Context, v: Any, k: Any = 0) -> Value:
    """A matrix with all elements in a row as a diagonal"""
    return diag(context, ravel(context, array_of(context, v)), k)


# Positions.


def diag_indices(context: Context, n: Any, ndim: Any = 2) -> tuple[Value, ...]:
    """The positions of the main diagonal, an array for each axis"""
    size = as_length(context, n, elements=0)
    count = known_int(context, ndim, "ndim=")
    if count > 64:
        raise UnsupportedError(f"{count} positions on axes, where an array has at most 64", context.loc, "name fewer axes")
    return (along(context, dim_max(size, 0), 0, 1),) * count


def diag_indices_from(context: Context, arr: Any) -> tuple[Value, ...]:
    """The positions of the main diagonal of an array with axes of one length"""
    shape = _shape_of(context, arr)
    if len(shape) < 2:
        raise raised(ValueError("input array must be at least 2-d"), context.loc)
    _check_square(context, shape)
    return (along(context, shape[0], 0, 1),) * len(shape)


def _shape_of(context: Context, arr: Any) -> tuple[DimLike, ...]:
    """The lengths of an array; NumPy asks lists and numbers for theirs, and Python says that they have none."""
    if not isinstance(arr, Value) or is_weak(arr):
        attempt(context, getattr, example(arr) if isinstance(arr, Value) else arr, "ndim")
    return dimensions(array_of(context, arr))


def _check_square(context: Context, shape: tuple[DimLike, ...]) -> None:
    for size in shape[1:]:
        require_equal(context, shape[0], size, "ValueError", _SQUARE)


def _triangle(lower: bool) -> tuple[Handler, Handler]:
    """``np.tril_indices`` or ``np.triu_indices``, and the same of the shape of an array."""

    def handler(context: Context, n: Any, k: Any = 0, m: Any = None) -> tuple[Value, Value]:
        # Less than nothing is nothing.
        rows, columns = (as_length(context, size, elements=0) for size in (n, n if m is None else m))
        return _positions(context, dim_max(rows, 0), dim_max(columns, 0), k, lower)

    def from_array(context: Context, arr: Any, k: Any = 0) -> tuple[Value, Value]:
        shape = _shape_of(context, arr)
        if len(shape) != 2:
            raise raised(ValueError("input array must be 2-d"), context.loc)
        return _positions(context, *shape, k, lower)

    side = "on and below" if lower else "on and above"
    handler.__doc__ = f"The positions {side} a diagonal, row by row"
    from_array.__doc__ = f"The positions {side} a diagonal of an array, row by row"
    return handler, from_array


def _positions(context: Context, rows: DimLike, columns: DimLike, k: Any, lower: bool) -> tuple[Value, Value]:
    """Rows and columns of a triangle, in the order of rows."""
    number = diagonal_number(context, k)
    if isinstance(number, int):
        # NumPy counts the columns from -k on, those of the upper triangle from the one behind.
        c_long(context, -number if lower else 1 - number)
        number = clamped(number)
    else:
        # Farther away there is nothing, or everything.
        number = dim_max(dim_min(number, columns), 0 - rows)
    # The lower triangle up to diagonal d has i + d + 1 elements in row i, as far as there are columns.
    behind = number + (1 if lower else 0)
    total = _elements_of_rows(rows, behind, columns)
    count = total if lower else rows * columns - total

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    def left(row: Value) -> Value:
        """How many elements the lower triangle has in a row."""
        return apply("minimum", apply("maximum", apply("add", row, dim_value(context, behind)), 0), length(context, columns))

    numbers = along(context, rows, 0, 1)
    ends = _ends(context, numbers, behind, columns)
    if not lower:
        ends = apply("subtract", apply("multiply", apply("add", numbers, 1), length(context, columns)), ends)
    place = along(context, context.length(count), 0, 1)
    row = search(context, ends, place, True)
    before = _ends(context, apply("subtract", row, 1), behind, columns)
    if lower:
        return row, apply("subtract", place, before)
    skipped = apply("subtract", apply("multiply", row, length(context, columns)), before)
    return row, apply("add", apply("subtract", place, skipped), left(row))


def _elements_of_rows(rows: DimLike, behind: DimLike, columns: DimLike) -> DimLike:
    """How many elements rows 0 to rows - 1 have, of which row i has min(max(i + behind, 0), columns)."""

    def until(number: DimLike) -> DimLike:
        # min(1, columns) + ... + min(number, columns)
        short = dim_min(number, columns)
        return floordiv(short * (short + 1), 2) + (number - short) * columns

    last = dim_max(rows + (behind - 1), 0)
    return until(last) - until(dim_max(behind - 1, 0))


def _ends(context: Context, row: Value, behind: DimLike, columns: DimLike) -> Value:
    """As :func:`_elements_of_rows`, of rows 0 to `row`."""

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    width = length(context, columns)

    def until(number: Value) -> Value:
        short = apply("minimum", number, width)
        half = apply("floor_divide", apply("multiply", short, apply("add", short, 1)), 2)
        return apply("add", half, apply("multiply", apply("subtract", number, short), width))

    made = until(apply("maximum", apply("add", row, dim_value(context, behind)), 0))
    first = dim_max(behind - 1, 0)
    return made if first == 0 else apply("subtract", made, until(length(context, first)))


# Assignment.


def fill_diagonal(context: Context, a: Any, val: Any, wrap: Any = False) -> None:
    """Give the elements of the main diagonal a value, or one after the other of several"""
    if isinstance(a, Value) and isinstance(a.type, WeakType):
        attempt(context, np.fill_diagonal, getattr(builtins, a.type.kind)(), 0)
    if not isinstance(a, Value):
        # NumPy asks for an attribute of arrays, whatever the members of a list are.
        attempt(context, np.fill_diagonal, type(a)() if contains_dynamic(a) else a, 0)
    if not is_array(a) or len(dimensions(a)) < 2:
        raise raised(ValueError("array must be at least 2-d"), context.loc)
    shape, dtype = dimensions(a), element(a.type)
    ndim = len(shape)
    inplace.note_write(context, a, "underlying array")
    lines = [along(context, d, n, ndim) for n, d in enumerate(shape)]
    place = lines[0]
    if ndim > 2:
        _check_square(context, shape)
    if ndim == 2 and known_axis(context, wrap):
        # Behind a row without one the diagonal begins again.
        step = length(context, shape[1] + 1)
        flat = elementwise(context, "add", elementwise(context, "multiply", lines[0], length(context, shape[1])), lines[1])
        here = elementwise(context, "equal", elementwise(context, "remainder", flat, step), 0)
        place = elementwise(context, "floor_divide", flat, step)
    else:
        here = elementwise(context, "equal", lines[0], lines[1])
        for other in lines[2:]:
            here = elementwise(context, "bitwise_and", here, elementwise(context, "equal", lines[0], other))
    known = inplace.known_number(val)
    if known is not None:
        made = inplace.number_at(context, known, dtype)
    else:
        given = array_of(context, val) if isinstance(val, (list, tuple)) else as_value(context, val)
        if dimensions(given):
            values = ravel(context, given)
            (count,) = dimensions(values)
            require_equal(context, dim_min(count, 1), 1, "UnsupportedError", "np.fill_diagonal of no values is not compiled")
            if count == 1:
                given = context.builder.emit("index", (values,), {"axis": 0, "at": 0})
            else:
                order = elementwise(context, "remainder", place, dim_value(context, dim_max(count, 1)))
                given = context.builder.emit("gather", (values, order), {"axes": (0,), "at": 0})
        made = inplace.taken(context, given, dtype)
    context.builder.update(a, elementwise(context, "where", here, made, a))


def _of_last_axes(context: Context, x: Any, /, *, offset: Any = 0) -> Value:
    """The diagonals of matrices"""
    return diagonal(context, array_of(context, x), offset, -2, -1)


def _trace_of_matrices(context: Context, x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Value:
    """The sums along the diagonals of matrices"""
    return trace(context, x, offset, -2, -1, dtype)


def _trace(
    context: Context, value: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    return trace(context, as_strong(context, value), offset, axis1, axis2, dtype, out)


METHODS: dict[str, Handler] = {"trace": _trace}

_TRIL, _TRIU = _triangle(True), _triangle(False)
FUNCTIONS: dict[str, Handler] = {
    "trace": trace,
    "diagflat": diagflat,
    "diag_indices": diag_indices,
    "diag_indices_from": diag_indices_from,
    "tril_indices": _TRIL[0],
    "tril_indices_from": _TRIL[1],
    "triu_indices": _TRIU[0],
    "triu_indices_from": _TRIU[1],
    "fill_diagonal": fill_diagonal,
    "linalg.diagonal": _of_last_axes,
    "linalg.trace": _trace_of_matrices,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
