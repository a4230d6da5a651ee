"""``ufunc.reduce`` and ``ufunc.accumulate`` where the order matters: subtract, divide, power, comparisons and so on.

NumPy combines such elements from the left to the right.  One thread does it for each position of the other axes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pytocu.config import Elementwise
from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.layouts import laid_out
from pytocu.frontend.operators import elementwise
from pytocu.frontend.requirements import is_length
from pytocu.frontend.reshaping import broadcast, copied
from pytocu.frontend.source import function_node
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.frontend.vectorized import over_elements
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, product
from pytocu.ir.layouts import reduced_ranks
from pytocu.ir.types import DType


def _fold(total, column, values, combine):
    """What an element of the result is; read by the front end."""
    for number in range(values.shape[0]):
        total = combine(total, values[number, column])
    return total


def _fold_chosen(total, column, values, mask, combine):
    """As :func:`_fold`, of the elements that a mask chooses."""
    for number in range(values.shape[0]):
        if mask[number, column]:
            total = combine(total, values[number, column])
    return total


def _accumulate(values, totals, before, combine):
    """Put what each element makes of the total before it into `totals`, which begins as the elements themselves."""
    for number in range(1, values.shape[len(before)]):
        totals[*before, number] = combine(totals[*before, number - 1], values[*before, number])


def folded(
    context: Context, name: str, value: Value, axes: tuple[int, ...], dtype: DType, start: Value | None, mask: Value | None
) -> Value:
    """The elements along an axis combined one after the other, in the dtype of the total.

    Parameters
    ----------
    axes : tuple of int
        One axis, or none; NumPy refuses more.
    start : Value, optional
        What the elements are combined with; without it their first one begins.  A mask needs it.
    mask : Value, optional
        Which elements are combined, in the shape of the array.
    """
    if not axes:
        made = cast(context, value, dtype) if start is None else elementwise(context, name, start, value)
        return made if mask is None else elementwise(context, "where", mask, made, start)
    (place,) = axes
    mask = None if mask is None else broadcast(context, mask, dimensions(value))
    rest = tuple(length for axis, length in enumerate(dimensions(value)) if axis != place)
    columns = product(rest)
    first, values = start, _turned(context, value, place)
    if first is None:
        first = cast(context, context.builder.emit("index", (values,), {"axis": 0, "at": 0, "keep": True}), dtype)
        later = (dim_max(dimensions(values)[0] + (-1), 0), columns)
        values = context.builder.emit("slice", (values,), {"start": (1, 0), "step": (1, 1), "size": later})
    if any(is_length(context, length, 0) for length in dimensions(values)):
        made = broadcast(context, first, (columns,))
    else:
        made = _combined(context, name, first, values, None if mask is None else _turned(context, mask, place))
    if not rest:
        return without_axes(context, context.builder.emit("index", (made,), {"axis": 0, "at": 0, "keep": True}))
    if len(rest) == 1:
        return made
    made = copied(context, context.builder.emit("reshape", (made,), {"shape": rest, "source": (columns,)}))
    return laid_out(context, made, (value,), partial(reduced_ranks, value, axes, rest))


def _combined(context: Context, name: str, first: Value, values: Value, mask: Value | None) -> Value:
    """What comes of each column, one thread each."""
    column = context.builder.emit("iota", (), {"axis": 0, "shape": (dimensions(values)[1],)})
    arguments = {"total": first, "column": column, "values": values, "combine": promote.numpy_function(name)}
    function: Callable[..., Any] = _fold
    if mask is not None:
        function = _fold_chosen
        arguments["mask"] = mask
    stated = Elementwise(excluded=("values", "mask", "combine"))
    return over_elements(context, function, function_node(function), stated, arguments, context.loc)


def _turned(context: Context, value: Value, place: int) -> Value:
    """The elements with an axis before all others, which are one axis."""
    turned = moveaxis(context, value, place, 0) if place else value
    (size, *rest) = shape = dimensions(turned)
    if len(rest) == 1:
        return turned
    return context.builder.emit("reshape", (turned,), {"shape": (size, product(rest)), "source": shape})


def accumulated(context: Context, name: str, value: Value, place: int) -> Value:
    """Every element combined with the total before it, in an array as NumPy makes it."""
    made = laid_out(context, copied(context, value), (value,), partial(reduced_ranks, value, (), dimensions(value)))
    arguments = {"values": value, "totals": made, "before": (slice(None),) * place, "combine": promote.numpy_function(name)}
    context.hooks.run_function(context, _accumulate, function_node(_accumulate), arguments, context.loc)
    return made
