"""Means, variances and what else NumPy computes of sums, step by step as NumPy does.

Sums are reductions and have an order of their own; the arithmetic around them and its dtypes
are NumPy's: a mean is the sum divided in float64 (or complex128) by the number of elements, and
rounded to the sum's dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.errors import raised
from pytocu.frontend.inplace import mask_of, out_array, write_outputs
from pytocu.frontend.layouts import laid_out_as
from pytocu.frontend.operators import attempt, c_long, elementwise, truths
from pytocu.frontend.reading import read_int
from pytocu.frontend.reductions import (
    combined,
    given,
    kept_axes,
    known_axis,
    known_flag,
    length,
    normal_axes,
    reduce,
)
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import broadcast_to
from pytocu.frontend.tables import methods
from pytocu.frontend.values import Context, as_strong, as_value, cast, dim_value, dimensions, is_array, is_number
from pytocu.guards import MISSING
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, product
from pytocu.ir.types import F32, F64, I64, DType, element, scalar

_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


def _items(context: Context, value: Value, axis: Any, keepdims: bool, where: Any) -> Value | DimLike:
    """How many elements each result is of: a length, or of a mask an int64 for each."""
    axis = known_axis(context, axis)
    # A sum takes the axis of a number, a mean does not; and it has a sentence of its own for what is no int.
    attempt(context, np.mean if where is True else np.add.reduce, np.zeros((1,) * len(dimensions(value))), axis)
    axes = normal_axes(axis, len(dimensions(value)))
    size = product([dimensions(value)[a] for a in axes])
    if where is True:
        return size
    if isinstance(where, (list, tuple)):
        whole = as_value(context, where)
    elif not isinstance(where, Value):
        # NumPy adds up what it is given: 2 counts every element twice.
        number = int(attempt(context, np.add.reduce, where, None, np.intp))
        return elementwise(context, "multiply", length(context, size), context.builder.const(number, scalar(I64)))
    elif not is_array(where):
        return elementwise(context, "multiply", length(context, size), cast(context, as_strong(context, where), I64))
    else:
        whole = mask_of(context, where)
    shape = tuple(dim_value(context, d) for d in dimensions(value))
    fit = broadcast_to(context, cast(context, whole, I64), shape)
    (count,) = combined(context, "add", (fit,), axes, keepdims)
    return count


def _as_count(context: Context, items: Value | DimLike) -> Value:
    return items if isinstance(items, Value) else length(context, items)


def divided(context: Context, value: Value, count: Value) -> Value:
    """``np.true_divide(value, count, out=value, casting="unsafe")``, a new array that lies as the value does."""
    made = cast(context, elementwise(context, "divide", value, count), element(value.type))
    return laid_out_as(context, made, value, "K") if is_array(value) else made


def _default_dtype(value: Value, dtype: Any) -> Any:
    """Integers and bools have statistics in float64."""
    return F64.numpy if dtype is None and element(value.type).kind in "biu" else dtype


def mean(
    context: Context,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """The sum divided by the number of elements; of float16 in float32, of integers in float64"""
    value = as_strong(context, a)
    where, axis = given(where, True), known_axis(context, axis)
    outs = out_array(context, out)
    half = dtype is None and element(value.type).numpy == np.float16
    chosen = F32.numpy if half else _default_dtype(value, dtype)
    # NumPy counts first, and says what is wrong with a mask, or with the axis.
    items = _items(context, value, axis, known_flag(context, keepdims), where)
    total = reduce(context, "add", value, axis, chosen, outs[0], keepdims, where=where)
    if half and outs[0] is None:
        made = cast(context, elementwise(context, "divide", total, _as_count(context, items)), element(value.type))
    else:
        made = divided(context, total, _as_count(context, items))
    return write_outputs(context, (made,), outs)[0]


def variance(
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
    """The mean of squared distances from the mean, with NumPy's steps; `out` is not written."""
    where = given(where, True)
    axis, keep = known_axis(context, axis), known_flag(context, keepdims)
    dtype = _default_dtype(value, dtype)
    items = _items(context, value, axis, keep, where)
    if given(mean, None) is None:
        # The mean of all elements is one number, which fits every shape.
        total = reduce(context, "add", value, axis, dtype, None, False, where=where)
        apart = bool(dimensions(total))
        total = kept_axes(context, total, normal_axes(axis, len(dimensions(value)))) if apart else total
        middle = divided(context, total, _as_count(context, _items(context, value, axis, apart, where)))
    else:
        middle = as_value(context, mean)
    distance = elementwise(context, "subtract", value, middle)
    squares = squared(context, distance, element(value.type))
    made = reduce(context, "add", squares, axis, dtype, out, keepdims, where=where)
    return divided(context, made, _degrees(context, items, ddof))


def squared(context: Context, distance: Value, source: DType) -> Value:
    """Squared distances of numbers of the dtype `source`: of complex ones those of both parts."""
    if element(distance.type).kind != "c" or source.kind in "iuf":
        return elementwise(context, "square", distance)
    parts = [context.builder.emit(part, (distance,)) for part in ("real", "imag")]
    return elementwise(context, "add", *(elementwise(context, "square", p) for p in parts))


def _degrees(context: Context, items: Value | DimLike, ddof: Any) -> Value:
    """``max(items - ddof, 0)``, on the host where it can be."""
    if not isinstance(items, Value) and isinstance(ddof, (int, np.integer)):
        return length(context, dim_max(items - c_long(context, int(ddof)), 0))
    if not isinstance(ddof, Value) and not is_number(ddof):
        ddof = as_strong(context, ddof)
    if not isinstance(items, Value) and is_array(ddof):
        # NumPy asks whether the number of elements is greater, which is one question where no mask counts them.
        size = product(dimensions(ddof))
        if size == 0:
            attempt(context, bool, np.zeros(0))
        require_equal(context, size, 1, "ValueError", _AMBIGUOUS)
    left = elementwise(context, "subtract", _as_count(context, items), ddof)
    return elementwise(context, "maximum", left, 0)


def _degrees_given(context: Context, ddof: Any, correction: Any) -> Any:
    """`ddof`, or `correction`, its name in the array API."""
    correction = given(correction, MISSING)
    if correction is MISSING:
        return ddof
    if ddof != 0:
        raise raised(ValueError("ddof and correction can't be provided simultaneously."), context.loc)
    return correction


def deviation(
    steps: Callable[..., Value], rooted: bool, doc: str, look: Callable[[Context, Value, Any], None] | None = None
) -> Callable[..., Any]:
    """A function of NumPy that gives a variance or its root.

    Parameters
    ----------
    steps : callable
        As :func:`variance`.
    rooted : bool
        The function gives the root.
    doc : str
        What the function gives.
    look : callable, optional
        What raises if the function asks something of ``out=`` that it has not.
    """

    def handler(
        context: Context,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        mean: Any = MISSING,
        correction: Any = MISSING,
    ) -> Any:
        value = as_strong(context, a)
        if look is not None:
            look(context, value, out)
        outs = out_array(context, out)
        ddof = _degrees_given(context, ddof, correction)
        made = steps(context, value, axis, dtype, outs[0], ddof, keepdims, where, mean)
        return write_outputs(context, (_root(context, made, outs[0]) if rooted else made,), outs)[0]

    handler.__doc__ = doc
    return handler


def _root(context: Context, variance: Value, out: Value | None) -> Value:
    """The square root in the dtype of the variance.

    Raises
    ------
    TypeError
        An array of integers does not hold it; NumPy's sentence.
    """
    dtype = element(variance.type)
    if dimensions(variance) or out is not None:
        attempt(context, promote.check_outputs, "sqrt", (dtype,), (dtype,), None, "same_kind")
    return cast(context, elementwise(context, "sqrt", variance), dtype)


def ptp(context: Context, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The largest element less the smallest"""
    value, outs = as_strong(context, a), out_array(context, out)
    high = reduce(context, "maximum", value, axis, None, outs[0], keepdims)
    low = reduce(context, "minimum", value, axis, None, None, keepdims)
    made = elementwise(context, "subtract", high, low)
    target = element(made.type) if outs[0] is None else element(outs[0].type)
    attempt(context, promote.check_outputs, "subtract", (element(high.type), element(low.type)), (target,), None, "same_kind")
    return write_outputs(context, (cast(context, made, target),), outs)[0]


def count_nonzero(context: Context, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """How many elements are not zero, as int64"""
    value = as_strong(context, a)
    made = truths(context, value)
    if is_array(value):
        # NumPy converts to bool, which makes a copy.
        made = laid_out_as(context, made, value, "K")
    made = reduce(context, "add", made, axis, np.intp, None, keepdims)
    return whole_count(context, made) if axis is None and not known_flag(context, keepdims) else made


def whole_count(context: Context, made: Value) -> Any:
    """How many elements of an array are not zero, as the number that NumPy's version makes it."""
    return read_int(context, made, "np.count_nonzero") if _counts_in_python() else made


@lru_cache
def _counts_in_python() -> bool:
    """Whether that is an int, as in older versions of NumPy."""
    return type(np.count_nonzero(np.ones(1))) is int


FUNCTIONS = {
    "mean": mean,
    "var": deviation(
        variance, False, "The mean of squared distances from the mean; divided by the number of elements less `ddof`"
    ),
    "std": deviation(variance, True, "The root of the variance"),
    "ptp": ptp,
    "count_nonzero": count_nonzero,
}
"""By NumPy's name; parameters are called as NumPy calls them."""

METHODS = methods(FUNCTIONS)
