"""Products of vectors that are sums: ``dot``, ``vdot``, ``inner``, ``vecdot``, and norms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.layouts import row_major
from pytocu.frontend.operators import attempt, binary, constant_or_static, elementwise
from pytocu.frontend.reductions import combined, kept_axes, known_axis, known_flag, normal_axes, reduce, stand_in
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import Context, as_strong, cast, contains_dynamic, dimensions
from pytocu.guards import MISSING
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.types import C64, C128, F16, F32, F64, element

_NOT_ALIGNED = "shapes ({0},) and ({1},) not aligned: {0} (dim 0) != {1} (dim 0)"
_singular_values = Deferred("pytocu.frontend.decompositions", "singular_values")


def summed_products(context: Context, a: Value, b: Value, axis: int) -> Value:
    """``(a * b).sum(axis)`` in the dtype of both; float16 is multiplied and added in float32.

    Parameters
    ----------
    axis : int
        Of the broadcast product, counted from 0.
    """
    dtype = promote.result_dtype((element(a.type), element(b.type)))
    kept = F32 if dtype is F16 else dtype
    product = elementwise(context, "multiply", cast(context, a, kept), cast(context, b, kept))
    return cast(context, combined(context, "add", (product,), (axis,), False)[0], dtype)


def _vectors(context: Context, name: str, a: Any, b: Any, conjugated: bool, sentence: str) -> Value:
    """The product of two vectors, or of anything and a number."""
    first, second = as_strong(context, a), as_strong(context, b)
    if conjugated:
        first = _conjugate(context, first)
    ranks = len(dimensions(first)), len(dimensions(second))
    if 0 in ranks and (ranks == (0, 0) or not conjugated):
        made = elementwise(context, "multiply", first, second)
        # BLAS writes what it multiplies in row-major order.
        by_blas = max(ranks) == 2 and element(made.type) in (F32, F64, C64, C128)
        return row_major(context, made) if by_blas else made
    if ranks != (1, 1):
        raise UnsupportedError(
            f"np.{name} of arrays with {ranks[0]} and {ranks[1]} axes is not compiled; it is of two vectors",
            context.loc,
            "write the sum of products: (a * b).sum(axis=...)",
        )
    lengths = dimensions(first)[0], dimensions(second)[0]
    require_equal(context, *lengths, "ValueError", sentence, operands=(first, second))
    return summed_products(context, first, second, 0)


def _conjugate(context: Context, value: Value) -> Value:
    return elementwise(context, "conjugate", value) if element(value.type).kind == "c" else value


def dot(context: Context, a: Any, b: Any) -> Any:
    """The sum of products of two vectors; a product where one is a number"""
    return _vectors(context, "dot", a, b, False, _NOT_ALIGNED)


def vdot(context: Context, a: Any, b: Any, /) -> Any:
    """The sum of products of two vectors, the first one conjugated"""
    return _vectors(context, "vdot", a, b, True, "cannot reshape array of size {1} into shape ({0},)")


def inner(context: Context, a: Any, b: Any, /) -> Any:
    """The sum of products of two vectors; a product where one is a number"""
    return _vectors(context, "inner", a, b, False, _NOT_ALIGNED)


def _last(context: Context, value: Value, axis: int) -> Value:
    """The axis moved to the end."""
    ndim = len(dimensions(value))
    order = (*(a for a in range(ndim) if a != axis), axis)
    return value if axis == ndim - 1 else context.builder.emit("transpose", (value,), {"axes": order})


# Norms.


def norm(context: Context, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.linalg.norm`` of vectors and matrices, every `ord`"""
    value = _inexact(context, x)
    ord, axis, keep = _known_order(context, ord), known_axis(context, axis), known_flag(context, keepdims)
    ndim = len(dimensions(value))
    if axis is None and (ord is None or (ord in ("f", "fro") and ndim == 2) or (ord == 2 and ndim == 1)):
        return _euclidean(context, value, tuple(range(ndim)), keep)
    attempt(context, np.linalg.norm, stand_in(value), ord, axis, keep)
    # As NumPy takes an axis here: 1.0 is one.
    axis = axis if axis is None or isinstance(axis, tuple) else int(axis)
    places = tuple(range(ndim)) if axis is None else tuple(operator.index(a) % ndim for a in _several(axis))
    if len(places) == 1:
        return vector(context, value, places, ord, keep)
    return _matrix(context, value, places, ord, keep)


def vector_norm(context: Context, x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """``np.linalg.vector_norm``, every `ord`, over any axes"""
    value = _inexact(context, x)
    ord, axis, keep = _known_order(context, ord), known_axis(context, axis), known_flag(context, keepdims)
    attempt(context, np.linalg.vector_norm, stand_in(value), axis=axis, keepdims=keep, ord=ord)
    # As np.linalg.norm takes an axis: 1.0 is one.
    axis = axis if axis is None or isinstance(axis, tuple) else int(axis)
    return vector(context, value, normal_axes(axis, len(dimensions(value))), ord, keep)


def _inexact(context: Context, x: Any) -> Value:
    value = as_strong(context, x)
    return value if element(value.type).kind in "fc" else cast(context, value, F64)


def _known_order(context: Context, ord: Any) -> Any:
    if contains_dynamic(ord):
        raise UnsupportedError("ord= must be known while compiling", context.loc, constant_or_static(context, ord))
    return ord


def _several(axis: Any) -> tuple[Any, ...]:
    return axis if isinstance(axis, tuple) else (axis,)


def _euclidean(context: Context, value: Value, axes: Sequence[int], keepdims: bool) -> Value:
    """The root of the sum of squares of all elements, as ``x.ravel().dot(x.ravel())`` computes it."""
    dtype = element(value.type)
    parts = [context.builder.emit(p, (value,)) for p in ("real", "imag")] if dtype.kind == "c" else [value]
    kept = F32 if dtype is F16 else element(parts[0].type)
    totals: list[Value] = []
    for part in parts:
        wide = cast(context, part, kept)
        (total,) = combined(context, "add", (elementwise(context, "multiply", wide, wide),), axes, False)
        totals.append(cast(context, total, element(part.type)))
    total = totals[0] if len(totals) == 1 else elementwise(context, "add", *totals)
    root = elementwise(context, "sqrt", total)
    return kept_axes(context, root, axes) if keepdims else root


def _squares(context: Context, value: Value) -> Value:
    """``(x.conj() * x).real``."""
    if element(value.type).kind != "c":
        return elementwise(context, "multiply", value, value)
    product = elementwise(context, "multiply", elementwise(context, "conjugate", value), value)
    return context.builder.emit("real", (product,))


def vector(context: Context, value: Value, axes: tuple[int, ...], ord: Any, keepdims: bool) -> Value:
    """The norm of the vectors along the axes, step by step as NumPy computes it."""

    def total(terms: Value) -> Value:
        return reduce(context, "add", terms, axes, keepdims=keepdims)

    if ord is None or ord == 2:
        return elementwise(context, "sqrt", total(_squares(context, value)))
    if ord == 0:
        real = np.dtype(element(value.type).numpy.type(0).real.dtype)
        return reduce(context, "add", elementwise(context, "not_equal", value, 0), axes, real, keepdims=keepdims)
    distance = elementwise(context, "absolute", value)
    if ord == np.inf:
        return reduce(context, "maximum", distance, axes, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return reduce(context, "minimum", distance, axes, keepdims=keepdims)
    if ord == 1:
        return total(distance)
    powers = total(cast(context, binary(context, "power", distance, ord), element(distance.type)))
    dtype = element(powers.type).numpy
    exponent = attempt(context, np.reciprocal, ord, dtype=dtype)
    return elementwise(context, "power", powers, dtype.type(exponent))


def _matrix(context: Context, value: Value, axes: tuple[int, ...], ord: Any, keepdims: bool) -> Value:
    """The norms of matrices: sums along one axis and extremes along the other, or what is made of singular values."""
    rows, columns = axes
    if ord == "nuc" or (not isinstance(ord, str) and ord in (2, -2)):
        turned = _last(context, _last(context, value, rows), columns - (columns > rows))
        name = {2: "maximum", -2: "minimum", "nuc": "add"}[ord]
        start = MISSING if ord == -2 else 0
        made = reduce(context, name, _singular_values(context, turned, False), -1, initial=start)
        return kept_axes(context, made, sorted(axes)) if keepdims else made
    if ord in (None, "fro", "f"):
        root = elementwise(context, "sqrt", reduce(context, "add", _squares(context, value), tuple(axes)))
        return kept_axes(context, root, sorted(axes)) if keepdims else root
    summed, kept = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = reduce(context, "add", elementwise(context, "absolute", value), summed)
    along = kept - (kept > summed)
    if ord in (1, np.inf):
        made = reduce(context, "maximum", sums, along, initial=0)
    else:
        made = reduce(context, "minimum", sums, along)
    return kept_axes(context, made, sorted(axes)) if keepdims else made


def matrix_norm(context: Context, x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    """``np.linalg.norm`` of stacked matrices, every `ord`"""
    return norm(context, x, ord, (-2, -1), keepdims)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "linalg.norm": norm,
    "linalg.matrix_norm": matrix_norm,
    "linalg.vector_norm": vector_norm,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
