"""Functions of an element and its neighbours, or of every pair of elements: differences, gradients and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.array_functions import Handler
from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.indexing import normal_axis, subscript
from pytocu.frontend.joining import as_row, concatenate
from pytocu.frontend.operators import attempt, elementwise
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of, broadcast, ravel
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.guards import MISSING
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_min
from pytocu.ir.types import BOOL, F64, element


def diff(context: Context, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = MISSING, append: Any = MISSING) -> Value:
    """Differences of neighbours, n times."""
    value = array_of(context, a)
    if n == 0:
        return value
    if n < 0:
        raise raised(ValueError(f"order must be non-negative but got {n!r}"), context.loc)
    ndim = len(dimensions(value))
    if ndim == 0:
        raise raised(ValueError("diff requires input that is at least one dimensional"), context.loc)
    place = normal_axis(context, axis, ndim)
    pieces: list[Any] = [value]
    for extra, at in ((prepend, 0), (append, 2)):
        if extra is not MISSING:
            made = array_of(context, extra)
            if not dimensions(made):
                made = broadcast(context, made, tuple(1 if k == place else d for k, d in enumerate(dimensions(value))))
            pieces.insert(at, made)
    if len(pieces) > 1:
        value = concatenate(context, tuple(pieces), place)
    row = "not_equal" if element(value.type) is BOOL else "subtract"
    for _ in range(n):
        later, earlier = (_cut(context, value, place, part) for part in (slice(1, None), slice(None, -1)))
        value = elementwise(context, row, later, earlier)
    return value


def _cut(context: Context, value: Value, axis: int, part: slice) -> Value:
    return subscript(context, value, (*[slice(None)] * axis, part, ...))


def ediff1d(context: Context, ary: Any) -> Value:
    """Differences of neighbours of all elements in a row."""
    return diff(context, ravel(context, array_of(context, ary)))


def gradient(context: Context, f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Central differences inside, one-sided ones at the ends, for equal distances.

    Raises
    ------
    UnsupportedError
        Coordinates instead of distances.
    """
    value = array_of(context, f)
    ndim = len(dimensions(value))
    axes = list(range(ndim)) if axis is None else [normal_axis(context, a, ndim) for a in _several(axis)]
    spaces: list[Any] = list(varargs) or [1.0]
    if len(spaces) == 1:
        spaces = spaces * len(axes)
    if len(spaces) != len(axes):
        raise raised(TypeError("invalid number of arguments"), context.loc)
    if any(isinstance(s, Value) and dimensions(s) for s in spaces):
        raise UnsupportedError("np.gradient of coordinates", context.loc, "give the distance between neighbours")
    if edge_order > 2:
        raise raised(ValueError("'edge_order' greater than 2 not supported"), context.loc)
    if element(value.type).is_integer:
        value = cast(context, value, F64)
    made = [_gradient(context, value, a, h, edge_order) for a, h in zip(axes, spaces, strict=True)]
    return made[0] if len(axes) == 1 else tuple(made)


def _several(axis: Any) -> tuple[Any, ...]:
    return tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)


def _gradient(context: Context, value: Value, axis: int, h: Any, order: int) -> Value:
    length = dimensions(value)[axis]
    text = "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
    require_equal(context, dim_min(length, order + 1), order + 1, "ValueError", text)
    dtype = element(value.type)

    def at(place: int) -> Value:
        return _cut(context, value, axis, slice(place, place + 1 if place != -1 else None))

    def apply(name: str, *operands: Any) -> Any:
        return elementwise(context, name, *operands)

    def scaled(factor: float) -> Any:
        if isinstance(h, Value):
            return apply("divide", factor, h)
        return attempt(context, lambda: factor / h)

    later, earlier = (_cut(context, value, axis, part) for part in (slice(2, None), slice(None, -2)))
    double = apply("multiply", 2.0, h) if isinstance(h, Value) else 2.0 * h
    inside = apply("divide", apply("subtract", later, earlier), double)
    if order == 1:
        ends = [apply("divide", apply("subtract", at(a), at(b)), h) for a, b in ((1, 0), (-1, -2))]
    else:
        ends = []
        for factors, places in (((-1.5, 2.0, -0.5), (0, 1, 2)), ((0.5, -2.0, 1.5), (-3, -2, -1))):
            terms = [apply("multiply", scaled(c), at(p)) for c, p in zip(factors, places, strict=True)]
            ends.append(apply("add", apply("add", terms[0], terms[1]), terms[2]))
    pieces = [cast(context, p, dtype) for p in (ends[0], inside, ends[1])]
    return context.builder.emit("concatenate", pieces, {"axis": axis})


def outer(context: Context, a: Any, b: Any, out: Any = None) -> Value:
    """The product of every element of one with every element of the other."""
    if out is not None:
        raise UnsupportedError("np.outer with out=", context.loc, "assign the result: out[...] = np.outer(a, b)")
    column = context.builder.emit("newaxis", (ravel(context, array_of(context, a)),), {"axis": 1})
    return elementwise(context, "multiply", column, as_row(context, ravel(context, array_of(context, b))))


def kron(context: Context, a: Any, b: Any) -> Value:
    """Each element of one times the whole of the other."""
    first, second = array_of(context, a), array_of(context, b)
    while len(dimensions(first)) < len(dimensions(second)):
        first = as_row(context, first)
    while len(dimensions(second)) < len(dimensions(first)):
        second = as_row(context, second)
    x, y = dimensions(first), dimensions(second)
    if not x:
        return elementwise(context, "multiply", first, second)
    spread = tuple(d for length in x for d in (length, 1))
    repeated = tuple(d for length in y for d in (1, length))
    whole = tuple(d for pair in zip(x, y, strict=True) for d in pair)
    one = context.builder.emit("reshape", (first,), {"shape": spread, "source": x})
    other = context.builder.emit("reshape", (second,), {"shape": repeated, "source": y})
    made = elementwise(context, "multiply", broadcast(context, one, whole), broadcast(context, other, whole))
    shape = tuple(m * n for m, n in zip(x, y, strict=True))
    return context.builder.emit("reshape", (made,), {"shape": shape, "source": whole})


def _not_vectors() -> str:
    """NumPy's sentence, which is another one in each version; lengths in it are {2} and {3}."""
    try:
        np.cross(np.zeros(4), np.zeros(5))
    except ValueError as error:
        return str(error).replace(" 4 ", " {2} ").replace(" 5 ", " {3} ")
    return "incompatible dimensions for cross product"


def cross(
    context: Context, a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
) -> Value:
    """The vector products of vectors of three numbers."""
    if axis is not None:
        axisa = axisb = axisc = axis
    vectors = []
    for value, place in ((array_of(context, a), axisa), (array_of(context, b), axisb)):
        if not dimensions(value):
            raise raised(ValueError("At least one array has zero dimension"), context.loc)
        vectors.append(moveaxis(context, value, place, -1))
    lengths = [dimensions(v)[-1] for v in vectors]
    text = _not_vectors()
    for length in lengths:
        if length == 2:
            raise UnsupportedError("np.cross of vectors of two numbers", context.loc, "write a[0]*b[1] - a[1]*b[0]")
        require_equal(context, length, 3, "ValueError", text, *lengths)
    x, y = ([_component(context, v, k) for k in range(3)] for v in vectors)

    def minor(i: int, j: int) -> Value:
        first, second = (elementwise(context, "multiply", x[p], y[q]) for p, q in ((i, j), (j, i)))
        return array_of(context, elementwise(context, "subtract", first, second))

    parts = [minor(1, 2), minor(2, 0), minor(0, 1)]
    ndim = len(dimensions(parts[0]))
    layers = [context.builder.emit("newaxis", (p,), {"axis": ndim}) for p in parts]
    made = context.builder.emit("concatenate", layers, {"axis": ndim})
    return moveaxis(context, made, -1, axisc)


def _component(context: Context, value: Value, number: int) -> Value:
    attrs = {"axis": len(dimensions(value)) - 1, "at": number, "keep": True}
    return context.builder.emit("index", (value,), attrs)


FUNCTIONS: dict[str, Handler] = {
    "diff": diff,
    "ediff1d": ediff1d,
    "gradient": gradient,
    "outer": outer,
    "kron": kron,
    "cross": cross,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
