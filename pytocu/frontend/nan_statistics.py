"""The reductions that leave out NaN, step by step as NumPy computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import raised
from pytocu.frontend import statistics
from pytocu.frontend.inplace import check_output_shapes, out_array, out_arrays, write_outputs
from pytocu.frontend.layouts import laid_out_as
from pytocu.frontend.operators import attempt, compute, elementwise
from pytocu.frontend.positions import place
from pytocu.frontend.reductions import given, kept_axes, known_axis, normal_axes, reduce, reduction, replaced_nan, stand_in
from pytocu.frontend.requirements import compares, require
from pytocu.frontend.values import Context, as_strong, as_value, cast, dimensions, is_array, is_weak, python_type_name
from pytocu.guards import MISSING
from pytocu.ir.core import Value
from pytocu.ir.dims import product
from pytocu.ir.types import element


def _require_inexact(context: Context, dtype: Any, out: Value | None) -> None:
    """The dtypes of a mean of floats: NumPy's TypeError for integers."""
    for what, chosen in (("dtype", dtype), ("out", None if out is None else element(out.type).numpy)):
        if chosen is not None and not np.issubdtype(compute(context, np.dtype, chosen), np.inexact):
            raise raised(TypeError(f"If a is inexact, then {what} must be inexact"), context.loc)


def _look_at_dtype(context: Context, value: Value, out: Any) -> None:
    """Python's sentence where ``out=`` is neither an array nor a NumPy scalar: NumPy asks for its dtype, of inexact numbers."""
    if out is None or element(value.type).kind not in "fc":
        return
    if not isinstance(out, Value):
        attempt(context, getattr, out, "dtype")
    elif is_weak(out):
        raise raised(AttributeError(f"'{python_type_name(out)}' object has no attribute 'dtype'"), context.loc)


def _count(context: Context, mask: Value, axis: Any, keepdims: Any, where: Any) -> Value:
    """How many elements are not NaN."""
    return reduce(context, "add", elementwise(context, "invert", mask), axis, np.intp, None, keepdims, where=where)


def nanmean(
    context: Context,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """The mean of what is not NaN"""
    value, mask = replaced_nan(context, as_strong(context, a), 0)
    if mask is None:
        return statistics.mean(context, value, axis, dtype, out, keepdims, where=where)
    _look_at_dtype(context, value, out)
    outs = out_arrays(context, out, 1)
    _require_inexact(context, dtype, outs[0])
    count = _count(context, mask, axis, keepdims, where)
    total = reduce(context, "add", value, axis, dtype, outs[0], keepdims, where=where)
    return write_outputs(context, (statistics.divided(context, total, count),), outs)[0]


def _variance(
    context: Context,
    value: Value,
    axis: Any,
    dtype: Any,
    out: Value | None,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Any,
) -> Value:
    """The variance of what is not NaN, with NumPy's steps; `out` is not written."""
    value, mask = replaced_nan(context, value, 0)
    if mask is None:
        return statistics.variance(context, value, axis, dtype, out, ddof, keepdims, where, mean)
    _require_inexact(context, dtype, out)
    axis = known_axis(context, axis)
    source = element(value.type)
    if given(mean, MISSING) is MISSING:
        total = reduce(context, "add", value, axis, dtype, None, False, where=where)
        middle = statistics.divided(context, total, _count(context, mask, axis, False, where))
        if dimensions(middle):
            middle = kept_axes(context, middle, normal_axes(axis, len(dimensions(value))))
    else:
        nothing = mean is None and compares(context, product(dimensions(value)), "<=", 0)
        if mean is None and not nothing:
            attempt(context, np.subtract, stand_in(value), mean)
        middle = as_value(context, 0.0 if nothing else mean)
        # NumPy counts first, which looks at `where`, and puts the distances into a copy of the array.
        _count(context, mask, axis, keepdims, where)
        masks = () if where is MISSING else (dimensions(as_value(context, where)),)
        check_output_shapes(context, (dimensions(value), dimensions(middle)), (dimensions(value),), masks)
    distance = cast(context, elementwise(context, "subtract", value, middle), source)
    distance = elementwise(context, "where", mask, source.numpy.type(0), distance)
    other = elementwise(context, "conjugate", distance) if source.kind == "c" else distance
    squares = elementwise(context, "multiply", distance, other)
    if is_array(value):
        # NumPy writes them into its copy.
        squares = laid_out_as(context, squares, value, "K")
    if source.kind == "c":
        squares = context.builder.emit("real", (squares,))
    total = reduce(context, "add", squares, axis, dtype, out, keepdims, where=where)
    degrees = elementwise(context, "subtract", _count(context, mask, axis, keepdims, where), ddof)
    made = statistics.divided(context, total, degrees)
    nothing = elementwise(context, "less_equal", degrees, 0)
    found = elementwise(context, "where", nothing, element(made.type).numpy.type(np.nan), made)
    return laid_out_as(context, found, made, "K") if is_array(made) else found


def _extreme(name: str, doc: str) -> Callable[..., Any]:
    """``np.nanmax`` or ``np.nanmin``: of an array by the ufunc that leaves out NaN; of anything else NumPy replaces them."""
    of_arrays, plain = reduction(f"f{name[:3]}", doc, False), f"{name}imum"
    farthest = -np.inf if name == "max" else np.inf

    def handler(
        context: Context,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Any:
        if is_array(a):
            return of_arrays(context, a, axis, out, keepdims, initial, where)
        value, mask = replaced_nan(context, as_strong(context, a), farthest)
        outs = out_array(context, out)
        made = reduce(context, plain, value, axis, None, outs[0], keepdims, initial, where)
        if mask is not None:
            # An initial number does not hide that there is no other.
            nothing = reduce(context, "logical_and", mask, axis, None, None, keepdims, where=where)
            made = elementwise(context, "where", nothing, element(made.type).numpy.type(np.nan), made)
        return write_outputs(context, (made,), outs)[0]

    handler.__doc__ = doc
    return handler


def _position(name: str, doc: str) -> Callable[..., Any]:
    def handler(context: Context, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        value, outs = as_strong(context, a), out_arrays(context, out, 1)
        # NumPy replaces NaN by the farthest number, which an infinity before it still beats.
        value, mask = replaced_nan(context, value, np.inf if name == "argmin" else -np.inf)
        keepdims = given(keepdims, False)
        if mask is not None:
            # NumPy reduces the mask first, which takes several axes.
            attempt(context, np.all, stand_in(mask), axis=known_axis(context, axis))
        made = place(context, name, value, axis, outs[0], keepdims)
        if mask is not None:
            usable = elementwise(context, "invert", reduce(context, "logical_and", mask, axis, None, None, keepdims))
            made = require(context, made, usable, "ValueError", "All-NaN slice encountered")
        return write_outputs(context, (made,), outs)[0]

    handler.__doc__ = doc
    return handler


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "nansum": reduction("add", "The sum of what is not NaN", True, 0),
    "nanprod": reduction("multiply", "The product of what is not NaN", True, 1),
    "nanmin": _extreme("min", "The smallest element that is not NaN; NaN where there is none"),
    "nanmax": _extreme("max", "The largest element that is not NaN; NaN where there is none"),
    "nanmean": nanmean,
    "nanvar": statistics.deviation(_variance, False, "The variance of what is not NaN; NaN where no degree of freedom is left",
                                   _look_at_dtype),
    "nanstd": statistics.deviation(_variance, True, "The root of the variance of what is not NaN", _look_at_dtype),
    "nanargmin": _position("argmin", "The first position of the smallest element that is not NaN"),
    "nanargmax": _position("argmax", "The first position of the largest element that is not NaN"),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
