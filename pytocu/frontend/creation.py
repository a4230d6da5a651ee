"""Arrays that are made of no other: filled ones, positions, triangles.

Their elements are computed where they are used, so an array of zeros in an expression takes no memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import target_dtype
from pytocu.frontend.devices import check_device, known_order
from pytocu.frontend.gathering import along
from pytocu.frontend.inplace import fitted
from pytocu.frontend.layouts import laid_out_as, unknown
from pytocu.frontend.numbers import as_numpy
from pytocu.frontend.operators import attempt, binary, c_long, clamped, elementwise, is_c_long, known_int
from pytocu.frontend.reshaping import (
    DIMENSION,
    NEGATIVE,
    SIZE,
    array_of,
    as_length,
    as_shape,
    broadcast,
    contiguous_as,
    copied,
    diagonal,
    diagonal_number,
    filled,
    flip,
    in_order,
    ravel,
)
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    as_strong,
    as_value,
    cast,
    describe,
    dim_value,
    dimensions,
    is_array,
    is_number,
    python_type_name,
)
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max
from pytocu.ir.types import (
    BOOL,
    F64,
    I64,
    WEAK_INT,
    DType,
    WeakType,
    dtype_of,
    element,
    scalar,
    shape_of,
)


def dtype_or(context: Context, dtype: Any, default: DType) -> DType:
    """What ``dtype=`` says, or where it says nothing `default`."""
    return default if dtype is None else target_dtype(context, dtype)


def _shape(context: Context, shape: Any, beyond: Exception = DIMENSION) -> tuple[DimLike, ...]:
    made = as_shape(context, shape, beyond=beyond)
    if any(isinstance(d, int) and d < 0 for d in made):
        raise raised(ValueError(NEGATIVE), context.loc)
    return made


def number(context: Context, value: Any, dtype: DType) -> Value:
    """A number known now as an element of a dtype."""
    return context.builder.const(value, scalar(dtype))


def check_bools(context: Context, size: DimLike) -> None:
    """Let NumPy refuse a range of bools of more than two numbers."""
    if isinstance(size, int):
        attempt(context, np.arange, min(size, 3), dtype=bool)


def constant(value: Any) -> Handler:
    """``np.zeros``, ``np.ones`` and ``np.empty``, whose elements are 0 here."""

    def handler(
        context: Context, shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
    ) -> Value:
        """A new array of one number."""
        check_device(context, device, like)
        order = known_order(context, np.empty, order, 0)
        if type(dtype) is int:
            # The second length, where a shape of two was meant.
            first = shape if type(shape) is int else "n"
            help = f"the second argument is the dtype, and a shape is one tuple: write ({first}, {dtype})"
            raise raised(TypeError(f"Cannot interpret '{dtype}' as a data type"), context.loc, help)
        return filled(context, number(context, value, dtype_or(context, dtype, F64)), _shape(context, shape), order=order)

    return handler


def ndarray(
    context: Context,
    shape: Any,
    dtype: Any = None,
    buffer: Any = None,
    offset: Any = 0,
    strides: Any = None,
    order: Any = None,
) -> Value:
    """A new array whose elements were not assigned, which are 0 here."""
    if buffer is not None or strides is not None:
        given = "buffer" if buffer is not None else "strides"
        help = "pass the array as an argument, or take views of it: x[a:b], x.reshape(shape), x.T"
        raise UnsupportedError(f"np.ndarray with {given}=, which is a view of given memory", context.loc, help)
    return constant(0)(context, shape, dtype, "C" if order is None else order)


def constant_like(value: Any) -> Handler:
    """The same of the shape and the dtype of another array."""

    def handler(
        context: Context,
        a: Any,
        dtype: Any = None,
        order: Any = "K",
        subok: Any = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Value:
        """A new array of one number, of the shape and the dtype of another."""
        check_device(context, device)
        order = known_order(context, np.empty_like, order, 0)
        given = array_of(context, a)
        wanted = dimensions(given) if shape is None else _shape(context, shape)
        made = filled(context, number(context, value, dtype_or(context, dtype, element(given.type))), wanted, order=order)
        return _laid_out_like(context, made, given, order, shape is None)

    return handler


def empty_like(
    context: Context,
    prototype: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Value:
    """A new array of the shape and the dtype of another, whose elements are 0 here."""
    return constant_like(0)(context, prototype, dtype, order, subok, shape, device=device)


def full(
    context: Context,
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Value:
    """A new array of one number, by default of its own dtype."""
    check_device(context, device, like)
    order = known_order(context, np.empty, order, 0)
    return _filled_with(context, _shape(context, shape), fill_value, dtype, order)


def full_like(
    context: Context,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Value:
    """A new array of one number, of the shape and the dtype of another."""
    check_device(context, device)
    order = known_order(context, np.empty_like, order, 0)
    given = array_of(context, a)
    wanted = dimensions(given) if shape is None else _shape(context, shape)
    target = element(given.type).numpy if dtype is None else dtype
    made = _filled_with(context, wanted, fill_value, target, order)
    return _laid_out_like(context, made, given, order, shape is None)


def _laid_out_like(context: Context, made: Value, given: Value, order: str, alike: bool) -> Value:
    if not alike and 1 in dimensions(given):
        # NumPy looks at the strides of an axis of length 1, where the other array has a longer one.
        return made if order in ("C", "F") else unknown(context, made)
    if order == "K" and len(dimensions(made)) != len(dimensions(given)):
        return in_order(context, made, "C")
    return contiguous_as(context, made, given) if order == "A" else laid_out_as(context, made, given, order)


def _filled_with(context: Context, shape: tuple[DimLike, ...], value: Any, dtype: Any, order: Any) -> Value:
    if is_number(value):
        known = attempt(context, np.full, (), value, None if dtype is None else target_dtype(context, dtype).numpy)
        found = dtype_of(known.dtype)
        if found is None:
            raise UnsupportedError(f"np.full of {known.dtype}", context.loc, "fill with a number that fits into 64 bits")
        return filled(context, number(context, known.item(), found), shape, order=order)
    made = as_value(context, value)
    if dtype is None or made.type != WEAK_INT:
        made = as_strong(context, made)
    target = dtype_or(context, dtype, promote.strong(made.type))
    # A Python int that the dtype does not hold is an OverflowError.
    made = cast(context, made if dtype is None else as_numpy(context, made, target.name), target)
    if not dimensions(made):
        return filled(context, made, shape, order=order)
    return in_order(context, broadcast(context, fitted(context, made, shape), shape), order)


# Positions and triangles.


def eye(
    context: Context,
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Value:
    """Ones on a diagonal."""
    check_device(context, device, like)
    order = known_order(context, np.empty, order, 0)
    rows, columns = _plane(context, N, M)
    made = cast(context, elementwise(context, "equal", columns, _shifted(context, rows, k)), target_dtype(context, dtype))
    return in_order(context, made, order) if order == "F" else made


def identity(context: Context, n: Any, dtype: Any = None, *, like: Any = None) -> Value:
    """Ones on the main diagonal."""
    check_device(context, None, like)
    return eye(context, n, None, 0, float if dtype is None else dtype)


def tri(context: Context, N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Value:
    """Ones on and below a diagonal."""
    check_device(context, None, like)
    # Truth values are ints here, and less than nothing is nothing.
    height, width = (max(int(n), 0) if isinstance(n, (int, np.integer)) else n for n in (N, M))
    lengths = (as_length(context, n, beyond=SIZE, elements=0) for n in (height, height if width is None else width))
    rows, columns = (along(context, d, axis, 2) for axis, d in enumerate(lengths))
    return cast(context, _below(context, rows, columns, k), target_dtype(context, dtype))


def _plane(context: Context, rows: Any, columns: Any, beyond: Exception = DIMENSION) -> tuple[Value, Value]:
    shape = _shape(context, (rows, rows if columns is None else columns), beyond)
    return along(context, shape[0], 0, 2), along(context, shape[1], 1, 2)


def _shifted(context: Context, rows: Value, k: Any) -> Value:
    if isinstance(k, Value) and (dimensions(k) or not _is_whole(k)):
        help = "pass a Python int" if dimensions(k) else "convert it: int(k) of a Python float, k.astype(np.int64) of another"
        raise UnsupportedError(f"the number of a diagonal is {describe(k)}", context.loc, help)
    if not isinstance(k, Value):
        k = clamped(known_int(context, k, "k="))
    elif k.type == WEAK_INT:
        # Also the sum with the number of a row is one of int64.
        for row, bound in (("python_min", clamped(2**63)), ("python_max", clamped(-(2**63)))):
            k = context.builder.emit(row, (k, context.builder.const(bound, WEAK_INT)))
    return rows if not isinstance(k, Value) and k == 0 else elementwise(context, "add", rows, k)


def _is_whole(value: Value) -> bool:
    return value.type == WEAK_INT or (not isinstance(value.type, WeakType) and element(value.type).is_integer)


def _below(context: Context, rows: Value, columns: Value, k: Any) -> Value:
    if type(k) is int:
        # NumPy counts the columns from -k on.
        c_long(context, -k)
        k = clamped(k)
    elif isinstance(k, float) and not abs(k) >= 2**31:
        # The columns begin with -k and 1 - k, cut to ints: where both are 0, all of them are.
        attempt(context, np.arange, -k, 1 - k, dtype=np.int64)
        k = clamped(np.iinfo(np.int64).max if 0 < k < 1 else int(k))
    return elementwise(context, "less_equal", columns, _shifted(context, rows, k))


def triangle(lower: bool) -> Handler:
    """``np.tril`` and ``np.triu``."""

    def handler(context: Context, m: Any, k: Any = 0) -> Value:
        """The elements on one side of a diagonal, and zeros."""
        value = array_of(context, m)
        if len(dimensions(value)) == 1:
            # NumPy repeats the row.
            value = broadcast(context, value, (dimensions(value)[0], *dimensions(value)))
        if not dimensions(value):
            raise raised(TypeError("tri() missing 1 required positional argument: 'N'"), context.loc)
        *_, height, width = dimensions(value)
        rows, columns = along(context, height, 0, 2), along(context, width, 1, 2)
        mask = _below(context, rows, columns, k if lower else binary(context, "subtract", k, 1))
        zero = number(context, 0, element(value.type))
        return elementwise(context, "where", mask, *((value, zero) if lower else (zero, value)))

    return handler


def diag(context: Context, v: Any, k: Any = 0) -> Value:
    """A diagonal of a matrix, or a matrix with a diagonal."""
    value = array_of(context, v)
    match len(dimensions(value)):
        case 2:
            return diagonal(context, value, k)
        case 1:
            return _with_diagonal(context, value, diagonal_number(context, k))
    raise raised(ValueError("Input must be 1- or 2-d."), context.loc)


def _with_diagonal(context: Context, value: Value, k: DimLike) -> Value:
    if isinstance(k, int) and not is_c_long(k):
        raise raised(DIMENSION, context.loc)
    zero = number(context, 0, element(value.type))
    # The element of each column: as many zeros as there are before the diagonal begins, and behind its end.
    before, behind = (context.length(dim_max(far, 0)) for far in (k, 0 - k))
    pieces = [broadcast(context, zero, (far,)) if far != 0 else None for far in (before, behind)]
    shown = [piece for piece in (pieces[0], value, pieces[1]) if piece is not None]
    value = context.builder.emit("concatenate", shown, {"axis": 0}) if len(shown) > 1 else value
    (size,) = dimensions(value)
    rows, columns = along(context, size, 0, 2), along(context, size, 1, 2)
    here = elementwise(context, "equal", columns, _shifted(context, rows, dim_value(context, k)))
    return elementwise(context, "where", here, value, zero)


def indices(context: Context, dimensions: Any, dtype: Any = int, sparse: Any = False) -> Any:
    """The positions along each axis of a grid."""
    if isinstance(dimensions, Value) and not is_array(dimensions):
        raise raised(TypeError(f"'{python_type_name(dimensions)}' object is not iterable"), context.loc)
    if isinstance(dimensions, Value) and not shape_of(dimensions.type):
        attempt(context, tuple, np.zeros(()))
    given = dimensions if isinstance(dimensions, Value) else attempt(context, tuple, dimensions)
    if sparse:
        # These are ranges, of which one below 0 has no number.
        below = "a length of np.indices that is known only at run time is below 0"
        shape = tuple(dim_max(d, 0) for d in as_shape(context, given, below, "UnsupportedError"))
    else:
        shape = _shape(context, given)
    target = target_dtype(context, dtype)
    if target is BOOL:
        for length in shape:
            # NumPy makes a range of each length.
            check_bools(context, length)
    found = [cast(context, along(context, d, a, len(shape)), target) for a, d in enumerate(shape)]
    if sparse:
        return tuple(found)
    if not found:
        return filled(context, number(context, 0, target), (0,))
    layers = [context.builder.emit("newaxis", (broadcast(context, v, shape),), {"axis": 0}) for v in found]
    return layers[0] if len(layers) == 1 else context.builder.emit("concatenate", layers, {"axis": 0})


def meshgrid(context: Context, *xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> Any:
    """Arrays of one axis, each along its own axis of a grid."""
    if indexing not in ("xy", "ij"):
        raise raised(ValueError("Valid values for `indexing` are 'xy' and 'ij'."), context.loc)
    ndim = len(xi)
    order = [1, 0, *range(2, ndim)] if indexing == "xy" and ndim > 1 else list(range(ndim))
    flat = [ravel(context, array_of(context, x)) for x in xi]
    shape = tuple(dimensions(flat[order.index(a)])[0] for a in range(ndim))
    made: list[Value] = []
    for place, value in zip(order, flat, strict=True):
        attrs = {"shape": tuple(d if a == place else 1 for a, d in enumerate(shape)), "source": dimensions(value)}
        grid = context.builder.emit("reshape", (value,), attrs)
        made.append(grid if sparse else broadcast(context, grid, shape, offered=True))
    return tuple(copied(context, v) if copy else v for v in made)


def vander(context: Context, x: Any, N: Any = None, increasing: Any = False) -> Value:
    """The powers of numbers as columns."""
    value = array_of(context, x)
    if len(dimensions(value)) != 1:
        raise raised(ValueError("x must be a one-dimensional array or sequence."), context.loc)
    count = dimensions(value)[0] if N is None else as_length(context, N)
    if isinstance(count, int) and count < 0:
        raise raised(ValueError(NEGATIVE), context.loc)
    dtype = promote.result_dtype((element(value.type), I64))
    rows = dimensions(value)[0]
    base = context.builder.emit("newaxis", (cast(context, value, dtype),), {"axis": 1})
    factors = context.builder.emit("copy", (broadcast(context, base, (rows, count)),))
    powers = context.builder.emit("scan", (factors,), {"op": "multiply", "axis": 1})
    # The ones are no factors: 1 * x is not x where a part of a complex number is infinite or NaN.
    ones = broadcast(context, number(context, 1, dtype), (rows, 1))
    both = context.builder.emit("concatenate", (ones, powers), {"axis": 1})
    powers = context.builder.emit("slice", (both,), {"start": (0, 0), "step": (1, 1), "size": (rows, count)})
    return powers if increasing else copied(context, flip(context, powers, 1))


FUNCTIONS: dict[str, Handler] = {
    "zeros": constant(0),
    "ones": constant(1),
    "empty": constant(0),
    "ndarray": ndarray,
    "zeros_like": constant_like(0),
    "ones_like": constant_like(1),
    "empty_like": empty_like,
    "full": full,
    "full_like": full_like,
    "eye": eye,
    "identity": identity,
    "tri": tri,
    "tril": triangle(True),
    "triu": triangle(False),
    "diag": diag,
    "indices": indices,
    "meshgrid": meshgrid,
    "vander": vander,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
